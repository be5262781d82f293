"""Projection, candidates of a private grid, private local search, lifted means (Balcan, Dick, Liang, Mou and Zhang 2017).

Letters: k clusters, d columns, m projected columns, T steps, F_i the centers after i steps.

1. Public: a random subspace of m = O(log k) columns; if there are no more than m, all of them.
2. ``level i``  noisy counts of the cells of a randomly shifted grid in it, halved along one direction a level; a cell whose count
   does not stand out is not cut further. The middles of all cells that were counted are the candidates.
3. F_0: D^p seeding of the candidates by the noisy counts. ``swap i``: one swap of F_(i-1), by the exponential mechanism on the
   cost after it, where each row is seen as its nearest candidate. ``best``: one of F_0 .. F_T, in the same way.
4. ``radii``, ``means``  a noisy histogram of distances, and a private step of each center toward the mean, or the median, of its
   rows, in all columns.
5. ``sizes``    noisy sizes of the released clusters.

As published, the grid stops where cells are empty or reach 1/n, weights of swaps divide by the diameter of all, and the number of
rows and of steps read n: none of this is private, or needed. Here thresholds follow from the noise, the range of a swap is that
of the public candidates, and steps are a parameter. It is here for comparison: the default is better.

Proof: ``proofs/balcan.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.algorithms.candidates import Candidates, ask_candidates, default_dimensions, grid_parts
from spinney.algorithms.local_search import ask_swaps, swap_parts
from spinney.algorithms.step import ask_distances, move
from spinney.constraints import check, integer
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Summing
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.spaces import FloatArray

#: Hundredths of epsilon; all levels, and all choices, have equal parts.
SHARES = {"levels": 30, "choices": 40, "radii": 3, "means": 24, "sizes": 3}
#: Draws for each seeded center, of which the best by the noisy counts is kept.
TRIALS = 8
#: More swaps than this, or directions, would only thin the budget out.
MOST_STEPS, MOST_DIMENSIONS = 1000, 32


@dataclass(frozen=True)
class Balcan(Algorithm):
    """Candidates of a private grid in a random subspace, private swaps of them, private means.

    Parameters
    ----------
    dimensions : int, optional
        Of the subspace; in [1, 32]. By default 2 + log2(k), rounded up. If there are no more columns nothing is projected.
    steps : int
        The number of swaps, T; in [1, 1000].
    """

    dimensions: int | None = None
    steps: int = 10

    name = "balcan"

    def __post_init__(self) -> None:
        check("Balcan", vars(self), {"steps": integer(1, "for example Balcan(steps=10).", MOST_STEPS)})
        if self.dimensions is not None:
            hint = "leave it out: it then follows from k, never from the rows."
            check("Balcan", vars(self), {"dimensions": integer(1, hint, MOST_DIMENSIONS)})

    def _dimensions(self, problem: PointProblem) -> int:
        return default_dimensions(problem.k) if self.dimensions is None else self.dimensions

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        shares = {name: Fraction(share, 100) for name, share in SHARES.items()}
        return (
            *grid_parts(shares["levels"], self._dimensions(problem), problem),
            *swap_parts(shares["choices"], self.steps),
            Counting().part("radii", shares["radii"]),
            Summing(problem.kernel, problem.n_features).part("means", shares["means"]),
            Counting().part("sizes", shares["sizes"]),
        )

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        found = ask_candidates(purse, problem, self._dimensions(problem), rng)
        centers = self._searched(purse, problem, found, rng)
        step = move(purse, problem, centers, ask_distances(purse, problem, centers, "radii"), "means")
        full = found.weights > 0
        points = problem.domain.clip(found.points[full])
        return Result.asked(purse, step.centers, points, found.weights[full], margins=step.margins)

    def _searched(self, purse: Purse, problem: PointProblem, found: Candidates, rng: np.random.Generator) -> FloatArray:
        """Return the candidates that the private local search ends at."""
        space, none = found.space, np.empty(0, dtype=np.int64)
        weights = found.weights if found.weights.any() else np.ones(len(found.weights))
        first = seed_medoids(Service.of(space, weights, problem.power), problem.k, rng, none, TRIALS)
        return found.points[ask_swaps(purse.at(space), space, first, none, problem.power, self.steps, stay=True)]
