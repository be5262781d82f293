"""Plain values as people write them: names, numbers, days; None for anything else."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date
from numbers import Real
from typing import Any

import numpy as np

#: What days are counted from, if nothing is said.
EPOCH = date(1970, 1, 1)
#: Floats are whole numbers up to here.
LARGEST_WHOLE = 2**53
#: A whole number that is written with zeros behind a point.
WHOLE = r"^(0|-?[1-9][0-9]*)\.0+$"


def canonical_name(text: str) -> str:
    """Return a name as it is read from a cell of this text: without blanks around it; a whole number by its digits."""
    return re.sub(WHOLE, r"\1", text.strip())


def is_positive(value: Any) -> bool:
    """Whether this is a positive finite number."""
    number = number_of(value)
    return number is not None and number > 0


def number_of(value: Any) -> float | None:
    """Return a finite number, or None."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def day_of(value: Any) -> date | None:
    """Return the day that a date, a point in time or a text such as ``2025-12-31`` names, or None."""
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[D]").item()
    try:
        if isinstance(value, str):
            return date.fromisoformat(value)
        if isinstance(value, date):
            return date(value.year, value.month, value.day)
    except (TypeError, ValueError):  # a date that is none
        pass
    return None


def days_since(epoch: date) -> Callable[[Any], float | None]:
    """Return what reads a day as a number of days since another one."""

    def read(value: Any) -> float | None:
        day = day_of(value)
        return None if day is None else float((day - epoch).days)

    return read


def is_digits(text: str) -> bool:
    """Whether a text reads as a number: a list of such may as well be meant as bounds, and must say that it is of categories."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def short(value: float, digits: int = 4) -> str:
    """Return a number in this many digits; large ones with commas, and very large or small ones with a power of ten."""
    value = float(value)
    if not math.isfinite(value) or value == 0:
        return "0" if value == 0 else str(value)
    size = abs(value)
    if not 1e-4 <= size < 1e9:
        return f"{value:.{digits}g}"
    places = max(digits - 1 - math.floor(math.log10(size)), 0)
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def within(value: float, margin: float) -> str | None:
    """Return a number rounded to the second digit of its margin; None if there is no such digit."""
    if not (math.isfinite(value) and math.isfinite(margin) and 1e-6 <= margin < 1e9 and abs(value) < 1e12):
        return None
    places = 1 - math.floor(math.log10(margin))
    return f"{round(value, places) + 0.0:,.{max(places, 0)}f}"
