"""scikit-learn's messages for tables that are not plain, or that differ from the table of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.tables.sources import Source

__all__ = ["checked_by_scikit_learn"]


def checked_by_scikit_learn(estimator: Any, source: Source, *, reset: bool) -> NDArray[Any]:
    """Return a table as numbers; the estimator remembers its schema if `reset`, and compares it otherwise."""
    from sklearn.utils.validation import check_array, validate_data

    options: dict[str, Any] = {"dtype": "numeric", "ensure_all_finite": False, "ensure_min_samples": 0, "input_name": "X"}
    array = check_array(source.nonprivate_rows, estimator=estimator, **options)
    validate_data(estimator, array if source.header is None else source.header, skip_check_array=True, reset=reset)
    return np.asarray(array)
