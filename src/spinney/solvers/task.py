"""Expected demand at public points, what is wanted of sites for it, and what is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spinney.solvers.service import Service
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import FiniteMetric, IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteTask:
    """Expected demand of each public point, and what is wanted: k sites, or as many as the goal says, k at most.

    Parameters
    ----------
    space : FiniteMetric
    loads : array of shape (n_points,)
        Rows that are expected at each point.
    k : int
    is_counted : bool
    power : {1, 2}
    existing : array of int
    weights : array of shape (n_points,), optional
        How much a row at each point counts in costs, and in shares: a public matter of equity. It takes the same room.
    """

    space: FiniteMetric
    loads: FloatArray
    k: int
    is_counted: bool = False
    power: int = 1
    existing: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    weights: FloatArray | None = None

    @property
    def demand(self) -> FloatArray:
        """What each point counts."""
        return self.loads if self.weights is None else self.loads * self.weights

    def service(self, power: int | None = None) -> Service:
        """Return the demand with its costs."""
        return Service.of(self.space, self.demand, self.power if power is None else power)

    def nearest(self, points: IntArray) -> FloatArray:
        """Return how far every point is from its nearest site, chosen or existing."""
        closest = np.full(self.space.n_points, np.inf)
        for _, block in self.space.blocks(np.concatenate([points, self.existing])):
            closest = np.minimum(closest, block.min(axis=0))
        return closest


@dataclass(frozen=True)
class SiteChoice:
    """Sites, sorted; whom each point goes to, chosen sites first and then existing ones, -1 nobody; None: to the nearest."""

    points: IntArray
    labels: IntArray | None = None
