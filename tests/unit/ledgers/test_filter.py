import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.ledgers.filter import Filter, Tally, fixed_ways, overhead
from spinney.privacy import Budget, Charge, Measure, Part, compose, total_epsilon

PHI = NormalDist().cdf
MICRO = Fraction(1, 10**6)


def pure(amount):
    return Charge("a", "counts", Measure.PURE, Fraction(amount))


def rho(amount):
    return Charge("b", "sums", Measure.ZCDP, Fraction(amount))


def filter_of(epsilon, delta=0.0):
    ceiling = Budget.of(epsilon, delta)
    return Filter.empty(ceiling, fixed_ways(ceiling))


amounts = st.fractions(Fraction(1, 1000), 2, max_denominator=1000)
charges = st.lists(
    st.one_of(st.builds(pure, amounts), st.builds(rho, st.fractions(Fraction(1, 10**6), Fraction(1, 10)))), max_size=8
)


def gaussian_delta(total_rho, epsilon):
    """The exact delta of a Gaussian mechanism of this rho (Balle and Wang 2018)."""
    if total_rho == 0:
        return max(0.0, 1 - math.exp(epsilon))
    mu = math.sqrt(2 * total_rho)
    return PHI(mu / 2 - epsilon / mu) - math.exp(epsilon) * PHI(-mu / 2 - epsilon / mu)


def composed_delta(one, epsilon):
    """The exact delta of randomized responses and a Gaussian mechanism that use up these charges."""
    steps = [float(charge.amount) for charge in one if charge.measure is Measure.PURE]
    total_rho = float(sum(charge.amount for charge in one if charge.measure is Measure.ZCDP))
    total = 0.0
    for signs in product((1, -1), repeat=len(steps)):
        truth = math.prod(1 / (1 + math.exp(-sign * step)) for sign, step in zip(signs, steps, strict=True))
        loss = sum(sign * step for sign, step in zip(signs, steps, strict=True))
        total += truth * gaussian_delta(total_rho, epsilon - loss)
    return total


@given(charges, st.sampled_from([1e-2, 1e-4, 1e-7]))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_the_stated_total_covers_the_exact_composition(one, delta):
    stated = Tally([one]).epsilon(Budget.of(1, delta).delta)
    assert composed_delta(one, float(stated)) <= delta * (1 + 1e-9) + 1e-15
    apart = Tally([charge] for charge in one).epsilon(Budget.of(1, delta).delta)
    assert composed_delta(one, float(apart)) <= delta * (1 + 1e-9) + 1e-15
    assert apart <= stated * (1 + Fraction(1, 10**12))


@given(st.lists(amounts, min_size=1, max_size=6), st.data())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_what_a_release_pools_costs_no_more_than_it_was_charged(numbers, data):
    order = data.draw(st.fractions(Fraction(11, 10), 100))
    groups = data.draw(st.lists(st.integers(0, 3), min_size=len(numbers), max_size=len(numbers)))
    pooled = [sum(n for n, g in zip(numbers, groups, strict=True) if g == group) for group in range(4)]
    exact = sum((min(e, order * e * e / 2) for e in pooled), start=Fraction(0))
    assert exact <= Tally([[pure(number) for number in numbers]]).cost(order)


@given(st.lists(charges, max_size=4), st.sampled_from([1e-3, 1e-6, 1e-9]), st.sampled_from(["sums", "choose"]))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_the_stated_total_is_never_above_plain_sums(releases, delta, question):
    releases = [[replace(charge, question=question) for charge in one] for one in releases]
    together = [charge for one in releases for charge in one]
    exact = Budget.of(1, delta).delta
    stated = Tally(releases).epsilon(exact)
    assert stated <= total_epsilon(together, exact)
    assert stated <= sum(total_epsilon(one, exact / len(releases)) for one in releases)
    if question == "choose" and delta < 1e-4:  # delta alone may pay for one release and not for all
        assert stated <= sum(total_epsilon(one, exact) for one in releases)


@given(st.lists(amounts, max_size=20))
@settings(deadline=None, derandomize=True, max_examples=50)
def test_without_delta_the_total_is_the_exact_sum(numbers):
    one = filter_of(1000).plus(*([pure(number)] for number in numbers))
    assert one.tally.epsilon(Fraction(0)) == one.total == sum(numbers)


