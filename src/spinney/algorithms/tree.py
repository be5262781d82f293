"""The default: a private tree summarizes the rows, solvers work on the summary, and private steps polish the centers.

Letters: k clusters, d columns, eps the whole budget.

1. ``rows``      a noisy number of rows sets how many levels are split without looking.
2. ``splits``    PrivTree below that level decides where the data needs smaller cells.
3. ``leaves``    noisy counts of the leaves: the leaf centers with these weights are a private summary.
4. Seeding and descent with restarts on the summary: free post-processing.
5. ``verify``    noisy sizes of the k cells; summary points of cells that look empty are dropped, and 4 is repeated.
6. ``radii``     noisy histogram of distances to the centers, for the clipping radii.
7. ``polish``    clipped private Lloyd or Weiszfeld steps around the centers, shrunk by their signal-to-noise ratio.
8. ``sizes``     noisy sizes of the released clusters.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from spinney.algorithms.polish import ask_rings, polish
from spinney.algorithms.problem import Problem, Result
from spinney.curators.base import COUNTING, Curator
from spinney.curators.partitions import Rings
from spinney.mechanisms.additive import calibrate
from spinney.privacy.charges import Charge
from spinney.privacy.composition import Part, compose
from spinney.solvers.nearest import nearest
from spinney.solvers.weighted import Solution, solve
from spinney.spaces.box import FloatArray
from spinney.trees.quadtree import Cells, Splits

__all__ = ["Tree"]

#: Shares of epsilon, in hundredths.
SHARES = {
    "rows": 2,
    "splits": 26,
    "leaves": 22,
    "verify 1": 4,
    "verify 2": 4,
    "radii": 5,
    "polish 1": 17,
    "polish 2": 17,
    "sizes": 3,
}
QUESTIONS = {"splits": "grow", "polish 1": "sums", "polish 2": "sums"}
#: Expected rows per starting cell, in standard deviations of a leaf count.
START_STDS = 32
#: Starting cells are at most 2**MAX_START.
MAX_START = 13
#: About this many leaves hold the rows of a large table.
LEAF_TARGET = 4000
#: Cells with fewer rows than this many noise scales look empty.
EMPTY_SCALES = 1.5


class Tree:
    """Private tree, weighted clustering of its leaves, private polish."""

    name = "tree"
    backends = ("memory",)

    def plan(self, problem: Problem) -> tuple[Charge, ...]:
        """Return the charges, from public facts alone."""
        d = problem.domain.n_features
        sensitivities = {"counts": (1.0, 1.0), "grow": (2.6, 0.0), "sums": (math.sqrt(d), 1.0)}
        parts = [
            Part(name, question, Fraction(share, 100), *sensitivities[question])
            for name, share in SHARES.items()
            for question in [QUESTIONS.get(name, "counts")]
        ]
        return compose(problem.budget, parts)

    def run(self, curator: Curator, problem: Problem, charges: tuple[Charge, ...], rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
        charge = {c.name: c for c in charges}
        points, weights = summarize(curator, problem, charge)
        fillers = problem.domain.sample(problem.k, rng)

        solution = solve(points, weights, problem.k, problem.power, rng, fillers)
        for name in ("verify 1", "verify 2"):
            answer = curator.counts(Rings(solution.centers), charge[name])
            empty = answer.private_counts < EMPTY_SCALES * answer.noise.scale
            if not empty.any():
                break
            solution, weights = without_empty(points, weights, solution, empty, problem, rng, fillers)

        centers = solution.centers
        rings = ask_rings(curator, problem, centers, charge["radii"])
        for name in ("polish 1", "polish 2"):
            centers = polish(curator, problem, centers, rings, charge[name])

        sizes = curator.counts(Rings(centers), charge["sizes"])
        return Result(centers, np.maximum(sizes.private_counts, 0), sizes.noise, points, weights)


def summarize(curator: Curator, problem: Problem, charge: dict[str, Charge]) -> tuple[FloatArray, FloatArray]:
    """Return leaf centers and their noisy weights: a private weighted summary of the rows."""
    splits = Splits.of(problem.domain)
    n = max(float(curator.counts(Cells.grid(splits, 0), charge["rows"]).private_counts[0]), 1.0)
    leaf_std = calibrate(COUNTING, problem.unit.count_price(charge["leaves"])).std
    cells = n / (START_STDS * max(leaf_std, 0.1))
    start = min(max(int(math.log2(max(cells, 1.0))), 0), MAX_START, splits.depth)
    tree = curator.grow(splits, start, threshold=int(n / LEAF_TARGET), charge=charge["splits"])
    leaves = tree.leaves
    answer = curator.counts(leaves, charge["leaves"])
    weights = answer.private_counts.astype(float)
    weights[weights < answer.noise.scale] = 0.0
    return _nonzero(leaves, weights)


def _nonzero(leaves: Cells, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    kept = weights > 0
    return leaves.boxes()[0][kept], weights[kept]


def without_empty(
    points: FloatArray,
    weights: FloatArray,
    solution: Solution,
    empty: np.ndarray,
    problem: Problem,
    rng: np.random.Generator,
    fillers: FloatArray,
) -> tuple[Solution, FloatArray]:
    """Drop the summary's mass in cells that look empty, and solve again."""
    if not empty.any() or not len(points):
        return solution, weights
    labels = nearest(points, solution.centers)[1]
    weights = np.where(empty[labels], 0.0, weights)
    return solve(points, weights, problem.k, problem.power, rng, fillers, starts=(solution.centers,)), weights
