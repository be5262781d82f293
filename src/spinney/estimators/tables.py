"""Reading a user's table as numbers, without a word about its rows."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError

__all__ = ["is_sequence_of", "numeric_array"]


def _number(cell: object) -> float:
    """Return a cell as a number; what is not a real number is missing."""
    if isinstance(cell, Real | Decimal | str):
        try:
            return float(cell)
        except (TypeError, ValueError, OverflowError):
            return np.nan
    return np.nan


def _refuse_dates(dtypes: Any) -> None:
    """Raise if a column's type is a date, a time or a duration; types are schema, so this tells nothing about rows."""
    for dtype in dtypes:
        is_temporal = getattr(dtype, "is_temporal", None)  # polars
        if getattr(dtype, "kind", "") in ("M", "m") or "period" in str(dtype) or (is_temporal is not None and is_temporal()):
            raise ParameterError(
                "The columns of X must hold numbers. Got dates, times or durations instead.\n"
                "Hint: turn them into numbers, such as days since a public date."
            )


def _column(values: Any) -> NDArray[Any]:
    """Return a column as a numeric array, cell by cell unless its type says that all cells are numbers."""
    array = np.asarray(values)
    _refuse_dates([array.dtype])
    if array.dtype.kind in "fiub":
        return array
    cells = [_number(cell) for cell in array.ravel().tolist()]
    return np.array(cells, dtype=np.float64).reshape(array.shape)


def is_sequence_of(length: int, names: Any) -> bool:
    """Whether this is a plain sequence with so many entries, whatever the entries are."""
    is_plain = hasattr(names, "__len__") and not isinstance(names, str | bytes | dict) and not hasattr(names, "columns")
    return is_plain and getattr(names, "ndim", 1) == 1 and len(names) == length


def numeric_array(X: Any) -> Any:
    """Return a table as an array of numbers, not copied if it is one already.

    Columns and their types are schema and so public; what stands in a cell is not: a cell that is not a number becomes
    missing, silently.
    """
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        _refuse_dates(X.dtypes)
        array = X.to_numpy()
        if array.dtype.kind in "fiub":
            return array
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported.")
        at = X.iloc if hasattr(X, "iloc") else X
        columns = [_column(at[:, i].to_numpy()) for i in range(X.shape[1])]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))
    if hasattr(X, "toarray"):  # sparse: left to scikit-learn's own message
        return X
    if not isinstance(X, np.ndarray):
        X = np.asarray(X, dtype=None if hasattr(X, "__array__") else object)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per record.")
    return X if X.dtype.kind in "fiub" else _column(X)
