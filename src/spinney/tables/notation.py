"""Texts of cells as numbers, by the public notations of their column; the first that fits a cell wins, each cell alone.

A notation of numbers, typed as ``1,234.5``, fits digits with or without its mark between groups of three, and decimals behind
the other mark. ``1234.5`` fits what a plain number does. One of dates, typed as ``DD.MM.YYYY``, fits one or two digits of a day
or month where marks part them, and a text that goes on with a blank or a T; ``YYYY-MM-DD`` always fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spinney.spaces.cell_facts import DATES, NUMBERS
from spinney.spaces.column import Column
from spinney.spaces.plain_values import EPOCH

if TYPE_CHECKING:
    import polars as pl

#: A text that begins with a date.
_DAY = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ].*)?$"
#: What is read as a mark between thousands, by the mark that is declared.
_THOUSANDS = {",": ",", ".": r"\.", " ": "[ \N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}]", "'": "['\u2019]"}
#: Parts of dates as patterns, and as polars calls them.
_DIGITS = {"YYYY": "[0-9]{4}", "YY": "[0-9]{2}", "MMM": "[A-Za-z]{3}", "MM": "[0-9]{2}", "DD": "[0-9]{2}"}
_CODES = {"YYYY": "%Y", "YY": "%y", "MMM": "%b", "MM": "%m", "DD": "%d"}


def number_cell(text: pl.Expr, column: Column) -> pl.Expr:
    """Return cells of text, without blanks around them, as numbers in a column's notations."""
    import polars as pl

    return text.map_batches(lambda cells: _numbers(cells, column), return_dtype=pl.Float64)


def _numbers(cells: pl.Series, column: Column) -> pl.Series:
    """Return cells as numbers: those that fit the first notation, then what is left in the next one, or below zero."""
    import polars as pl

    def read(texts: pl.Series, cell: pl.Expr) -> pl.Series:
        return pl.DataFrame({"x": texts}).select(cell).to_series()

    text, formats = pl.col("x"), column.formats or ("1234.5",)
    ways = [_in_notation(text, notation, column.signs) for notation in formats]
    if column.signs:  # most cells in one look; then rare blanks, and a sign between the minus and the number
        ways.insert(0, _in_notation(text, formats[0], column.signs, blanks=" "))
        below = pl.lit("-") + text.str.extract(rf"^-\s*(?:{_either(column.signs)})\s*([0-9].*)$")
        ways += [_in_notation(below, notation, column.signs) for notation in formats]
    found = read(cells, ways[0])
    for way in ways[1:]:
        left = (found.is_null() & cells.is_not_null()).arg_true()
        if len(left):
            found = found.scatter(left, read(cells.gather(left), way))
    return found


def _either(signs: tuple[str, ...]) -> str:
    """Return the pattern of one of these signs."""
    import polars as pl

    return "|".join(pl.escape_regex(sign) for sign in signs)


def _in_notation(text: pl.Expr, notation: str, signs: tuple[str, ...], blanks: str | None = None) -> pl.Expr:
    """Return numbers in one notation, with at most one sign before and one behind, and these blanks between, or any."""
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
        plain = text.str.strip_chars("".join(sorted({*"".join(signs), *(blanks or "")})))
        plain = plain.str.strip_chars() if blanks is None else plain
    if thousands:
        is_mark = thousands in ",."
        plain = plain.str.replace_all(thousands if is_mark else _THOUSANDS[thousands], "", literal=is_mark)
    if decimal == ",":
        plain = plain.str.replace(",", ".", literal=True)
    return pl.when(text.str.contains(f"^{fits}$")).then(plain).cast(pl.Float64, strict=False)


def once(text: pl.Expr, read: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """Return what `read` makes of cells of text, as numbers; each text is read once, for many cells say the same."""
    import polars as pl

    def read_each(cells: pl.Series) -> pl.Series:
        texts = cells.unique()
        numbers = pl.DataFrame({"x": texts}).select(read(pl.col("x"))).to_series()
        return cells.replace_strict(texts, numbers, default=None, return_dtype=pl.Float64)

    return text.map_batches(read_each, return_dtype=pl.Float64)


def day_cell(text: pl.Expr, column: Column) -> pl.Expr:
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
