import math
from fractions import Fraction

import numpy as np
import pytest

from alarms import check_frequencies
from spinney.mechanisms.coverage import choose_cover, step_epsilon
from spinney.mechanisms.source import SecureSource
from spinney.privacy import Adjacency, Charge, Measure, Unit


def step(epsilon, delta=0.0, adjacency="add-remove", max_rows=1, steps=10):
    charge = Charge("cover", "cover", Measure.PURE, Fraction(epsilon), Fraction(delta))
    return step_epsilon(charge, Unit(Adjacency(adjacency), max_rows), steps)


def test_without_a_delta_every_step_pays_for_itself():
    assert step(Fraction(1)) == Fraction(1, 10)
    assert step(Fraction(1), adjacency="replace") == Fraction(1, 11)
    assert step(Fraction(1), max_rows=3) == Fraction(1, 30)
    assert step(Fraction(1), adjacency="replace", max_rows=3) == Fraction(1, 33)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.4])
def test_with_a_delta_all_steps_share_one_price(epsilon, delta):
    expected = min(epsilon, math.log1p(epsilon / math.log(1 / delta)))
    assert float(step(epsilon, delta, steps=10**6)) == pytest.approx(expected, rel=1e-6)
    assert float(step(epsilon, delta, steps=10**6)) < expected
    assert step(epsilon, delta, steps=1) == epsilon  # one step alone needs no delta


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("max_rows", [1, 2, 7])
def test_groups_and_replaced_rows_meet_the_conditions_of_the_proof(epsilon, max_rows):
    delta, m = 1e-4, max_rows
    added = float(step(epsilon, delta, max_rows=m, steps=10**7))
    one = delta * math.expm1(epsilon / m) / math.expm1(epsilon)
    assert math.expm1(added) * math.log(1 / one) <= epsilon / m
    assert added <= epsilon / m
    replaced = float(step(epsilon, delta, "replace", m, steps=10**7))
    # The epsilon that is left for rows that come, and the delta for one of them.
    left = epsilon / m - replaced
    single = delta * math.exp(-m * replaced) * math.expm1(left) / math.expm1(m * left)
    assert math.expm1(replaced) * math.log(1 / single) <= left
    assert 0.3 * added < replaced < added


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("max_rows", [1, 2, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-9, 1e-6), (1e6, 0.5), (1e300, 0.999), (1.0, 5e-324), (1.0, 1 - 2**-53)])
def test_no_budget_raises(epsilon, delta, adjacency, max_rows):
    found = step(epsilon, delta, adjacency, max_rows)
    assert 0 < found <= epsilon
    assert found >= step(epsilon, 0.0, adjacency, max_rows)


def test_without_noise_the_largest_set_is_chosen():
    assert step_epsilon(Charge("cover", "cover", Measure.PURE, math.inf), Unit(), 3) == math.inf
    assert choose_cover(np.array([1, 5, 5]), math.inf, SecureSource()) == 1


def test_rho_is_refused():
    with pytest.raises(ValueError, match="epsilon"):
        step_epsilon(Charge("cover", "cover", Measure.ZCDP, Fraction(1)), Unit(), 3)


def test_frequencies_match_the_exact_probabilities(alarm):
    picks = [choose_cover(np.array([0, 2, 3]), Fraction(1, 2), SecureSource()) for _ in range(4000)]
    law = np.exp(0.5 * np.array([0, 2, 3]))
    check_frequencies(np.bincount(picks, minlength=3), law / law.sum(), alarm)
