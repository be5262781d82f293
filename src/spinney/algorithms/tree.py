"""The default: a private tree summarizes the rows, solvers work on the summary, and a private step polishes the centers.

Letters: k clusters, d columns, eps the whole budget.

1. ``rows``      a noisy number of rows sets how far the tree goes.
2. ``columns``   noisy histograms of the columns say which column to halve next, and where in a cell its rows are.
3. ``splits``    PrivTree decides which cells need to be smaller; the first levels are split without looking.
4. ``leaves``    noisy counts of the leaves: with these weights, one point per leaf is a private summary of the rows.
5. Seeding and descent with restarts on the summary: free post-processing.
6. ``verify``    noisy sizes of the k cells; summary points of cells that look empty are dropped, and 5 is repeated.
7. ``radii``     noisy histogram of distances to the centers, for the clipping radii.
8. ``polish``    one clipped private Lloyd or Weiszfeld step around the centers, shrunk by its signal-to-noise ratio.
9. ``sizes``     noisy sizes of the released clusters.

With many columns a leaf's point is far from its rows, and a second step helps more than verification. Then 5 finds half as
many centers again as asked for, ``radii 1`` and ``polish 1`` move them, the moved centers are clustered into k by their noisy
weights, and ``radii 2`` and ``polish 2`` follow.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.columns import smooth_densities
from spinney.algorithms.polish import ask_rings, polish, ring_edges
from spinney.algorithms.problem import Algorithm, Charges, PointProblem, Result
from spinney.curators.gate import Curator
from spinney.privacy.composition import Part
from spinney.questions.counts import Counting, Counts
from spinney.questions.grow import Grow, Splitting
from spinney.questions.partitions import ColumnBins, Rings, Whole
from spinney.questions.question import Kind
from spinney.questions.sums import Summing
from spinney.solvers.nearest import nearest
from spinney.solvers.weighted import solve
from spinney.spaces.box import FloatArray
from spinney.trees.quadtree import Splits

__all__ = ["Tree"]

#: Shares of epsilon, in hundredths.
SHARES = {
    "rows": 1,
    "columns": 5,
    "splits": 27,
    "leaves": 25,
    "verify 1": 4,
    "verify 2": 4,
    "radii": 5,
    "polish": 26,
    "sizes": 3,
}
#: From so many columns on, shares for two steps, the first with OVER times as many centers.
MANY_COLUMNS, OVER = 12, 1.5
MANY_COLUMNS_SHARES = {
    "rows": 1,
    "columns": 4,
    "splits": 15,
    "leaves": 14,
    "radii 1": 3,
    "polish 1": 18,
    "radii 2": 3,
    "polish 2": 39,
    "sizes": 3,
}
#: With fewer columns than this their histograms need less, for one row moves fewer bins; the leaves get the rest.
FEW_COLUMNS, FEW_COLUMNS_SHARE = 5, 2
#: Expected rows per starting cell, in standard deviations of a leaf count.
START_STDS = 45
#: Starting cells are at most 2**MAX_START.
MAX_START = 8
#: A leaf is split down to a 4000th of the rows; in large tables, where that no longer helps, to a 500th less 500 rows.
FINE_LEAF, COARSE_LEAF, COARSE_ROWS = 1 / 4000, 1 / 500, 500
#: No table has more rows; a noisy number beyond would overflow the scores of the splits.
MOST_ROWS = 1e12
#: Above so many clusters leaves get smaller in proportion.
MANY_CLUSTERS = 20
#: Of m leaves, those with a count below this many standard deviations times log(m) are taken as empty.
LEAF_STDS = 0.28
#: A cluster looks empty if its noisy size is below so many standard deviations ...
EMPTY_STDS = 1.06
#: ... and the summary's mass in it could be the noise of its leaves: below so many of theirs.
MASS_STDS = 6.0


class Tree(Algorithm):
    """Private tree, weighted clustering of its leaves, private polish."""

    name = "tree"

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        """Return the shares and sensitivities, from public facts alone."""
        shares = MANY_COLUMNS_SHARES if has_many_columns(problem) else SHARES
        if problem.domain.n_features < FEW_COLUMNS:
            shares = shares | {"columns": FEW_COLUMNS_SHARE, "leaves": SHARES["leaves"] + SHARES["columns"] - FEW_COLUMNS_SHARE}
        kinds: dict[str, Kind] = {"columns": Counting(problem.n_features), "splits": Splitting()}
        kinds |= dict.fromkeys(("polish", "polish 1", "polish 2"), Summing(problem.kernel, problem.n_features))
        return tuple(kinds.get(name, Counting()).part(name, Fraction(share, 100)) for name, share in shares.items())

    def run(self, curator: Curator, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
        summary = summarize(curator, problem, charges)
        finish = two_steps if has_many_columns(problem) else verified_step
        summary, centers = finish(curator, problem, charges, summary, rng)
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        return Result(centers, np.maximum(sizes.private_counts, 0), sizes.noise, summary.points, summary.weights)


def has_many_columns(problem: PointProblem) -> bool:
    """Whether two steps serve better than verification and one step."""
    return problem.domain.n_features >= MANY_COLUMNS


@dataclass(frozen=True)
class Summary:
    """Private weighted points, one per leaf, and the standard deviation of a leaf's count."""

    points: FloatArray
    weights: FloatArray
    leaf_std: float

    def is_faint(self, labels: NDArray[np.int32], k: int) -> NDArray[np.bool_]:
        """Return which clusters have a mass that may be the noise of their leaves."""
        masses, leaves = np.bincount(labels, self.weights, k), np.bincount(labels, minlength=k)
        faint: NDArray[np.bool_] = (masses < MASS_STDS * self.leaf_std * np.sqrt(leaves)) | (leaves == 0)
        return faint

    def without(self, dropped: NDArray[np.bool_]) -> Summary:
        """Return the summary without some of its points."""
        return Summary(self.points[~dropped], self.weights[~dropped], self.leaf_std)


