"""What is known of a question before it is asked: how far a unit moves it, its noise, and what a release stores of it."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from opening import curator_over
from spinney import Box, FiniteMetric
from spinney.mechanisms import Drawn, SeededSource, Sensitivity, Watched
from spinney.mechanisms.balls import ball_std
from spinney.mechanisms.coverage import step_epsilon
from spinney.mechanisms.cubes import cube_std
from spinney.mechanisms.selection import selection_epsilon
from spinney.mechanisms.splitting import worst_loss
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions import Blocking, Blocks, Counting, Counts, Grow, Minimize, Minimizing, Splitting, Totaling, Totals
from spinney.questions.catalog import EVERY
from spinney.questions.choose import SITE_STEPS, Choose, Choosing, Sets
from spinney.questions.clusters import ClusterBins, Clusters
from spinney.questions.cost import COST_STEPS, Cost, Costing
from spinney.questions.cover import Cover, Covering, Family
from spinney.questions.lengths import Lengths, Measuring
from spinney.questions.levels import LevelCounting, Levels
from spinney.questions.partitions import ColumnBins, Labels, Whole
from spinney.questions.persons import PersonCounting, Persons
from spinney.questions.question import Ground
from spinney.questions.sums import KERNELS, RADIUS_STEPS, WEIGHT_SHARE, Summing, Sums
from spinney.spaces.box import Domain
from spinney.trees.quadtree import Splits
from spinney.verification.noise import Setting, check_noise

PLANE = Box(-1, 1).domain(2)
SPLITS = Splits.of(PLANE)
SPACE = FiniteMetric.from_matrix([[0, 1, 4], [1, 0, 3], [4, 3, 0]])
CENTERS = np.array([[-0.5, 0.0], [0.5, 0.0]])
#: One column that decides a cluster, and two behind it.
BEHIND = Domain(np.array([-1.0, 0.0, 0.0]), np.array([1.0, 2.0, 2.0]), math.inf)
CLUSTERS = Clusters(CENTERS[:, :1])
UNITS = [Unit(), Unit(Adjacency.REPLACE), Unit(Adjacency.ADD_REMOVE, 3), Unit(Adjacency.REPLACE, 2)]


units = st.builds(Unit, st.sampled_from(Adjacency), st.integers(1, 5))
amounts = st.fractions(Fraction(1, 50), Fraction(20), max_denominator=50)
#: Kinds with additive noise.
additive = st.one_of(
    st.builds(Counting, st.integers(1, 9)),
    st.builds(LevelCounting, st.integers(1, 9)),
    st.just(Costing()),
    st.builds(Summing, st.sampled_from(KERNELS), st.integers(1, 9)),
    st.builds(Totaling, st.integers(1, 9)),
    st.just(PersonCounting()),
    st.just(Measuring()),
)


#: A question of each kind, what is known of it, and the scale of the noise that is known.
QUESTIONS = {
    "counts": (Counts(Whole()), Counting(), lambda noise: noise.scale),
    "columns": (Counts(ColumnBins()), Counting(2), lambda noise: noise.scale),
    "labels": (Counts(Labels([0, 1, 1], 2)), Counting(), lambda noise: noise.scale),
    "lengths": (Lengths(Labels([0, 1, 1], 2), [0, 5, -5]), Measuring(), lambda noise: noise.scale),
    "levels": (Levels(SPLITS, 0, 3, None), LevelCounting(4), lambda noise: noise.scale),
    "grow": (Grow(SPLITS, 1, 0), Splitting(), lambda rule: rule.scale),
    "means": (Sums(CENTERS, "mean", [1, 1]), Summing("mean", 2), lambda noise: noise.vectors.scale),
    "cores": (Sums(CENTERS, "core", [1, 1]), Summing("core", 2), lambda noise: noise.vectors.scale),
    "medians": (Sums(CENTERS, "median", [1, 1]), Summing("median", 2), lambda noise: noise.vectors.scale),
    "minimize": (Minimize(CENTERS, [1, 1]), Minimizing(2), lambda noise: noise.points.scale),
    "cluster bins": (Counts(ClusterBins(CLUSTERS, [3, 2])), Counting(2), lambda noise: noise.scale),
    "totals": (Totals(CLUSTERS, [0, 1]), Totaling(2), lambda noise: noise.scale),
    "persons": (Persons(Clusters(CENTERS)), PersonCounting(), lambda noise: noise.scale),
    "cost": (Cost(CENTERS, 2), Costing(), lambda noise: noise.scale),
    "choose": (Choose(Sets(([0], [2]))), Choosing(), lambda scale: scale * 2**22),
    "blocks": (Blocks(Counts(Whole()), 3, 2), Blocking(Counting(), 3), lambda noise: noise.scale),
    "cover": (Cover(Family(csr_array(np.eye(3)), (2,))), Covering(2), lambda step: 1 / float(step)),
}
KINDS = pytest.mark.parametrize("name", QUESTIONS)


class Spy(SeededSource):
    """Remembers the scale of the first noise of all."""

    def __init__(self):
        super().__init__(0)
        self.scales = []

    def laplace(self, values, scale):
        self.scales.append(float(scale))
        return values

    gaussian = cube = ball = laplace

    def select(self, scores, scale):
        self.scales.append(float(scale))
        return 0


def opened(question, unit, charge, source=None):
    source, part = source or Spy(), getattr(question, "partition", None)
    if isinstance(question, Choose | Cover) or isinstance(part, Labels):
        rows, ground = [0, 1, 1], Ground(None, 3, SPACE)
    else:
        domain = BEHIND if isinstance(question, Totals) or isinstance(part, ClusterBins) else PLANE
        rows, ground = np.zeros((4, domain.n_features)), Ground(domain)
    return curator_over(rows, ground, [charge], unit, source), source


def charge_of(name, measure, amount=Fraction(3, 7)):
    delta = Fraction(1, 100) if name == "cover" and measure is Measure.PURE else Fraction(0)
    return Charge("test", QUESTIONS[name][1].question, measure, amount, delta)


def test_every_kind_is_here():
    assert {type(kind) for _, kind, _ in QUESTIONS.values()} == {entry.kind for entry in EVERY.values()}


def furthest(kind, unit):
    """Return how far a unit of m rows, or its replacement by m others, moves each answer: in L1, and in squared L2."""
    m, sides = unit.max_rows, 2 if unit.adjacency is Adjacency.REPLACE else 1
    if isinstance(kind, Costing | Measuring):  # a sum of signed numbers: the sides add up
        far = kind.steps * m * sides
        return [Sensitivity(far, far**2)]
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


@KINDS
@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_noise_that_is_previewed_is_the_noise_that_is_added(name, measure, unit):
    if name == "cover" and measure is Measure.ZCDP:
        pytest.skip("a cover is paid for in pure epsilon and a delta")
    question, kind, scale_of = QUESTIONS[name]
    charge = charge_of(name, measure)
    curator, source = opened(question, unit, charge)
    preview = curator.preview(kind, charge)
    assert source.scales == []
    assert curator.ledger.entries == ()
    assert question.kind(curator.ground) == kind
    curator.ask(question, charge)
    first = 2 if name == "minimize" else 0  # lengths and directions of slopes, whose scale is none of noise
    assert source.scales[first] == pytest.approx(scale_of(preview), rel=1e-9)
    if isinstance(question, Sums):  # vectors and weights; both are told in the answer's own units
        assert len(source.scales) == 2
        assert preview.vectors.std / RADIUS_STEPS == preview.vector_std
        assert preview.weights.std == preview.weight_std * preview.weight_steps
        assert source.scales[1] == pytest.approx(preview.weights.scale, rel=1e-9)


@KINDS
def test_a_part_has_the_sensitivities_that_the_noise_follows(name):
    _, kind, scale_of = QUESTIONS[name]
    part = kind.part("some name", Fraction(1, 3))
    assert (part.name, part.question, part.share, part.kind) == ("some name", kind.question, Fraction(1, 3), kind)
    assert (part.l1, part.l2) == (kind.l1, kind.l2)
    pure, rho = (charge_of(name, measure, Fraction(1, 1000)) for measure in Measure)
    steps = dict.fromkeys(("means", "cores", "medians", "totals", "lengths"), RADIUS_STEPS) | {"cost": COST_STEPS}
    units = steps.get(name, 1)
    if name == "choose":
        assert kind.noise(pure, Unit()) == pytest.approx(math.sqrt(2) * kind.l1 * 1000)
        assert kind.noise(rho, Unit()) == pytest.approx(kind.l2 * math.sqrt(500))
    elif name == "grow":
        rule = kind.noise(pure, Unit())
        assert rule.scale / rule.steps_per_row == pytest.approx(kind.l1 * 1000, rel=0.02)
        assert kind.l2 == 0  # no Gaussian noise serves
    elif name == "minimize":
        assert kind.noise(pure, Unit()).scale * kind.n_features == pytest.approx(kind.l1 * 1000 / 0.73, rel=1e-3)
        assert kind.l2 == 0
    elif name != "cover":  # its steps share one charge; `proofs/coverage.md`
        alone = units != RADIUS_STEPS or name in ("totals", "lengths")
        share = 1.0 if alone else 0.8  # of a step; the weights take the rest
        l1 = 1.0 if name == "totals" else kind.l1  # the radius of a cube is that of each column
        assert scale_of(kind.noise(pure, Unit())) == pytest.approx(units * l1 * 1000 / share, rel=1e-3)
        assert scale_of(kind.noise(rho, Unit())) == pytest.approx(units * kind.l2 * math.sqrt(500 / share), rel=1e-3)


@KINDS
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_words_of_a_plan_say_how_much_noise_there_is(name, unit):
    _, kind, _ = QUESTIONS[name]
    charge = charge_of(name, Measure.PURE)
    noise, words = kind.noise(charge, unit), kind.words(charge, unit)
    shown = {
        "grow": lambda: noise.scale / noise.steps_per_row,
        "means": lambda: noise.vector_std,
        "cores": lambda: noise.vector_std,
        "medians": lambda: noise.vector_std,
        "totals": lambda: noise.std / RADIUS_STEPS,
        "lengths": lambda: noise.std / RADIUS_STEPS,
        "cost": lambda: noise.std / COST_STEPS,
        "choose": lambda: noise,
        "cover": lambda: 0.01,
        "minimize": lambda: noise.scale * kind.n_features,
    }.get(name, lambda: noise.std)()
    assert f" {shown:.3g} " in words


@pytest.mark.parametrize("columns", [5, 20, 300])
def test_the_cube_of_a_box_is_as_wide_as_laplace_noise_of_its_declared_length(columns):
    # Plans compare a step in a box with others by this length: that of Laplace noise of the same spread.
    spread = cube_std(columns, 100.0) / 100 / math.sqrt(2)
    assert Summing("box", columns).l1 == pytest.approx(spread, rel=2 / columns)
    assert Summing("box", columns).l2 ** 2 == pytest.approx(columns)
    assert Summing("mean", columns).l1 == pytest.approx(ball_std(columns, 100.0) / 100 / math.sqrt(2), rel=0.02)
    assert Summing("mean", columns).l1 < 0.9 * math.sqrt(columns)
    assert Summing("mean", 4).l1 == 2
    assert Summing("mean", columns).l2 == 1


#: Questions whose draws are not all as far as the kind says: slopes have a norm of their own, and blocks are asked of centers.
OTHERWISE = {"minimize", "blocks"}


@pytest.mark.parametrize("name", sorted(QUESTIONS.keys() - OTHERWISE))
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("measure", list(Measure))
def test_every_draw_tells_how_far_a_whole_unit_moves_it_in_its_norm(name, unit, measure):
    question, kind, _ = QUESTIONS[name]
    pure = measure is Measure.PURE
    if not pure and name in ("cover", "grow"):
        return  # paid for in epsilon; a rule of its own
    charge, events = charge_of(name, measure), []
    curator, _ = opened(question, unit, charge, Watched(SeededSource(0), events.append))
    curator.ask(question, charge)
    told = {(event.draw.norm, event.draw.sensitivity) for event in events if isinstance(event, Drawn)}
    if name in ("choose", "cover"):
        assert told == {("range", unit.moved_rows * (SITE_STEPS if name == "choose" else 1))}
    elif name == "grow":
        assert told == {("l1", kind.noise(charge, unit).steps_per_row * unit.moved_rows)}
    elif not pure:
        assert told == {("squared l2", moves.l2_squared) for moves in furthest(kind, unit)}
    elif name == "totals":
        assert told == {("largest of a cell", furthest(kind, unit)[0].largest)}
    else:
        assert told == {("l1", moves.l1) for moves in furthest(kind, unit)}


def error(share, d, measure):
    """Return the squared noise of a step as long as the radius: that of its vector, and what its weight's does to it."""
    power = 2 if measure is Measure.PURE else 1
    return (d / (1 - share)) ** power + (1 / share) ** power


