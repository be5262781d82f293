"""What discrete Gaussian noise costs, closer than by its zCDP: hardly more than continuous noise of the same size.

Letters: m = 2 rho, the sum of the squares of how far answers move in standard deviations of their noise; q, the ripple; r = q m /
(2 pi^2). Against continuous noise, one that lives on whole numbers costs a variance that is 1 / (1 - r) times as large, and a
delta that is exp(2.1 exp(-q)) times as large; every q gives a valid bound, and the best of a few is taken.

Proof: ``proofs/gaussian.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from spinney.privacy.budget import remembered

#: Questions that are answered with discrete Gaussian noise and nothing else, if they are charged in rho.
GAUSSIAN = frozenset({"counts", "sums", "cost", "totals", "levels", "lengths", "persons"})
#: The ripples that are tried.
RIPPLES = tuple(range(3, 17))
#: No more is tried: a larger variance would be worth less than zCDP is.
MOST_WIDENED = 0.5
#: Where rounding might show: of the two terms of a delta, of the delta that is looked for, and of the epsilon.
ROUNDING, DELTA_ROUNDING, EPSILON_ROUNDING = 2.0**-48, 2.0**-40, 2.0**-24
#: Smaller numbers are not distinguished, and of a smaller delta no more than zCDP is claimed.
UNDERFLOW, LEAST_DELTA = 1e-280, 1e-30


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Return a delta such that discrete Gaussian noise of `rho`, in any number of answers, is (epsilon, delta)-private."""
    return min(_delta(2 * rho, epsilon, ripple) for ripple in RIPPLES)


def _delta(m: float, epsilon: float, ripple: int) -> float:
    """Return the delta that one ripple gives, rounded up; 1 if it gives none, or if rounding hides it."""
    r = ripple * m / (2 * math.pi**2)
    if m < UNDERFLOW or r > MOST_WIDENED:
        return 1.0
    variance = m / (1 - r)
    std = math.sqrt(variance)
    high, low = (variance - m / 2 - epsilon) / std, (-m / 2 - epsilon) / std
    first = math.exp((variance - m) / 2) * math.erfc(-high / math.sqrt(2)) / 2
    second = math.exp(epsilon) * math.erfc(-low / math.sqrt(2)) / 2
    size = (variance + m + epsilon) / std
    rounding = ROUNDING * (1 + size) ** 2 * (first + second) + UNDERFLOW
    if rounding > EPSILON_ROUNDING * (first - second):
        return 1.0
    return min(math.exp(2.1 * math.exp(-ripple)) * (first - second + rounding), 1.0)


@remembered(256)
def gaussian_epsilon(rho: float, delta: float, largest: float) -> float:
    """Return an epsilon such that Gaussian noise of `rho` is (epsilon, delta)-private: at most `largest`, which holds."""
    aim = delta * (1 - DELTA_ROUNDING)
    if delta < LEAST_DELTA or gaussian_delta(rho, largest) > aim:
        return largest
    low, high = 0.0, largest if gaussian_delta(rho, 0.0) > aim else 0.0
    while high - low > EPSILON_ROUNDING / 16 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if gaussian_delta(rho, middle) <= aim else (middle, high)
    return min(high * (1 + EPSILON_ROUNDING / 16), largest)


@remembered(256)
def gaussian_rho(epsilon: float, delta: float, least: Fraction) -> Fraction:
    """Return the largest rho found such that Gaussian noise of it is (epsilon, delta)-private: at least `least`, which holds."""
    epsilon, aim = epsilon * (1 - EPSILON_ROUNDING), delta * (1 - DELTA_ROUNDING)
    if delta < LEAST_DELTA:
        return least
    low = float(least)
    while gaussian_delta(2 * low, epsilon) <= aim:
        low *= 2
    high = 2 * low
    while high - low > EPSILON_ROUNDING / 16 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, epsilon) <= aim else (low, middle)
    return max(Fraction(low), least)
