"""Tables from CSV, Parquet and NPY files, and bounds from JSON.

Names and types of columns are schema, and public; a cell that is not a number is missing, silently.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import DataError
from spinney.io.records import as_numbers, read_header, read_records

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Table", "check_names", "read_bounds", "read_table"]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers, the names of their columns, and whom each row belongs to. All but the names is private."""

    nonprivate_rows: NDArray[Any]
    columns: tuple[str, ...] | None = None
    nonprivate_groups: Any = None


def _unreadable(path: Path, why: str) -> DataError:
    return DataError(f"{path} {why}\nHint: give a .csv (with a header line), .parquet or .npy file.")


def read_table(path: Path, columns: list[str] | None = None, groups: str | None = None) -> Table:
    """Return the rows of a file.

    Parameters
    ----------
    path : Path
    columns : list of str, optional
        Which columns, in this order; all but `groups` by default. Not for NPY, whose columns have no names.
    groups : str, optional
        The column that names the group of each row.
    """
    readers = {".csv": _read_csv, ".npy": _read_npy, ".parquet": _read_parquet}
    if not path.is_file():
        raise _unreadable(path, "is not a file.")
    if path.suffix.lower() not in readers:
        raise _unreadable(path, "is of a kind that cannot be read.")
    return readers[path.suffix.lower()](path, columns, groups)


def _chosen(path: Path, known: Iterable[str], columns: list[str] | None, groups: str | None) -> list[str]:
    """Return the columns to cluster, or raise if one is not there; names of columns are public."""
    known = list(known)
    chosen = [name for name in known if name != groups] if columns is None else columns
    missing = [name for name in (*chosen, groups) if name is not None and name not in known]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}.\nHint: it has {', '.join(map(repr, known))}.")
    if not chosen:
        raise DataError(f"{path} has no columns to cluster.\nHint: its first line must name them.")
    repeated = [name for name in chosen if chosen.count(name) > 1]
    if repeated:
        raise DataError(f"The column {repeated[0]!r} is asked for twice.\nHint: name it once.")
    return chosen


def _table(numbers: pl.DataFrame, groups: pl.Series | None) -> Table:
    return Table(numbers.to_numpy(order="c"), tuple(numbers.columns), groups)


def _read_csv(path: Path, columns: list[str] | None, groups: str | None) -> Table:
    try:
        header = read_header(path)
    except (OSError, csv.Error):
        raise _unreadable(path, "cannot be read.") from None
    check_names(path, header.names)
    chosen = _chosen(path, header.names, columns, groups)
    numbers, names = read_records(path, header, chosen, [] if groups is None else [groups])
    return _table(numbers, None if groups is None else names[groups])


def check_names(path: Path, names: tuple[str, ...]) -> None:
    """Raise if the first line does not look like names; without a header it would be a private row, so it is not repeated."""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise DataError(f"{path} seems to be cut at other marks than commas.\nHint: write it with commas between the cells.")
    for name in names:
        try:
            float(name)
        except ValueError:
            continue
        raise DataError(
            f"{path} has a number where the name of a column should be.\n"
            "Hint: its first line must name the columns, each with a letter in it, such as age,bmi,y2020."
        )


def _read_parquet(path: Path, columns: list[str] | None, groups: str | None) -> Table:
    import polars as pl

    try:
        frame = pl.scan_parquet(path, glob=False)
        schema = dict(frame.collect_schema())
        chosen = _chosen(path, schema, columns, groups)
        cells = [_parquet_cell(path, name, schema[name]) for name in chosen]
        if groups is not None and (schema[groups].is_temporal() or schema[groups].is_nested()):
            raise DataError(f"{path}: column {groups!r} does not hold names.\nHint: name a column of texts or whole numbers.")
        numbers = frame.select(cells).collect()
        return _table(numbers, None if groups is None else frame.select(groups).collect()[groups])
    except (pl.exceptions.PolarsError, OSError):
        raise _unreadable(path, "cannot be read.") from None


def _parquet_cell(path: Path, name: str, dtype: Any) -> pl.Expr:
    """Return how a column is read, which depends on its type alone."""
    import polars as pl

    if dtype == pl.String or dtype == pl.Categorical or dtype == pl.Enum:
        return as_numbers(pl.col(name).cast(pl.String))
    if not (dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null):
        raise DataError(f"{path}: column {name!r} does not hold numbers.\nHint: leave it out with --columns.")
    return pl.col(name).cast(pl.Float64, strict=False)


def _read_npy(path: Path, columns: list[str] | None, groups: str | None) -> Table:
    """Open an array; it stays on disk."""
    if columns or groups:
        hint = "give --bounds LO HI alone, without --bounds-file, --columns or --groups, or use CSV or Parquet."
        raise DataError(f"{path} has no column names.\nHint: {hint}")
    try:
        rows = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError):
        raise _unreadable(path, "cannot be read.") from None
    if rows.ndim != 2 or not rows.shape[1] or rows.dtype.kind not in "fiub":
        raise _unreadable(path, "does not hold a two-dimensional array of numbers.")
    return Table(rows)


def read_bounds(path: Path) -> dict[str, tuple[float, float]]:
    """Return public bounds by column from a JSON file such as ``{"age": [0, 110], "bmi": [10, 60]}``."""
    hint = 'Hint: write JSON such as {"age": [0, 110], "bmi": [10, 60]}.'
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        bounds = {str(name): (float(low), float(high)) for name, (low, high) in record.items()}
    except OSError:
        raise DataError(f"{path} cannot be read.\n{hint}") from None
    except (ValueError, TypeError, AttributeError):
        raise DataError(f"{path} does not hold bounds.\n{hint}") from None
    for name, (low, high) in bounds.items():
        if not low < high:
            raise DataError(f"{path}: the lower bound of {name!r} is not below its upper bound.\n{hint}")
    return bounds