@pytest.mark.parametrize("measure", list(Measure))
def test_no_other_share_of_the_weights_gives_a_step_much_less_noise(measure):
    for d in (1, 2, 5, 8, 12, 16, 30, 64, 200, 784, 10_000):
        share = float(Summing("mean", d).weight_share(measure))
        best = min(error(other, d, measure) for other in np.geomspace(1e-5, float(WEIGHT_SHARE), 2000))
        assert error(share, d, measure) <= 1.01 * best


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_charge_is_divided_in_lawful_parts_for_any_number_of_columns(kernel):
    for d, measure in ((d, measure) for d in range(1, 2000, 7) for measure in Measure):
        assert 0 < Summing(kernel, d).weight_share(measure) <= WEIGHT_SHARE


COLUMNS = 6
PLAIN = st.one_of(
    st.sampled_from([Counting(), Counting(COLUMNS), Costing(), Splitting(3)]),
    st.builds(LevelCounting, st.integers(1, 9)),
    st.builds(Summing, st.sampled_from(KERNELS), st.just(COLUMNS)),
)
KINDS = st.one_of(
    PLAIN,
    st.sampled_from([Choosing(), Minimizing(COLUMNS), Totaling(COLUMNS), PersonCounting(), Measuring()]),
    st.builds(Covering, st.integers(1, 9)),
    st.builds(Blocking, PLAIN, st.integers(1, 4)),
)


