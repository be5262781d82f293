"""The public grid that coordinates are read on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import Domain, FloatArray

#: Each column of the bounding box is cut into 2**31 steps.
GRID_BITS = 31


class Door(NamedTuple):
    """What decides, once, how a raw row enters: constants for the compiled kernels."""

    lower: FloatArray
    upper: FloatArray
    inverse: FloatArray
    step: FloatArray
    center: FloatArray
    radius: float
    nan_to_center: bool
    view: Any = None  # what lies between the rows and this door, if they are seen through another one first

    @property
    def n_columns(self) -> int:
        """The number of columns of the raw rows."""
        columns: int = self.lower.size if self.view is None else self.view.outer.n_columns
        return columns


def door(domain: Domain, nan_to_center: bool) -> Door:
    """Return the door of a domain."""
    step = (domain.upper - domain.lower) / 2.0**GRID_BITS
    with np.errstate(over="ignore"):
        inverse = np.minimum(2.0**GRID_BITS / (domain.upper - domain.lower), np.finfo(np.float64).max)
    return Door(domain.lower.copy(), domain.upper.copy(), inverse, step, domain.center, float(domain.radius), nan_to_center)


def as_floats(rows: NDArray[Any]) -> NDArray[Any]:
    """Return a batch of rows as 32- or 64-bit floats that cannot be written to."""
    if rows.dtype not in (np.float32, np.float64):
        with np.errstate(all="ignore"):  # a value too large for a float becomes infinite, and so missing, in silence
            rows = np.asarray(rows, dtype=np.float64)
    rows = rows.view()
    rows.setflags(write=False)
    return rows
