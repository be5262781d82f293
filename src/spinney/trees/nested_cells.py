"""Public cells of a finite metric: seeds drawn far apart, and around each seed the points that are nearest to it.

Seeds are drawn in proportion to the squared distance from those drawn before (Arthur and Vassilvitskii 2007). Then a few rounds
move each seed to the best of some points of its cell, where that is cheap. Cells of part of the points make nested partitions.
Distances are computed from one source after another: memory is in proportion to the points, never to their square.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinney.spaces.metric import FiniteMetric, IntArray, nearest_site

#: Rounds that move seeds, and the points of a cell that are tried in a round, the old seed among them. Without them
#: `algorithms/cells.py` cost 1.28 instead of 1.24 on road networks at epsilon 0.25.
ROUNDS, TRIES = 2, 8
#: Seeds move in spaces of up to this many points.
MOVE_POINTS = 2**13


@dataclass(frozen=True, eq=False)
class NestedCells:
    """A partition of some points of a space; made by `carve`.

    ``labels`` are the cells of all points of the space, from 0 on, or -1 for points that were left out; no cell is empty.
    ``seeds`` are a point of each cell, in its middle where seeds have moved.
    """

    labels: IntArray
    seeds: IntArray

    @classmethod
    def carve(cls, space: FiniteMetric, n_cells: int, rng: np.random.Generator, points: ArrayLike | None = None) -> NestedCells:
        """Carve about `n_cells` cells of these different points, by default all; fewer where points coincide.

        From as many cells as points on, each point is a cell. The generator is public.
        """
        inside = np.arange(space.n_points) if points is None else np.asarray(points, dtype=np.int64)
        labels = np.full(space.n_points, -1, dtype=np.int64)
        if n_cells >= len(inside):
            labels[inside] = np.arange(len(inside))
            return cls(labels, inside)
        seeds, own = _spread_seeds(space, inside, n_cells, rng)
        for _ in range(ROUNDS if space.n_points <= MOVE_POINTS else 0):
            seeds = _move(space, inside, own, seeds, rng)
            own = nearest_site(space, seeds, inside)
        kept, own = np.unique(own, return_inverse=True)
        labels[inside] = own
        return cls(labels, seeds[kept])

    def cut(self, space: FiniteMetric, n_cells: ArrayLike, rng: np.random.Generator) -> NestedCells:
        """Cut each cell into about this many; fine cells of one cell follow one another."""
        labels, seeds, total = self.labels.copy(), [], 0
        for cell, number in enumerate(np.asarray(n_cells)):
            inside = np.flatnonzero(self.labels == cell)
            fine = NestedCells.carve(space, int(number), rng, inside)
            labels[inside] = total + fine.labels[inside]
            seeds.append(fine.seeds)
            total += len(fine)
        return NestedCells(labels, np.concatenate(seeds))

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def sizes(self) -> IntArray:
        """How many points each cell has."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self))

    def sample(self, most: int, rng: np.random.Generator) -> IntArray:
        """Draw up to this many points of each cell, one cell after the other."""
        order = rng.permutation(np.flatnonzero(self.labels >= 0))
        order = order[np.argsort(self.labels[order], kind="stable")]
        sizes = self.sizes
        return order[np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes) < most]


def _spread_seeds(space: FiniteMetric, inside: IntArray, n_cells: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw the first seed evenly and each further one by squared distance; return them, and the nearest one's place."""
    seeds, own = [int(rng.choice(inside))], np.zeros(len(inside), dtype=np.int64)
    closest = space.distances_between(seeds, inside)[0]
    while len(seeds) < n_cells and (reach := float(closest.max())) > 0:
        shares = np.cumsum((closest / reach) ** 2)  # of the largest, so that squares neither vanish nor overflow
        pick = int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))
        seeds.append(int(inside[min(pick, len(inside) - 1)]))
        row = space.distances_between(seeds[-1:], inside, within=reach)[0]  # a farther seed is nearest to no point
        own[row < closest] = len(seeds) - 1
        closest = np.minimum(closest, row)
    return np.array(seeds, dtype=np.int64), own


def _move(space: FiniteMetric, inside: IntArray, own: IntArray, seeds: IntArray, rng: np.random.Generator) -> IntArray:
    """Move each seed to the one of a few points of its cell with the least sum of distances to the cell."""
    order = np.argsort(own, kind="stable")
    bounds = np.searchsorted(own[order], np.arange(len(seeds) + 1))
    moved = seeds.copy()
    for j, (start, stop) in enumerate(itertools.pairwise(bounds)):
        cell = inside[order[start:stop]]
        if len(cell) > 2:
            tries = np.append(rng.choice(cell, min(TRIES - 1, len(cell)), replace=False), seeds[j])
            moved[j] = tries[space.distances_between(tries, cell).sum(axis=1).argmin()]
    return moved