def test_many_small_pure_releases_cost_less_together():
    tally = Tally([[pure(Fraction(1, 200))] * 2] * 400)
    assert Tally([[pure(Fraction(1, 100))] * 400]).epsilon(MICRO) > 3.9  # of one release, which may pool them, they do not
    assert tally.pure == 4
    assert tally.epsilon(MICRO) < 1.2
    assert tally.epsilon(Fraction(0)) == 4


@given(charges, charges, st.sampled_from([(1.0, 1e-6), (3.0, 1e-5), (0.2, 1e-3)]))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_the_total_for_the_ceiling_is_never_below_the_stated_one(first, second, ceiling):
    one = filter_of(*ceiling).accept(first).plus(second)
    assert one.total >= one.tally.epsilon(one.ceiling.delta) * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize(
    ("epsilon", "delta", "d"), [(0.01, 1e-2, 1), (0.1, 1e-12, 30), (1 / 3, 1e-6, 200), (1, 1e-6, 2), (20, 1e-6, 50)]
)
def test_a_plan_fits_the_ledger_of_its_own_budget(epsilon, delta, d):
    kinds = [(2.6, 0.0), (1.0, 1.0), (math.sqrt(d), 1.0)]
    parts = [Part(str(i), "sums", Fraction(share, 15), *kinds[i % 3]) for i, share in enumerate([5, 4, 3, 2, 1])]
    assert filter_of(epsilon, delta).accept(compose(Budget.of(epsilon, delta), parts)).fits


@pytest.mark.parametrize("order", [1.001, 1.5, 2.0, 30.25, 5e4])
@pytest.mark.parametrize("delta", [0.5, 1e-6, 1e-100])
def test_overheads_are_rounded_up(order, delta):
    with localcontext() as context:
        context.prec = 60
        a, log = Decimal(order), Decimal(delta).ln()
        exact = (-log + a * (1 - 1 / a).ln() - (a - 1).ln()) / (a - 1)
        stated = overhead(Fraction(order), Fraction(delta))
        stated = Decimal(stated.numerator) / Decimal(stated.denominator)
        assert exact <= stated <= exact + abs(exact) / 10**9 + Decimal(10) ** -9


def test_there_is_no_conversion_without_delta():
    assert overhead(Fraction(2), Fraction(0)) == overhead(Fraction(1), MICRO) == math.inf
    assert fixed_ways(Budget.of(1)) == ()
    assert filter_of(1).plus([rho(Fraction(1, 10**9))]).total == math.inf
    assert Tally([[rho(Fraction(1, 10**9))]]).epsilon(Fraction(0)) == math.inf


@pytest.mark.parametrize("delta", [0.5, 1e-6, 1e-100])
def test_the_ways_share_half_of_delta(delta):
    ceiling = Budget.of(2, delta)
    ways = fixed_ways(ceiling)
    assert sum(way.delta for way in ways) == ceiling.delta / 2
    assert all(way.order > 1 for way in ways)
    assert len({way.order for way in ways}) == len(ways)


def worst_delta(start, options, depth, accepts):
    """Return the largest delta that any strategy of randomized responses reaches at the ceiling.

    An option is a step of randomized response and the charge that it pays. The next one may depend on all answers.
    """
    epsilon = float(start.ceiling.epsilon)
    after = {(): start}

    def next_filter(chosen, i):
        if (*chosen, i) not in after:
            before = after[chosen]
            one = None if before is None else accepts(before, [options[i][1]])
            after[*chosen, i] = one
        return after[*chosen, i]

    @cache
    def value(chosen, loss):
        best = max(0.0, 1 - math.exp(epsilon - loss))
        if len(chosen) == depth:
            return best
        for i, (step, _) in enumerate(options):
            if next_filter(chosen, i) is not None:
                truth = 1 / (1 + math.exp(-step))
                up, down = (value((*chosen, i), round(loss + sign * step, 9)) for sign in (1, -1))
                best = max(best, truth * up + (1 - truth) * down)
        return best

    return value((), 0.0)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.2), (1.5, 0.2), (1.5, 0.1)])
