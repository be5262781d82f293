"""What is declared of a question: how far a unit moves it, and what a release stores, pay for its one charge exactly."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spinney import Box, FiniteMetric
from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.mechanisms.additive import Sensitivity
from spinney.mechanisms.coverage import step_epsilon
from spinney.mechanisms.drawing import Drawn, Watched
from spinney.mechanisms.selection import selection_epsilon
from spinney.mechanisms.source import SeededSource
from spinney.mechanisms.splitting import worst_loss
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.choose import SITE_STEPS, Choose, Choosing, Sets
from spinney.questions.cost import COST_STEPS, Cost, Costing, cost_range
from spinney.questions.counts import Counting, Counts
from spinney.questions.cover import Cover, Covering, Family
from spinney.questions.ground import Ground
from spinney.questions.grow import Grow, Splitting
from spinney.questions.levels import LevelCounting, Levels
from spinney.questions.partitions import ColumnBins, Labels
from spinney.questions.persons import PersonCounting
from spinney.questions.sums import KERNELS, RADIUS_STEPS, Summing, Sums
from spinney.questions.totals import Totaling
from spinney.trees.quadtree import Splits

PLANE = Box(-1, 1).domain(2)
SPLITS = Splits.of(PLANE)
SPACE = FiniteMetric.from_matrix([[0, 1, 4], [1, 0, 3], [4, 3, 0]])
CENTERS = np.array([[-0.5, 0.0], [0.5, 0.0]])

units = st.builds(Unit, st.sampled_from(Adjacency), st.integers(1, 5))
amounts = st.fractions(Fraction(1, 50), Fraction(20), max_denominator=50)
additive = st.one_of(
    st.builds(Counting, st.integers(1, 9)),
    st.builds(LevelCounting, st.integers(1, 9)),
    st.just(Costing()),
    st.builds(Summing, st.sampled_from(KERNELS), st.integers(1, 9)),
    st.builds(Totaling, st.integers(1, 9)),
    st.just(PersonCounting()),
)


def furthest(kind, unit):
    """Return how far a unit of m rows, or its replacement by m others, moves each answer: in L1, and in squared L2."""
    m, sides = unit.max_rows, 2 if unit.adjacency is Adjacency.REPLACE else 1
    if isinstance(kind, Costing):  # a sum of signed numbers: the sides add up
        return [Sensitivity(COST_STEPS * m * sides, (COST_STEPS * m * sides) ** 2)]
    if isinstance(kind, Summing):  # vectors move furthest within a cell, weights between two
        weight = RADIUS_STEPS if kind.kernel == "median" else 1
        d, far = kind.n_features, RADIUS_STEPS * m * sides
        vectors = Sensitivity(math.isqrt(d * RADIUS_STEPS**2) * m * sides, far**2)
        if d >= 5:  # so long, in one cell
            vectors = replace(vectors, columns=d, length=far)
        if kind.kernel == "box":  # every column as far, in one cell
            vectors = Sensitivity(d * far, d * far**2, far, d)
        return [vectors, Sensitivity(weight * m * sides, weight**2 * m**2 * sides)]
    if isinstance(kind, Totaling):  # every column as far, in one cluster
        d, far = kind.columns, RADIUS_STEPS * m * sides
        return [Sensitivity(d * far, d * far**2, far, d)]
    if isinstance(kind, PersonCounting):  # one row of a person counts
        return [Sensitivity(sides, sides)]
    families = kind.families if isinstance(kind, Counting) else 1
    return [Sensitivity(families * m * sides, families * m**2 * sides)]  # all rows in one cell of each family


def noises(kind, charge, unit):
    noise = kind.noise(charge, unit)
    return [noise.vectors, noise.weights] if isinstance(kind, Summing) else [noise]


@given(additive, units)
def test_a_kind_declares_how_far_a_whole_unit_moves_its_answers(kind, unit):
    declared = [kind.moves(unit), kind.weight_moves(unit)] if isinstance(kind, Summing) else [kind.moves(unit)]
    assert declared == furthest(kind, unit)


@given(additive, units, st.sampled_from(Measure), amounts)
def test_what_a_release_stores_of_additive_noise_adds_up_to_its_charge(kind, unit, measure, amount):
    charge = Charge("test", kind.question, measure, amount)
    record, noise, pure = kind.record(charge, unit), noises(kind, charge, unit), measure is Measure.PURE
    box = isinstance(kind, Totaling) or (isinstance(kind, Summing) and kind.kernel == "box")
    norm, mechanism = ("largest of a cell", "discrete cube") if box else ("l1", "discrete laplace")
    if isinstance(kind, Summing) and not box and kind.n_features >= 5:
        norm, mechanism = "length of a cell", "rounded ball"
    assert (record["measure"], record["norm"]) == (("epsilon", norm) if pure else ("rho", "squared l2"))
    assert record["mechanism"] == (mechanism if pure else "discrete gaussian")

    def of(moves):
        return moves.l2_squared if not pure else moves.largest or moves.length or moves.l1

    scales = [Fraction(answer["scale"]) for answer in record["answers"]]
    assert scales == [Fraction(one.scale) for one in noise]

    def paid(moved, scale):
        return Fraction(moved) / scale if pure else Fraction(moved) / (2 * scale**2)

    # A row for its price, and the worst case of a unit for the whole charge: neither more nor, rounding aside, less.
    for answer, scale in zip(record["answers"], scales, strict=True):
        assert 1 - 1e-12 <= paid(answer["row_sensitivity"], scale) / Fraction(answer["price"]) <= 1
    cases = [sum(map(paid, case, scales)) * record["repeats"] for case in record["unit_sensitivity"]]
    assert 1 - 1e-12 <= max(cases) / amount <= 1
    # Some case moves each answer as far as a unit moves it at all.
    for i, most in enumerate(furthest(kind, unit)):
        assert max(int(case[i]) for case in record["unit_sensitivity"]) == of(most)
    row = furthest(kind, Unit())
    assert [int(answer["row_sensitivity"]) for answer in record["answers"]] == list(map(of, row))


@given(units, st.sampled_from(Measure), amounts, st.integers(1, 9), st.sampled_from([Fraction(0), Fraction(1, 1000)]))
@settings(max_examples=40)
def test_what_a_release_stores_of_choices_and_splits_is_what_they_run_at(unit, measure, amount, steps, delta):
    m, sides = unit.max_rows, 2 if unit.replaces else 1
    pure = measure is Measure.PURE
    charge = Charge("test", "choose", measure, amount)
    record = Choosing().record(charge, unit)
    price, epsilon = Fraction(record["price"]), Fraction(record["epsilon"])
    assert price == (amount / (m * sides) if pure else amount / (m * sides) ** 2)
    assert epsilon == selection_epsilon(Charge("test", "choose", measure, price))
    assert Fraction(record["scale"]) == 1 / epsilon
    assert Choosing().noise(charge, unit) == pytest.approx(1 / float(epsilon))
    assert (record["row_sensitivity"], record["unit_sensitivity"]) == ("1", str(m * sides))

    record, rule = Splitting().record(charge, unit), Splitting().noise(charge, unit)
    assert Fraction(record["price"]) == (amount / m if pure else amount / m**2)
    loss = Fraction(worst_loss(rule.scale, rule.decay, rule.steps_per_row, unit.replaces))
    assert (Fraction(record["scale"]), int(record["decay"]), Fraction(record["worst_loss"])) == (rule.scale, rule.decay, loss)
    assert 0.95 <= (loss if pure else loss**2 / 2) / Fraction(record["price"]) <= 1
    assert int(record["row_sensitivity"]) == rule.steps_per_row
    assert int(record["unit_sensitivity"]) == rule.steps_per_row * m * sides

    charge = Charge("test", "cover", Measure.PURE, amount, delta)
    record, step = Covering(steps).record(charge, unit), step_epsilon(charge, unit, steps)
    assert (record["steps"], Fraction(record["delta"]), Fraction(record["step_epsilon"])) == (steps, delta, step)
    assert 1 <= Fraction(record["scale"]) * step <= 1 + 1e-12
    assert (record["row_sensitivity"], record["unit_sensitivity"]) == ("1", str(m * sides))


def asked_of(unit):
    """Return questions, and how far a unit moves each of their draws."""
    moved = unit.max_rows * (2 if unit.replaces else 1)
    rule = Splitting().noise(Charge("test", "grow", Measure.PURE, Fraction(3, 7)), unit)
    return [
        (Counts(ColumnBins()), furthest(Counting(2), unit)),
        (Counts(Labels([0, 1, 1], 2)), furthest(Counting(), unit)),
        (Levels(SPLITS, 0, 2, None), furthest(Counting(), unit) * 3),
        (Sums(CENTERS, "mean", [1, 1]), furthest(Summing("mean", 2), unit)),
        (Sums(CENTERS, "core", [1, 1]), furthest(Summing("core", 2), unit)),
        (Sums(CENTERS, "median", [1, 1]), furthest(Summing("median", 2), unit)),
        (Cost(CENTERS, 2), furthest(Costing(), unit)),
        (Choose(Sets(([0], [2]))), [SITE_STEPS * moved]),
        (Cover(Family(csr_array(np.eye(3)), (2,))), [moved, moved]),
        (Grow(SPLITS, 1, 0), [rule.steps_per_row * moved]),
    ]


@pytest.mark.parametrize("unit", [Unit(relation, cap) for relation in Adjacency for cap in (1, 3)], ids=str)
@pytest.mark.parametrize("measure", list(Measure))
def test_every_draw_tells_how_far_a_whole_unit_moves_it_in_its_norm(unit, measure):
    pure = measure is Measure.PURE
    for question, expected in asked_of(unit):
        is_choice = isinstance(question, Choose | Cover)
        if isinstance(question, Cover | Grow) and not pure:
            continue  # paid for in epsilon; a rule of its own
        events = []
        source = Watched(SeededSource(0), events.append)
        if is_choice or isinstance(getattr(question, "partition", None), Labels):
            rows = DemandBackend(np.array([0, 1, 1]), Ground(None, 3, SPACE), unit, source.key)
        else:
            rows = MemoryBackend(np.zeros((4, 2)), Ground(PLANE), unit, source.key)
        charge = Charge("test", question.kind(rows.ground).question, measure, Fraction(3, 7))
        Curator(rows, unit, FitLedger(Budget(Fraction(99), Fraction(1, 9)), (charge,)), source).ask(question, charge)
        told = [(event.draw.norm, event.draw.sensitivity) for event in events if isinstance(event, Drawn)]
        norm = "range" if is_choice else "l1" if pure else "squared l2"
        moves = [one if isinstance(one, int) else one.l1 if pure else one.l2_squared for one in expected]
        assert told == [(norm, move) for move in moves] or (isinstance(question, Grow) and set(told) == {(norm, moves[0])})


@pytest.mark.parametrize("measure", list(Measure))
def test_an_answer_comes_with_the_noise_it_has(measure):
    unit, source = Unit(Adjacency.REPLACE, 2), SeededSource(0)
    rows = MemoryBackend(np.zeros((4, 2)), Ground(PLANE), unit, source.key)

    def ask(question):
        kind = question.kind(rows.ground)
        charge = Charge("test", kind.question, measure, Fraction(3, 7))
        answer = Curator(rows, unit, FitLedger(Budget(Fraction(99), Fraction(1, 9)), (charge,)), source).ask(question, charge)
        return answer, kind.noise(charge, unit)

    for question in (Counts(ColumnBins()), Levels(SPLITS, 0, 2, None), Sums(CENTERS, "mean", [1, 1])):
        answer, noise = ask(question)
        assert answer.noise == noise
    for power in (1, 2):
        answer, noise = ask(Cost(CENTERS, power))
        assert answer.std == pytest.approx(noise.std * cost_range(PLANE, CENTERS, np.empty((0, 2)), power) / COST_STEPS)
    for kernel, step in (("mean", 1), ("median", RADIUS_STEPS)):
        _, noise = ask(Sums(CENTERS, kernel, [1, 1]))
        assert noise.vector_std == noise.vectors.std / RADIUS_STEPS
        assert noise.weight_std == noise.weights.std / step
