"""Axes of pictures: a few round values of a column with where they stand, in the column's own units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import pairwise

from spinney.report.publication.document import short
from spinney.spaces.column import Column
from spinney.spaces.plain_values import EPOCH

#: Values on an axis with where each stands, from 0 at its lower end to 1 at its upper one.
Ticks = list[tuple[float, str]]
#: The width of a letter, and what lies between two values, in units of a picture; values are this far apart upwards, at least.
LETTER, GAP, LINE = 7.0, 12.0, 30.0
#: Steps of calendars: days, and months.
DAYS, MONTHS = (1, 2, 5, 10), (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000)
#: Most values on an axis.
MOST = 6


def _steps(width: float) -> Iterator[float]:
    """Yield steps of 1, 2 or 5 times a power of ten, from one that gives too many values upwards."""
    power = 10.0 ** math.floor(math.log10(width / 20))
    for factor in (1, 2, 5, 10, 20, 50, 100, 200):
        yield factor * power


def _numbers(low: float, high: float, factor: float = 1.0, unit: str = "") -> Iterator[list[tuple[float, str]]]:
    """Yield round numbers between two bounds with how they are written, ever fewer of them."""
    low, high = factor * low, factor * high
    for step in _steps(high - low):
        places = max(-math.floor(math.log10(step) + 1e-9), 0)
        found = [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        plain = step >= 1e-4 and max(abs(low), abs(high)) < 1e9
        yield [(one / factor, (f"{one + 0.0:,.{places}f}" if plain else short(one)) + unit) for one in found]


def _days(epoch: date, low: float, high: float) -> Iterator[list[tuple[float, str]]]:
    """Yield round days between two numbers of days with how they are written, ever fewer of them."""
    first, last = (epoch + timedelta(days=end) for end in (math.ceil(low), math.floor(high)))
    for step in DAYS if high - low <= MOST * DAYS[-1] else ():
        days = range(-(-math.ceil(low) // step) * step, math.floor(high) + 1, step)
        yield [(float(day), (epoch + timedelta(days=day)).isoformat()) for day in days]
    for step in MONTHS:
        firsts = range(-(-(12 * first.year + first.month - 1) // step) * step, 12 * last.year + last.month, step)
        days_of = [date(month // 12, month % 12 + 1, 1) for month in firsts if month >= 12]
        told = [(float((day - epoch).days), day.isoformat()[: 4 if step >= 12 else 7]) for day in days_of]
        yield [one for one in told if low <= one[0] <= high]


def _ticks(fact: Column, low: float, high: float, room: Callable[[str], float]) -> Ticks:
    """Return the most round values that have the room that their texts need; the ends, if there are no two round ones."""
    width = high / 2 - low / 2
    if not 0 < width < math.inf or not math.isfinite(2 * width):
        return []
    if fact.kind == "date":
        try:
            each = list(_days(fact.epoch or EPOCH, low, high))
        except (OverflowError, ValueError):  # no days of the calendar
            each = list(_numbers(low, high))
    else:
        each = list(_numbers(low, high) if fact.kind == "number" else _numbers(low, high, 100.0, "%"))
    ends = [(end, fact.shown(end) or short(end)) for end in (low, high)]
    for found in [*each, ends]:
        ticks, texts = [((value / 2 - low / 2) / width, text) for value, text in found], {text for _, text in found}
        gaps = [after - before for (before, _), (after, _) in pairwise(ticks)]
        if 2 <= len(texts) == len(ticks) <= MOST and min(gaps) >= max(map(room, texts)):
            return ticks
    return []


def across(fact: Column, low: float, high: float, room: float) -> Ticks:
    """Return the values of an axis to the right of this length."""
    return _ticks(fact, low, high, lambda text: (wide(text) + GAP) / room)


def upward(fact: Column, low: float, high: float, room: float) -> Ticks:
    """Return the values of an axis upwards of this length."""
    return _ticks(fact, low, high, lambda text: LINE / room)


def wide(text: str) -> float:
    """Return about how wide a text is."""
    return LETTER * len(text)
