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
    """Return cells as numbers: those without their signs, and then what is left in the next notation, or below zero."""
    import polars as pl

    def read(texts: pl.Series, cell: pl.Expr) -> pl.Series:
        return pl.DataFrame({"x": texts}).select(cell).to_series()

    signs = sorted(column.signs, key=len, reverse=True)
    plain = below = pl.col("x")
    for sign in signs:
        plain = plain.str.strip_suffix(sign).str.strip_prefix(sign).str.strip_chars()
        below = below.str.strip_suffix(sign).str.strip_chars()
    ways = [(plain, notation) for notation in column.formats or ("1234.5",)]
    if signs:  # a sign between the minus and the number
        listed = "|".join(pl.escape_regex(sign) for sign in signs)
        below = pl.lit("-") + below.str.extract(rf"^-\s*(?:{listed})\s*([0-9].*)$")
        ways += [(below, notation) for _, notation in ways]
    found = read(cells, _in_notation(*ways[0]))
    for cell, notation in ways[1:]:
        left = (found.is_null() & cells.is_not_null()).arg_true()
        if len(left):
            found = found.scatter(left, read(cells.gather(left), _in_notation(cell, notation)))
    return found


def _in_notation(text: pl.Expr, notation: str) -> pl.Expr:
    """Return numbers in one notation."""
    import polars as pl

    marks = NUMBERS.fullmatch(notation)
    assert marks is not None
    thousands, decimal = marks[1], marks[2]
    if not thousands and decimal == ".":
        return text.cast(pl.Float64, strict=False)
    whole, plain = "[0-9]*", text
    if thousands:
        whole = rf"(?:[0-9]{{1,3}}(?:{_THOUSANDS[thousands]}[0-9]{{3}})+|[0-9]*)"
        is_mark = thousands in ",."
        plain = text.str.replace_all(thousands if is_mark else _THOUSANDS[thousands], "", literal=is_mark)
    if decimal == ",":
        plain = plain.str.replace(",", ".", literal=True)
    fits = text.str.contains(rf"^[+-]?{whole}(?:{pl.escape_regex(decimal)}[0-9]*)?$")
    return pl.when(fits).then(plain).cast(pl.Float64, strict=False)


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
