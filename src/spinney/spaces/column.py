"""What is public about one column of a table: its kind, its bounds or categories, its unit, what a missing cell is read as.

A column of numbers, of dates (whole days since a stated day) or of truth values (1 and 0) is one column of a fit; one of
categories is an indicator column for each of them. Numbers are divided by a unit: a difference of one unit
counts the same in every column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.plain_values import EPOCH, short


@dataclass(frozen=True)
class Column:
    """Public facts about one column.

    Parameters
    ----------
    name : str or None
        None in a table without names.
    kind : {"number", "date", "boolean", "category"}
    lower, upper : float
        Bounds, of dates in days since the epoch.
    unit : float
        How much of a number, or how many days, count as one.
    weight : float
        How far true is from false, or a category from another one.
    categories : tuple of str
    epoch : date or None
        What days are counted from.
    fill : float, str or None
        What a missing cell is read as, a category by its name; None: the whole row is missing.
    source : str
        Where the facts come from.
    stated : bool
        Whether the unit or weight was said, and not taken for want of one.
    formats : tuple of str
        Notations of numbers or dates, in the order in which they are tried; none: plain ones.
    signs : tuple of str
        Texts that may stand beside a number.
    missing : tuple of float
        Own numbers that mean that nothing is known.
    aliases : tuple of (str, str)
        Other names of categories or truth values, each with what it stands for.
    ignore_case : bool
        Whether letters of categories are read alike in both cases.
    """

    name: str | None
    kind: str
    lower: float = 0.0
    upper: float = 1.0
    unit: float = 1.0
    weight: float = 1.0
    categories: tuple[str, ...] = ()
    epoch: date | None = None
    fill: float | str | None = None
    source: str = ""
    stated: bool = False
    formats: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    missing: tuple[float, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    ignore_case: bool = False

    @property
    def is_coded(self) -> bool:
        """Whether its cells are more than plain numbers, or texts of such."""
        return self.kind != "number" or bool(self.formats or self.signs)

    def known(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return own numbers, those that mean that nothing is known as missing, and what is missing as the column says."""
        if self.missing:
            values = np.where(np.isin(values, self.missing), np.nan, values)
        if self.fill is None:
            return values
        code = self.categories.index(str(self.fill)) if self.kind == "category" else self.fill
        return np.where(np.isfinite(values), values, float(code))

    @property
    def width(self) -> int:
        """How many columns of a fit it becomes."""
        return len(self.categories) if self.kind == "category" else 1

    @property
    def step(self) -> float:
        """What its numbers are divided by; two different categories are then `weight` apart."""
        if self.kind in ("number", "date"):
            return self.unit
        return (math.sqrt(2) if self.kind == "category" else 1.0) / self.weight

    @property
    def titles(self) -> tuple[str, ...] | None:
        """What its columns of a fit are called."""
        if self.name is None:
            return None
        return tuple(f"{self.name}={one}" for one in self.categories) if self.kind == "category" else (self.name,)

    def day(self, number: float) -> str:
        """Return a number of days since the epoch as a date, or as it is if there is no such date."""
        try:
            return ((self.epoch or EPOCH) + timedelta(days=round(number))).isoformat()
        except (OverflowError, ValueError):
            return f"day {number:.5g}"

    def shown(self, number: float) -> str | None:
        """Return its own number as people write it: a date, or a share in percent; None if it is a plain number."""
        if self.kind == "number":
            return None
        return self.day(number) if self.kind == "date" else f"{round(100 * number, 1) + 0.0:.1f}%"

    def shown_margin(self, margin: float) -> str:
        """Return how far its own number may be off."""
        if self.kind in ("number", "date"):
            return short(float(f"{margin:.2g}"), 2) + (" days" if self.kind == "date" else "")
        return f"{100 * margin:.2g}%"
