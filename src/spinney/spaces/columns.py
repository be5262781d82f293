"""What is public about one column of a table: its kind, its bounds or categories, its unit, what a missing cell is read as.

A column of numbers, of dates (whole days since a stated day) or of truth values (1 and 0) is one column of a fit; one of
categories is an indicator column for each of them. Numbers are divided by a unit, so that one unit of a column is as far as one
of another.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from numbers import Real
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError
from spinney.naming import named
from spinney.spaces.box import NARROWEST, WIDEST

__all__ = ["EPOCH", "HINT", "WHOLE", "Column", "as_typed", "canonical_name", "column_of", "day_of", "is_positive", "wrong_column"]

#: What days are counted from, if nothing is said.
EPOCH = date(1970, 1, 1)
#: A list of more categories is rather a column of a table.
MOST_CATEGORIES = 1_000
#: A whole number that is written with zeros behind a point.
WHOLE = r"^(0|-?[1-9][0-9]*)\.0+$"
HINT = (
    "bounds={'age': (0, 110), 'region': ['north', 'south', 'west'], 'admitted': (date(2020, 1, 1), date(2025, 12, 31)), "
    "'smoker': bool}, or a dict for a column: {'bounds': (0, 110), 'unit': 10, 'fill': 40, 'source': 'life tables'}."
)
#: What the dict of a column may say beside its kind.
WORDS = {
    "bounds": {"unit", "fill", "source"},
    "dates": {"unit", "fill", "source", "epoch"},
    "categories": {"weight", "fill", "source"},
    "boolean": {"weight", "fill", "source"},
}
#: What a dict calls each kind.
KINDS = {"bounds": "number", "dates": "date", "categories": "category", "boolean": "boolean"}


def canonical_name(text: str) -> str:
    """Return a name as it is read from a cell of this text: without blanks around it; a whole number by its digits."""
    return re.sub(WHOLE, r"\1", text.strip())


def wrong_column(owner: str, name: Any, expected: str, got: object = None) -> ParameterError:
    """Return the error about one column of a schema; nothing but names of columns and types is told."""
    told = "something else" if got is None else type(got).__name__
    return ParameterError.wrong("bounds", owner, f"{expected} for column {named(name)}", told, HINT)


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
        So much of a number, or so many days, count as one.
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
        """Return so many days since the epoch as a date, or as they are if there is no such date."""
        try:
            return ((self.epoch or EPOCH) + timedelta(days=round(number))).isoformat()
        except (OverflowError, ValueError):
            return f"day {number:.5g}"

    def shown(self, number: float) -> str | None:
        """Return its own number as people write it: a date, or a share in percent; None if it is a plain number."""
        if self.kind == "number":
            return None
        return self.day(number) if self.kind == "date" else f"{100 * number:.3g}%"

    def shown_margin(self, margin: float) -> str:
        """Return how far its own number may be off."""
        if self.kind == "number":
            return f"{margin:.2g}"
        return f"{margin:.2g} days" if self.kind == "date" else f"{100 * margin:.2g}%"

    def scaled(self, unit: Any, owner: str) -> Column:
        """Return the column with this unit, which must be positive and leave a width that distances can hold."""
        widths = (
            [(self.upper - self.lower) / float(unit), self.upper / float(unit) - self.lower / float(unit)]
            if is_positive(unit)
            else []
        )
        if not widths or not all(NARROWEST < width < WIDEST for width in widths):  # the second one may vanish by rounding
            raise ParameterError.wrong(
                "scale", owner, f"a positive unit for column {named(self.name)}", unit,
                "scale={'age': 10, 'income': 20_000}: ten years weigh as much as 20,000; or scale='bounds'.",
            )  # fmt: skip
        return replace(self, unit=float(unit), stated=True)

    @property
    def record(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        facts: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.kind == "category":
            facts |= {"categories": list(self.categories), "weight": self.weight}
        elif self.kind == "boolean":
            facts |= {"weight": self.weight}
        elif self.kind == "date":
            facts |= {"bounds": [self.day(self.lower), self.day(self.upper)], "unit": self.unit}
            facts |= {"epoch": (self.epoch or EPOCH).isoformat()}
        else:
            facts |= {"bounds": [self.lower, self.upper], "unit": self.unit}
        fill = self.day(self.fill) if self.kind == "date" and isinstance(self.fill, float) else self.fill
        return facts | ({} if fill is None else {"fill": fill}) | ({"source": self.source} if self.source else {})


def as_typed(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a column as it is typed in bounds."""
    word = next(word for word, kind in KINDS.items() if kind == record["kind"])
    given = {name: record[name] for name in WORDS[word] if name in record}
    if word == "boolean":
        return given | {word: True} | ({"fill": bool(given["fill"])} if "fill" in given else {})
    return given | {word: record["categories" if word == "categories" else "bounds"]}


def is_positive(value: Any) -> bool:
    """Whether this is a positive finite number."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and 0 < float(value) < math.inf
    except OverflowError:
        return False


def _number(value: Any) -> float | None:
    """Return a finite number, or None."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def day_of(value: Any) -> date | None:
    """Return the day that a date, a point in time or a text such as ``2025-12-31`` names, or None."""
    try:
        if isinstance(value, str):
            return date.fromisoformat(value)
        if isinstance(value, date):
            return date(value.year, value.month, value.day)
    except (TypeError, ValueError):  # a date that is none
        pass
    return None


