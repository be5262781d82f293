"""k-means and k-median from maximum coverage of a private candidate set (Jones, Nguyen and Nguyen 2021, Corollary 17).

Letters: k clusters, d columns, g the growth of radii, p the power of distances.

1. ``rows``, ``splits``  a noisy number of rows, and the decisions of a private tree (PrivTree): the middles of its leaves are the
   candidates.
2. ``cover``    rows are seen as their nearest candidates. At each radius, from small to large, 2 k ln(1/g) balls around
   candidates that hold many uncovered rows, by the exponential mechanism; the rows that they cover leave. It is one process,
   charged once.
3. ``weights``  the noisy number of rows nearest to each chosen candidate.
4. Free: any plain solver of the weighted candidates.
5. ``sizes``    noisy sizes of the released clusters.

The published candidate set (Kaplan and Stemmer 2018) hashes rows once for each of many radii and pays for each. One tree serves
all radii. It is here for comparison: the default is better.

Proof: ``proofs/point_coverage.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.algorithms.candidates import ask_leaves
from spinney.algorithms.coverage import GROWTH, SOLVER, cover_steps, growing_balls
from spinney.algorithms.sites import check_options
from spinney.constraints import check
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Counts, Cover, Covering, Rings, Splitting
from spinney.questions.question import Kind
from spinney.solvers.weighted import solve
from spinney.spaces import FiniteMetric, FloatArray

#: Hundredths of epsilon.
SHARES = {"rows": 2, "splits": 30, "cover": 30, "weights": 35, "sizes": 3}
#: Of more leaves than this, this many are drawn.
MOST_CANDIDATES = 2048
#: The largest balls cost this many times as much as the smallest.
SCALES = 2048

Solver = Callable[[FloatArray, FloatArray, int, int, np.random.Generator], FloatArray]


@dataclass(frozen=True)
class PointCoverage(Algorithm):
    """Maximum coverage of a private candidate set, then any plain solver.

    Parameters
    ----------
    growth : float
        Each radius costs ``1 + growth`` times the one before, and each takes ``2 k ln(1 / growth)`` balls; in [0.05, 0.95].
    solver : callable, optional
        ``solver(points, weights, k, power, rng)`` returns k centers of weighted points, which are released already: it may be
        anything. By default seeding and descent with restarts.
    """

    growth: float = 0.5
    solver: Solver | None = None

    name = "coverage"

    def __post_init__(self) -> None:
        check("PointCoverage", vars(self), {"growth": GROWTH, "solver": SOLVER})

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        steps = sum(cover_steps(problem.k, self.growth, SCALES))
        check_options(steps * MOST_CANDIDATES, "The algorithm 'coverage'")
        cover = Covering(steps)
        kinds: dict[str, Kind] = {"splits": Splitting(), "cover": cover}
        return tuple(kinds.get(name, Counting()).part(name, Fraction(share, 100)) for name, share in SHARES.items())

    def guarantee(self, problem: PointProblem) -> str:
        """Say why the published bound is not inherited."""
        return (
            "No bound on the cost is proved: the factor of Corollary 17 (Jones, Nguyen and Nguyen) needs the candidates of "
            "Kaplan and Stemmer, and is not inherited with leaves of a tree as candidates."
        )

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        candidates = self._candidates(purse, problem, rng)
        space = FiniteMetric.from_points(candidates)
        balls = growing_balls(space, problem.k, problem.power, self.growth, SCALES)
        points = candidates[np.unique(purse.at(space).ask("cover", Cover(balls)))]
        answer = purse.ask("weights", Counts(Rings(points)))
        full = answer.private_counts > answer.noise.std * math.log(len(points) + 1)
        points, weights = points[full], answer.private_counts[full].astype(np.float64)
        return Result.asked(purse, self._solved(points, weights, problem, rng), points, weights)

    def _candidates(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> FloatArray:
        """Return the middles of the leaves of a private tree."""
        points = problem.domain.clip(ask_leaves(purse, problem).middles())
        return points if len(points) <= MOST_CANDIDATES else rng.permutation(points)[:MOST_CANDIDATES]

    def _solved(self, points: FloatArray, weights: FloatArray, problem: PointProblem, rng: np.random.Generator) -> FloatArray:
        """Return k centers of the domain."""
        k, fillers = problem.k, problem.domain.sample(problem.k, rng)
        if self.solver is None:
            return problem.domain.clip(solve(points, weights, k, problem.power, rng, fillers).centers)
        found = np.asarray(self.solver(points.copy(), weights.copy(), k, problem.power, rng), dtype=np.float64)
        if found.shape != fillers.shape or not np.isfinite(found).all():
            raise ValueError("a solver must return as many finite centers as it is asked for")
        return problem.domain.clip(found)
