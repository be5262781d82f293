"""How charges add up, written a second time: in decimals of fifty digits, apart from the code that plans and charges.

Pure charges add. Charges of zCDP add, and their sum is converted to an epsilon at delta by the best Renyi order. Any order gives
a lawful bound, so that the search needs no care; what it finds is evaluated once more and rounded up.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

__all__ = ["DIGITS", "converted", "decimal_of", "fraction_of", "told"]

#: Digits of all decimals, and what the last of them may be off by after a few dozen operations.
DIGITS = 50
SLACK = Decimal(10) ** -40
#: Texts of numbers are not longer: exact fractions of floats have some 650 digits at most.
LONGEST = 2000


def fraction_of(text: Any) -> Fraction | None:
    """Return the number that a text holds as a whole number or an exact fraction, or None if it does not."""
    if not (isinstance(text, str) and len(text) <= LONGEST):
        return None
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
