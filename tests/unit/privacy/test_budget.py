import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.exceptions import ParameterError
from spinney.privacy.budget import Budget, exact, root_up, round_up
from spinney.privacy.trust import Randomness


@pytest.mark.parametrize(
    ("number", "value"),
    [(0.1, Fraction(1, 10)), (1, Fraction(1)), (1e-6, Fraction(1, 10**6)), (np.float64(0.3), Fraction(3, 10)), (0, Fraction(0))],
)
def test_a_number_is_the_decimal_it_prints_as(number, value):
    assert exact(number) == value
    assert isinstance(exact(number), Fraction)


def test_infinity_stays_infinite():
    assert exact(math.inf) == math.inf
    assert Budget.of(math.inf).is_infinite


def test_a_budget_is_exact_and_pure_by_default():
    budget = Budget.of(0.7)
    assert (budget.epsilon, budget.delta, budget.is_infinite) == (Fraction(7, 10), Fraction(0), False)


@pytest.mark.parametrize("wrong", [{"epsilon": "1"}, {"epsilon": None}, {"epsilon": 1j}, {"epsilon": 1.0, "delta": [0.0]}])
def test_a_budget_is_made_of_numbers(wrong):
    with pytest.raises(ParameterError, match=f"{list(wrong)[-1]}.*a number of at least 0"):
        Budget.of(**wrong)


@given(st.fractions(Fraction(1, 10**40), 10**40) | st.floats(1e-300, 1e300).map(Fraction))
def test_rounding_up_gives_the_least_float_not_below(number):
    rounded = round_up(number)
    assert isinstance(rounded, float)
    assert Fraction(math.nextafter(rounded, 0.0)) < number <= Fraction(rounded)
    assert (round_up(Fraction(0)), round_up(math.inf)) == (0, math.inf)


@pytest.mark.parametrize("amount", [Fraction(-1, 10), -1, 0.5, math.nan, -math.inf, "1", None, True])
def test_a_budget_is_exact_and_not_negative(amount):
    with pytest.raises(ParameterError, match="epsilon"):
        Budget(amount, Fraction(0))
    with pytest.raises(ParameterError, match="delta"):
        Budget(Fraction(1), amount)
    assert type(Budget(1, 0).epsilon) is type(Budget(1, 0).delta) is Fraction


@given(st.fractions(Fraction(1, 10**40), 10**40) | st.integers(1, 2**120))
def test_a_root_is_rounded_up_and_by_a_few_bits_at_most(number):
    root = Fraction(root_up(number))
    assert number <= root**2 <= number * (1 + Fraction(1, 2**50))


def test_a_budget_that_is_hardly_a_promise_says_so():
    for kept in (Budget.of(10.0, 0.001), Budget.of(math.inf, 0.5)):
        assert kept.loose is None
    for epsilon, delta, words in ((10.1, 0.0, ["An epsilon above 10"]), (0.5, 0.002, ["A delta above 0.001"])):
        assert [line.split(" is hardly")[0] for line in Budget.of(epsilon, delta).loose.split("\n")[::2]] == words


def test_a_word_that_is_no_randomness_is_not_repeated():
    assert [one for one in Randomness if one.is_exact] == [Randomness.NONE]
    with pytest.raises(ValueError, match="one of the texts of Randomness") as caught:
        Randomness("canary")
    assert "canary" not in str(caught.value)
