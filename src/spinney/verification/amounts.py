"""How charges add up, written a second time: in decimals of fifty digits, apart from the code that plans and charges.

Pure charges add. Charges of zCDP add, and their sum is converted to an epsilon at delta by the best Renyi order. Any order gives
a lawful bound, so that the search needs no care; what it finds is evaluated once more and rounded up. Gaussian noise alone costs
less, hardly more than continuous noise would: any ripple gives a lawful bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

#: Digits of all decimals, and what the last of them may be off by after a few dozen operations.
DIGITS = 50
SLACK = Decimal(10) ** -40
#: Questions whose answers have Gaussian noise and nothing else, if they are charged in rho.
ADDITIVE = ("cost", "counts", "lengths", "levels", "persons", "sums", "totals")
#: Ripples of noise on whole numbers that are tried.
RIPPLES = range(3, 17)
#: What a search in floats may be off by, and the least delta for which decimals of this many digits are tried.
NEAR, LEAST_DELTA = Decimal(10) ** -9, 1e-30
PI = Decimal("3.1415926535897932384626433832795028841971693993751058")
#: A tail beyond this many standard deviations is summed by a fraction, a nearer one by a series.
FAR = 3
#: Texts of numbers are not longer: exact fractions of floats have some 650 digits at most.
LONGEST = 2000


def fraction_of(text: Any) -> Fraction | None:
    """Return the number that a text holds as a whole number or an exact fraction, or None if it does not."""
    return _fraction(text) if type(text) is str and len(text) <= LONGEST else None


@lru_cache(2**14)
def _fraction(text: str) -> Fraction | None:
    above, stroke, below = text.partition("/")
    if not (above.isascii() and above.isdigit() and (below.isascii() and below.isdigit() if stroke else True)):
        return None
    return Fraction(int(above), int(below or 1)) if int(below or 1) else None


def told(number: float) -> Fraction:
    """Return the most that a number in a file may mean: the decimal that is printed, or the float behind it."""
    return max(Fraction(number), Fraction(repr(float(number))))


def decimal_of(number: Fraction) -> Decimal:
    """Return a fraction as a decimal, in the precision of the context."""
    return Decimal(number.numerator) / Decimal(number.denominator)


def _least(function: Callable[[Decimal], Decimal], low: Decimal, high: Decimal, rounds: int = 90) -> Decimal:
    """Return a place near the least value of a function with one valley, by golden sections."""
    share = (Decimal(5).sqrt() - 1) / 2
    first, second = high - share * (high - low), low + share * (high - low)
    at_first, at_second = function(first), function(second)
    for _ in range(rounds):
        if at_first <= at_second:
            high, second, at_second = second, first, at_first
            first = high - share * (high - low)
            at_first = function(first)
        else:
            low, first, at_first = first, second, at_second
            second = low + share * (high - low)
            at_second = function(second)
    return (low + high) / 2


@lru_cache(2**12)
def converted(rho: Fraction, delta: Fraction) -> Fraction | None:
    """Return an epsilon such that rho-zCDP implies (epsilon, delta), or None if there is none.

    For an order a > 1 the divergence is at most a rho, which gives a rho + (log(1/delta) - log(a)) / (a - 1) + log(1 - 1/a)
    (Canonne, Kamath and Steinke 2020, Proposition 12). It is searched over the logarithm of a - 1.
    """
    if rho == 0:
        return Fraction(0)
    if not 0 < delta < 1:
        return None
    with localcontext() as context:
        context.prec = DIGITS
        amount, log_delta = decimal_of(rho), decimal_of(delta).ln()

        def epsilon(log_gap: Decimal) -> Decimal:
            gap = log_gap.exp()
            order = 1 + gap
            return order * amount + (-log_delta - order.ln()) / gap + (gap / order).ln()

        middle = (-log_delta / amount).ln() / 2
        best = epsilon(_least(epsilon, middle - 6, middle + 6))
        context.rounding = ROUND_CEILING
        return Fraction(max(best, Decimal(0)) * (1 + SLACK) + SLACK)


def cover_holds(step: Fraction, amount: Fraction, delta: Fraction, rows: int, replaces: bool) -> bool:
    """Whether all steps of a cover lose at most this epsilon but with probability delta: ``proofs/coverage.md``, exactly.

    Rows of a unit come one after another, each at the same epsilon; those that are replaced leave before, at one step each.
    """
    each = amount / rows - (step if replaces else 0)
    if not (0 < delta < 1 and step <= each):
        return False
    with localcontext() as context:
        context.prec = DIGITS
        lean, one = decimal_of(step), decimal_of(each)
        rare = -decimal_of(delta).ln() + (rows * lean if replaces else 0)
        if rows > 1:  # a chain of rows: the logarithm of 1 + e^x + ... + e^((rows - 1) x)
            rare += (rows - 1) * one + ((1 - (-rows * one).exp()) / (1 - (-one).exp())).ln()
        return lean <= (1 + one / rare).ln() * (1 - SLACK)


def normal_share(place: Decimal) -> Decimal:
    """Return the probability that a standard normal variable is below a place, to about fifty digits of itself."""
    with localcontext() as context:
        context.prec += 30  # the series loses digits where it is small
        density = (-place * place / 2).exp() / (2 * PI).sqrt()
        if abs(place) > FAR:
            fraction = abs(place)
            for step in range(400, 0, -1):
                fraction = abs(place) + step / fraction
            tail = density / fraction
            return 1 - tail if place > 0 else tail
        term = total = place
        for step in range(3, 400, 2):
            term = term * place * place / step
            total += term
        return Decimal("0.5") + density * total


@lru_cache(2**12)
def of_gaussian_noise(rho: Fraction, delta: Fraction, known: Fraction) -> Fraction:
    """Return an epsilon, at most `known`, at which Gaussian noise on whole numbers, of `rho` in all, is (epsilon, delta)-private.

    Noise that moves by m = 2 rho squared standard deviations in all has at most exp(2.1 exp(-q)) times the delta of a continuous
    loss of mean -m/2 and variance m / (1 - q m / (2 pi^2)), for every q of at least 3. The search is in floats, and what it
    finds is evaluated in decimals.
    """
    low, high, m = 0.0, float(known), 2 * float(rho)
    ripples = [one for one in RIPPLES if one * m <= math.pi**2]
    if not ripples or float(delta) < LEAST_DELTA:
        return known
    for _ in range(60):
        middle = (low + high) / 2
        is_enough = min(_roughly_lost(m, middle, one) for one in ripples) <= float(delta)
        low, high = (low, middle) if is_enough else (middle, high)
    ripple = min(ripples, key=lambda one: _roughly_lost(m, high, one))
    with localcontext() as context:
        context.prec = DIGITS
        moved, epsilon = 2 * decimal_of(rho), Decimal(high) * (1 + NEAR)
        variance = moved / (1 - ripple * moved / (2 * PI * PI))
        std = variance.sqrt()
        lost = ((variance - moved) / 2).exp() * normal_share((variance - moved / 2 - epsilon) / std)
        lost -= epsilon.exp() * normal_share((-moved / 2 - epsilon) / std)
        holds = (Decimal("2.1") * Decimal(-ripple).exp()).exp() * lost + SLACK <= decimal_of(delta)
    return min(Fraction(epsilon), known) if holds else known


def _roughly_lost(m: float, epsilon: float, ripple: int) -> float:
    """Return the delta of a loss, in floats."""
    variance = m / (1 - ripple * m / (2 * math.pi**2))
    first, second = ((shift - m / 2 - epsilon) / math.sqrt(2 * variance) for shift in (variance, 0.0))
    lost = math.exp((variance - m) / 2) * math.erfc(-first) - math.exp(min(epsilon, 700.0)) * math.erfc(-second)
    return math.exp(2.1 * math.exp(-ripple)) * lost / 2
