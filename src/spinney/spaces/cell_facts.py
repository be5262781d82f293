"""What is public about the texts of one column's cells.

Notations of numbers and dates, signs beside numbers, other names of categories, numbers that mean that something is missing.

A notation of numbers is typed as an example of it, ``1,234.5`` or ``1,234.56``; one of dates by the letters of its parts,
``DD.MM.YYYY``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spinney.spaces.column import Column
from spinney.spaces.plain_values import EPOCH, canonical_name, days_since, number_of

#: A notation of numbers, by an example: what parts thousands, if anything, and what begins decimals.
NUMBERS = re.compile(r"1([,. ']?)234([.,])5[0-9]*")
#: A notation of dates, by the letters of its parts, and what parts them, if anything.
DATES = re.compile(r"(YYYY|YY|MMM|MM|DD)([-./ ]?)(YYYY|YY|MMM|MM|DD)\2(YYYY|YY|MMM|MM|DD)")
#: What may be said of the cells of a column, by its kind.
CELL_WORDS = {
    "number": {"formats", "signs", "missing"},
    "date": {"formats", "missing"},
    "category": {"aliases", "ignore_case"},
    "boolean": {"aliases"},
}
#: What a truth value may be called, in small letters.
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}
#: Longest list of facts: a column needs few.
_MOST = 1_000
#: Letters of one sign, and of all signs of a column, at most.
_SIGN, _SIGNS = 32, 1_000
#: What a sign beside a number may not have in it: parts of numbers.
_IN_NUMBERS = set("0123456789+-.,'\"")


class FactError(Exception):
    """A fact about cells is wrong: what must be, and a value that may be repeated as `named` says, or words without one."""

    def __init__(self, expected: str, given: Any = None, words: str = "") -> None:
        super().__init__(expected)
        self.expected, self.given, self.words = expected, given, words


def _texts(given: Any, expected: str) -> tuple[str, ...]:
    """Return a list of different printable texts."""
    listed = list(given) if type(given) in (list, tuple) and len(given) <= _MOST else []
    if not listed or not all(isinstance(one, str) and one.strip() and one.isprintable() for one in listed):
        raise FactError(expected, given)
    if len(set(listed)) < len(listed):
        raise FactError(expected, words="one twice")
    return tuple(listed)


def _number_format(text: str) -> str | None:
    """Return a notation of numbers with one decimal, however many the example has; None of what is none."""
    marks = NUMBERS.fullmatch(text)
    return None if marks is None or marks[1] == marks[2] else f"1{marks[1]}234{marks[2]}5"


def _date_format(text: str) -> str | None:
    """Return a notation of dates in large letters; None of what is none."""
    text = text.upper()
    parts = DATES.fullmatch(text)
    is_whole = parts is not None and {parts[1][0], parts[3][0], parts[4][0]} == set("YMD")
    return text if is_whole and text != "YYYY-DD-MM" else None


def _formats(column: Column, given: Any) -> tuple[str, ...]:
    """Return notations in the order in which they are tried."""
    if column.kind == "number":
        expected = "'formats' such as ['1,234.5', '1.234,5'], examples of how numbers are written,"
    else:
        expected = (
            "'formats' such as ['DD.MM.YYYY', 'MM/DD/YY', 'DDMMMYYYY'] (YYYY-MM-DD is always read, and nothing like it else)"
        )
    listed, known = _texts(given, expected), _number_format if column.kind == "number" else _date_format
    found = {one: known(one) for one in listed}
    wrong = next((one for one, notation in found.items() if notation is None), None)
    if wrong is not None:
        raise FactError(expected, wrong, words="another")
    return tuple(dict.fromkeys(notation for notation in found.values() if notation is not None))


def _signs(given: Any) -> tuple[str, ...]:
    """Return texts that may stand beside a number."""
    expected = f"'signs' such as ['\N{EURO SIGN}', 'EUR', 'kg'], of at most {_SIGN} letters, without digits or marks of numbers,"
    listed = _texts(given, expected)
    if (
        sum(map(len, listed)) > _SIGNS
        or any(len(one) > _SIGN for one in listed)
        or any(_IN_NUMBERS & set(one) or one != one.strip() for one in listed)
    ):
        raise FactError(expected, words="others")
    return listed


def _codes(column: Column, given: Any) -> tuple[float, ...]:
    """Return numbers, or days since the epoch, that mean that a cell is missing."""
    what = "numbers such as [999, -1]" if column.kind == "number" else "dates such as ['9999-12-31']"
    read: Callable[[Any], float | None] = number_of if column.kind == "number" else days_since(column.epoch or EPOCH)
    listed = list(given) if type(given) in (list, tuple) and len(given) <= _MOST else []
    found = [read(one) for one in listed]
    if not found or None in found:
        raise FactError(f"'missing', {what} that mean that nothing is known,", given)
    return tuple(float(one) for one in found if one is not None)


def _aliases(column: Column, given: Any) -> tuple[tuple[str, str], ...]:
    """Return other names with what they stand for; a name that could be two things is refused."""
    names = column.categories if column.kind == "category" else ("true", "false")
    example = "{'north': ['N', 'nord']}" if column.kind == "category" else "{'true': ['ja'], 'false': ['nein']}"
    expected = f"'aliases' such as {example}, lists of other texts by the name that they stand for,"
    if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) for name in given):
        raise FactError(expected, given)
    found = []
    for name, listed in given.items():
        if canonical_name(name) not in names:
            owners = "its categories" if column.kind == "category" else "true and false"
            raise FactError(f"'aliases' of {owners} alone", name, words="another")
        each = [str(one) if type(one) is int else one for one in listed] if type(listed) in (list, tuple) else listed
        found += [(canonical_name(one), canonical_name(name)) for one in _texts(each, expected)]
    return tuple((one, name) for one, name in found if column.kind == "category" or TRUTH.get(one.lower()) != TRUTH[name])


def _check_names(column: Column) -> None:
    """Raise if a text of a cell could be two things."""
    small = column.ignore_case or column.kind == "boolean"
    names = [*(column.categories or TRUTH), *(alias for alias, _ in column.aliases)]
    said = Counter(one.lower() if small else one for one in names)
    again = next((one for one, times in said.items() if times > 1), None)
    if again is not None:
        case = ", letters being read alike in both cases" if small else ""
        raise FactError(f"'categories' and 'aliases' that are all different{case},", again, words="one twice")


def with_cells(column: Column, facts: Mapping[str, Any]) -> Column:
    """Return the column with what is public about its cells; raises `FactError`."""
    given = {word: value for word, value in facts.items() if word in CELL_WORDS[column.kind] and value is not None}
    if "formats" in given:
        column = replace(column, formats=_formats(column, given["formats"]))
    if "signs" in given:
        column = replace(column, signs=_signs(given["signs"]))
    if "missing" in given:
        column = replace(column, missing=_codes(column, given["missing"]))
    if not isinstance(given.get("ignore_case", False), bool):
        raise FactError("'ignore_case': true or false", given["ignore_case"])
    column = replace(column, ignore_case=given.get("ignore_case", False))
    if "aliases" in given:
        column = replace(column, aliases=_aliases(column, given["aliases"]))
    if column.aliases or column.ignore_case:
        _check_names(column)
    return column


def cells_record(column: Column) -> dict[str, Any]:
    """Return what is public about cells as JSON has it; nothing of what is not said."""
    found: dict[str, Any] = {name: list(getattr(column, name)) for name in ("formats", "signs") if getattr(column, name)}
    if column.missing:
        found["missing"] = [column.day(one) for one in column.missing] if column.kind == "date" else list(column.missing)
    if column.ignore_case:
        found["ignore_case"] = True
    if column.aliases:
        found["aliases"] = {}
        for alias, name in column.aliases:
            found["aliases"].setdefault(name, []).append(alias)
    return found
