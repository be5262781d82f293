import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.exceptions import ParameterError
from spinney.privacy import Budget, Charge, Measure, composition
from spinney.privacy.composition import Part, compose, total_epsilon, zcdp_epsilon, zcdp_rho

PHI = NormalDist().cdf


def parts(d):
    return [
        Part("tree", "grow", Fraction(3, 10), 2.6, 0.0),
        Part("leaves", "counts", Fraction(2, 10)),
        Part("step 1", "sums", Fraction(2, 10), math.sqrt(d), 1.0),
        Part("step 2", "sums", Fraction(2, 10), math.sqrt(d), 1.0),
        Part("sizes", "counts", Fraction(1, 10)),
    ]


@lru_cache
def composed(epsilon, delta, d):
    return compose(Budget.of(epsilon, delta), parts(d))


def mean_log_noise(plan, charges):
    return sum(float(p.share) * p.log_noise(c.measure, float(c.amount)) for p, c in zip(plan, charges, strict=True))


@pytest.mark.parametrize("epsilon", [0.01, 1 / 3, 7.3])
@pytest.mark.parametrize("delta", [0.0, 1e-12, 1e-2])
@pytest.mark.parametrize("d", [1, 784])
def test_charges_never_exceed_the_budget_and_waste_little(epsilon, delta, d):
    budget = Budget.of(epsilon, delta)
    charges = composed(epsilon, delta, d)
    total = total_epsilon(charges, budget.delta)
    assert total <= budget.epsilon
    assert total >= budget.epsilon * Fraction(999999, 1000000)
    assert [c.name for c in charges] == [p.name for p in parts(d)]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.7])
@pytest.mark.parametrize("d", [1, 3, 100])
def test_without_delta_charges_are_pure_and_sum_exactly(epsilon, d):
    budget = Budget.of(epsilon)
    charges = compose(budget, parts(d))
    assert {c.measure for c in charges} == {Measure.PURE}
    assert sum(c.amount for c in charges) == budget.epsilon
    assert [c.amount for c in charges] == [p.share * budget.epsilon for p in parts(d)]


@pytest.mark.parametrize("delta", [1e-12, 1e-2])
@pytest.mark.parametrize("d", [1, 784])
def test_pure_charges_are_exact_shares_and_zcdp_charges_share_one_rho(delta, d):
    budget = Budget.of(7.3, delta)
    plan = parts(d)
    charges = composed(7.3, delta, d)
    gaussian = [(p.share, c.amount) for p, c in zip(plan, charges, strict=True) if c.measure is Measure.ZCDP]
    pure = [(p.share, c.amount) for p, c in zip(plan, charges, strict=True) if c.measure is Measure.PURE]
    assert all(amount == share * budget.epsilon for share, amount in pure)
    assert len({amount / share for share, amount in gaussian}) <= 1


@pytest.mark.parametrize("epsilon", [0.01, 7.3])
@pytest.mark.parametrize("delta", [1e-12, 1e-2])
@pytest.mark.parametrize("d", [1, 784])
def test_delta_never_adds_noise(epsilon, delta, d):
    plan = parts(d)
    pure = compose(Budget.of(epsilon), plan)
    assert mean_log_noise(plan, composed(epsilon, delta, d)) <= mean_log_noise(plan, pure)


def test_vectors_of_many_columns_get_gaussian_noise():
    measures = {c.name: c.measure for c in composed(7.3, 1e-12, 784)}
    assert measures["step 1"] is measures["step 2"] is Measure.ZCDP


