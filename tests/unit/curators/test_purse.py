"""What a purse pays with: never more than the plan, nothing twice, and nothing from one pocket into the other."""

import copy
import pickle
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opening import curator_over
from spinney import Box, BudgetError, PrivateKMeans
from spinney.algorithms import Algorithm, Result, Stable
from spinney.curators.gate import Curator
from spinney.curators.purse import Purse
from spinney.privacy import Adjacency, Budget, Charge, Measure, Unit, compose, is_gaussian, total_epsilon
from spinney.questions import Counting, Counts, Grow, Rings, Splitting, Summing, Sums
from spinney.questions.ground import Ground
from spinney.trees.quadtree import Splits

PLANE = Box(0, 1).domain(2)
ROWS = np.random.default_rng(0).uniform(size=(30, 2))
CENTERS = np.array([[0.2, 0.2], [0.8, 0.7]])
KINDS = {"counts": Counting(), "sums": Summing("mean", 2), "grow": Splitting()}
QUESTIONS = {"counts": Counts(Rings(CENTERS)), "sums": Sums(CENTERS, "mean", np.ones(2)), "grow": Grow(Splits.of(PLANE), 1, 5)}


def purse_of(charges, budget, unit=None):
    return Purse(curator_over(ROWS, Ground(PLANE), charges, unit, budget=budget))


def plain(*names, **changes):
    """Return a purse with equal pure charges of these names, planned for counts."""
    planned = tuple(Charge(name, "counts", Measure.PURE, Fraction(1, len(names))) for name in names)
    return purse_of(planned, Budget.of(1.0), **changes)


@st.composite
def plans(draw):
    """Return a budget and charges: shared by `compose`, or of measures and deltas as drawn."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=6))
    shares = draw(st.lists(st.integers(1, 9), min_size=len(kinds), max_size=len(kinds)))
    shares = [Fraction(share, sum(shares)) for share in shares]
    if draw(st.booleans()):
        budget = Budget.of(1.0, draw(st.sampled_from([0.0, 1e-6])))
        return budget, compose(budget, [KINDS[kind].part(f"p{i}", shares[i]) for i, kind in enumerate(kinds)])
    charges = []
    for i, kind in enumerate(kinds):
        measure = draw(st.sampled_from(Measure))
        delta = Fraction(draw(st.integers(0, 1)), 10**8) if measure is Measure.PURE else Fraction(0)
        charges.append(Charge(f"p{i}", kind, measure, shares[i] / 100, delta))
    return Budget.of(1.0, 1e-6), tuple(charges)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "pass on", "preview", "view", "wrong"]),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from(sorted(KINDS)),
    ),
    max_size=12,
)


def cannot_pay(charge, question, planned=None):
    """Whether a charge, planned for this question or another one, may not pay for a question."""
    planned = planned or charge.question
    is_other = charge.measure is Measure.ZCDP and is_gaussian([planned]) and not is_gaussian([question])
    return is_other or (bool(charge.delta) and planned != question)


@given(plans(), ACTIONS, st.sampled_from([Unit(), Unit(Adjacency.REPLACE, 2)]))
def test_no_sequence_of_asking_and_passing_on_spends_more_than_the_plan(plan, actions, unit):
    budget, planned = plan
    purse = purse_of(planned, budget, unit)
    ledger, by_name = purse.curator.ledger, {charge.name: charge for charge in planned}
    are_open, passed, question_of = list(by_name), {name: {name} for name in by_name}, {c.name: c.question for c in planned}
    for action, one, other, kind in actions:
        name, to, before = f"p{one}", f"p{other}", ledger.entries
        both = name in are_open and to in are_open and name != to
        if action == "view":
            purse = purse.within(PLANE)
        elif action == "wrong":
            with pytest.raises((BudgetError, ValueError)) as caught:
                purse.ask(name, Counts(Rings(np.zeros((1, 3)))))  # of other columns
            if caught.type is ValueError:  # what would have paid is put together by now
                question_of[name] = "counts"
        elif action == "pass on":
            with nullcontext() if both else pytest.raises(BudgetError, match="neither spent nor passed on"):
                purse.pass_on(name, to)
                are_open.remove(name)
                passed[to] |= passed.pop(name)
        elif name not in are_open or cannot_pay(by_name[name], kind, question_of[name]):
            with pytest.raises(BudgetError):
                purse.ask(name, QUESTIONS[kind])
        elif action == "preview" and both:
            noise = purse.preview(KINDS[kind], to, name)
            assert list(purse.names) == are_open
            purse.pass_on(to, name)
            are_open.remove(to)
            passed[name] |= passed.pop(to)
            assert purse.preview(KINDS[kind], name) == noise
        else:
            noise, answer = purse.preview(KINDS[kind], name), purse.ask(name, QUESTIONS[kind])
            are_open.remove(name)
            spent, paid = ledger.entries[-1], ledger.entries[-1].name.split(" + ")
            assert {name} <= set(paid) <= passed[name]
            assert paid == sorted(paid) or any(done == "wrong" for done, *_ in actions)
            assert spent.amount == sum(by_name[n].amount for n in paid)
            assert {by_name[n].measure for n in paid} == {spent.measure}
            assert not any(cannot_pay(by_name[n], kind, question_of[n]) for n in paid)
            assert len(paid) == 1 or not any(by_name[n].delta for n in paid)
            assert noise == KINDS[kind].noise(spent, unit)
            assert kind == "grow" or answer.noise == noise
            assert ledger.records[-1].items() >= KINDS[kind].record(spent, unit).items()
            assert ledger.entries[:-1] == before
            before = ledger.entries
        assert ledger.entries == before
        assert list(purse.names) == are_open == [n for n in by_name if n in purse]
    names = [n for entry in ledger.entries for n in entry.name.split(" + ")]
    assert len(set(names)) == len(names)
    assert total_epsilon(ledger.entries, budget.delta) <= budget.epsilon


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_purse_is_neither_copied_nor_stored(copied):
    for held in (plain("a"), plain("a")._pockets):
        with pytest.raises(TypeError, match="neither copied nor stored"):
            copied(held)


class Short(Algorithm):
    """Takes four arguments, as algorithms did before there was a purse."""

    name = "short"

    def parts(self, problem):
        return (Counting().part("rows", Fraction(1)),)

    def run(self, curator, problem, charges, rng=None):
        assert type(curator) is Curator
        assert rng is not None
        sizes = curator.ask(Counts(Rings(CENTERS)), charges["rows"])
        return Result(CENTERS, np.maximum(sizes.private_counts, 0), sizes.noise, CENTERS[:0], np.empty(0))


class Long(Short):
    """Takes three."""

    def run(self, purse, *others):
        problem, rng = others
        return super().run(purse.curator, problem, purse.charges, rng)


@pytest.mark.parametrize("algorithm", [Short(), Long(), Stable(Short()), Stable(Long())])
@pytest.mark.parametrize("tighten", [False, True])
def test_an_algorithm_takes_a_purse_or_a_curator_and_charges(algorithm, tighten):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=algorithm, tighten=tighten).fit(ROWS)
    assert "rows" in [charge.name for charge in model.release_.charges]
