"""What an estimator checks of a table in memory: its schema alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.tables.sources import Source

__all__ = ["checked"]


def checked(estimator: Any, source: Source, *, reset: bool) -> NDArray[Any]:
    """Return a table as numbers; the estimator remembers its schema if `reset`, and compares it otherwise.

    Arrays of numbers that have names as texts, or none, are checked here. Everything else, and whatever is wrong, is left to
    scikit-learn, so that its users read its own words.
    """
    rows, names = source.nonprivate_rows, _names(source.header)
    is_plain = isinstance(rows, np.ndarray) and not isinstance(rows, np.matrix) and (names is None) == (source.header is None)
    if is_plain and reset:
        _remember(estimator, names, rows.shape[1])
        return np.asarray(rows)
    if is_plain and _is_known(estimator, names, rows.shape[1]):
        return np.asarray(rows)
    from sklearn.utils.validation import check_array, validate_data

    array = check_array(rows, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0, estimator=estimator, input_name="X")
    validate_data(estimator, array if source.header is None else source.header, skip_check_array=True, reset=reset)
    return np.asarray(array)


def _names(header: Any) -> list[str] | None:
    """Return the names of a frame's columns, if scikit-learn would take them as they are."""
    if type(header).__module__.partition(".")[0] not in ("pandas", "polars"):
        return None
    names = list(header.columns)
    return names if names and all(type(name) is str for name in names) else None


def _remember(estimator: Any, names: list[str] | None, n_features: int) -> None:
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.n_features_in_ = n_features


def _is_known(estimator: Any, names: list[str] | None, n_features: int) -> bool:
    """Whether this is the schema of the fit."""
    fitted = getattr(estimator, "feature_names_in_", None)
    return names == (None if fitted is None else list(fitted)) and n_features == getattr(estimator, "n_features_in_", None)
