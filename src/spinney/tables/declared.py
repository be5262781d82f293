"""Columns of a declared type, as files and Arrow tables have them; a type is public, so that it may be refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.exceptions import DataError
from spinney.spaces.column import Column
from spinney.spaces.plain_values import LARGEST_WHOLE, WHOLE
from spinney.tables.encoding import code_cell
from spinney.tables.records import as_names

if TYPE_CHECKING:
    import polars as pl

__all__ = ["declared_cell", "name_cell"]

#: What the types of a column must hold, by its kind, in words.
HOLDS = {"category": "names", "boolean": "truth values", "date": "dates"}
#: Steps of a day, by the unit of a type of times.
DAY_STEPS = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
#: polars writes days up to this many from the epoch.
MOST_DAYS = 90_000_000


def name_cell(name: str, dtype: Any) -> pl.Expr | None:
    """Return how a column of a declared type is read as texts; None if it says no names."""
    import polars as pl

    cell = pl.col(name)
    if dtype == pl.String or dtype == pl.Categorical or dtype == pl.Enum:
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
    names = name_cell(name, dtype)
    dated = (pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Null)
    if names is None or (column.kind == "date" and dtype not in dated):
        raise DataError(
            f"{where}: column {name!r} does not hold {HOLDS[column.kind]}.",
            "its declared type is another one; give it bounds of its own kind, or leave it out.",
        )
    return code_cell(names, column).alias(name)
