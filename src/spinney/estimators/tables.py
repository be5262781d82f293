"""Reading a user's table as numbers, without a word about its rows."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.seal import sealed
from spinney.exceptions import ParameterError

__all__ = ["is_list_of_names", "numeric_array", "numeric_column"]


def _number(cell: object) -> float:
    """Return a cell as a number; what is not a real number is missing."""
    if isinstance(cell, Real | Decimal | str):
        try:
            return float(cell)
        except Exception:  # whatever a cell may raise, it is missing
            return np.nan
    return np.nan


def _numbers(cells: list[Any]) -> NDArray[np.float64]:
    return np.array([_number(cell) for cell in cells], dtype=np.float64)


def _refuse_dates(dtypes: Any) -> None:
    """Raise if a column's type is a date, a time or a duration; types are schema, so this tells nothing about rows."""
    for dtype in dtypes:
        is_temporal = getattr(dtype, "is_temporal", None)  # polars
        if getattr(dtype, "kind", "") in ("M", "m") or "period" in str(dtype) or (is_temporal is not None and is_temporal()):
            raise ParameterError(
                "The columns of X must hold numbers. Got dates, times or durations instead.\n"
                "Hint: turn them into numbers, such as days since a public date."
            )


def _pandas_column(column: Any) -> NDArray[Any]:
    """Return a pandas column as numbers; whether it is read whole or cell by cell depends on its type alone."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
        return np.asarray(column.to_numpy())
    if column.dtype.kind in "fiub":  # a nullable or sparse type of numbers
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return _numbers(column.tolist())


def _polars_column(column: Any) -> NDArray[Any]:
    """Return a polars column as numbers; whether it is read whole or cell by cell depends on its type alone."""
    plain = column.dtype.is_float() or column.dtype.is_integer() or str(column.dtype) == "Boolean"
    return column.cast(float).to_numpy() if plain else _numbers(column.to_list())


def _read_frame(frame: Any) -> NDArray[Any]:
    """Read a pandas or polars frame column by column: a cell's neighbors must not decide how it is read."""
    dtypes = list(frame.dtypes)
    _refuse_dates(dtypes)
    if any(getattr(dtype, "kind", "") == "c" for dtype in dtypes):
        raise ParameterError("Complex data not supported.")
    if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes) and dtypes:
        return np.asarray(frame.to_numpy())
    is_pandas = hasattr(frame, "iloc")
    with np.errstate(all="ignore"):
        columns = [_pandas_column(frame.iloc[:, i]) if is_pandas else _polars_column(frame[:, i]) for i in range(frame.shape[1])]
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def _read_masked(array: Any) -> NDArray[Any]:
    """Return a masked array as numbers, masked cells missing; dates and complex numbers as they are, to be refused."""
    data: NDArray[Any] = np.asarray(array.data)
    if data.dtype.kind in "cMm":
        return data
    with np.errstate(all="ignore"):  # a value too large for a float becomes infinite, and so missing, in silence
        numbers = data.astype(np.float64) if data.dtype.kind in "fiub" else _numbers(data.ravel().tolist()).reshape(data.shape)
    return np.where(np.ma.getmaskarray(array), np.nan, numbers)


def is_list_of_names(names: Any, length: int) -> bool:
    """Whether this is a plain sequence with so many entries, whatever the entries are, and not a column of dates."""
    is_plain = hasattr(names, "__len__") and not isinstance(names, str | bytes | dict) and not hasattr(names, "columns")
    return (
        is_plain
        and getattr(names, "ndim", 1) == 1
        and getattr(getattr(names, "dtype", None), "kind", "") not in ("M", "m")
        and len(names) == length
    )


def numeric_array(X: Any) -> Any:
    """Return a table as an array of numbers, not copied if it is one already.

    Columns and their types are schema and so public; what stands in a cell is not: a cell that is not a number becomes
    missing, silently.
    """
    with sealed():
        if hasattr(X, "columns") and hasattr(X, "dtypes"):
            X = _read_frame(X)
        if hasattr(X, "toarray"):  # sparse: left to scikit-learn's own message
            return X
        if isinstance(X, np.ma.MaskedArray):
            X = _read_masked(X)
        if not isinstance(X, np.ndarray):
            X = np.asarray(X, dtype=None if hasattr(X, "__array__") else object)
    _refuse_dates([X.dtype])
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per record.")
    if X.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    with sealed():
        return X if X.dtype.kind in "fiub" else _numbers(X.ravel().tolist()).reshape(X.shape)


def _cell(row: Any) -> Any:
    """Return the cell of a row that has one; other rows as they are."""
    row = row.tolist() if isinstance(row, np.ndarray) else row
    return row[0] if isinstance(row, list | tuple) and len(row) == 1 else row


def _column_of(rows: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Return a list of rows as one column; how a row is read does not depend on the others."""
    column = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        column[place] = _cell(row)
    return column


def numeric_column(column: Any) -> NDArray[Any]:
    """Return one column as an array of numbers, as `numeric_array` does: a list, an array, a series, or a table of one column."""
    with sealed():
        if isinstance(column, list | tuple):
            column = _column_of(column)
        if hasattr(column, "to_frame") and not hasattr(column, "columns"):
            column = column.to_frame()
        if not hasattr(column, "columns"):
            if not isinstance(column, np.ndarray):
                column = np.asarray(column, dtype=None if hasattr(column, "__array__") else object)
            column = column[:, None] if column.ndim == 1 else column
    array = numeric_array(column) if getattr(column, "ndim", 2) == 2 else np.empty((0, 0))
    if array.shape[1] != 1:
        raise ParameterError(
            "The rows of demand must be one index each.\nHint: pass one column, such as table['site'], of indices of points."
        )
    return np.asarray(array[:, 0])
