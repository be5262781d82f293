"""Rule 7: charges are exact, sum to their budgets, and nothing outside the plan can be spent."""

import math
from fractions import Fraction

import pytest
from cases import CASES, ESTIMATORS, SITES, SPACE
from hypothesis import given, settings
from hypothesis import strategies as st

from covering import covering
from registered import REGISTERED
from spinney import BudgetError, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.privacy import Adjacency, Charge, FitLedger, Measure
from spinney.privacy.budget import Budget, exact
from spinney.privacy.composition import Part, compose, total_epsilon, zcdp_rho
from spinney.privacy.gaussian import GAUSSIAN, gaussian_rho

SHARED = {
    "n_clusters": st.integers(1, 20),
    "epsilon": st.one_of(st.sampled_from([0.1, 1.0, 3.3]), st.floats(1e-3, 100)),
    "adjacency": st.sampled_from(["add-remove", "replace"]),
    "max_rows_per_group": st.one_of(st.none(), st.integers(1, 50)),
}
POINTS = st.fixed_dictionaries(
    SHARED
    | {
        "estimator": st.sampled_from([PrivateKMeans, PrivateKMedian]),
        "algorithm": st.sampled_from(["auto", *sorted(REGISTERED["points"])]),
        "tighten": st.booleans(),
        "n_clusters": st.integers(1, 300),
        "n_features": st.integers(1, 200),
    }
)
PLACES = st.fixed_dictionaries(
    SHARED | {"algorithm": st.sampled_from([case.algorithm for case in SITES.values()]), "power": st.sampled_from([1, 2])}
)
PLANS = POINTS | PLACES


def planned(n_features=None, estimator=None, **parameters):
    if estimator is None:
        return PrivateKMedoids(**parameters, space=SPACE).plan().charges
    return estimator(**parameters, bounds=(-1, 1)).plan(n_features=n_features).charges


def amounts(charges, measure):
    return [charge.amount for charge in charges if charge.measure is measure]


@given(PLANS)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_pure_charges_sum_exactly_to_epsilon(plan):
    charges = planned(**plan)
    assert all(isinstance(charge.amount, Fraction) and charge.amount > 0 for charge in charges)
    assert len({charge.name for charge in charges}) == len(charges)
    assert sum(amounts(charges, Measure.PURE)) == exact(plan["epsilon"])
    assert amounts(charges, Measure.ZCDP) == []


@given(PLANS, st.sampled_from([1e-2, 1e-6, 1e-12]))
@settings(deadline=None, derandomize=True, max_examples=25)
def test_each_sub_budget_is_spent_exactly_and_the_total_stays_below_epsilon(plan, delta):
    charges = planned(**plan, delta=delta)
    epsilon = exact(plan["epsilon"])
    pure, rho = (sum(amounts(charges, measure), start=Fraction(0)) for measure in Measure)
    assert pure <= epsilon
    if rho:
        own = sum(charge.delta for charge in charges)
        known = float(epsilon - pure) * (1 - 2**-50), float(exact(delta) - own)
        largest = zcdp_rho(*known)
        if all(charge.question in GAUSSIAN for charge in charges if charge.measure is Measure.ZCDP):
            largest = gaussian_rho(*known, largest)
        assert rho == largest
    else:
        assert pure == epsilon
    assert total_epsilon(charges, exact(delta)) <= epsilon
    assert total_epsilon(charges, exact(delta)) > epsilon * Fraction(99_999, 100_000)
    FitLedger(Budget.of(plan["epsilon"], delta), charges)


@given(
    shares=st.lists(st.integers(1, 50), min_size=1, max_size=6),
    kinds=st.lists(st.sampled_from([(1.0, 1.0), (2.6, 0.0), (3.0, 1.0)]), min_size=6, max_size=6),
    epsilon=st.floats(0.01, 10),
)
@settings(deadline=None, derandomize=True, max_examples=10)
def test_any_plan_can_be_composed_within_its_budget(shares, kinds, epsilon):
    parts = [
        Part(str(i), "counts", Fraction(share, sum(shares)), *kind)
        for i, (share, kind) in enumerate(zip(shares, kinds, strict=False))
    ]
    for delta in (0.0, 1e-6):
        budget = Budget.of(epsilon, delta)
        charges = compose(budget, parts)
        assert total_epsilon(charges, budget.delta) <= budget.epsilon
    with pytest.raises(ValueError, match="sum to one"):
        compose(budget, [*parts, Part("more", "counts", Fraction(1, 10**9))])


def test_charges_with_a_delta_of_their_own_may_not_exceed_the_budget():
    cover = Charge("cover", "cover", Measure.PURE, Fraction(1, 2), Fraction(1, 100))
    other = Charge("other", "counts", Measure.PURE, Fraction(1, 2))
    assert total_epsilon([cover, other], Fraction(1, 100)) == 1
    for delta in (0.0, 0.0099):
        with pytest.raises(BudgetError):
            FitLedger(Budget.of(1.0, delta), (cover, other))
    gaussian = Charge("gaussian", "counts", Measure.ZCDP, Fraction(1, 100))
    assert total_epsilon([cover, gaussian], Fraction(1, 100)) == math.inf  # no delta is left for the conversion
    assert total_epsilon([cover, gaussian], Fraction(2, 100)) == Fraction(1, 2) + total_epsilon([gaussian], Fraction(1, 100))


@covering("case, estimator, adjacency, delta", CASES | SITES, ESTIMATORS, Adjacency, [0.0, 1e-6], indirect=["case"])
@pytest.mark.matrix
def test_a_fit_reports_what_it_spent_and_never_more_than_asked(estimator, case, adjacency, delta):
    model = case.model(estimator, epsilon=0.7, delta=delta, adjacency=adjacency).fit(case.rows)
    release = model.release_
    spent = total_epsilon(release.charges, exact(delta))
    assert spent <= exact(0.7)
    stated = max(Fraction(release.epsilon), exact(release.epsilon))  # the float, or the decimal that it prints as
    assert spent <= stated <= spent * (1 + Fraction(1, 2**50))
    assert release.promised_epsilon == 0.7
    unspent = {charge.name: charge for charge in case.plan(model).charges}
    for charge in release.charges:
        parts = [unspent.pop(name) for name in charge.name.split(" + ")]  # each once, alone or put together
        assert charge.amount == sum(part.amount for part in parts)
        assert {part.measure for part in parts} == {charge.measure}
    if not unspent and delta == 0:
        assert spent == exact(0.7)
