"""Columns of a CSV or Parquet file by their names, as names of points or as numbers.

A name is a text without blanks around it; a whole number is named by its digits, so that ``12``, ``12.0`` and ``"12"`` are one
name, and ``012`` is another. How a cell is read depends on that cell and on its column's type alone, never on other cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.exceptions import DataError
from spinney.spaces.plain_values import WHOLE
from spinney.tables.declared import name_cell
from spinney.tables.records import as_numbers, read_header, read_records
from spinney.tables.schema import check_groups, check_names, is_text, parquet_schema, read_parquet, shielded, unreadable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Columns", "read_columns"]


_FORMATS = "give a .csv (with a header line) or .parquet file."


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """Some columns of a file: names of points, numbers, and whom each row belongs to."""

    names: pl.DataFrame
    numbers: pl.DataFrame
    groups: pl.Series | None = None


def read_columns(
    path: Path, names: list[str], numbers: list[str], groups: str | None = None, header_is_secret: bool = False
) -> Columns:
    """Return columns of a file; an empty cell is missing, and so is one that is no number among numbers.

    Groups are read as `read_table` reads them. A secret header is a private row if the file has no header: messages do not repeat
    it.
    """
    if not path.is_file():
        raise unreadable(path, "is not a file.", _FORMATS)
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise unreadable(path, "is of a kind that cannot be read.", _FORMATS)
    return readers[path.suffix.lower()](path, names, numbers, groups, header_is_secret)


def _check_columns(path: Path, known: list[str], wanted: list[str | None], header_is_secret: bool) -> None:
    for name in wanted:
        if name is not None and name not in known:
            listed = ", ".join(map(repr, known)) or "none"
            hint = "its first line must name its columns." if header_is_secret else f"it has {listed}."
            raise DataError(f"{path} has no column {name!r}.", hint)


def _canonical(name: pl.Expr) -> pl.Expr:
    return name.str.replace(WHOLE, "$1")


def _read_csv(path: Path, names: list[str], numbers: list[str], groups: str | None, header_is_secret: bool) -> Columns:
    import polars as pl

    error = unreadable(path, "cannot be read.", _FORMATS)
    header = shielded(lambda: read_header(path), error)
    check_names(path, header.names)
    _check_columns(path, list(header.names), [*names, *numbers, groups], header_is_secret)
    texts = list(dict.fromkeys([*names, *([] if groups is None else [groups])]))
    measured, named = shielded(lambda: read_records(path, header, numbers, texts), error)
    return Columns(named.select(_canonical(pl.col(names))), measured, None if groups is None else named[groups])


def _read_parquet(path: Path, names: list[str], numbers: list[str], groups: str | None, header_is_secret: bool) -> Columns:
    import polars as pl

    schema = parquet_schema(path, _FORMATS)
    _check_columns(path, list(schema), [*names, *numbers, groups], header_is_secret)
    named = {name: _name_cell(path, name, schema[name]) for name in names}
    measured = {name: _number_cell(path, name, schema[name]) for name in numbers}
    if groups is not None:
        check_groups(path, groups, schema[groups])
    grouped = {} if groups is None else {groups: pl.col(groups)}
    read = [read_parquet(path, schema, cells, _FORMATS) for cells in (named, measured, grouped)]
    return Columns(read[0], read[1], None if groups is None else read[2][groups])


def _no_names(path: Path, column: str) -> DataError:
    return DataError(f"{path}: column {column!r} does not hold names.", "name a column of texts or whole numbers.")


def _name_cell(path: Path, name: str, dtype: Any) -> pl.Expr:
    """Return how a column of names is read, which depends on its type alone."""
    import polars as pl

    cell = None if dtype in (pl.Date, pl.Datetime) else name_cell(name, dtype)
    if cell is None:
        raise _no_names(path, name)
    return cell


def _number_cell(path: Path, name: str, dtype: Any) -> pl.Expr:
    """Return how a column of numbers is read, which depends on its type alone."""
    import polars as pl

    if is_text(dtype):
        return as_numbers(pl.col(name).cast(pl.String))
    if not (dtype.is_numeric() or dtype == pl.Null):
        raise DataError(f"{path}: column {name!r} does not hold numbers.", "write it as numbers.")
    return pl.col(name).cast(pl.Float64, strict=False)
