"""The default: a private tree summarizes the rows, solvers work on the summary, and private steps polish the centers.

Letters: k clusters, d columns, eps the whole budget.

1. ``rows``      a noisy number of rows sets how many levels are split without looking.
2. ``splits``    PrivTree below that level decides where the data needs smaller cells.
3. ``leaves``    noisy counts of the leaves: the leaf centers with these weights are a private summary.
4. Seeding and descent with restarts on the summary: free post-processing.
5. ``verify``    noisy sizes of the k cells; summary points of cells that look empty are dropped, and 4 is repeated.
6. ``radii``     noisy histogram of distances to the centers, for the clipping radii.
7. ``polish``    one clipped private Lloyd or Weiszfeld step around the centers, shrunk by its signal-to-noise ratio.
8. ``sizes``     noisy sizes of the released clusters.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from spinney.algorithms.columns import smooth_densities
from spinney.algorithms.polish import ask_rings, polish
from spinney.algorithms.problem import Problem, Result
from spinney.curators.base import COUNTING, Curator
from spinney.curators.partitions import Columns, Rings, Whole
from spinney.mechanisms.additive import calibrate
from spinney.privacy.charges import Charge
from spinney.privacy.composition import Part, compose
from spinney.solvers.nearest import nearest
from spinney.solvers.weighted import solve
from spinney.spaces.box import FloatArray
from spinney.trees.quadtree import Cells, Splits

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
#: Expected rows per starting cell, in standard deviations of a leaf count.
START_STDS = 45
#: Starting cells are at most 2**MAX_START.
MAX_START = 8
#: About this many leaves hold the rows of a large table, or so many for each cluster if that is more.
LEAF_TARGET, LEAVES_PER_CLUSTER = 700, 35
LEAF_SCALES = 0.4
MASS_STDS = 6.0
#: Cells with fewer rows than this many noise scales look empty.
EMPTY_SCALES = 1.5


class Tree:
    """Private tree, weighted clustering of its leaves, private polish."""

    name = "tree"
    backends = ("memory",)

    def parts(self, problem: Problem) -> tuple[Part, ...]:
        """Return the shares and sensitivities, from public facts alone."""
        root = math.sqrt(problem.domain.n_features)
        special = {"columns": ("counts", root * root, root), "splits": ("grow", 2.6, 0.0), "polish": ("sums", root, 1.0)}
        return tuple(
            Part(name, question, Fraction(share, 100), l1, l2)
            for name, share in SHARES.items()
            for question, l1, l2 in [special.get(name, ("counts", 1.0, 1.0))]
        )

    def plan(self, problem: Problem) -> tuple[Charge, ...]:
        """Return the charges, from public facts alone."""
        return compose(problem.budget, self.parts(problem))

    def run(self, curator: Curator, problem: Problem, charges: tuple[Charge, ...], rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
        charge = {c.name: c for c in charges}
        leaf_std = calibrate(COUNTING, problem.unit.count_price(charge["leaves"])).std
        points, weights = summarize(curator, problem, charge)
        fillers = problem.domain.sample(problem.k, rng)

        solution = solve(points, weights, problem.k, problem.power, rng, fillers)
        for name in ("verify 1", "verify 2"):
            answer = curator.counts(Rings(solution.centers), charge[name])
            labels = nearest(points, solution.centers)[1]
            masses = np.bincount(labels, weights, problem.k)
            leaves = np.bincount(labels, weights > 0, problem.k)
            empty = (answer.private_counts < EMPTY_SCALES * answer.noise.scale) & (
                masses < MASS_STDS * leaf_std * np.sqrt(leaves)
            )
            if not empty.any():
                break
            weights = np.where(empty[labels], 0.0, weights)
            solution = solve(points, weights, problem.k, problem.power, rng, fillers, starts=(solution.centers,))

        centers = solution.centers
        rings = ask_rings(curator, problem, centers, charge["radii"])
        centers = polish(curator, problem, centers, rings, charge["polish"])

        sizes = curator.counts(Rings(centers), charge["sizes"])
        return Result(centers, np.maximum(sizes.private_counts, 0), sizes.noise, points, weights)


def summarize(curator: Curator, problem: Problem, charge: dict[str, Charge]) -> tuple[FloatArray, FloatArray]:
    """Return leaf centers and their noisy weights: a private weighted summary of the rows."""
    n = max(float(curator.counts(Whole(), charge["rows"]).private_counts[0]), 1.0)
    columns = curator.counts(Columns(), charge["columns"])
    densities = smooth_densities(columns.private_counts.astype(np.float64), columns.noise.std)
    splits = Splits.of(problem.domain, densities)
    leaf_std = calibrate(COUNTING, problem.unit.count_price(charge["leaves"])).std
    cells = n / (START_STDS * max(leaf_std, 0.1))
    start = min(max(int(math.log2(max(cells, 1.0))), 0), MAX_START, splits.depth)
    tree = curator.grow(
        splits, start, threshold=int(n / max(LEAF_TARGET, LEAVES_PER_CLUSTER * problem.k)), charge=charge["splits"]
    )
    leaves = tree.leaves
    answer = curator.counts(leaves, charge["leaves"])
    weights = answer.private_counts.astype(float)
    weights[weights < LEAF_SCALES * np.log(max(len(weights), 2)) * answer.noise.scale] = 0.0
    return _nonzero(leaves, weights)


def _nonzero(leaves: Cells, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    kept = weights > 0
    return leaves.representatives()[kept], weights[kept]
