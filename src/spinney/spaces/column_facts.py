"""Reading the public facts of one column as they are typed, and writing them as a release states them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError
from spinney.naming import named
from spinney.spaces.box import NARROWEST, WIDEST
from spinney.spaces.cell_facts import CELL_WORDS, FactError, cells_record, with_cells
from spinney.spaces.column import Column
from spinney.spaces.plain_values import EPOCH, canonical_name, day_of, days_since, is_digits, is_positive, number_of

#: How a message speaks of a value.
Tell = Callable[[object], str]
#: A list of more categories is rather a column of a table.
MOST_CATEGORIES = 1_000
HINT = (
    "bounds={'age': (0, 110), 'region': ['north', 'south', 'west'], 'admitted': (date(2020, 1, 1), date(2025, 12, 31)), "
    "'smoker': bool}, or a dict for a column: {'bounds': (0, 110), 'unit': 10, 'fill': 40, 'source': 'life tables'}."
)
SCALE_HINT = (
    "scale='bounds' takes each column over its width; scale={'age': 10, 'income': 20_000}: ten years weigh as much as 20,000."
)
#: What the dict of a column may say beside its kind.
WORDS = {
    "bounds": {"unit", "fill", "source"} | CELL_WORDS["number"],
    "dates": {"unit", "fill", "source", "epoch"} | CELL_WORDS["date"],
    "categories": {"weight", "fill", "source"} | CELL_WORDS["category"],
    "boolean": {"weight", "fill", "source"} | CELL_WORDS["boolean"],
}
#: A text that is meant as a day, in whatever order.
LIKE_DAY = re.compile(r"\s*\d{1,4}([./-])\d{1,2}\1\d{1,4}\s*")
#: What a dict calls each kind.
KINDS = {"bounds": "number", "dates": "date", "categories": "category", "boolean": "boolean"}


def _wrong(owner: str, name: Any, expected: str, told: str) -> ParameterError:
    """Return the error about one column of a schema, and what was given instead: `named`, or words without a value."""
    return ParameterError.unlike("bounds", owner, f"{expected} for column {named(name)}. Got {told} instead.", HINT)


def with_unit(column: Column, unit: Any, owner: str, tell: Tell = named) -> Column:
    """Return the column with this unit, which must be positive and leave a width that distances can hold."""
    widths = (
        [(column.upper - column.lower) / float(unit), column.upper / float(unit) - column.lower / float(unit)]
        if is_positive(unit)
        else []
    )
    if not widths or not all(NARROWEST < width < WIDEST for width in widths):  # the second one may vanish by rounding
        must = f"a positive unit for column {named(column.name)}. Got {tell(unit)} instead."
        raise ParameterError.unlike("scale", owner, must, SCALE_HINT)
    return replace(column, unit=float(unit), stated=True)


def record_of(column: Column) -> dict[str, Any]:
    """Return the facts of a column as JSON has them."""
    facts: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if column.kind == "category":
        facts |= {"categories": list(column.categories), "weight": column.weight}
    elif column.kind == "boolean":
        facts |= {"weight": column.weight}
    elif column.kind == "date":
        facts |= {"bounds": [column.day(column.lower), column.day(column.upper)], "unit": column.unit}
        facts |= {"epoch": (column.epoch or EPOCH).isoformat()}
    else:
        facts |= {"bounds": [column.lower, column.upper], "unit": column.unit}
    fill = column.day(column.fill) if column.kind == "date" and isinstance(column.fill, float) else column.fill
    facts |= ({} if fill is None else {"fill": fill}) | ({"source": column.source} if column.source else {})
    return facts | cells_record(column)


def as_typed(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a column as it is typed in bounds."""
    word = {kind: word for word, kind in KINDS.items()}[record["kind"]]
    given = {name: record[name] for name in WORDS[word] if name in record}
    if word == "boolean":
        return given | {word: True} | ({"fill": bool(given["fill"])} if "fill" in given else {})
    return given | {word: record["categories" if word == "categories" else "bounds"]}


def _listed(value: Any) -> list[Any]:
    return list(value) if type(value) in (tuple, list) and len(value) <= MOST_CATEGORIES else []


def _short(given: Any) -> dict[str, Any] | None:
    """Return a column given by its bounds, its dates, its categories or the word bool as a dict; None for anything else."""
    if given is bool:
        return {"boolean": True}
    if isinstance(given, Mapping):
        return dict(given) if all(isinstance(word, str) for word in given) else None
    values = _listed(given)
    if len(values) == 2 and all(number_of(value) is not None for value in values):
        return {"bounds": given}
    if len(values) == 2 and all(isinstance(value, date | np.datetime64 | str) and day_of(value) is not None for value in values):
        return {"dates": given}  # as texts too: hardly anybody has two categories that are days
    if len(values) == 2 and any(isinstance(value, str) and LIKE_DAY.fullmatch(value) for value in values):
        return {"dates": given}  # in another spelling, which is refused where dates are read
    if len(values) >= 2 and all(isinstance(value, str) for value in values) and not all(map(is_digits, values)):
        return {"categories": given}
    return None