def test_no_strategy_passes_the_ceiling(epsilon, delta):
    large, small = Fraction(epsilon) / 2, Fraction(epsilon) / 5
    options = [(float(step), rho(step * step / 2)) for step in (large, small)] + [(float(large), pure(large))]

    def accepts(before, more):
        one = before.accept(more)
        return one if one.fits else None

    worst = worst_delta(filter_of(epsilon, delta), options, 6, accepts)
    assert worst <= delta
    assert worst > 0 or delta < 0.2


def other(amount):
    return Charge("b", "choose", Measure.ZCDP, Fraction(amount))


def test_the_first_release_may_take_all_of_delta():
    plan = [pure(Fraction(1, 4)), other(Fraction(131, 10000))]
    assert Fraction(95, 100) < total_epsilon(plan, MICRO) < 1
    one = filter_of(1, 1e-6)
    assert not one.plus(plan).fits
    locked = one.accept(plan)
    assert locked.fits
    assert locked.lock is not None
    assert locked.plus([rho(Fraction(1, 10**9))]).lock is locked.lock
    assert not locked.accept(plan).fits
    assert one.locked(plan, locked.lock.order).total == locked.total


def test_a_first_release_of_gaussian_noise_may_fill_the_ledger():
    plan = [pure(Fraction(1, 4)), rho(Fraction(159, 10000))]
    assert Fraction(99, 100) < total_epsilon(plan, MICRO) < 1 < total_epsilon([*plan, other(Fraction(1, 10**9))], MICRO)
    one = filter_of(1, 1e-6)
    locked = one.accept(plan)
    assert locked.fits
    assert locked.lock.text == "gaussian"
    assert one.locked(plan, None, to_gaussian=True).total == locked.total == total_epsilon(plan, MICRO)
    left = (1 - locked.total) * Fraction(99, 100)
    assert locked.accept([pure(left)]).fits
    assert not locked.accept([pure(2 * left)]).fits
    for more in (rho, other):  # all of rho is taken, and nothing else is Gaussian
        assert locked.accept([more(Fraction(1, 10**9))]).total == math.inf
    assert not one.accept([*plan, other(Fraction(1, 10**9))]).fits
    assert one.accept([pure(Fraction(1, 10**6))]).accept(plan).lock is None


def test_a_later_release_may_not():
    plan = [pure(Fraction(1, 4)), other(Fraction(131, 10000))]
    one = filter_of(1, 1e-6).accept([pure(Fraction(1, 10**6))])
    after = one.accept(plan)
    assert after.lock is None
    assert not after.fits
    with pytest.raises(ValueError, match="only the first release"):
        one.locked(plan, Fraction(20))


def approximate(epsilon, delta):
    return Charge("c", "cover", Measure.PURE, Fraction(epsilon), Fraction(delta))


def test_charges_with_a_delta_of_their_own_use_half_of_it_at_most():
    one = filter_of(3, 1e-5).accept([approximate(1, MICRO)])
    assert one.lock is None
    assert one.total == 1
    assert one.accept([approximate(1, 4 * MICRO)]).total == 2
    assert one.accept([approximate(1, 5 * MICRO)]).total == math.inf
    both = one.accept([rho(Fraction(1, 50))])
    assert both.fits
    assert both.total >= both.tally.epsilon(both.ceiling.delta) > 1


def test_one_release_may_take_all_of_delta_for_its_own():
    one = filter_of(1, 1e-6).accept([approximate(1, MICRO)])
    assert one.fits
    assert one.lock is not None
    assert one.lock.order is None
    assert not one.accept([rho(Fraction(1, 10**9))]).fits
    assert not one.accept([approximate(0, Fraction(1, 10**9))]).fits
    assert filter_of(1, 1e-6).accept([approximate(1, 2 * MICRO)]).total == math.inf
    assert Tally([[approximate(1, 2 * MICRO)]]).epsilon(MICRO) == math.inf


def test_a_locked_ledger_keeps_what_it_set_aside():
    one = filter_of(1, 1e-6).accept([approximate(Fraction(1, 10), 9 * MICRO / 10), rho(Fraction(1, 100))])
    assert one.fits
    assert one.lock is not None
    assert one.lock.delta == 9 * MICRO / 10
    assert one.accept([approximate(Fraction(1, 10**6), MICRO / 100)]).total == math.inf
