"""k-variates++: k-means++ seeding whose centers are drawn from densities around rows (Nock, Canyasse, Boreli and Nielsen 2016).

Letters: k clusters, p the power of distances, D the distance to the nearest center so far.

1. ``rows``, ``splits``  a noisy number of rows, and the decisions of a private tree (PrivTree): its leaves are the cells.
2. ``draw i``   noisy counts of the cells, with fresh noise for every draw. A cell is drawn in proportion to its count, the mean
   of all noisy ones so far, times D^p of its middle; the next center is drawn evenly from the cell.
3. ``sizes``    noisy sizes of the released clusters.

As published, a row is drawn by D^2 and Laplace noise is added to it, of a scale that is read off the rows: that scale is not
private, the draw shows whether a far row is there, and the domain has no bounds. Here rows are drawn through the counts of their
cells, and the density around a row is even in its cell. Beyond `MOST_DRAWS` centers several are drawn from each answer. It is
here for comparison: it only seeds, and the default is better.

Proof: ``proofs/k_variates.md``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.algorithms.candidates import ask_leaves
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Counts, Splitting
from spinney.spaces import FloatArray
from spinney.spaces.nearest import nearest
from spinney.trees.quadtree import TreeCells

#: Hundredths of epsilon; all draws have equal parts.
SHARES = {"rows": 2, "splits": 30, "draws": 65, "sizes": 3}
#: More draws than this share answers.
MOST_DRAWS = 64
#: A cell counts if its mean is at least this many standard deviations of its noise.
STDS = 2.0


class KVariates(Algorithm):
    """Seeding from private counts, each center drawn evenly from a cell."""

    name = "k-variates"

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        shares, draws = {name: Fraction(share, 100) for name, share in SHARES.items()}, min(problem.k, MOST_DRAWS)
        return (
            Counting().part("rows", shares["rows"]),
            Splitting().part("splits", shares["splits"]),
            *(Counting().part(f"draw {i}", shares["draws"] / draws) for i in range(1, draws + 1)),
            Counting().part("sizes", shares["sizes"]),
        )

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        leaves = ask_leaves(purse, problem)
        draws, totals = min(problem.k, MOST_DRAWS), np.zeros(len(leaves))
        centers = np.empty((0, problem.n_features))
        for i, some in enumerate(np.array_split(np.arange(problem.k), draws), start=1):
            answer = purse.ask(f"draw {i}", Counts(leaves))
            totals += answer.private_counts
            weights = np.where(totals > STDS * answer.noise.std * i**0.5, totals / i, 0.0)
            for _ in some:
                centers = np.vstack([centers, self._drawn(problem, leaves, weights, centers, rng)])
        full, points = weights > 0, problem.domain.clip(leaves.middles())
        return Result.asked(purse, centers, points[full], weights[full])

    def _drawn(
        self, problem: PointProblem, leaves: TreeCells, weights: FloatArray, centers: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return one more center, evenly from a cell; from the whole domain if no cell counts."""
        squares = nearest(leaves.middles(), centers)[0] if len(centers) else np.ones(len(leaves))
        shares = weights * (squares if problem.power == 2 else np.sqrt(squares))
        if not shares.sum() > 0:
            return problem.domain.sample(1, rng)
        cell = leaves.take(np.array([rng.choice(len(shares), p=shares / shares.sum())]))
        lower, upper = cell.boxes()
        return problem.domain.clip(rng.uniform(lower, upper))
