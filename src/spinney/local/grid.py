"""The public grid that devices and servers compute on: one step for all columns, whole numbers, the same in every language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.local.device import MOST_STEPS
from spinney.spaces import Domain, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Grid:
    """Steps of a box. A row lies in one step of every column; a point of the grid is the middle of its steps."""

    lower: FloatArray
    step: float
    steps: IntArray

    @classmethod
    def of(cls, domain: Domain) -> Grid:
        """Return the grid of a domain; of a ball, the grid of the box around it."""
        widths = domain.upper - domain.lower
        step = float(widths.max()) / MOST_STEPS
        return cls(domain.lower, step, np.clip(np.ceil(widths / step), 1, MOST_STEPS).astype(np.int64))

    @property
    def record(self) -> dict[str, Any]:
        """The domain as questions and policies have it."""
        return {"lower": [repr(float(low)) for low in self.lower], "step": repr(self.step), "steps": self.steps.tolist()}

    def places(self, nonprivate_rows: NDArray[Any]) -> IntArray:
        """Return rows as points of the grid, as `device.place` does: clipped, the middle for a row that is not finite."""
        rows = np.asarray(nonprivate_rows, dtype=np.float64).reshape(-1, self.steps.size)
        missing = np.asarray(~np.isfinite(rows).all(axis=1))
        inside = np.clip(np.where(missing[:, None], self.lower, rows), self.lower, self.lower + self.step * self.steps)
        places = np.minimum(np.floor((inside - self.lower) / self.step).astype(np.int64), self.steps - 1)
        places[missing] = self.steps // 2
        return places

    def points(self, places: Any) -> FloatArray:
        """Return where points of the grid are, fractions of steps too."""
        return np.asarray(self.lower + (np.asarray(places, dtype=np.float64) + 0.5) * self.step)

    def nearest(self, points: FloatArray) -> IntArray:
        """Return the points of the grid nearest to given points."""
        return np.clip(np.rint((points - self.lower) / self.step - 0.5).astype(np.int64), 0, self.steps - 1)
