"""Cells of categories, truth values and dates as numbers, each cell alone; values outside the public lists are missing, silently.

- A category is a name: a text without blanks around it, or a whole number by its digits. Its number is its place in the list.
- True and false are truth values, the numbers 1 and 0, or the texts true, false, yes, no, 1 and 0, in letters of any size.
- A date is a date, a point in time (its hours are left out), or a text in a notation of its column. Its number counts whole days
  since the epoch.
- A number in a notation of its column, if one was declared; what a type says to be a number is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import DataError, ParameterError
from spinney.spaces.column import Column
from spinney.spaces.plain_values import LARGEST_WHOLE, WHOLE
from spinney.spaces.schema import Schema
from spinney.tables.cells import number
from spinney.tables.letters import decided
from spinney.tables.notation import text_cell
from spinney.tables.records import as_names

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "cell_names",
    "check_schema",
    "coded_cells",
    "coded_columns",
    "codes",
    "declared_cell",
    "is_text",
    "name_cell",
    "with_codes",
]

#: What the types of a column must hold, by its kind, in words.
HOLDS = {"category": "names", "boolean": "truth values", "date": "dates", "number": "numbers"}
#: Steps of a day, by the unit of a type of times.
DAY_STEPS = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
#: polars writes days up to this many from the epoch.
MOST_DAYS = 90_000_000


def check_schema(schema: Any) -> None:
    """Raise unless this is a schema, or None."""
    if not (schema is None or type(schema) is Schema):
        raise ParameterError.wrong("schema", "a table", "a Schema or None", schema, "leave it out; fit(path) makes it of bounds.")


def coded_columns(schema: Schema | None) -> dict[str, Column]:
    """Return the columns whose cells are no plain numbers, by name."""
    columns = () if schema is None or schema.names is None else schema.columns
    return {str(column.name): column for column in columns if column.is_coded}


def _text(cell: Any) -> str | None:
    """Return a text; None of what is none, or has half a letter, which polars refuses."""
    try:
        cell.encode()
        return str(cell)
    except Exception:  # whatever a cell may raise, it is missing
        return None


def _name(cell: Any) -> str | None:
    """Return what a cell says, as a text, blanks around it and all; None if it says nothing."""
    try:
        if isinstance(cell, bytes):
            cell = cell.decode("utf-8", "replace")
        if isinstance(cell, str):
            return _text(cell)
        if isinstance(cell, bool | np.bool_):
            return "true" if cell else "false"
        if isinstance(cell, np.datetime64):
            cell = cell.astype("datetime64[D]").item()
        if isinstance(cell, date):
            return date(cell.year, cell.month, cell.day).isoformat() if cell == cell else None  # no time at all is not itself
        if isinstance(cell, Real | Decimal):
            value = float(cell)
            if not np.isfinite(value):
                return None
            return str(int(value)) if value == int(value) and abs(value) <= LARGEST_WHOLE else str(cell)
    except Exception:  # whatever a cell may raise, it is missing
        return None
    return None


def cell_names(cells: Iterable[Any]) -> pl.Series:
    """Return what the cells of a frame say, as texts."""
    import polars as pl

    return pl.Series("cells", [_name(cell) for cell in cells], pl.String)


def _code_cell(texts: pl.Expr, column: Column) -> pl.Expr:
    """Return cells of text as numbers of a column's kind."""
    import polars as pl

    return texts.map_batches(lambda cells: codes(cells, column), return_dtype=pl.Float64)


def codes(texts: pl.Series, column: Column) -> pl.Series:
    """Return a column of texts as numbers: most are read letter by letter, and what is left by patterns."""
    import polars as pl

    found, left = decided(texts, column)
    if len(left):
        cells = texts.gather(left).alias("cells").to_frame().select(as_names(pl.col("cells")))
        found[left] = cells.select(text_cell(pl.col("cells"), column)).to_series().to_numpy()
    return pl.Series("cells", found, nan_to_null=True)


def with_codes(numbers: pl.DataFrame, texts: pl.DataFrame, chosen: Sequence[str], coded: dict[str, Column]) -> pl.DataFrame:
    """Return the chosen columns of a CSV file as numbers, in their order."""
    import polars as pl

    if not coded:
        return numbers
    return pl.DataFrame({name: codes(texts[name], coded[name]) if name in coded else numbers[name] for name in chosen})


def is_text(dtype: Any) -> bool:
    """Whether a declared type holds texts."""
    import polars as pl

    return bool(dtype == pl.String or dtype == pl.Categorical or dtype == pl.Enum)


def name_cell(name: str, dtype: Any) -> pl.Expr | None:
    """Return how a column of a declared type is read as texts; None if it says no names."""
    import polars as pl

    cell = pl.col(name)
    if is_text(dtype):
        return as_names(cell.cast(pl.String)).str.replace(WHOLE, "$1")
    if dtype == pl.Date or dtype == pl.Datetime:
        return _day(cell, dtype).alias(name)
    if dtype.is_float():
        wide = cell.cast(pl.Float64)
        is_whole = (wide == wide.floor()) & (wide.abs() <= LARGEST_WHOLE)
        text = pl.when(is_whole).then(wide.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(cell.cast(pl.String))
        return pl.when(wide.is_finite()).then(text).alias(name)
    if dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null:
        return cell.cast(pl.String).str.replace(WHOLE, "$1")
    return None


def coded_cells(cells: Sequence[Any], column: Column) -> NDArray[np.float64]:
    """Return cells as numbers of a column's kind; among numbers, what is one as it is, and texts in the column's notations."""
    import polars as pl

    if column.kind != "number":
        return codes(cell_names(cells), column).to_numpy()
    is_text = [isinstance(cell, str) for cell in cells]
    texts = pl.Series([_text(cell) if text else None for cell, text in zip(cells, is_text, strict=True)], dtype=pl.String)
    numbers = [None if text else number(cell) for cell, text in zip(cells, is_text, strict=True)]
    return pl.Series(numbers, dtype=pl.Float64).fill_null(codes(texts, column)).to_numpy()


def _day(cell: pl.Expr, dtype: Any) -> pl.Expr:
    """Return days, or the days that times lie in where they are, as texts; those that polars panics at are missing."""
    import polars as pl

    steps = 1 if dtype == pl.Date else DAY_STEPS[dtype.time_unit]
    number = cell.to_physical().cast(pl.Int64)
    most = min(MOST_DAYS * steps, 2**63 - 2 * steps)  # a zone may be a day away
    lawful = number.is_between(-most, most)
    day = pl.when(lawful).then(number).otherwise(0).cast(dtype).dt.date()
    return pl.when(lawful & day.is_between(date.min, date.max)).then(day.cast(pl.String))  # others have no date in Python


def declared_cell(where: Path | str, column: Column, dtype: Any) -> pl.Expr:
    """Return how a column of a declared type is read as numbers of its kind, or raise if its type can hold none."""
    import polars as pl

    name = str(column.name)
    cell = pl.col(name)
    if is_text(dtype):
        return _code_cell(cell.cast(pl.String), column).alias(name)
    if column.kind == "number" and (dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null):
        return cell.cast(pl.Float64, strict=False)
    names = None if column.kind == "number" else name_cell(name, dtype)
    if names is None or (column.kind == "date" and dtype not in (pl.Date, pl.Datetime, pl.Null)):
        raise DataError(
            f"{where}: column {name!r} does not hold {HOLDS[column.kind]}.",
            "its declared type is another one; give it bounds of its own kind, or leave it out.",
        )
    return _code_cell(names, column).alias(name)
