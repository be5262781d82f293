"""Whether a measured quantity has the shape of its bound along a sweep, and what an exponent with its error comes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Exponent", "Judged", "compared", "judged", "settled"]


@dataclass(frozen=True)
class Judged:
    """A measured quantity and its bound along a sweep, and where what the bound asks of the mixture is met.

    A bound is vacuous where it is above what one center would cost too much: it says nothing there, and is not judged. The rule:
    is the constant 1 enough, and does the constant that is needed grow fourfold from one end of the sweep to the other.
    """

    values: list[float]
    measured: list[float]
    allowed: list[float]
    met: list[bool]
    vacuous: tuple[bool, ...] = ()

    @property
    def is_vacuous(self) -> tuple[bool, ...]:
        """Whether the bound is vacuous at each value."""
        return self.vacuous or (False,) * len(self.values)

    @property
    def told(self) -> list[tuple[float, bool]]:
        """The constant needed and whether the condition is met, at each value where the bound is not vacuous."""
        return [(used, met) for used, met, no in zip(self.used, self.met, self.is_vacuous, strict=True) if not no]

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
        each = zip(values, used, self.is_vacuous, strict=True)
        text = ", ".join(f"{value:g}: {one:.2g}" + (" (vacuous)" if no else "") for value, one, no in each)
        both = (self.measured, self.allowed)
        slopes = [np.polyfit(np.log(values), np.log(np.maximum(numbers, 1e-12)), 1)[0] for numbers in both]
        most = max((one for one, _ in self.told), default=0.0)
        holds = "**within the bound** with constant 1" if most <= 1 else f"needs a constant of {most:.2g}"
        holds = holds if self.told else "**vacuous**"
        toward = f"{values[-1]:g}" if used[-1] > used[0] else f"{values[0]:g}"
        return [
            text,
            f"{slopes[0]:.2f} / {slopes[1]:.2f}",
            holds + (f"; the constant grows toward {toward}" if self.grows else ""),
        ]


@dataclass(frozen=True)
class Exponent:
    """An exponent, or a difference of two, and its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, slopes: list[float]) -> Exponent:
        """Take the first slope, and the spread of the others, which are of repetitions drawn again."""
        return cls(slopes[0], float(np.std(slopes[1:])))

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.2f}"


def judged(value: Exponent, most: float, shape: Judged) -> str:
    """Return whether an exponent is at most so much: not contradicted if it is larger by less than two standard errors.

    The claim is an upper bound. Where that holds with constant 1 along the whole sweep, a larger exponent is no contradiction.
    """
    if value.value <= most:
        return "**holds**"
    if value.value - 2 * value.error <= most:
        return "**not contradicted**"
    if max(shape.used) <= 1:
        return "**not contradicted**: it grows faster, and stays within the bound with constant 1"
    return "**does not hold**"


def compared(gaps: dict[float | None, Exponent]) -> str:
    """Return whether one exponent is below another: clearly so with all values, and below with any one of them left out."""
    whole = gaps[None]
    turned = [f"{value:g}" for value, gap in gaps.items() if value is not None and gap.value * whole.value <= 0]
    if turned:
        return f"**not decided**: which is smaller rests on the value {' or '.join(turned)}"
    if abs(whole.value) <= 2 * whole.error:
        return "**not decided**: the difference is within two standard errors"
    return "**holds**" if whole.value < 0 else "**does not hold**"


def settled(shapes: list[Judged]) -> str:
    """Return what a bound comes to over several sweeps: vacuous cells do not count, and a theorem is about its condition."""
    told = [one for shape in shapes for one in shape.told]
    most, inside = max((used for used, _ in told), default=0.0), [used for used, met in told if met]
    if not told:
        return "**vacuous** everywhere"
    if not inside:
        more = "a constant of 1 serves without it" if most <= 1 else f"without it a constant of {most:.2g} is needed"
        return f"**not tested**: its condition is met nowhere; {more}"
    if max(inside) > 1:
        return f"**needs a constant** of {max(inside):.2g}"
    return "**holds** with constant 1" + (f" where its condition is met; elsewhere {most:.2g}" if most > 1 else "")