def summarize(curator: Curator, problem: PointProblem, charges: Charges) -> Summary:
    """Grow a private tree and return its leaves as weighted points."""
    n = min(max(float(curator.ask(Counts(Whole()), charges["rows"]).private_counts[0]), 1.0), MOST_ROWS)
    columns = curator.ask(Counts(ColumnBins()), charges["columns"])
    densities = smooth_densities(columns.private_counts.astype(np.float64), columns.noise.std)
    splits = Splits.of(problem.domain, densities)
    leaf_std = curator.preview(Counting(), charges["leaves"]).std
    start = int(math.log2(max(n / (START_STDS * max(leaf_std, 0.1)), 1.0)))
    threshold = max(FINE_LEAF * n, COARSE_LEAF * n - COARSE_ROWS) * min(1.0, MANY_CLUSTERS / problem.k)
    leaves = curator.ask(Grow(splits, min(start, MAX_START, splits.depth), int(threshold)), charges["splits"]).leaves
    weights = curator.ask(Counts(leaves), charges["leaves"]).private_counts.astype(np.float64)
    full = weights > LEAF_STDS * math.log(max(len(leaves), 2)) * leaf_std
    return Summary(leaves.representatives()[full], weights[full], leaf_std)


def verified_step(
    curator: Curator, problem: PointProblem, charges: Charges, summary: Summary, rng: np.random.Generator
) -> tuple[Summary, FloatArray]:
    """Cluster the summary, drop what looks empty from it and cluster again, then polish; return the summary and the centers."""
    k, power = problem.k, problem.power
    fillers = problem.domain.sample(k, rng)
    solution = solve(summary.points, summary.weights, k, power, rng, fillers)
    for name in ("verify 1", "verify 2"):
        answer = curator.ask(Counts(Rings(solution.centers, foreseen=ring_edges(problem))), charges[name])
        labels = nearest(summary.points, solution.centers)[1]
        empty = (answer.private_counts < EMPTY_STDS * answer.noise.std) & summary.is_faint(labels, k)
        if not empty.any():
            break
        summary = summary.without(empty[labels])
        solution = solve(summary.points, summary.weights, k, power, rng, fillers, starts=(solution.centers,))
    rings = ask_rings(curator, problem, solution.centers, charges["radii"])
    return summary, polish(curator, problem, solution.centers, rings, charges["polish"])[0]


def two_steps(
    curator: Curator, problem: PointProblem, charges: Charges, summary: Summary, rng: np.random.Generator
) -> tuple[Summary, FloatArray]:
    """Polish more centers than needed, cluster them into k, polish again; return the summary and the centers."""
    many = math.ceil(OVER * problem.k)
    fillers = problem.domain.sample(many, rng)
    start = solve(summary.points, summary.weights, many, problem.power, rng, fillers).centers
    rings = ask_rings(curator, problem, start, charges["radii 1"])
    moved, weights = polish(curator, problem, start, rings, charges["polish 1"])
    centers = solve(moved, weights, problem.k, problem.power, rng, fillers[: problem.k]).centers
    rings = ask_rings(curator, problem, centers, charges["radii 2"])
    return summary, polish(curator, problem, centers, rings, charges["polish 2"])[0]