def _ends(name: str, pair: Any, read: Callable[[Any], float | None], what: str, owner: str, tell: Tell) -> tuple[float, float]:
    given = _listed(pair)
    ends = [read(value) for value in given]
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None and NARROWEST < ends[1] - ends[0] < WIDEST:
        return ends[0], ends[1]
    if len(ends) != 2:
        told = "something that is no pair" if given else tell(pair)
    elif ends[0] is None or ends[1] is None:
        told = tell(given[0] if ends[0] is None else given[1])
    else:
        told = "the upper one first" if ends[0] > ends[1] else f"two that are not {NARROWEST} to {WIDEST} apart"
    raise _wrong(owner, name, what, told)


def _categories(name: str, given: Any, owner: str, tell: Tell) -> tuple[str, ...]:
    listed = _listed(given)
    if len(listed) < 2 or not all(isinstance(one, str) or (isinstance(one, int) and not isinstance(one, bool)) for one in listed):
        raise _wrong(owner, name, f"a list of 2 to {MOST_CATEGORIES} texts", tell(given))
    names = tuple(canonical_name(str(one)) for one in listed)
    if not all(names) or not all(one.isprintable() for one in names):
        raise _wrong(owner, name, "categories of printable letters, none of them empty", "others")
    if len(set(names)) < len(names):
        raise _wrong(owner, name, "different categories, each once (blanks around them do not count)", "one twice")
    return names


def _fill(column: Column, given: Any, owner: str, tell: Tell) -> float | str | None:
    """Return what a missing cell is read as, which must be a lawful cell."""
    if given is None:
        return None
    if column.kind == "category":
        name = canonical_name(str(given)) if isinstance(given, str | int) else None
        found: float | str | None = name if name in column.categories else None
    elif column.kind == "boolean":
        found = float(given) if isinstance(given, bool) else None
    else:
        number = days_since(column.epoch or EPOCH)(given) if column.kind == "date" else number_of(given)
        found = number if number is not None and column.lower <= number <= column.upper else None
    if found is None:
        raise _wrong(
            owner, column.name, "a 'fill' that is itself a cell within the bounds, or one of the categories", tell(given)
        )
    return found


def column_of(name: str, given: Any, owner: str, tell: Tell = named, is_no_table: bool = False) -> Column:
    """Read the public facts of one column, or raise an error that says what to type.

    Given are its bounds, dates or categories, the type bool, or a dict with one of them and more facts. `owner` has the
    parameter. `tell` is how a message speaks of what is wrong: `type_of` where it may be a cell of a table. What `is_no_table` is
    repeated from within lists too.
    """
    facts = _short(given)
    if facts is None:
        expected = (
            "two finite numbers, the lower first, a list of texts (of digits in a dict: {'categories': ['1', '2']}) or a dict"
        )
        raise _wrong(owner, name, expected, tell(given))
    word = next((word for word in WORDS if word in facts), None)
    if word is None:
        words = "one of 'bounds', 'dates', 'categories' and 'boolean', with 'unit' (or 'weight'), 'fill' and 'source' beside it,"
        raise _wrong(owner, name, f"a dict of {words}", "none of the four")  # without its words: they may come from a table
    unknown = next((other for other in facts if other != word and other not in WORDS[word]), None)
    if unknown is not None:
        beside = ", ".join(map(repr, sorted(WORDS[word])))
        raise _wrong(owner, name, f"{word!r}, with {beside} at most beside it,", tell(unknown))
    for size in {"unit", "weight"} & {fact for fact, value in facts.items() if value is not None}:
        if not is_positive(facts[size]):
            raise _wrong(owner, name, f"a positive {size!r}", tell(facts[size]))
    source, epoch = facts.get("source") or "", day_of(facts.get("epoch") or EPOCH)
    if not (isinstance(source, str) and source.isprintable()):
        raise _wrong(owner, name, "a 'source' of one line", "another text" if isinstance(source, str) else tell(source))
    if epoch is None:
        raise _wrong(owner, name, "an 'epoch' such as '1970-01-01'", tell(facts["epoch"]))
    column = Column(name, KINDS[word], source=source, weight=float(facts.get("weight") or 1.0))
    if word == "bounds":
        lower, upper = _ends(name, facts[word], number_of, "two finite numbers, the lower first,", owner, tell)
        column = replace(column, lower=lower, upper=upper)
    elif word == "dates":
        lower, upper = _ends(name, facts[word], days_since(epoch), "two dates, such as 2021-01-31, the lower first,", owner, tell)
        column = replace(column, lower=lower, upper=upper, epoch=epoch)
    elif word == "categories":
        column = replace(column, categories=_categories(name, facts[word], owner, tell))
    elif facts[word] is not True:
        raise _wrong(owner, name, "'boolean': True", tell(facts[word]))
    try:
        column = with_cells(column, facts)
    except FactError as wrong:
        given_fact = tell(wrong.given)
        told = wrong.words or given_fact
        if wrong.words and is_no_table and wrong.given is not None:
            told = re.sub("another|one", lambda _: given_fact, wrong.words)
        raise _wrong(owner, name, wrong.expected, told) from None
    if facts.get("unit") is not None:
        column = with_unit(column, facts["unit"], owner, tell)
    stated = column.stated or facts.get("weight") is not None
    return replace(column, stated=stated, fill=_fill(column, facts.get("fill"), owner, tell))
