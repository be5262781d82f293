"""How many clusters? As many as there are with valleys between them, up to the bend of their cost.

Letters: k clusters, m cells. More centers than may be chosen are merged one by one, always the two whose loss costs least,
down to one. Two things are looked at on the way, for each k:

- *Valleys.* Two clusters are separate if rows thin out between their centers by more than the noise of the cells explains. The
  evidence for k is its least valley between neighbors. Rows are spread evenly over their cells, because a cluster that a
  cell's wall cuts has no valley there. Cells that were taken as empty count with their noisy numbers, negative ones too:
  leaving them out would dig valleys.
- *The bend.* The gain of the last center over the gain of the next ones, in the logarithm of the cost, as in `Separation`.

Valleys are sure where rows are many, whatever the shapes of clusters; the bend is where rows are few and clusters alike. k is the
largest number for which both together say enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.solvers.weighted import improve, solve
from spinney.spaces.box import FloatArray

#: Centers to begin with, for each that may be chosen; restarts for them, and steps after two are merged.
OVER, RESTARTS, STEPS = 1.5, 4, 20
#: Distances below this share of the widest count as zero.
FLOOR = 1e-9
#: Points that stand for the rows of a cell.
SPREAD = 8
#: Places between two centers at which rows are counted; a valley lies among those in the middle.
PLACES, INNER = np.linspace(0.0, 1.0, 21), slice(4, 17)
#: Each place counts rows around it, the nearer the more: the width of the bell, in distances of the centers.
BELL = 0.12
#: A valley holds at most this share of the rows that the lower of its sides does; of points spread evenly it holds all.
SHALLOW = 0.75
#: A cluster stands out if it weighs this many standard deviations for each factor of e in the number of cells, and more for
#: the root of the number of its own.
ALONE, TOGETHER = 1.0, 2.0
#: The bend is found from this many next centers, within these bounds, each doubling as much as this many standard deviations.
NEXT, BENDS, DOUBLED = 3, (-2.0, 3.0), 1.5
#: Evidence is enough if it is this share of the largest, or this many standard deviations; below LEAST it does not count.
SHARE, ENOUGH, LEAST = 1 / 3, 1.0, 1.0
#: One standard deviation comes by chance in one of twelve fits: a valley is the deepest of its places, and every k is looked at.
#: So beside a number that stands out far more, evidence has to be this share of its, or this many standard deviations.
BESIDE, SURE = 1 / 10, 2.5


@dataclass(frozen=True)
class NoisyCells:
    """Disjoint boxes with noisy numbers of rows."""

    points: FloatArray  # where the rows of each box are on average
    weights: FloatArray  # noisy numbers, some of them negative
    lower: FloatArray
    upper: FloatArray
    full: NDArray[np.bool_]  # those not taken as empty: the summary
    std: float  # of the noise in each number
    is_number: NDArray[np.bool_] | None = None  # columns that are looked at alone too, if not all are alike


@dataclass(frozen=True)
class Count:
    """How many clusters there are, and the estimated cost, over the cost of one, and the evidence for 1, 2, ... of them."""

    k: int
    costs: tuple[float, ...]
    evidence: tuple[float, ...]


def count_clusters(cells: NoisyCells, most: int, power: int, rng: np.random.Generator) -> Count:
    """Return how many clusters there are, from 1 to `most`; power 1 is for k-median, 2 for k-means."""
    merging = _Merging(cells, math.ceil(OVER * most), power, rng)
    costs, valleys = {merging.k: merging.cost}, {1: 0.0}
    while merging.k > 1:
        k = merging.k
        valleys[k] = merging.step(is_candidate=k <= most)
        costs[k - 1] = merging.cost
    falling = np.minimum.accumulate([costs[k] for k in range(1, max(costs) + 1)]) / max(costs[1], 1e-300)
    last = min(most, max(costs))
    evidence = np.array([valleys[k] for k in range(1, last + 1)]) + DOUBLED * bends(falling)[:last]
    best = float(evidence[1:].max(initial=-np.inf))
    least = max(min(ENOUGH, SHARE * best), min(SURE, BESIDE * best))
    enough = np.flatnonzero(evidence[1:] >= least) + 2 if best >= LEAST else [1]
    return Count(int(enough[-1]), tuple(falling[:last].tolist()), tuple(evidence.tolist()))


def bends(costs: FloatArray) -> FloatArray:
    """Return by how many doublings each center lowers the logarithm of the cost more than the next ones; 0 at the ends.

    Costs of 1, 2, ... clusters, over the cost of one.
    """
    logs = np.log(np.maximum(costs, 1e-12))
    gains = np.maximum(logs[:-1] - logs[1:], 1e-9)
    found = np.zeros(len(costs))
    for i in range(len(gains) - 1):
        found[i + 1] = np.clip(math.log2(gains[i] / float(np.mean(gains[i + 1 : i + 1 + NEXT]))), *BENDS)
    return found


def _scaled(cells: NoisyCells) -> NoisyCells:
    """Return the same cells with all of space in a box of width one: the widest bounds have squares that overflow."""
    low, width = cells.lower.min(axis=0), max(float((cells.upper.max(axis=0) - cells.lower.min(axis=0)).max()), 1e-300)
    points, lower, upper = ((corner - low) / width for corner in (cells.points, cells.lower, cells.upper))
    return replace(cells, points=points, lower=lower, upper=upper)


class _Merging:
    """Centers that are merged one by one."""

    def __init__(self, cells: NoisyCells, k: int, power: int, rng: np.random.Generator) -> None:
        self.cells, self.power = _scaled(cells), power
        cells = self.cells
        self.points, self.weights = np.ascontiguousarray(cells.points[cells.full]), cells.weights[cells.full]
        m, d = cells.points.shape
        # Points that stand for the rows of each cell: cell x point x column.
        self.spread = cells.lower[:, None, :] + rng.random((m, SPREAD, d)) * (cells.upper - cells.lower)[:, None, :]
        self.known: dict[tuple[bytes, bytes], float] = {}
        k = max(min(k, len(self.points)), 1)
        fillers = np.repeat(cells.points.mean(axis=0)[None, :], k, axis=0)
        self._settle(solve(self.points, self.weights, k, power, rng, fillers, restarts=RESTARTS).centers)

    @property
    def k(self) -> int:
        """The number of centers that are left."""
        return len(self.centers)

    def _settle(self, centers: FloatArray) -> None:
        solution = improve(self.points, self.weights, centers, self.power, STEPS, 1e-6, FLOOR)
        self.centers, self.cost = solution.centers, solution.cost

    def step(self, is_candidate: bool) -> float:
        """Take one center away; return the evidence of the least valley between two, if k is a candidate.

        Where a cluster is no larger than noise it goes first, and there is no evidence.
        """
        order, full = _two_nearest(self.cells.points, self.centers), self.cells.full
        # Of full cells alone, noise would have a mass.
        masses, counts = (np.bincount(order[:, 0], by, minlength=self.k) for by in (self.cells.weights, None))
        least = self.cells.std * (ALONE * math.log(max(len(full), 2)) + TOGETHER * np.sqrt(counts))
        if (masses <= least).any():
            self._settle(np.delete(self.centers, int(np.argmin(masses - least)), axis=0))
            return -math.inf
        found = self._least_valley(order) if is_candidate else -math.inf
        squares = ((self.centers[:, None, :] - self.centers[None, :, :]) ** 2).sum(axis=2)
        losses = squares ** (self.power / 2) / (1 / masses[:, None] + 1 / masses[None, :])
        np.fill_diagonal(losses, np.inf)
        i, j = np.unravel_index(int(np.argmin(losses)), losses.shape)
        joined = np.average(self.centers[[i, j]], axis=0, weights=masses[[i, j]])
        self._settle(np.vstack([np.delete(self.centers, [i, j], axis=0), joined]))
        return found

    def _least_valley(self, order: NDArray[np.int64]) -> float:
        """Return the least evidence of a valley between two neighbors: centers that are the nearest two of a full cell."""
        own = [np.flatnonzero(order[:, 0] == i) for i in range(self.k)]
        names = [members.tobytes() for members in own]
        known: dict[tuple[bytes, bytes], float] = {}
        for i, j in np.unique(np.sort(order[self.cells.full], axis=1), axis=0):
            name = names[i], names[j]
            known[name] = self.known[name] if name in self.known else self._valley(own[i], own[j], self.centers[[i, j]])
        self.known = known  # what is not among them is gone for good
        return min(known.values())

    def _valley(self, first: NDArray[np.int64], second: NDArray[np.int64], ends: FloatArray) -> float:
        """Return the evidence that rows of two clusters thin out between their centers, in standard deviations.

        Along the line between them; or along what it is in numbers alone, if that tells more.
        """
        members, axis = np.concatenate([first, second]), ends[1] - ends[0]
        found = self._gap(members, ends[0], axis)
        if self.cells.is_number is None:
            return found
        return max(found, self._gap(members, ends[0], axis * self.cells.is_number))

    def _gap(self, members: NDArray[np.int64], start: FloatArray, axis: FloatArray) -> float:
        """Return the same along one line."""
        places = (self.spread[members] - start) @ (axis / max(float(axis @ axis), 1e-300))
        bells = np.exp(-0.5 * ((places[:, :, None] - PLACES) / BELL) ** 2).mean(axis=1)
        weights = self.cells.weights[members]
        heights = weights @ bells
        # The noise of the cells, and the noise of rows as a sample.
        variances = (self.cells.std**2 + np.maximum(weights, 0.0)) @ bells**2
        left = [int(np.argmax(heights[: i + 1])) for i in range(PLACES.size)]
        right = [i + int(np.argmax(heights[i:])) for i in range(PLACES.size)]
        lower = np.where(heights[left] < heights[right], left, right)
        gap = SHALLOW * heights[lower] - heights
        return float((gap / np.sqrt(SHALLOW**2 * variances[lower] + variances + 1e-300))[INNER].max())


def _two_nearest(points: FloatArray, centers: FloatArray) -> NDArray[np.int64]:
    """Return the nearest and the second nearest of at least two centers for each point."""
    squares = (centers**2).sum(axis=1) - 2 * points @ centers.T  # without the term that is the same for all centers
    two = np.argpartition(squares, 1, axis=1)[:, :2]
    found = np.take_along_axis(squares, two, axis=1)
    order: NDArray[np.int64] = np.where(found[:, :1] > found[:, 1:], two[:, ::-1], two)
    return order