def noise_of(part, charge):
    """Return the expected noise of a part: Laplace's, Gaussian, or that of a pure mechanism, which runs at sqrt(2 rho)."""
    if charge.measure is Measure.PURE:
        return math.sqrt(2) * part.l1 / float(charge.amount)
    root = math.sqrt(2 * float(charge.amount))
    return part.l2 / root if part.l2 else math.sqrt(2) * part.l1 / root


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-2])
@pytest.mark.parametrize("d", [1, 4, 100, 5000])
def test_no_way_to_give_some_families_gaussian_noise_has_less_of_it(epsilon, delta, d):
    budget, plan = Budget.of(epsilon, delta), [*parts(d)[:-1], Part("cells", "counts", Fraction(1, 10), 7.0, math.sqrt(7))]

    def mean_log(charges):
        return sum(float(p.share) * math.log(noise_of(p, c)) for p, c in zip(plan, charges, strict=True))

    found = mean_log(compose(budget, plan))
    for least in {p.l1 for p in plan} | {0.0, math.inf}:  # Gaussian from this sensitivity on; 0.0: the tree too
        gaussian = [p.l1 >= least and (p.l2 > 0 or least == 0.0) for p in plan]
        share = sum((p.share for p, chosen in zip(plan, gaussian, strict=True) if chosen), start=Fraction(0))
        rho = zcdp_rho(float(budget.epsilon * share) * (1 - 2**-50), delta) if share else Fraction(0)
        charges = [
            Charge(p.name, p.question, Measure.ZCDP, rho * p.share / share)
            if chosen
            else Charge(p.name, p.question, Measure.PURE, budget.epsilon * p.share)
            for p, chosen in zip(plan, gaussian, strict=True)
        ]
        assert found <= mean_log(charges) + 1e-9


def test_a_tiny_delta_buys_nothing_for_one_column():
    assert {c.measure for c in compose(Budget.of(1.0, 1e-200), parts(1))} == {Measure.PURE}


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_conversion_is_sound_and_no_worse_than_the_textbook_one(rho, delta):
    epsilon = zcdp_epsilon(rho, delta)
    assert epsilon <= (rho + 2 * math.sqrt(rho * math.log(1 / delta))) * (1 + 1e-4)
    # The Gaussian mechanism with this rho has a known exact delta at each epsilon (Balle and Wang 2018).
    sigma = 1 / math.sqrt(2 * rho)
    exact = PHI(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * PHI(-0.5 / sigma - epsilon * sigma)
    assert exact <= delta * (1 + 1e-9)


@given(st.floats(-12, 6), st.floats(-300, -0.001))
def test_no_order_of_the_whole_grid_proves_less_than_the_one_found(log_rho, log_delta):
    rho, delta = 10**log_rho, 10**log_delta
    center = math.log(math.sqrt(-math.log(delta) / rho) + 1e-3)
    orders = [1 + math.exp(center + step * 0.0115) for step in range(-400, 401)]
    bounds = [a * rho + (-math.log(delta) + a * math.log1p(-1 / a) - math.log(a - 1)) / (a - 1) for a in orders]
    assert zcdp_epsilon(rho, delta) == max(min(bounds), 0.0) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 8.0])
@pytest.mark.parametrize("delta", [1e-12, 0.01, 0.95])
def test_rho_is_the_largest_that_fits(epsilon, delta):
    rho = float(zcdp_rho(epsilon, delta))
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho * (1 + 1e-6), delta) > epsilon


@pytest.mark.parametrize("epsilon", [1e-20, 1e-30, 1e-60])
def test_a_rho_too_small_to_find_is_not_overestimated(epsilon):
    """The search ends before it reaches the last bit; what it returns is still within the budget."""
    rho = zcdp_rho(epsilon, 1e-300)
    assert rho >= 0
    assert zcdp_epsilon(float(rho), 1e-300) <= epsilon
    budget = Budget.of(epsilon, 1e-300)
    assert total_epsilon(compose(budget, parts(784)), budget.delta) <= budget.epsilon


def test_no_rho_costs_nothing():
    assert zcdp_epsilon(0.0, 1e-6) == 0.0
    assert total_epsilon([], Fraction(0)) == 0


def test_without_enough_delta_the_total_is_infinite():
    rho = Charge("a", "sums", Measure.ZCDP, Fraction(1, 50))
    cover = Charge("b", "cover", Measure.PURE, Fraction(1, 3), Fraction(1, 100))
    assert total_epsilon([rho], Fraction(0)) == math.inf
    assert total_epsilon([cover], Fraction(1, 200)) == math.inf
    assert total_epsilon([cover], Fraction(1, 100)) == Fraction(1, 3)
    assert total_epsilon([cover, rho], Fraction(1, 100)) == math.inf
    assert total_epsilon([cover, rho], Fraction(2, 100)) == Fraction(1, 3) + total_epsilon([rho], Fraction(1, 100))


