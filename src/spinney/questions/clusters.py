"""Cells of public clusters: rows go by their first columns to the nearest center, and the columns behind them are described.

A column behind is a number from 0 to 1, in equal bins, or `ABSENT` in a row that does not say it: it has a bin of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.questions.arrays import SHORTEST, finite_points, freeze, require
from spinney.questions.ground import Ground
from spinney.spaces import ABSENT, FloatArray

#: Most bins of a column, besides the bin of rows without a value.
MOST_BINS = 2**16


@dataclass(frozen=True, eq=False)
class Clusters:
    """Voronoi cells of public centers, whose coordinates are the first columns of a row.

    Parameters
    ----------
    centers : array of shape (k, d)
        Of rows with d columns or more.
    radius : float
        These columns are clipped to a ball of this radius in the middle of their box; infinite if to the box alone.
    """

    family = "clusters"

    centers: FloatArray
    radius: float = math.inf

    def __post_init__(self) -> None:
        freeze(self, "centers")

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def n_features(self) -> int:
        """How many columns decide the cell."""
        return int(self.centers.shape[1])

    def behind(self, ground: Ground) -> int:
        """Return how many columns rows have behind those that decide the cell, after checks."""
        require(ground.domain is not None, "only rows of numbers have clusters")
        shaped = self.centers.ndim == 2 and 1 <= self.centers.shape[1] <= ground.n_features
        require(shaped, "centers must have at least one column, and no more than rows have")
        finite_points(self.centers, self.n_features, "centers")
        require(type(self.radius) is float and self.radius > SHORTEST, "the radius must be a positive number")
        assert ground.domain is not None
        require(ground.domain.radius == math.inf, "columns behind others lie in a box")
        more = ground.n_features - self.n_features
        lower, upper = ground.domain.lower[self.n_features :], ground.domain.upper[self.n_features :]
        require((lower == 0).all() and (upper == ABSENT).all(), f"columns behind others lie between 0 and {ABSENT:g}")
        return more


@dataclass(frozen=True, eq=False)
class ClusterBins:
    """Cells of clusters times the bins of each column behind: a row lies in one bin of every such column, in its own cluster.

    Parameters
    ----------
    clusters : Clusters
    bins : array of int of shape (m,)
        How many equal bins each column behind has. One more, the last, is for rows that do not say it.
    """

    family = "bins"

    clusters: Clusters
    bins: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze(self, "bins", as_places=True)

    @property
    def width(self) -> int:
        """How many cells a cluster has."""
        return int(self.bins.sum()) + self.bins.size

    def check(self, ground: Ground) -> None:
        """Raise a ValueError unless each column behind has bins."""
        require(type(self.clusters) is Clusters, "bins must be bins of clusters")
        behind = self.clusters.behind(ground)
        shaped = self.bins.ndim == 1 and self.bins.size == behind >= 1
        lawful = shaped and ((self.bins >= 1) & (self.bins <= MOST_BINS)).all()
        require(lawful, f"each column behind must have from 1 to {MOST_BINS} bins")
