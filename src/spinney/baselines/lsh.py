"""LSH tree: a private coreset of the means of random cells, and plain clustering of it (Chang and Kamath 2021).

Letters: k clusters, d columns, H levels.

1. ``middle``   the noisy mean of all rows.
2. Public: H random planes through it. Rows on the same side of the first i planes share a cell of level i.
3. ``level i``  noisy counts of the cells; one that has too few rows for a mean to stand out of its noise is not cut further.
4. ``sums``     the noisy sum of the rows of each leaf. Sum over count is a point of the coreset, the count its weight.
5. Free: k-means, or k-median, of the coreset.
6. ``sizes``    noisy sizes of the released clusters.

As published, planes pass through the origin and rows are clipped to a ball around it; users are to move their rows there, choose
the radius, and set thresholds. Here the middle is private, the ball covers the public domain, and thresholds follow from the
noise. It is here for comparison: the default is better.

Proof: ``proofs/lsh.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.algorithms.candidates import largest
from spinney.constraints import check, integer
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Counts, PlaneCells, Summing, Sums
from spinney.solvers.weighted import solve
from spinney.spaces import FloatArray

#: Hundredths of epsilon for the middle, for all levels together and for the sizes; the sums get the rest.
MIDDLE_SHARE, LEVELS_SHARE, SIZES_SHARE = 4, 13, 3
#: A cell is cut if its count is this many times the length of the noise of a leaf's sum, in radii, and above the noise of counts.
SPLIT, SPLIT_STDS = 1.0, 2.0
#: More levels than this make more cells than any table fills; and the largest cells are cut until this number is reached.
MOST_LEVELS, MOST_CELLS = 64, 2**16


@dataclass(frozen=True)
class LSH(Algorithm):
    """Noisy means of the cells of a random tree of planes, clustered.

    Parameters
    ----------
    levels : int
        How many planes there are: the depth of the tree; in [1, 64].
    """

    levels: int = 20

    name = "lsh"

    def __post_init__(self) -> None:
        check("LSH", vars(self), {"levels": integer(1, "for example LSH(levels=12).", MOST_LEVELS)})

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        summing, level = Summing("mean", problem.n_features), Fraction(LEVELS_SHARE, 100) / self.levels
        return (
            summing.part("middle", Fraction(MIDDLE_SHARE, 100)),
            *(Counting().part(f"level {i}", level) for i in range(1, self.levels + 1)),
            summing.part("sums", Fraction(100 - MIDDLE_SHARE - LEVELS_SHARE - SIZES_SHARE, 100)),
            Counting().part("sizes", Fraction(SIZES_SHARE, 100)),
        )

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        domain, k = problem.domain, problem.k
        points, weights = self.coreset(purse, problem, rng)
        centers = domain.clip(solve(points, weights, k, problem.power, rng, domain.sample(k, rng)).centers)
        return Result.asked(purse, centers, points, weights)

    def coreset(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return private weighted points: one per leaf whose count stands out of its noise."""
        d = problem.n_features
        normals = rng.uniform(-1, 1, (self.levels, d))
        cells = PlaneCells.root(normals)
        middle = self._means(purse, problem, cells, "middle")[0][0]
        length = SPLIT * math.sqrt(d) * purse.preview(Summing("mean", d), "sums").vector_std
        may_split = np.ones(1, dtype=np.bool_)
        for i in range(1, self.levels + 1):
            old, cut = int((~may_split).sum()), int(may_split.sum())
            cells = cells.split(may_split, np.full(cut, i - 1), np.full(cut, normals[i - 1] @ middle))
            answer = purse.ask(f"level {i}", Counts(cells))
            # A cell that was not cut before never is.
            lawful = (np.arange(len(cells)) >= old) & (answer.private_counts > max(length, SPLIT_STDS * answer.noise.std))
            may_split = largest(lawful, answer.private_counts, MOST_CELLS - len(cells))
        points, weights = self._means(purse, problem, cells, "sums")
        return points[weights > 0], weights[weights > 0]

    def _means(self, purse: Purse, problem: PointProblem, cells: PlaneCells, name: str) -> tuple[FloatArray, FloatArray]:
        """Return the noisy mean of each cell's rows, and its noisy weight: zero, and the middle, if it does not stand out."""
        domain, radius = problem.domain, problem.domain.half_diagonal
        anchors = np.repeat(domain.center[None, :], len(cells), axis=0)
        sums = purse.ask(name, Sums(cells, "mean", np.full(len(cells), radius), anchors))
        full = sums.private_weights > max(sums.noise.weight_std, 1e-9)
        weights = np.where(full, sums.private_weights, 0.0)
        steps = full[:, None] * sums.private_vectors / np.where(full, weights, 1.0)[:, None]
        return domain.clip(anchors + radius * steps), weights
