"""A weighted summary of users: cells, their noisy shares, and which of them are taken for empty."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from spinney.algorithms import PointProblem
from spinney.local.aggregation import ReportTally
from spinney.local.cells import CellTree
from spinney.solvers.weighted import solve
from spinney.spaces import FloatArray, IntArray


def levels_of(problem: PointProblem) -> int:
    """Return how often a coarse grid is halved, by the number of columns: 32 to 1024 cells.

    Finer ones would cut more clusters into parts that do not stand out of the noise; a cell that does is halved later.
    """
    return min(max(problem.n_features + 1, 5), 10)


def gaps_of(centers: FloatArray, problem: PointProblem) -> FloatArray:
    """Return the distance of each center to the next."""
    if len(centers) == 1:
        return np.array([problem.domain.half_diagonal])
    gaps = np.sqrt(((centers[:, None] - centers[None]) ** 2).sum(axis=2))
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(np.maximum(gaps.min(axis=1), 1e-6 * problem.domain.half_diagonal))


@dataclass(frozen=True, eq=False)
class CellSummary:
    """Cells, noisy shares of users in them and how far they may be off, and weights: 0 for cells that are taken for empty.

    Evidence is by how many standard deviations a cell, or one that it is a part of, once stood out of the noise.
    """

    tree: CellTree
    shares: FloatArray
    stds: FloatArray
    weights: FloatArray
    evidence: FloatArray

    @classmethod
    def unknown(cls, tree: CellTree) -> CellSummary:
        """Return a summary before any question."""
        return cls(tree, np.zeros(len(tree)), np.full(len(tree), np.inf), np.zeros(len(tree)), np.zeros(len(tree)))

    def solved(self, problem: PointProblem, rng: np.random.Generator, count: int | None = None) -> FloatArray:
        """Return the best centers for the middles of weighted cells: k, or another number."""
        k = problem.k if count is None else count
        kept, fillers = self.weights > 0, problem.domain.sample(k, rng)
        return solve(self.tree.middles[kept], self.weights[kept], k, problem.power, rng, fillers).centers

    def levels(self, tally: ReportTally, split: float, deepest: int, most_cells: int) -> IntArray:
        """Return how often to halve each cell, so that its parts pass a multiple of the noise if rows fill it evenly."""
        noise = max(split * float(tally.count_std[0]) / max(tally.total_users, 1), 1e-12)
        levels = np.minimum(np.floor(np.log2(np.maximum(self.weights / noise, 1))).astype(np.int64), deepest)
        while np.sum(2**levels) > most_cells and levels.max() > 0:
            levels[levels == levels.max()] -= 1
        return levels

    def over(self, tree: CellTree, origins: IntArray) -> CellSummary:
        """Return what is known about finer cells: what was known of those that they came from."""
        return CellSummary(tree, self.shares[origins], self.stds[origins], self.weights[origins], self.evidence[origins])

    def heard(self, tally: ReportTally, origins: IntArray) -> CellSummary:
        """Return the summary after a question about its cells.

        A cell that was not halved counts if its mean stands out of the noise of all cells, or did before and is no noise alone.
        Of the parts of one that was halved, the largest are kept that together hold what it holds, so that no cluster is lost
        for being cut.
        """
        users = max(tally.total_users, 1)
        found, std = tally.counts[0] / users, max(float(tally.count_std[0]) / users, 1e-12)
        before, alone = self.stds**-2.0, np.bincount(origins)[origins] == 1
        shares = np.where(alone, (self.shares * before + found * std**-2.0) / (before + std**-2.0), found)
        stds = np.where(alone, (before + std**-2.0) ** -0.5, std)
        weights = np.where(shares > np.where(self.weights > 0, 1.0, cut_of(len(shares))) * stds, shares, 0.0)
        for origin in np.unique(origins[~alone]):
            mine = np.flatnonzero(origins == origin)
            weight = before[mine[0]] / (before[mine[0]] + std**-2.0 / len(mine))
            weights[mine] = _kept(found[mine], weight * self.weights[mine[0]] + (1 - weight) * found[mine].sum())
        return CellSummary(self.tree, shares, stds, weights, np.maximum(self.evidence, shares / stds))


def cut_of(count: int) -> float:
    """Return how many standard deviations noise passes once in twice this number of cells."""
    return NormalDist().inv_cdf(1 - 1 / (2 * count + 2))


def _kept(shares: FloatArray, total: float) -> FloatArray:
    """Return the largest shares that hold a total together, scaled to it; the others 0."""
    order = np.argsort(-shares)
    sums = np.cumsum(np.maximum(shares[order], 0))
    count = int(np.searchsorted(sums, total)) + 1
    kept = np.zeros_like(shares)
    kept[order[:count]] = np.maximum(shares[order[:count]], 0)
    return kept * (max(total, 0.0) / kept.sum()) if kept.sum() > 0 else kept
