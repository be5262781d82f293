"""Hierarchically separated tree: noisy counts of a random tree, a dynamic program over it, private Lloyd rounds.

Letters: k clusters, d columns, eps the budget's epsilon, p the power of distances (1 median, 2 means), w(c) the noisy count
of a cell c.

1. A public random tree: level d i + j cuts column j somewhere in the middle third of its cells' sides; alpha d levels.
2. ``tree``      w(c), level by level; a cell whose count is at most 10 beta d / eps is not split.
3. Free: counts are made consistent, and a dynamic program chooses k leaves; a cell without a center costs w(c) diam(c)^p.
   On request several trees, one after another, in place of 1 to 3: `repairs.py`. Or in a random subspace: `subspaces.py`.
4. ``radii i``   noisy histogram of distances to the centers, at first the middles of these leaves, for the clipping radii.
5. ``round i``   a private step of each center: to the mean of its rows, or a clipped Weiszfeld step toward their median.
6. ``sizes``     noisy sizes of the released clusters.

The published private 1-median, objective perturbation with Gaussian noise, needs delta > 0 and a tolerance of 1/n, and n is
private; it measured worse than no step at all. The clipped Weiszfeld step needs neither, nor do the other steps toward medians
that can be chosen (`spinney.algorithms.medians`).

Proof: ``proofs/hst.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.medians import MEDIAN_STEP, check_median_step, median_backends, median_parts, move_to_medians
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.repairs import MEAN_SHARE, MERGE_SHARE, ask_repaired, repair_parts
from spinney.algorithms.result import Result
from spinney.algorithms.step import ask_distances, move
from spinney.algorithms.subspaces import Subspace, ask_means, few_dimensions, mean_parts
from spinney.algorithms.tree_program import Placed, ask_tree, cell_bytes, most_cells
from spinney.constraints import Constraint, boolean, check, integer, is_integer, real
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, LevelCounting
from spinney.spaces import FloatArray
from spinney.trees.quadtree import MAX_DEPTH, Splits

#: Hundredths of epsilon for the sizes; each tree, the way back from a subspace and each round get equal shares of the rest.
SIZES_SHARE = 3
#: The part of a round that pays for its radii.
RADII_PART = Fraction(1, 10)
#: Rows are projected to no more dimensions than this.
MOST_DIMENSIONS = 1024
PROJECTION = Constraint(
    lambda value: (
        value is None or (isinstance(value, str) and value == "auto") or (is_integer(value) and 1 <= value <= MOST_DIMENSIONS)
    ),
    f"None, 'auto' or an int from 1 to {MOST_DIMENSIONS}",
    "for example HST(projection='auto').",
)
LAWFUL = {
    "alpha": integer(1, "for example HST(alpha=4)."),
    "rounds": integer(0, "for example HST(rounds=4)."),
    "repairs": integer(0, "for example HST(repairs=4)."),
    "beta": real(lambda value: 0 < value < math.inf, "(0, inf)", "for example HST(beta=8.0)."),
    "consistent": boolean("for example HST(consistent=True)."),
    "projection": PROJECTION,
    "slack": real(lambda value: 0 < value <= 1, "(0, 1]", "for example HST(repairs=3, slack=0.5)."),
    "median_step": MEDIAN_STEP,
}


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
    projection : None, "auto" or int
        How many directions of a public random subspace the tree is grown in; "auto" takes log(k), rounded up, and at least
        2. Centers then come back as private means of their clusters in all columns. Nothing is projected if there are no more
        columns than that, or if it is None.
    repairs : int
        How many trees are grown one after another, each without the rows of centers that it cuts badly, which come back as
        centers; k of them stay at last. 0 is one tree and its dynamic program. For k-means, with a bound on the cost.
    slack : float
        With repairs, at most (1 + slack) k centers are kept before the last choice; in (0, 1].
    median_step : {"weiszfeld", "gradient", "localized", "objective"}
        Of k-median: how a round moves centers toward the medians of their rows.

    Notes
    -----
    The published experiments used ``alpha`` 10 to 14, counts as they are, and four rounds. Noise grows with the number of
    levels, so fewer levels and consistent counts are the defaults here.
    """

    alpha: int = 6
    beta: float = 8.0
    consistent: bool = True
    rounds: int = 4
    projection: int | str | None = None
    repairs: int = 0
    slack: float = 0.5
    median_step: str = field(default="weiszfeld", metadata={"later": True})

    name = "hst"

    def __post_init__(self) -> None:
        check("HST", vars(self), LAWFUL)

    @property
    def backends(self) -> tuple[str, ...]:  # type: ignore[override]
        return median_backends(self.median_step, Algorithm.backends)

    def dimensions(self, problem: PointProblem) -> int | None:
        """Return how many dimensions rows are projected to, from public facts alone; None if they are not."""
        if self.projection is None:
            return None
        dimensions = few_dimensions(problem.k) if self.projection == "auto" else int(self.projection)
        return dimensions if dimensions < problem.n_features else None

    def _columns(self, problem: PointProblem) -> int:
        """Return how many columns the tree cuts."""
        return self.dimensions(problem) or problem.n_features

    def depth(self, problem: PointProblem) -> int:
        """Return the number of levels below the root, from public facts alone."""
        return min(int(self.alpha) * self._columns(problem), MAX_DEPTH)

    def threshold(self, problem: PointProblem) -> float:
        """Return the count above which a cell is split: 10 beta d / eps, with the eps that is left for one added row."""
        unit = problem.unit
        rows = unit.max_rows * (2 if unit.replaces else 1)
        return 10 * float(self.beta) * self._columns(problem) * rows / float(problem.budget.epsilon)

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        check_median_step(self.median_step, problem, "HST")
        most_cells(problem, self.depth(problem))
        is_projected = self.dimensions(problem) is not None
        others = SIZES_SHARE + (MEAN_SHARE + MERGE_SHARE if self.repairs else 0)
        share = Fraction(100 - others, 100) / (self.rounds + max(self.repairs, 1) + is_projected)
        levels = self.depth(problem) + 1
        parts = [LevelCounting(levels).part("tree", share)]
        if self.repairs:
            parts = [*repair_parts(share, self.repairs, levels, self._columns(problem))]
        if is_projected:
            parts += mean_parts(share, problem)
        for i in range(1, self.rounds + 1):
            parts.append(Counting().part(f"radii {i}", RADII_PART * share))
            parts.extend(median_parts(f"round {i}", (1 - RADII_PART) * share, problem, self.median_step))
        return (*parts, Counting().part("sizes", Fraction(SIZES_SHARE, 100)))

    def guarantee(self, problem: PointProblem) -> str:
        """Return in a sentence what is proved about the cost; the theorems are in ``proofs/hst.md``."""
        is_projected, p = self.dimensions(problem) is not None, problem.power
        if p == 2 and not self.repairs:
            return "No bound on the cost is proved: one random tree does not keep squared distances. HST(repairs=3) has one."
        later = " and ".join([*(["merge"] if self.repairs else []), *(["means"] if is_projected else []), "rounds"])
        if self.repairs or is_projected or self.depth(problem) < self.alpha * problem.n_features:
            rest = f"{float(self.slack) ** self.repairs:.3g} of what one center costs, " if self.repairs else ""
            theorem = 4 if p == 2 else 3 if is_projected else 1
            given = ", if its subspace keeps the costs of clusters" if is_projected else ""
            return (
                f"Before its {later}, the expected cost is at most the best one times a factor that grows with columns and "
                f"levels, plus {rest}noise and the size of the smallest cells{given}; constant not explicit "
                f"(Cohen-Addad et al., Theorem {theorem})."
            )
        factor, fixed, noisy, width = self._constants(problem)
        return (
            f"Before its {later}, the expected cost is at most {factor:,.0f} times the best one, plus {fixed:,.4g}, plus "
            f"{noisy:,.4g} times the largest noise of a cell, plus {width:.3g} for each row (Cohen-Addad et al., Theorem 1)."
        )

    def memory(self, problem: PointProblem) -> str:
        """Return how much memory its tree takes at most, which is that of the driver if rows are in Spark."""
        levels = self.depth(problem)
        cells, size = most_cells(problem, levels), cell_bytes(problem, levels)
        return (
            f"Memory: the tree has at most {cells:,} cells of {size:,} bytes, whatever the rows are: "
            f"{cells * size / 2**30:.2g} GiB where the fit runs, with Spark on the driver. No bound holds of a larger one."
        )

    def _constants(self, problem: PointProblem) -> tuple[float, float, float, float]:
        """Return the factor, a summand, and what the largest noise of a cell and each row add (``proofs/hst.md``)."""
        k, levels, sides = problem.k, self.depth(problem), problem.domain.upper - problem.domain.lower
        wide = float(np.linalg.norm(sides))
        skew = 3 * 2.0**self.alpha * float(sides.max() / sides.min())
        off = 3 * (1 + levels / 2) if self.consistent else 1.0
        return (
            3 * skew * levels,
            k * self.threshold(problem) * wide,
            k * (2 * levels * off + 1) * wide,
            (2 / 3) ** self.alpha * wide,
        )

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        found, margins = self._found(purse, problem, rng)
        centers = found.centers
        for i in range(1, self.rounds + 1):
            distances = ask_distances(purse, problem, centers, f"radii {i}")
            if self.median_step == "weiszfeld":
                step = move(purse, problem, centers, distances, f"round {i}")
            else:
                step = move_to_medians(purse, problem, centers, distances.median_radii(), f"round {i}", self.median_step)
            centers, margins = step.centers, step.margins
        return Result.asked(purse, centers, found.points, found.weights, margins=margins)

    def _found(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> tuple[Placed, FloatArray | None]:
        """Return the centers that the rounds start from, and their margins if they rest on a private step."""
        dimensions, most = self.dimensions(problem), most_cells(problem, self.depth(problem))
        if dimensions is None:
            return self._placed(purse, problem, rng, most), None
        subspace = Subspace.random(problem.domain, dimensions, rng)
        inside = self._placed(subspace.view(purse), replace(problem, domain=subspace.domain), rng, most)
        means = ask_means(purse, problem, subspace.lift(inside.centers))
        return Placed(means.centers, problem.domain.clip(subspace.lift(inside.points)), inside.weights), means.margins

    def _placed(self, purse: Purse, problem: PointProblem, rng: np.random.Generator, most: int) -> Placed:
        """Return the centers of the dynamic program, with its repairs; no tree has more cells than `most`."""
        threshold, depth = self.threshold(problem), self.depth(problem)

        def grow() -> Splits:
            return Splits.random(problem.domain, depth, rng)

        def ask(rows: Purse, splits: Splits, name: str) -> Placed:
            return ask_tree(rows, problem, splits, threshold, self.consistent, name, most)

        if not self.repairs:
            return ask(purse, grow(), "tree")
        return ask_repaired(purse, problem, self.repairs, float(self.slack), grow, ask)
