"""The privacy budget, in exact rationals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Amount", "Budget", "exact", "round_up"]

#: A privacy amount: an exact rational, or ``math.inf`` when noise is switched off.
Amount = Fraction | float


def exact(number: float) -> Amount:
    """Read a number as the decimal it prints as; infinity stays ``math.inf``.

    Parameters
    ----------
    number : float
        For example 0.1, which is read as 1/10 and not as the nearest binary fraction.

    Returns
    -------
    Fraction or math.inf
    """
    number = float(number)
    return math.inf if math.isinf(number) else Fraction(repr(number))


def round_up(number: Amount) -> float:
    """Return the least float that is not below an exact number."""
    rounded = float(number)
    return rounded if rounded == math.inf or Fraction(rounded) >= number else math.nextafter(rounded, math.inf)


@dataclass(frozen=True)
class Budget:
    """What one fit may spend: (epsilon, delta)-differential privacy."""

    epsilon: Amount
    delta: Fraction

    @classmethod
    def of(cls, epsilon: float, delta: float = 0.0) -> Budget:
        """Read a budget from the numbers a user typed."""
        return cls(exact(epsilon), Fraction(exact(delta)))

    @property
    def is_infinite(self) -> bool:
        """Whether noise is switched off."""
        return self.epsilon == math.inf
