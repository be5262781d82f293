"""Texts of cells as numbers, by the public notations of their column; the first that fits a cell wins, each cell alone.

A notation of numbers, typed as ``1,234.5``, fits digits with or without its mark between groups of three, and decimals behind
the other mark. ``1234.5`` fits what a plain number does. One of dates, typed as ``DD.MM.YYYY``, fits one or two digits of a day
or month where marks part them, and a text that goes on with a blank or a T; ``YYYY-MM-DD`` always fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney.spaces.cell_facts import DATES, NUMBERS, TRUTH
from spinney.spaces.column import Column
from spinney.spaces.plain_values import EPOCH, WHOLE

if TYPE_CHECKING:
    import polars as pl

#: A text that begins with a date.
_DAY = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ].*)?$"
#: What is read as a mark between thousands, by the mark that is declared.
_THOUSANDS = {",": ",", ".": r"\.", " ": "[ \N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}]", "'": "['\u2019]"}
#: Parts of dates as patterns, and as polars calls them.
_DIGITS = {"YYYY": "[0-9]{4}", "YY": "[0-9]{2}", "MMM": "[A-Za-z]{3}", "MM": "[0-9]{2}", "DD": "[0-9]{2}"}
_CODES = {"YYYY": "%Y", "YY": "%y", "MMM": "%b", "MM": "%m", "DD": "%d"}


def is_small(column: Column) -> bool:
    """Whether letters of names are read alike in both cases."""
    return column.ignore_case or column.kind == "boolean"


def places_of(column: Column) -> dict[str, float]:
    """Return the numbers of the names of a category, or of truth values."""
    places = {name: float(place) for place, name in enumerate(column.categories)} or TRUTH
    places = places | {alias: places[name] for alias, name in column.aliases}
    return {name.lower(): place for name, place in places.items()} if is_small(column) else places


def text_cell(text: pl.Expr, column: Column) -> pl.Expr:
    """Return cells of text, without blanks around them, as numbers of a column's kind."""
    import polars as pl

    if column.kind == "number":
        return _number_cell(text, column)
    text = text.str.replace(WHOLE, "$1")
    if column.kind == "date":
        return _day_cell(text, column)
    places = places_of(column)
    text = text.str.to_lowercase() if is_small(column) else text
    return text.replace_strict(list(places), list(places.values()), default=None, return_dtype=pl.Float64)


def _number_cell(text: pl.Expr, column: Column) -> pl.Expr:
    """Return numbers in the first notation that fits, or the first one below zero with a sign behind the minus."""
    import polars as pl

    formats, texts = column.formats or ("1234.5",), [text]
    if column.signs:
        texts.append(pl.lit("-") + text.str.extract(rf"^-\s*(?:{_either(column.signs)})\s*([0-9].*)$"))
    return pl.coalesce(_in_notation(one, notation, column.signs) for one in texts for notation in formats)


def _either(signs: tuple[str, ...]) -> str:
    """Return the pattern of one of these signs."""
    import polars as pl

    return "|".join(pl.escape_regex(sign) for sign in signs)


def _in_notation(text: pl.Expr, notation: str, signs: tuple[str, ...]) -> pl.Expr:
    """Return numbers in one notation, with at most one sign before and one behind, and any blanks between."""
    import polars as pl

    marks = NUMBERS.fullmatch(notation)
    assert marks is not None
    thousands, decimal = marks[1], marks[2]
    is_plain = not thousands and decimal == "."
    if is_plain and not signs:
        return text.cast(pl.Float64, strict=False)
    whole = rf"(?:[0-9]{{1,3}}(?:{_THOUSANDS[thousands]}[0-9]{{3}})+|[0-9]*)" if thousands else "[0-9]*"
    fits = rf"[+-]?{whole}(?:{pl.escape_regex(decimal)}[0-9]*)?"
    if is_plain:
        fits = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    plain = text
    if signs:  # a number neither begins nor ends with one of their letters
        fits = rf"(?:{_either(signs)})?\s*{fits}\s*(?:{_either(signs)})?"
        plain = text.str.strip_chars("".join(sorted({*"".join(signs)}))).str.strip_chars()
    if thousands:
        is_mark = thousands in ",."
        plain = plain.str.replace_all(thousands if is_mark else _THOUSANDS[thousands], "", literal=is_mark)
    if decimal == ",":
        plain = plain.str.replace(",", ".", literal=True)
    return pl.when(text.str.contains(f"^{fits}$")).then(plain).cast(pl.Float64, strict=False)


def _day_cell(text: pl.Expr, column: Column) -> pl.Expr:
    """Return cells of text, without blanks around them, as days since the column's epoch."""
    import polars as pl

    written = text.str.extract(_DAY).str.to_date("%Y-%m-%d", strict=False)
    found = pl.coalesce(*(_dated(text, notation) for notation in column.formats), written)
    found = pl.when(found.dt.year() > 0).then(found)  # as dates of Python are
    return found.cast(pl.Int32).cast(pl.Float64) - float(((column.epoch or EPOCH) - EPOCH).days)


def _dated(text: pl.Expr, notation: str) -> pl.Expr:
    """Return days in one notation."""
    import polars as pl

    parts = DATES.fullmatch(notation)
    assert parts is not None
    named, mark = (parts[1], parts[3], parts[4]), parts[2]
    digits = {**_DIGITS, "MM": "[0-9]{1,2}", "DD": "[0-9]{1,2}"} if mark else _DIGITS
    pattern = pl.escape_regex(mark).join(digits[part] for part in named)
    day = text.str.extract(rf"^({pattern})(?:[T ].*)?$")
    return day.str.to_date(mark.join(_CODES[part] for part in named), strict=False)