@settings(max_examples=80, deadline=None)
@given(
    KINDS,
    st.sampled_from(Measure),
    st.fractions(Fraction(1, 100), 4),
    st.sampled_from(["add-remove", "replace"]),
    st.integers(1, 4),
)
@example(PersonCounting(), Measure.ZCDP, Fraction(1), "replace", 3)
@example(Totaling(COLUMNS), Measure.ZCDP, Fraction(1), "replace", 2)
@example(Minimizing(COLUMNS), Measure.ZCDP, Fraction(1), "replace", 2)
def test_every_record_is_what_verification_works_out(kind, measure, amount, adjacency, rows):
    if kind.question == "cover":
        measure = Measure.PURE
    unit, charge = Unit(adjacency, rows), Charge("rows", kind.question, measure, amount)
    record = json.loads(json.dumps(kind.record(charge, unit)))
    describes = kind.question in ("totals", "persons")
    setting = Setting(unit.replaces, rows, COLUMNS, COLUMNS, describes)
    assert check_noise(record, charge.to_dict(), setting)
    for answer in record.get("answers", ()):
        row, price, scale = (Fraction(answer[name]) for name in ("row_sensitivity", "price", "scale"))
        lost = row / scale if measure is Measure.PURE else row / (2 * scale**2)
        least = COLUMNS if record["mechanism"] == "discrete cube" else 0  # the least scale of noise on columns together
        assert lost >= price * (1 - Fraction(1, 10**9)) or scale == least
    noise = kind.noise(charge, unit)
    if kind.question in ("counts", "persons", "levels"):
        assert record["answers"][0]["scale"] == str(Fraction(noise.scale))
