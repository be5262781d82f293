"""Tables from CSV, Parquet and NPY files.

Names and types of columns are schema, and public; a cell that is not a number is missing, silently.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.exceptions import DataError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_bounds", "read_names", "read_table"]

READABLE = (".csv", ".npy", ".parquet")


def _unreadable(path: Path, why: str) -> DataError:
    return DataError(f"{path} {why}\nHint: give a .csv (with a header line), .parquet or .npy file.")


def _frame(path: Path) -> pl.LazyFrame:
    """Open a CSV or Parquet file; every column of a CSV is text until it is cast."""
    import polars as pl

    if path.suffix.lower() == ".csv":
        return pl.scan_csv(path, infer_schema=False, truncate_ragged_lines=True, encoding="utf8-lossy")
    return pl.scan_parquet(path)


def _schema(path: Path) -> dict[str, Any]:
    import polars as pl

    if not path.is_file():
        raise _unreadable(path, "is not a file.")
    if path.suffix.lower() not in READABLE:
        raise _unreadable(path, "is of a kind that cannot be read.")
    try:
        return dict(_frame(path).collect_schema())
    except (pl.exceptions.PolarsError, OSError):
        raise _unreadable(path, "cannot be read.") from None


def _collect(path: Path, columns: list[Any]) -> pl.DataFrame:
    import polars as pl

    try:
        return _frame(path).select(columns).collect()
    except (pl.exceptions.PolarsError, OSError):
        raise _unreadable(path, "cannot be read.") from None


def _require(path: Path, schema: dict[str, Any], columns: list[str]) -> None:
    missing = [name for name in columns if name not in schema]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}.\nHint: it has {', '.join(map(repr, schema))}.")


def read_table(path: Path, columns: list[str] | None = None, leave_out: str | None = None) -> Any:
    """Return a table of numbers: a polars frame, or an array that stays on disk for NPY.

    Parameters
    ----------
    path : Path
    columns : list of str, optional
        Which columns, in this order; all by default. Not for NPY, whose columns have no names.
    leave_out : str, optional
        A column that is not data, such as the names of groups.
    """
    import numpy as np
    import polars as pl

    if path.suffix.lower() == ".npy":
        if columns or leave_out:
            raise DataError(f"{path} has no column names.\nHint: leave --columns and --groups out, or use CSV or Parquet.")
        try:
            table = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError):
            raise _unreadable(path, "cannot be read.") from None
        if table.ndim != 2 or table.dtype.kind not in "fiub":
            raise _unreadable(path, "does not hold a two-dimensional array of numbers.")
        return table
    schema = _schema(path)
    columns = [name for name in schema if name != leave_out] if columns is None else columns
    _require(path, schema, columns)
    if not columns:
        raise DataError(f"{path} has no columns.\nHint: its first line must name them.")
    temporal = [name for name in columns if schema[name].is_temporal() or schema[name].is_nested()]
    if temporal:
        raise DataError(f"{path}: column {temporal[0]!r} does not hold numbers.\nHint: leave it out with --columns.")
    cells = [pl.col(name).str.strip_chars() if schema[name] == pl.String else pl.col(name) for name in columns]
    return _collect(path, [cell.cast(pl.Float64, strict=False) for cell in cells])


def read_names(path: Path, column: str) -> list[Any]:
    """Return the names of groups from one column."""
    schema = _schema(path)
    _require(path, schema, [column])
    return _collect(path, [column])[column].to_list()


def read_bounds(path: Path) -> dict[str, tuple[float, float]]:
    """Return public bounds by column from a JSON file such as ``{"age": [0, 110], "bmi": [10, 60]}``."""
    hint = 'Hint: write JSON such as {"age": [0, 110], "bmi": [10, 60]}.'
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): (float(low), float(high)) for name, (low, high) in record.items()}
    except OSError:
        raise DataError(f"{path} cannot be read.\n{hint}") from None
    except (ValueError, TypeError, AttributeError):
        raise DataError(f"{path} does not hold bounds.\n{hint}") from None
