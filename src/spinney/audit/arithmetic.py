"""How losses add up, and what processes lose at most: arithmetic of the auditor's own.

Nothing is imported from the code that plans, prices, charges or calibrates noise: an auditor that shared it would share its
faults. Conversions and the loss of split decisions come from `spinney.verification`, which is written apart from it too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from spinney.privacy.charges import Charge, Measure
from spinney.verification.amounts import ADDITIVE, converted, cover_holds, of_gaussian_noise
from spinney.verification.split_loss import split_loss

#: An exact amount, or infinity.
Amount = Fraction | float
#: What floats may be off by, where they are taken.
ROUNDING = Fraction(1, 10**12)
#: Number of halvings in the search for the least epsilon of a cover.
HALVINGS = 24


@dataclass(frozen=True)
class Protected:
    """Who is protected: whether neighbors replace a unit, and how many rows of it count."""

    replaces: bool
    rows: int

    @classmethod
    def by(cls, unit: Any) -> Protected:
        """Read a unit: its words and numbers, not what it makes of them."""
        return cls(unit.adjacency.value == "replace", int(unit.max_rows))


def rho_as_epsilon(rho: Fraction, delta: Fraction, gaussian: bool) -> Amount:
    """Return an epsilon that `rho` is worth at delta; less, if all of it is Gaussian noise."""
    epsilon = converted(rho, delta)
    if epsilon is None:
        return math.inf
    return of_gaussian_noise(rho, delta, epsilon) if gaussian and rho else epsilon


def total_of(charges: Iterable[Charge], delta: Fraction) -> Amount:
    """Return the epsilon, at `delta`, that charges or losses come to: pure ones add up, those in rho are converted together.

    Charges with a delta of their own leave the rest of it to the conversion.
    """
    charges = list(charges)
    sums: dict[Measure, Amount] = dict.fromkeys(Measure, Fraction(0))
    for charge in charges:
        sums[charge.measure] += charge.amount
    left = delta - sum((charge.delta for charge in charges), Fraction(0))
    pure, rho = sums[Measure.PURE], sums[Measure.ZCDP]
    if isinstance(rho, float) or left < 0:  # which only infinity is
        return math.inf
    gaussian = all(charge.question in ADDITIVE for charge in charges if charge.measure is Measure.ZCDP)
    return pure + rho_as_epsilon(rho, left, gaussian)


def splits_bound(scale: float, decay: int, steps: int, protected: Protected) -> Amount:
    """Return the most that the split decisions of a tree lose, for a whole unit."""
    each = split_loss(scale, decay, steps, protected.replaces)
    return Fraction(each) * protected.rows if math.isfinite(each) else math.inf


def bends_bound(protected: Protected, columns: int, pull: float) -> Fraction:
    """Return the most that the second derivatives of a minimum lose: each row bends every column by at most 1, against a pull."""
    return Fraction(protected.rows * columns * math.log1p(1 / pull)) * (1 + ROUNDING)


def of_samples(loss: Amount, measure: Measure) -> Amount:
    """Return what a row loses that samples may draw several times, from the pure loss of one place of a sample."""
    if loss == math.inf or loss > 50:
        return math.inf
    pure = Fraction(math.sinh(loss)) * (1 + ROUNDING)
    return pure if measure is Measure.PURE else pure * pure / 2


@lru_cache(maxsize=4096)
def cover_bound(scale: float, steps: int, protected: Protected, amount: Amount, delta: Fraction) -> Amount:
    """Return the least epsilon found that the steps of this scale lose at `delta`; about `amount`, if that is enough."""
    step = 1 / Fraction(scale)
    alone = step * protected.rows * (steps + protected.replaces)
    if delta == 0 or amount == math.inf:
        return alone

    def is_enough(epsilon: Fraction) -> bool:
        return cover_holds(step, epsilon, delta, protected.rows, protected.replaces)

    low, high = Fraction(0), Fraction(amount)
    while high < alone and not is_enough(high):
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return min(alone, high)
