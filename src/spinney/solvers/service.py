"""What it costs to serve weighted demand from candidate centers: distances, or their squares, kept in a table if it fits.

The table has a row per demand point, so a network is searched from demand points, and the loops over candidates vectorize.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.compilation import compiled
from spinney.exceptions import ParameterError
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import BLOCK_ENTRIES, FiniteMetric, IntArray

#: Tables of up to this many bytes are kept in 64 bits.
EXACT_BYTES = 2**28
#: Larger ones are kept in 32 bits up to this many bytes; beyond, rows are computed again whenever they are needed.
TABLE_BYTES = 2**30
#: Largest costs between which 32 bits neither vanish nor overflow.
NARROW = 1e-30, 1e30
#: By this share a distance may lie beyond a reach, and be within it: lengths of paths are rounded.
SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Service:
    """Demand and candidates of one problem; made by `of`.

    Centers may be at `candidates`, an array of points; "places" below are places in it. `demand` are the points of positive
    weight. The power is 1 for k-median, 2 for squared distances, 0 for what lies farther away than `reach`, which costs 1.
    """

    space: FiniteMetric
    candidates: IntArray
    demand: IntArray
    weights: FloatArray
    power: int
    reach: float = 0.0

    @classmethod
    def of(cls, space: FiniteMetric, weights: ArrayLike, power: int = 1, candidates: IntArray | None = None) -> Service:
        """Read the weights of all points, which are not negative; points of weight 0 do not matter.

        Candidates are sorted indices of points, by default those of the space.
        """
        mass = np.asarray(weights, dtype=np.float64)
        if mass.shape != (space.n_points,) or not np.isfinite(mass).all() or (mass < 0).any():
            raise ParameterError.wrong(
                "weights", "k-medoids", f"{space.n_points} finite numbers, not negative, one per point", mass.shape,
                "np.bincount(indices, minlength=space.n_points) counts demand per point.",
            )  # fmt: skip
        if power not in (1, 2):
            raise ParameterError.wrong("power", "k-medoids", "1 or 2", power, "1 is k-median, 2 squared distances.")
        demand = np.flatnonzero(mass)
        return cls(space, space.candidates if candidates is None else candidates, demand, mass[demand], power)

    @cached_property
    def table(self) -> NDArray[Any] | None:
        """The costs of all pairs, one row per demand point, or None if they would take too much memory."""
        entries = len(self.demand) * len(self.candidates)
        narrow = 8 * entries > EXACT_BYTES and NARROW[0] < self.space.diameter**self.power < NARROW[1]
        if (4 if narrow else 8) * entries > TABLE_BYTES:
            return None
        kept = np.empty((len(self.demand), len(self.candidates)), np.float32 if narrow else np.float64)
        # Many candidates are never searched from, so that smaller blocks make the same bits.
        size = BLOCK_ENTRIES // 4 if len(self.candidates) ** 2 > BLOCK_ENTRIES else BLOCK_ENTRIES
        for part, block in self.space.blocks(self.demand, self.candidates, size, of_demand=True):
            kept[part] = self._cost(block)
        return kept

    def reaching(self, reach: float) -> Service:
        """Return the same demand, where what lies within reach costs nothing and all else 1; distances are not searched again."""
        other = replace(self, power=0, reach=reach)
        if self.power == 1 and self.table is not None:
            other.__dict__["table"] = other._cost(self.table).astype(self.table.dtype)
        return other

    def tabulate(self) -> None:
        """Compute the table now, if it fits, so that single candidates are read from it too."""
        _ = self.table

    def among(self, points: IntArray) -> Service:
        """Return the same demand with these sorted candidates alone; costs that are in a table already are read from it."""
        part = replace(self, candidates=points)
        if "table" in self.__dict__ and self.table is not None:
            part.__dict__["table"] = np.ascontiguousarray(self.table[:, np.searchsorted(self.candidates, points)])
        return part

    def dearer(self, costs: FloatArray) -> Service:
        """Return the same demand, where a pair costs more by an entry of a table; without a table, the same costs."""
        other = replace(self)
        if self.table is not None:
            other.__dict__["table"] = self.table + costs
        return other

    def rows(self, members: IntArray) -> NDArray[Any]:
        """Return the costs of serving some demand points, by their places, from all candidates."""
        if self.table is not None:
            return self.table[members]
        return self._cost(self.space.distances_between(self.demand[members], self.candidates, of_demand=True))

    def from_candidates(self, places: ArrayLike) -> FloatArray:
        """Return the costs of serving all demand from some candidates, one row per candidate."""
        if "table" in self.__dict__ and self.table is not None:
            return np.ascontiguousarray(self.table[:, np.asarray(places)].T, dtype=np.float64)
        return self.from_points(self.candidates[np.asarray(places)])

    def from_points(self, points: ArrayLike) -> FloatArray:
        """Return the costs of serving all demand from some points of the space, one row per point."""
        return self._cost(self.space.distances_between(points, self.demand))

    def from_nearest(self, points: ArrayLike) -> FloatArray:
        """Return the costs of serving each demand from the nearest of some points of the space."""
        closest = np.full(len(self.demand), np.inf)
        for _, block in self.space.blocks(points, self.demand):
            closest = np.minimum(closest, block.min(axis=0))
        return self._cost(closest)

    def cost(self, points: ArrayLike) -> float:
        """Return the cost of serving all demand from the nearest of some points of the space."""
        return float(self.weights @ self.from_nearest(points)) if len(self.demand) else 0.0

    def _cost(self, distances: FloatArray) -> FloatArray:
        if self.power == 0:
            return np.asarray(distances > self.reach * (1 + SLACK), dtype=np.float64)
        return distances if self.power == 1 else distances**2


@compiled
def _nearest_two(costs, label, first, second):  # type: ignore[no-untyped-def]
    for j in range(costs.shape[0]):
        for i in range(costs.shape[1]):
            cost = costs[j, i]
            second[i] = min(second[i], max(first[i], cost))
            label[i] = j if cost < first[i] else label[i]
            first[i] = min(first[i], cost)


def nearest_two(costs: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the nearest center of each demand point, its cost and the second nearest one's cost; ties go to the first.

    ``costs`` has a row per center. The second cost is infinite if there is one center only.
    """
    m = costs.shape[1]
    label, first, second = np.zeros(m, dtype=np.int64), np.full(m, np.inf), np.full(m, np.inf)
    _nearest_two(np.ascontiguousarray(costs), label, first, second)
    return label, first, second
