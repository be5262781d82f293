"""Rows of numbers seen as the nearest of finitely many public points: one count per point is all that is held.

Proof: ``proofs/sites.md``, "Views at points".
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from spinney.curators.backend import Backend
from spinney.curators.demand import DemandBackend, largest_count
from spinney.mechanisms.source import IntArray
from spinney.questions.arrays import finite_points, require
from spinney.questions.ground import Ground
from spinney.questions.partitions import Rings
from spinney.spaces.distances import Coordinates
from spinney.spaces.metric import FiniteMetric

__all__ = ["SnappedBackend"]


class SnappedBackend(DemandBackend):
    """Rows of numbers at the points of a space that are nearest to them; they are counted when the first question is answered."""

    def __init__(self, nonprivate_rows: Backend, space: FiniteMetric) -> None:
        require(type(space) is FiniteMetric, "rows are seen at the points of a FiniteMetric")
        self.ground = Ground(None, space.n_points, space)
        source = self._space.source
        require(type(source) is Coordinates and not source.manhattan, "rows are seen at points with coordinates")
        assert isinstance(source, Coordinates)
        finite_points(source.points, nonprivate_rows.ground.n_features, "points")
        self._numbers, self._rings = nonprivate_rows, Rings(source.points)
        self._tables = {}

    @cached_property
    def _counts(self) -> IntArray:  # type: ignore[override]
        counts: IntArray = np.minimum(self._numbers.exact(self._rings), largest_count(self.ground)).astype(np.int64)
        return counts

    @cached_property
    def _points(self) -> IntArray:  # type: ignore[override]
        return np.flatnonzero(self._counts)
