"""Whether a measured quantity has the shape of its bound along a sweep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Judged"]


@dataclass(frozen=True)
class Judged:
    """A measured quantity and its bound along a sweep, and where what the bound asks of the mixture is met.

    The rule: is the constant 1 enough, and does the constant that is needed grow fourfold from one end of the sweep to the other.
    """

    values: list[float]
    measured: list[float]
    allowed: list[float]
    met: list[bool]

    @property
    def used(self) -> list[float]:
        """The constant that each value needs."""
        return [one / other for one, other in zip(self.measured, self.allowed, strict=True)]

    @property
    def grows(self) -> bool:
        """Whether the constant is four times as large at the worse end as at the other."""
        return max(self.used[0], self.used[-1]) > 4 * min(self.used[0], self.used[-1])

    @property
    def words(self) -> list[str]:
        """Constants, exponents along the sweep, and the verdict."""
        used, values = self.used, self.values
        text = ", ".join(f"{value:g}: {one:.2g}" for value, one in zip(values, used, strict=True))
        both = (self.measured, self.allowed)
        slopes = [np.polyfit(np.log(values), np.log(np.maximum(numbers, 1e-12)), 1)[0] for numbers in both]
        holds = "**within the bound** with constant 1" if max(used) <= 1 else f"needs a constant of {max(used):.2g}"
        toward = f"{values[-1]:g}" if used[-1] > used[0] else f"{values[0]:g}"
        return [
            text,
            f"{slopes[0]:.2f} / {slopes[1]:.2f}",
            holds + (f"; the constant grows toward {toward}" if self.grows else ""),
        ]
