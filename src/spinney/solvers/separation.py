"""Does k fit? How much k - 1, k and k + 1 centers cost, and how stable the k clusters are.

The least cost of k centers is NP-hard to find. The best of many restarts stands in its place: an upper bound, and on separated
points the least cost nearly always. So ratios of two costs are estimates, neither upper nor lower bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney._shown import Showable
from spinney.solvers.stability import Clustered, next_distances
from spinney.solvers.weighted import Solution, solve
from spinney.spaces.box import FloatArray

#: k fits if its last center gains this many times as much as one more would; gains are of the logarithm of the cost.
FITS = 3.0
#: More may fit if one more gains this many times as much as it would in points spread evenly.
MORE = 2.0
#: Centers are moved by this part of the least distance between two of them ...
MOVED = 0.1
#: ... and this share of clusterings may differ.
DIFFERENT = 0.05


@dataclass(frozen=True)
class Separation(Showable):
    """How separated points are for k clusters. Numbers alone: no point is kept.

    Parameters
    ----------
    n_clusters, power, n_features : int
    fewer_cost, cost, more_cost : float
        Of the best centers found for k - 1, k and k + 1 clusters; `fewer_cost` is infinite for k = 1.
    deletion : float
        beta of center deletion: the cost of the cheapest center taken away, its points given to one other, over `cost`.
    center_separation : float
        gamma of center separation: the least n_i D_i^p over `cost`.
    approximation_stability : float
        A lower bound on delta of approximation-center stability with eta = 1/4: centers of a cost below delta times `cost` match
        these, each within a quarter of D_i^p. Below 1 it has no meaning. It is below 1 / phi^p.
    moved_by, perturbation : float
        An upper bound on beta of center perturbation: with each center moved by `moved_by` (a tenth of the least distance between
        two) the cost is at most 1 + beta times as much.
    misassigned_cost, misassigned_share : float
        The (alpha, beta)-property for beta = 0.05, an upper bound: a clustering that differs so much costs at most alpha times as
        much. And a lower bound of the share by which one of at most twice the cost differs.
    proximity : float
        alpha of center proximity; no points are perturbation resilient for more.
    proximity_share : float
        The share of points that meet the proximity condition with constant 1.
    """

    n_clusters: int
    power: int
    n_features: int
    fewer_cost: float
    cost: float
    more_cost: float
    deletion: float
    center_separation: float
    approximation_stability: float
    moved_by: float
    perturbation: float
    misassigned_cost: float
    misassigned_share: float
    proximity: float
    proximity_share: float

    @property
    def phi(self) -> float:
        """The separation: the root, of order p, of `cost` over `fewer_cost` (Definition 1.1). Small is separated; 0 for k = 1."""
        if not self.fewer_cost > 0:
            return 1.0
        return float((self.cost / self.fewer_cost) ** (1 / self.power))

    def _gain(self, before: float, after: float) -> float:
        """Return by how much one center lowers the logarithm of the cost."""
        return math.log(before / after) if after > 0 and before > 0 else (math.inf if before > 0 else 0.0)

    @property
    def fits(self) -> bool:
        """Whether k stands out: its last center lowers the logarithm of the cost three times as much as one more would.

        One cluster stands out if a second center does not lower the cost much more than in points spread evenly.
        """
        more = self._gain(self.cost, self.more_cost)
        if self.n_clusters == 1:
            return not self.more_may_fit
        last = self._gain(self.fewer_cost, self.cost)
        return last > 0 and last >= FITS * more

    @property
    def more_may_fit(self) -> bool:
        """Whether one more center lowers the cost much more than in points spread evenly, where it falls as k^(-p/d)."""
        k = self.n_clusters
        even = self.power / self.n_features * math.log((k + 1) / k)
        return self._gain(self.cost, self.more_cost) > MORE * even

    @property
    def hint(self) -> str:
        """Whether k fits, in words."""
        k = self.n_clusters
        if self.fits:
            return f"{k} clusters fit: one center fewer costs much more, one more gains little."
        if self.more_may_fit:
            return f"More than {k} clusters may fit: one more center still gains much."
        return f"{k} clusters do not stand out: one center fewer costs little more, or one more gains about as much."

    @property
    def notions(self) -> dict[str, float]:
        """The notions of stability, by name."""
        return {
            "phi, separation (estimate)": self.phi,
            "cost of k - 1 / k": self.fewer_cost / self.cost if self.cost > 0 else math.inf,
            "cost of k / k + 1": self.cost / self.more_cost if self.more_cost > 0 else math.inf,
            "beta, center deletion": self.deletion,
            "gamma, center separation": self.center_separation,
            "delta, approximation stability (at least)": self.approximation_stability,
            f"beta, centers moved by {self.moved_by:.3g} (at most)": self.perturbation,
            f"alpha, {DIFFERENT:.0%} assigned otherwise (at most)": self.misassigned_cost,
            "beta, clusterings of twice the cost differ by (at least)": self.misassigned_share,
            "alpha, center proximity": self.proximity,
            "share with the proximity condition": self.proximity_share,
        }

    def __str__(self) -> str:
        told = self.notions
        width = max(map(len, told))
        return "\n".join([*(f"{name.ljust(width)}  {value:.4g}" for name, value in told.items()), self.hint])


def separate(
    points: FloatArray, weights: FloatArray, k: int, power: int, rng: np.random.Generator, fillers: FloatArray
) -> tuple[Separation, FloatArray]:
    """Return how separated weighted points are for k clusters, and the centers found.

    The power is 1 or 2; the generator is public. The k + 1 fillers are centers to use where the points offer fewer.
    """

    def best(count: int, *starts: FloatArray) -> Solution:
        return solve(points, weights, count, power, rng, fillers[:count], starts=starts)

    own = best(k)
    fewer = best(k - 1, *(np.delete(own.centers, i, axis=0) for i in range(k))) if k > 1 else None
    if fewer is not None:  # a better start than seeding may have found
        own = min(own, best(k, np.vstack([fewer.centers, fillers[:1]])), key=lambda one: one.cost)
    more = best(k + 1, np.vstack([own.centers, fillers[:1]]))
    clustered = Clustered(points, weights, own.centers, power)
    gaps = next_distances(own.centers)
    moved_by = MOVED * float(gaps.min()) if k > 1 else 0.0
    notions: dict[str, Any] = {
        name: getattr(clustered, name)()
        for name in ("deletion", "center_separation", "approximation_stability", "proximity", "proximity_share")
    }
    return (
        Separation(
            n_clusters=k,
            power=power,
            n_features=points.shape[1],
            fewer_cost=math.inf if fewer is None else max(fewer.cost, own.cost),
            cost=own.cost,
            more_cost=min(more.cost, own.cost),
            moved_by=moved_by,
            perturbation=clustered.center_perturbation(moved_by),
            misassigned_cost=clustered.misassigned_cost(DIFFERENT),
            misassigned_share=clustered.misassigned_share(2.0),
            **notions,
        ),
        own.centers,
    )
