"""Reading a user's table as numbers, without a word about its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["numeric_array"]


def _number(cell: object) -> float:
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _column(values: Any) -> NDArray[Any]:
    """Return a column as a numeric array; a cell that is not a number is missing."""
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([_number(cell) for cell in array.ravel().tolist()], dtype=np.float64).reshape(array.shape)


def numeric_array(X: Any) -> Any:
    """Return a table as an array of numbers, not copied if it is one already.

    Columns and their types are schema and so public; what stands in a cell is not: a cell that is not a number becomes
    missing, silently.
    """
    if hasattr(X, "columns") and hasattr(X, "__getitem__") and hasattr(X, "to_numpy"):
        array = X.to_numpy()
        if array.dtype.kind in "fiub":
            return array
        columns = [_column(X[name].to_numpy()) for name in X.columns]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))
    if hasattr(X, "toarray"):  # sparse: left to scikit-learn's own message
        return X
    if not isinstance(X, np.ndarray):
        X = np.asarray(X, dtype=None if hasattr(X, "__array__") else object)
        if X.dtype == object:
            return _column(X)
    return X if X.dtype.kind in "fiubc" else _column(X)
