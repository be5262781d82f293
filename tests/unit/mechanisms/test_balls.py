"""Noise shaped like a ball: rounded as if all bits were known, how wide it is, and how it is told of."""

import decimal
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.mechanisms import Noise, SecureSource, SeededSource, Sensitivity, Watched, balls, calibrate, privatize
from spinney.mechanisms.balls import _rounded, _Uniforms, add_balls, ball_quantile, ball_std
from spinney.privacy.charges import Charge, Measure


def randbits_of(seed):
    rng = np.random.default_rng(seed)
    return lambda bits: int.from_bytes(rng.bytes(-(-bits // 8))) >> (-bits % 8)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([0.3, 5.0, 1e7, 1e12]), st.sampled_from([16, 24, 64, 128]))
def test_what_is_rounded_stays_when_more_bits_are_known(seed, columns, scale, first_bits):
    """The first bits that tell, and two continuations of them, however they go on, give the same vector."""
    uniforms = _Uniforms(randbits_of(seed))
    uniforms.bits = first_bits
    while (found := _rounded(uniforms, columns, scale)) is None:
        uniforms.deepen()
    for ends in (lambda bits: 0, lambda bits: (1 << bits) - 1, randbits_of(seed + 1)):
        more = _Uniforms(ends)
        more.bits, more._known = uniforms.bits, list(uniforms._known)
        later = None
        for _ in range(4):
            more.deepen()
            later = later or _rounded(more, columns, scale)
        assert later in (None, found)  # all zeros or ones may lie on a border for ever


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(2, 30))
def test_no_error_is_larger_than_the_proof_says(seed, columns):
    """Coordinates in steps, and in steps that are far smaller, from more bits: half a step apart at most."""
    scale, uniforms = 2.0**40, _Uniforms(randbits_of(seed))
    while (found := _rounded(uniforms, columns, scale)) is None:
        uniforms.deepen()
    fine = _Uniforms(randbits_of(seed + 1))
    fine.bits, fine._known = uniforms.bits, list(uniforms._known)
    fine.deepen()
    fine.deepen()
    exact = _rounded(fine, columns, scale * 2.0**30)
    assert exact is not None
    furthest = max(abs(Fraction(one, 2**30) - whole) for one, whole in zip(exact, found, strict=True))
    assert furthest <= Fraction(1, 2) + Fraction(1, 2**20)


def test_few_bits_tell_nothing_and_more_are_drawn():
    uniforms = _Uniforms(randbits_of(0))
    uniforms.bits = 8
    assert _rounded(uniforms, 6, 1e7) is None
    known = [uniforms[place] for place in range(3)]
    uniforms.deepen()
    assert uniforms.bits == 16
    assert [uniforms[place] >> 8 for place in range(3)] == known


def test_numbers_at_a_pole_or_a_border_are_not_trusted():
    assert _rounded(_Uniforms(lambda bits: 0), 6, 1.0) is None
    near = 1 << (balls.FIRST_BITS - balls.FIRST_BITS // balls.NEAR)
    for first in (0, 2**balls.FIRST_BITS - 1, 2 ** (balls.FIRST_BITS - 1)):  # left and right on the circle, and its middle
        uniforms = _Uniforms(lambda bits: 0)
        uniforms._known = [first, 2 ** (balls.FIRST_BITS - 1)]
        assert balls._in_circle(uniforms, 0, near) is None


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.integers(1, 2**200), st.integers(-900, 900), st.sampled_from([13, 33, 97]), st.booleans())
def test_logarithms_are_right_to_a_few_units_of_the_last_digit(whole, exponent, digits, near_one):
    with decimal.localcontext(balls._context(digits)):
        number = 1 - Decimal(whole) / 2**210 if near_one else Decimal(whole) * Decimal(10) ** exponent
        found = balls._logarithm(number)
    with decimal.localcontext(balls._context(digits + 30)):
        exact = number.ln()
        assert abs(found - exact) < 100 * (1 + abs(exact)) * Decimal(10) ** -digits


def test_the_callers_decimals_change_nothing():
    draws = []
    for digits in (28, 3):
        with decimal.localcontext() as context:
            context.prec, context.traps[decimal.Inexact] = digits, digits == 3
            draws.append(add_balls(np.zeros((3, 7), dtype=np.int64), 1e6, randbits_of(4)))
    np.testing.assert_array_equal(*draws)


def test_a_price_buys_its_scale_and_a_draw_tells_its_length():
    moves = Sensitivity(30, 300, columns=6, length=10)
    noise = calibrate(moves, Charge("a", "sums", Measure.PURE, Fraction(1, 7)))
    assert (noise.distribution, noise.columns) == ("ball", 6)
    assert Fraction(noise.scale) * Fraction(1, 7) >= 10
    assert calibrate(moves, Charge("a", "sums", Measure.ZCDP, Fraction(1, 7))).distribution == "gaussian"
    events = []
    noisy = privatize(np.zeros((4, 6), dtype=np.int64), noise, Watched(SeededSource(1), events.append), moves)
    assert noisy.shape == (4, 6)
    assert len(np.unique(np.abs(noisy).max(axis=1))) == 4
    draw = events[0].draw
    assert (draw.distribution, draw.norm, draw.sensitivity, draw.scale) == ("ball", "length of a cell", 10, noise.scale)


@pytest.mark.parametrize("source", [SecureSource(), SeededSource(0)], ids=["secure", "seeded"])
def test_what_is_too_large_for_64_bits_is_saturated(source):
    assert np.abs(source.ball(np.zeros((3, 6), dtype=np.int64), 2.0**66)).max() == 2**63 - 1
    assert not source.ball(np.zeros((3, 6), dtype=np.int64), 1e-6).any()


@pytest.mark.parametrize("columns", [5, 6, 41, 784])
@pytest.mark.parametrize("probability", [0.5, 0.95, 0.999])
def test_margins_hold_what_they_say(columns, probability):
    """Against the law of a coordinate by another road: the length is a gamma number, and a direction's square is a beta one."""
    from scipy.stats import beta, gamma

    even, scale = columns + columns % 2, 1e6
    half = ball_quantile(columns, scale, probability)
    lengths = gamma.ppf((np.arange(4000) + 0.5) / 4000, even)

    def inside(reach):
        return beta.cdf(np.minimum((reach / scale / lengths) ** 2, 1), 0.5, (even - 1) / 2).mean()

    assert inside(0.98 * half) < probability <= inside(half) + 1e-4
    assert Noise("ball", scale, columns).quantile(probability) == half
    assert Noise("ball", scale, columns).std == ball_std(columns, scale) == pytest.approx(scale * math.sqrt(even + 1))
