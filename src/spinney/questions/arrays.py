"""Public arrays of questions: copied, of one type, and closed for writing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import FloatArray

__all__ = ["finite_points", "frozen", "require"]


def require(holds: Any, text: str) -> None:
    """Raise a ValueError with this text unless something holds."""
    if not holds:
        raise ValueError(text)


def frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Return a plain copy of an array that cannot be written to."""
    array: NDArray[Any] = np.array(values, dtype=dtype, order="C", copy=True, subok=False)
    array.setflags(write=False)
    return array


def finite_points(points: FloatArray, n_features: int, what: str) -> None:
    """Raise unless these are at least one point with one finite coordinate per column."""
    lawful = points.ndim == 2 and len(points) and points.shape[1] == n_features and np.isfinite(points).all()
    require(lawful, f"{what} must be finite points with one coordinate per column")
