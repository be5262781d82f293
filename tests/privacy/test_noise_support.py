"""Rule 1: noise is exact and discrete, so that no output tells two inputs apart for certain."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from spinney.mechanisms import SecureSource, Sensitivity, calibrate, privatize
from spinney.privacy.charges import Charge, Measure

DRAWS = 20_000
KINDS = [(Measure.PURE, Fraction(1)), (Measure.ZCDP, Fraction(1, 2))]


def noisy(value, measure, amount, size=DRAWS):
    noise = calibrate(Sensitivity(1, 1), Charge("test", "counts", measure, amount))
    return privatize(np.full(size, value), noise, SecureSource())


@pytest.mark.parametrize(("measure", "amount"), KINDS)
def test_inputs_zero_and_one_have_the_same_support(measure, amount, alarm):
    zero, one = noisy(0, measure, amount), noisy(1, measure, amount)
    assert zero.dtype == one.dtype == np.int64
    # Every integer within two scales of both inputs comes in more than one of fifty draws.
    likely = set(range(-1, 3))
    assert 2 * len(likely) * 0.98**DRAWS < alarm
    assert likely <= set(zero.tolist())
    assert likely <= set(one.tolist())


@pytest.mark.parametrize(("measure", "amount"), [(Measure.PURE, Fraction(1, 50)), (Measure.ZCDP, Fraction(1, 5000))])
def test_trailing_bits_do_not_depend_on_the_input(measure, amount, alarm):
    # The noise is some fifty steps wide, so the last two bits are uniform up to one part in a million.
    table = [np.bincount(noisy(value, measure, amount) % 4, minlength=4) for value in (0, 1)]
    assert min(map(min, table)) > 0
    assert chi2_contingency(table).pvalue > alarm


@pytest.mark.parametrize(("measure", "amount"), KINDS)
def test_every_slot_gets_its_own_noise_empty_or_not(measure, amount, alarm):
    noise = calibrate(Sensitivity(1, 1), Charge("test", "counts", measure, amount / 10**6))
    noisy = privatize(np.zeros((20, 30), dtype=np.int64), noise, SecureSource())
    assert noisy.shape == (20, 30)
    # Two of 600 slots agree with a chance of less than 1e-6, so 300 that do would take far more than luck.
    assert len(np.unique(noisy)) > 300
    assert alarm > 1e-300


@given(
    measure=st.sampled_from(Measure),
    l1=st.integers(1, 2**30),
    amount=st.fractions(min_value=Fraction(1, 10**9), max_value=10**3, max_denominator=10**12),
)
@settings(deadline=None, derandomize=True)
def test_scales_are_rounded_upward_only(measure, l1, amount):
    scale = Fraction(calibrate(Sensitivity(l1, l1 * l1), Charge("test", "counts", measure, amount)).scale)
    if measure is Measure.PURE:
        assert l1 / scale <= amount
        assert l1 / scale > amount * (1 - Fraction(1, 10**14))
    else:
        assert l1 * l1 / (2 * scale * scale) <= amount
        assert l1 * l1 / (2 * scale * scale) > amount * (1 - Fraction(1, 10**14))


def test_exact_answers_beyond_64_bits_are_saturated_before_noise():
    noise = calibrate(Sensitivity(1, 1), Charge("test", "counts", Measure.PURE, Fraction(1)))
    answers = privatize(np.array([10**30, -(10**30), 0], dtype=object), noise, SecureSource())
    assert answers.dtype == np.int64
    assert abs(int(answers[0]) - 2**61) < 200
    assert abs(int(answers[1]) + 2**61) < 200