def test_one_charge_of_another_kind_is_converted_as_zcdp():
    delta, rho = Fraction(1, 10**6), Charge("b", "sums", Measure.ZCDP, Fraction(1, 50))
    gaussian, other = total_epsilon([rho], delta), Charge("a", "grow", Measure.ZCDP, Fraction(1, 10**9))
    assert 1.05 * float(gaussian) < zcdp_epsilon(0.02, 1e-6) < float(total_epsilon([rho, other], delta))
    assert float(total_epsilon([rho, other], delta)) == pytest.approx(zcdp_epsilon(0.02, 1e-6), rel=1e-6)
    assert total_epsilon([rho, Charge("a", "grow", Measure.PURE, Fraction(1, 9))], delta) == Fraction(1, 9) + gaussian


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-320), (1.0, 5e-324), (1.0, 0.999999), (1.0, 0.5), (1e-9, 1e-6), (1e-12, 1e-6), (1e6, 1e-6)]
)
def test_extreme_deltas_compose_within_the_budget(epsilon, delta):
    budget = Budget.of(epsilon, delta)
    assert total_epsilon(compose(budget, parts(2)), budget.delta) <= budget.epsilon


def test_where_no_other_way_is_lawful_everything_is_pure(monkeypatch):
    monkeypatch.setattr(composition, "zcdp_rho", lambda epsilon, delta: Fraction(10**6))  # far too much: nothing fits
    monkeypatch.setattr(composition, "total_epsilon", lambda charges, delta: math.inf)
    charges = compose(Budget.of(1.0, 1e-6), parts(784))
    assert {c.measure for c in charges} == {Measure.PURE}
    assert sum(c.amount for c in charges) == 1


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.4])
def test_a_zcdp_part_is_worth_at_least_delta(delta):
    # Below that the rounding of its conversion is not covered.
    for worth, lawful in ((delta * 0.9, False), (delta * 1.1, True)):
        rho = Charge("a", "choose", Measure.ZCDP, zcdp_rho(worth, delta))
        pure = Charge("b", "counts", Measure.PURE, Fraction(9, 10))
        assert composition._is_lawful((pure, rho), Budget.of(2.0, delta)) is lawful
        assert not composition._is_lawful((pure, rho), Budget.of(0.9, delta))
    rho = Charge("a", "choose", Measure.ZCDP, zcdp_rho(0.9, delta))
    assert composition._is_lawful((rho,), Budget.of(1.0, delta))
    assert not composition._is_lawful((rho,), Budget.of(0.89, delta))
    assert not composition._is_lawful((rho,), Budget.of(1.0, 0.51))


@pytest.mark.parametrize("shares", [(1000, -999), (1, 0), (Fraction(3, 2), Fraction(-1, 2))])
def test_shares_are_positive(shares):
    with pytest.raises(ParameterError, match="share"):
        compose(Budget.of(1.0), [Part(str(i), "counts", Fraction(share)) for i, share in enumerate(shares)])


@pytest.mark.parametrize(
    ("budget", "plan", "name"),
    [(1.0, parts(2), "budget"), (Budget.of(1.0), iter(parts(2)), "parts"), (Budget.of(1.0), [Fraction(1)], "parts")],
)
def test_a_plan_is_composed_of_a_budget_and_parts(budget, plan, name):
    with pytest.raises(ParameterError, match=f"{name}.*compose"):
        compose(budget, plan)


def test_a_part_is_checked():
    part = Part("a", "counts", 1, 2, 0)
    assert (type(part.share), part.l1, part.l2) == (Fraction, 2, 0)
    infinite = [-1.0, math.inf, math.nan, "1", [1.0]]
    for name, values in {"name": [1], "question": [None], "l1": [0.0, *infinite], "l2": infinite}.items():
        for wrong in values:
            with pytest.raises(ParameterError, match=f"{name}.*Part"):
                Part(**{"name": "a", "question": "counts", "share": Fraction(1), name: wrong})