def _listed(value: Any) -> list[Any]:
    return list(value) if type(value) in (tuple, list) and len(value) <= MOST_CATEGORIES else []


def _short(given: Any) -> dict[str, Any] | None:
    """Return a column given by its bounds, its dates, its categories or the word bool as a dict; None if it is none of them."""
    if given is bool:
        return {"boolean": True}
    if isinstance(given, Mapping):
        return dict(given) if all(isinstance(word, str) for word in given) else None
    values = _listed(given)
    if len(values) == 2 and all(_number(value) is not None for value in values):
        return {"bounds": given}
    if len(values) == 2 and all(isinstance(value, date) for value in values):
        return {"dates": given}
    if len(values) >= 2 and all(isinstance(value, str) for value in values) and not all(map(_is_digits, values)):
        return {"categories": given}
    return None


def _is_digits(text: str) -> bool:
    """Whether a text reads as a number: a list of such may as well be meant as bounds, and must say that it is of categories."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _ends(name: str, pair: Any, read: Callable[[Any], float | None], what: str, owner: str) -> tuple[float, float]:
    """Return a lower and an upper bound."""
    ends = [read(value) for value in _listed(pair)]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or not NARROWEST < ends[1] - ends[0] < WIDEST:
        raise wrong_column(owner, name, f"{what}, the lower first, {NARROWEST} to {WIDEST} apart", pair)
    return ends[0], ends[1]


def _categories(name: str, given: Any, owner: str) -> tuple[str, ...]:
    """Return the names of categories, each once."""
    listed = _listed(given)
    if len(listed) < 2 or not all(isinstance(one, str) or (isinstance(one, int) and not isinstance(one, bool)) for one in listed):
        raise wrong_column(owner, name, f"a list of 2 to {MOST_CATEGORIES} texts", given)
    names = tuple(canonical_name(str(one)) for one in listed)
    if not all(names) or not all(one.isprintable() for one in names):
        raise wrong_column(owner, name, "categories of printable letters, none of them empty", given)
    if len(set(names)) < len(names):
        raise wrong_column(owner, name, "different categories, each once (blanks around them do not count)", given)
    return names


def _fill(column: Column, given: Any, owner: str) -> float | str | None:
    """Return what a missing cell is read as, which must be a lawful cell."""
    if given is None:
        return None
    if column.kind == "category":
        name = canonical_name(str(given)) if isinstance(given, str | int) else None
        found: float | str | None = name if name in column.categories else None
    elif column.kind == "boolean":
        found = float(given) if isinstance(given, bool) else None
    else:
        number = _days(column.epoch or EPOCH)(given) if column.kind == "date" else _number(given)
        found = number if number is not None and column.lower <= number <= column.upper else None
    if found is None:
        raise wrong_column(
            owner, column.name, "a 'fill' that is itself a cell within the bounds, or one of the categories", given
        )
    return found


def _days(epoch: date) -> Callable[[Any], float | None]:
    def read(value: Any) -> float | None:
        day = day_of(value)
        return None if day is None else float((day - epoch).days)

    return read


def column_of(name: str, given: Any, owner: str) -> Column:
    """Read the public facts of one column, or raise an error that says what to type.

    Parameters
    ----------
    name : str
    given : pair, list, dict or the type bool
        Bounds, dates or categories, or a dict with one of them and more facts.
    owner : str
        Whose parameter it is, for the message.
    """
    facts = _short(given)
    if facts is None:
        expected = (
            "two finite numbers, the lower first, a list of texts (of digits in a dict: {'categories': ['1', '2']}) or a dict"
        )
        raise wrong_column(owner, name, expected, given)
    word = next((word for word in WORDS if word in facts), None)
    if word is None or not set(facts) <= {word, *WORDS[word]}:
        words = "one of 'bounds', 'dates', 'categories' and 'boolean', with 'unit' (or 'weight'), 'fill' and 'source' beside it,"
        raise wrong_column(owner, name, f"a dict of {words}", given)
    for size in {"unit", "weight"} & {fact for fact, value in facts.items() if value is not None}:
        if not is_positive(facts[size]):
            raise wrong_column(owner, name, f"a positive {size!r}", facts[size])
    source, epoch = facts.get("source") or "", day_of(facts.get("epoch") or EPOCH)
    if not (isinstance(source, str) and source.isprintable()):
        raise wrong_column(owner, name, "a 'source' of one line", source)
    if epoch is None:
        raise wrong_column(owner, name, "an 'epoch' such as '1970-01-01'", facts["epoch"])
    column = Column(name, KINDS[word], source=source, weight=float(facts.get("weight") or 1.0))
    if word == "bounds":
        lower, upper = _ends(name, facts[word], _number, "two finite numbers", owner)
        column = replace(column, lower=lower, upper=upper)
    elif word == "dates":
        lower, upper = _ends(name, facts[word], _days(epoch), "two dates", owner)
        column = replace(column, lower=lower, upper=upper, epoch=epoch)
    elif word == "categories":
        column = replace(column, categories=_categories(name, facts[word], owner))
    elif facts[word] is not True:
        raise wrong_column(owner, name, "'boolean': True", facts[word])
    if facts.get("unit") is not None:
        column = column.scaled(facts["unit"], owner)
    stated = column.stated or facts.get("weight") is not None
    return replace(column, stated=stated, fill=_fill(column, facts.get("fill"), owner))
