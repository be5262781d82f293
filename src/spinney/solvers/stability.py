"""How separated weighted points are: the notions of stability of Shechner 2021, sections 2.3 and 3.

Letters: k clusters X_i with centers c_i and total weights n_i, D_i the distance from c_i to the next center, p the power of
distances (1 median, 2 means), OPT_k the least cost of k centers. OPT_k is NP-hard to find; what is said
below holds for the centers given, taken as the best ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import FloatArray
from spinney.spaces.nearest import nearest

#: Numbers in a block of a table of points against centers, about.
MOST_NUMBERS = 2**22
#: Clusterings that are tried for how much they differ.
TRIED = 16


def _blocks(points: FloatArray, against: FloatArray) -> Iterator[slice]:
    """Yield stretches of points, each small enough for a table of offsets from all the others."""
    size = max(MOST_NUMBERS // max(against.size, 1), 1)
    yield from (slice(start, start + size) for start in range(0, len(points), size))


def _squares(points: FloatArray, others: FloatArray) -> FloatArray:
    found: FloatArray = ((points[:, None] - others[None]) ** 2).sum(axis=2)
    return found


def next_distances(centers: FloatArray) -> FloatArray:
    """Return the distance from each center to the next one; infinite if there is only one."""
    found = np.full(len(centers), np.inf)
    for here in _blocks(centers, centers):
        squares = _squares(centers[here], centers)
        squares[np.arange(len(squares)), np.arange(len(centers))[here]] = np.inf
        found[here] = np.sqrt(squares.min(axis=1))
    return found


def _matched(table: FloatArray) -> float:
    """Return the least sum of entries of a square table, one in each row and column."""
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]  # slow to import

    return float(table[linear_sum_assignment(table)].sum())


def wasserstein(first: FloatArray, second: FloatArray) -> float:
    """Return the distance between two sets of k centers as points of dimension k d, under the best matching (Definition 1.3)."""
    return math.sqrt(_matched(_squares(first, second)))


def _ratio(above: float, below: float) -> float:
    """Return a quotient: one if nothing is over nothing, infinite if something is."""
    return above / below if below > 0 else (1.0 if above <= 0 else math.inf)


@dataclass(frozen=True, eq=False)
class Clustered:
    """Weighted points and their centers. It holds the points: keep it where they may be.

    Parameters
    ----------
    points, weights : arrays of shape (n, d) and (n,)
        Weights are not negative.
    centers : array of shape (k, d)
        Taken as the best ones.
    power : {1, 2}
    """

    points: FloatArray
    weights: FloatArray
    centers: FloatArray
    power: int

    @cached_property
    def _nearest(self) -> tuple[FloatArray, NDArray[np.int32]]:
        squares, labels = nearest(self.points, self.centers)
        return (squares if self.power == 2 else np.sqrt(squares)), labels

    def _sum(self, values: FloatArray) -> FloatArray:
        return np.bincount(self._nearest[1], values, len(self.centers)).astype(np.float64)

    @cached_property
    def sizes(self) -> FloatArray:
        """The weights of the clusters, n_i."""
        return self._sum(self.weights)

    @cached_property
    def costs(self) -> FloatArray:
        """The costs of the clusters."""
        return self._sum(self.weights * self._nearest[0])

    @property
    def cost(self) -> float:
        """The cost of all centers."""
        return float(self.costs.sum())

    @cached_property
    def _pulls(self) -> FloatArray:
        """Sums of offsets from the centers: zero if each is the mean of its cluster."""
        labels = self._nearest[1]
        offsets = self.weights[:, None] * (self.points - self.centers[labels])
        return np.column_stack([self._sum(column) for column in offsets.T])

    def _to_centers(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield stretches of points with their costs at every center."""
        for here in _blocks(self.points, self.centers):
            squares = _squares(self.points[here], self.centers)
            yield here, squares if self.power == 2 else np.sqrt(squares)

    def deletion(self) -> float:
        """Return beta of center deletion (Definition 2.4): exact for these centers.

        The least cost, over OPT_k, of a center taken away and all of its points given to one other center.
        """
        k = len(self.centers)
        if k == 1:
            return math.inf
        if self.power == 2:
            given = np.empty((k, k))
            for here in _blocks(self.centers, self.centers):
                gaps = self.centers[None] - self.centers[here, None]
                given[here] = self.sizes[here, None] * (gaps**2).sum(axis=2) - 2 * np.einsum(
                    "ijt,it->ij", gaps, self._pulls[here]
                )
        else:
            given = -np.repeat(self.costs[:, None], k, axis=1)
            for here, table in self._to_centers():
                np.add.at(given, self._nearest[1][here], self.weights[here, None] * table)
        np.fill_diagonal(given, np.inf)
        return _ratio(self.cost + max(float(given.min()), 0.0), self.cost)

    def center_separation(self) -> float:
        """Return gamma of center separation (Definition 2.5), the least n_i D_i^p over OPT_k: exact for these centers."""
        if len(self.centers) == 1:
            return math.inf
        least = float((self.sizes * next_distances(self.centers) ** self.power).min())
        return _ratio(least, self.cost) if least > 0 else 0.0

    def approximation_stability(self, eta: float = 0.25) -> float:
        """Return a lower bound on delta of approximation-center stability (Definition 2.6); below 1 it has no meaning.

        Any k centers of a cost below delta OPT_k match these ones, each within eta of D_i^p: a center without a match costs its
        own cluster that much, less what the cluster costs already, by the triangle inequality (in the plane of p = 2 with
        Minkowski's inequality, which is sharper than the published factor 1/2).
        """
        if len(self.centers) == 1:
            return math.inf
        far = self.sizes * eta * next_distances(self.centers) ** self.power
        left = far - self.costs if self.power == 1 else np.maximum(np.sqrt(far) - np.sqrt(np.maximum(self.costs, 0.0)), 0.0) ** 2
        least = max(float(left.min()), 0.0)
        return _ratio(least, self.cost) if least > 0 else 0.0

    def center_perturbation(self, alpha: float) -> float:
        """Return an upper bound on beta of center perturbation (Definition 2.3): centers moved by alpha cost at most 1 + beta."""
        total = float(self.weights.sum())
        if self.power == 1:
            return _ratio(self.cost + total * alpha, self.cost) - 1
        pulled = 2 * alpha * float(np.sqrt((self._pulls**2).sum(axis=1)).sum())
        return _ratio(self.cost + pulled + total * alpha**2, self.cost) - 1

    def misassigned_cost(self, beta: float) -> float:
        """Return an upper bound on alpha of the (alpha, beta)-property as Definition 2.7 is printed.

        Every clustering that differs from this one by a share beta (each point moved counts twice) costs at most alpha OPT_k:
        the points that lose most go to their farthest centers.
        """
        losses = np.concatenate([table.max(axis=1) for _, table in self._to_centers()]) - self._nearest[0]
        order = np.argsort(-losses, kind="stable")
        left = beta / 2 * self.weights.sum() - (np.cumsum(self.weights[order]) - self.weights[order])
        moved = np.clip(left, 0.0, self.weights[order])
        return _ratio(self.cost + float(moved @ losses[order]), self.cost)

    def misassigned_share(self, alpha: float) -> float:
        """Return a lower bound on beta of the same property as stated in words, and as Balcan, Blum and Gupta have it.

        A clustering of a cost of at most alpha OPT_k that differs from this one by such a share: the points that lose least go
        to their second centers.
        """
        k, labels = len(self.centers), self._nearest[1].astype(np.int64)
        if k == 1 or not self.weights.sum() > 0:
            return 0.0
        seconds, losses = np.empty(len(labels), dtype=np.int64), np.empty(len(labels))
        for here, table in self._to_centers():
            table[np.arange(len(table)), labels[here]] = np.inf
            seconds[here], losses[here] = table.argmin(axis=1), table.min(axis=1) - self._nearest[0][here]
        order = np.argsort(losses, kind="stable")
        most = int(np.count_nonzero(np.cumsum((self.weights * losses)[order]) <= (alpha - 1) * self.cost))
        kept = float(self.weights.sum())
        for tried in {round(most * part / TRIED) for part in range(1, TRIED + 1)}:  # all points of two clusters may change places
            theirs = labels.copy()
            theirs[order[:tried]] = seconds[order[:tried]]
            shared = np.bincount(labels * k + theirs, self.weights, k * k).reshape(k, k).astype(np.float64)
            kept = min(kept, -_matched(-shared))
        return 2 * (1 - kept / float(self.weights.sum()))

    def proximity(self) -> float:
        """Return alpha of center proximity: the least ratio of the distance to another center to the distance to the own one.

        Exact for these centers. No more than alpha-perturbation resilient (Definition 2.8) are the points then: stretch all
        distances but that from such a point to its second center.
        """
        least = math.inf
        for here, table in self._to_centers():
            counts = self.weights[here] > 0
            if len(self.centers) > 1 and counts.any():
                own, second = np.partition(table[counts], 1, axis=1)[:, :2].T ** (1 / self.power)
                apart = own > 0
                ties = 1.0 if (second[~apart] == 0).any() else math.inf
                least = min(least, ties, float((second[apart] / own[apart]).min(initial=math.inf)))
        return least

    def proximity_share(self, constant: float = 1.0) -> float:
        """Return the share of points that meet the proximity condition (Definition 2.9) with this constant: exact.

        On the line from its center to any other, such a point is nearer to its own by constant k (n_i^-1/2 + n_j^-1/2) times the
        spectral norm of all offsets.
        """
        k, labels, total = len(self.centers), self._nearest[1], float(self.weights.sum())
        if not total > 0:
            return 1.0
        offsets = np.sqrt(self.weights)[:, None] * (self.points - self.centers[labels])
        norm = math.sqrt(max(float(np.linalg.eigvalsh(offsets.T @ offsets)[-1]), 0.0))
        with np.errstate(divide="ignore"):
            roots = 1 / np.sqrt(self.sizes)
        good = np.ones(len(labels), dtype=np.bool_)
        for j in np.flatnonzero(self.sizes > 0):
            lines = self.centers[j] - self.centers[labels]
            lengths = np.sqrt((lines**2).sum(axis=1))
            along = ((self.points - self.centers[labels]) * lines).sum(axis=1) / np.maximum(lengths, 1e-300)
            margin = np.abs(lengths - along) - np.abs(along)
            good &= (labels == j) | (margin >= constant * k * (roots[labels] + roots[j]) * norm)
        return float(self.weights[good].sum()) / total
