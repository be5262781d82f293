"""Hierarchically separated tree: noisy counts of a random tree, a dynamic program over it, private Lloyd rounds.

Letters: k clusters, d columns, eps the budget's epsilon, p the power of distances (1 median, 2 means), w(c) the noisy count
of a cell c.

1. A public random tree: level d i + j cuts column j somewhere in the middle third of its cells' sides; alpha d levels.
2. ``tree``      w(c), level by level; a cell whose count is at most 10 beta d / eps is not split.
3. Free: counts are made consistent, and a dynamic program chooses k leaves; a cell without a center costs w(c) diam(c)^p.
4. ``radii i``   noisy histogram of distances to the centers, at first the middles of these leaves, for the clipping radii.
5. ``round i``   a private step of each center: to the mean of its rows, or a clipped Weiszfeld step toward their median.
6. ``sizes``     noisy sizes of the released clusters.

The published private 1-median, objective perturbation, needs delta > 0 and a tolerance of 1/n, and n is private; it measured
worse than no step at all. The clipped Weiszfeld step needs neither.

Proof: ``proofs/hst.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from spinney.algorithms.polish import ask_rings, polish
from spinney.algorithms.problem import Algorithm, Charges, PointProblem, Result
from spinney.curators.gate import Curator
from spinney.exceptions import ParameterError
from spinney.privacy.composition import Part
from spinney.questions.counts import Counting, Counts
from spinney.questions.levels import LevelAnswer, LevelCounting, Levels
from spinney.questions.partitions import Rings
from spinney.questions.sums import Summing
from spinney.solvers.dynamic_program import place_centers
from spinney.spaces.box import FloatArray
from spinney.trees.consistent import consistent_counts
from spinney.trees.quadtree import MAX_DEPTH, Splits, TreeCells

__all__ = ["HST"]

#: Hundredths of epsilon for the sizes; the tree and each round get equal shares of the rest.
SIZES_SHARE = 3
#: The part of a round that pays for its radii.
RADII_PART = Fraction(1, 10)


@dataclass(frozen=True)
class HST(Algorithm):
    """Noisy counts of a random tree, a dynamic program over it, private Lloyd rounds.

    Parameters
    ----------
    alpha : int
        The tree has ``alpha`` levels per column, as published; at most MAX_DEPTH = 16384 in all.
    beta : float
        A cell is split if its noisy count exceeds ``10 * beta * d / epsilon``, as published: with the whole epsilon, although the
        tree gets its share alone.
    consistent : bool
        Whether counts are made consistent before the dynamic program reads them.
    rounds : int
        Private Lloyd or Weiszfeld rounds after the tree.

    Notes
    -----
    The published experiments used ``alpha`` 10 to 14, counts as they are, and four rounds. Noise grows with the number of
    levels, so fewer levels and consistent counts are the defaults here.
    """

    alpha: int = 6
    beta: float = 8.0
    consistent: bool = True
    rounds: int = 4

    name = "hst"

    def __post_init__(self) -> None:
        given: dict[str, Any] = dict(vars(self))
        for name, least in (("alpha", 1), ("rounds", 0)):
            value = given[name]
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise ParameterError.wrong(name, "HST", f"an int in [{least}, inf)", value, f"for example HST({name}=4).")
        beta, consistent = given["beta"], given["consistent"]
        if isinstance(beta, bool) or not isinstance(beta, Real) or not 0 < float(beta) < math.inf:
            raise ParameterError.wrong("beta", "HST", "a float in (0, inf)", beta, "for example HST(beta=8.0).")
        if not isinstance(consistent, bool):
            raise ParameterError.wrong("consistent", "HST", "True or False", consistent, "for example HST(consistent=True).")

    def depth(self, problem: PointProblem) -> int:
        """Return the number of levels below the root, from public facts alone."""
        return min(int(self.alpha) * problem.domain.n_features, MAX_DEPTH)

    def threshold(self, problem: PointProblem) -> float:
        """Return the count above which a cell is split: 10 beta d / eps, with the eps that is left for one added row."""
        unit = problem.unit
        rows = unit.max_rows * (2 if unit.replaces else 1)
        return 10 * float(self.beta) * problem.domain.n_features * rows / float(problem.budget.epsilon)

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        """Return the shares and sensitivities, from public facts alone."""
        share = Fraction(100 - SIZES_SHARE, 100) / (self.rounds + 1)
        parts = [LevelCounting(self.depth(problem) + 1).part("tree", share)]
        for i in range(1, self.rounds + 1):
            parts.append(Counting().part(f"radii {i}", RADII_PART * share))
            parts.append(Summing(problem.kernel, problem.n_features).part(f"round {i}", (1 - RADII_PART) * share))
        return (*parts, Counting().part("sizes", Fraction(SIZES_SHARE, 100)))

    def run(self, curator: Curator, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
        splits = Splits.random(problem.domain, self.depth(problem), rng)
        answer = curator.ask(Levels(splits, 0, splits.depth, self.threshold(problem)), charges["tree"])
        tree, weights = answer.tree, self.weights(answer)
        chosen, _ = place_centers(tree.first_child, weights * tree.cells.diameters() ** problem.power, problem.k)
        cells = spread(tree.cells.take(chosen), weights[chosen], problem)
        centers = problem.domain.clip(cells.middles())
        margins = None
        for i in range(1, self.rounds + 1):
            rings = ask_rings(curator, problem, centers, charges[f"radii {i}"])
            step = polish(curator, problem, centers, rings, charges[f"round {i}"])
            centers, margins = step.centers, step.margins
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        full = np.flatnonzero((tree.first_child < 0) & (weights > 0))
        points = problem.domain.clip(tree.cells.take(full).middles())
        found = np.maximum(sizes.private_counts, 0), sizes.noise, points, weights[full]
        return Result(centers, *found, margins=margins)

    def weights(self, answer: LevelAnswer) -> FloatArray:
        """Return the weights of all cells; counts below zero are noise and taken as zero."""
        counts = answer.private_counts.astype(np.float64)
        if self.consistent and answer.noise.std > 0:
            counts = consistent_counts(answer.tree, counts)
        return np.maximum(counts, 0.0)


def spread(cells: TreeCells, weights: FloatArray, problem: PointProblem) -> TreeCells:
    """Return k cells where the tree has fewer leaves.

    Several centers in one place serve no one better than one does. So the cells that cost most without a center are cut
    further, as the public tree goes on, each child with half the weight; at the last level copies remain.
    """
    while len(cells) < problem.k:
        costs = weights * cells.diameters() ** problem.power
        dearest = np.argsort(-costs, kind="stable")
        dearest = dearest[cells.depths[dearest] < cells.splits.depth][: problem.k - len(cells)]
        if not dearest.size:
            return cells.take(np.arange(problem.k) % len(cells))
        cut = np.isin(np.arange(len(cells)), dearest)
        kept, children = cells.take(np.flatnonzero(~cut)), cells.children(cut)
        weights = np.concatenate([weights[~cut], np.repeat(weights[cut] / 2, 2)])
        cells = TreeCells(
            cells.splits, np.concatenate([kept.codes, children.codes]), np.concatenate([kept.depths, children.depths])
        )
    return cells
