"""k-medians from maximum coverage (Jones, Nguyen and Nguyen 2021, Algorithms 1 and 2).

Letters: k sites, n points of the space (public), g the growth of radii, C the centers that cover.

1. ``cover``     radii from diameter / n up to the diameter, each 1 + g times the one before. At each radius 2 k ln(1/g) balls
   around candidates, one after another by the exponential mechanism on the rows they cover; covered rows leave. C holds all.
2. ``weights``   the noisy number of rows nearest to each point of C.
3. Free: any plain solver of C with these weights, those that could be noise left out; k-medoids by default.
4. ``sizes``     noisy sizes of the chosen sites' cells.

All steps of 1 are one process with one price, (eps, delta) of its own; without a delta every step pays for itself.

Proof: ``proofs/coverage.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from spinney.algorithms.problem import SiteProblem
from spinney.algorithms.result import Result
from spinney.algorithms.sites import SIZES, SiteAlgorithm, check_options, released
from spinney.constraints import Constraint, check, real
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Balls, Counting, Counts, Cover, Covering, Labels
from spinney.solvers.medoids import solve_medoids
from spinney.spaces import FiniteMetric, FloatArray, IntArray, nearest_site

#: The part of epsilon that pays for the cover; the same again, less the sizes, pays for the weights.
COVER = Fraction(1, 2)
#: What growth may be.
GROWTH = real(lambda value: 0.05 <= value <= 0.95, "[0.05, 0.95]", "0.5 doubles every 1.7 radii.")
#: What a solver may be.
SOLVER = Constraint(lambda value: value is None or callable(value), "None or a function", "leave it out.")
#: More radii than this would not change a byte: stages are counted in one.
MOST_RADII = 200


def cover_steps(k: int, growth: float, n: int) -> tuple[int, ...]:
    """Return how many balls each radius takes, from public facts alone: costs grow from one n-th of the largest."""
    count = min(MOST_RADII, math.ceil(math.log(max(n, 2)) / math.log1p(growth)) + 1)
    return (max(1, math.ceil(2 * k * math.log(1 / growth))),) * count


def growing_balls(space: FiniteMetric, k: int, power: int, growth: float, n: int) -> Balls:
    """Return balls around all candidates with radii up to the diameter, such that costs grow 1 + growth times each."""
    steps = cover_steps(k, growth, n)
    radii = space.diameter * np.exp(-math.log1p(growth) / power * np.arange(len(steps))[::-1])
    return Balls(space, radii, steps)


@dataclass(frozen=True)
class Coverage(SiteAlgorithm):
    """k-medians from maximum coverage.

    Parameters
    ----------
    growth : float
        Each radius is ``1 + growth`` times the one before, and each takes ``2 k ln(1 / growth)`` balls; in [0.05, 0.95].
    solver : callable, optional
        ``solver(space, weights, k, power, existing, rng)`` returns k different candidates of the space beside the existing sites,
        for points of these weights, which are released already: it may be anything. By default k-medoids with restarts.
    """

    growth: float = 0.5
    solver: Callable[[FiniteMetric, FloatArray, int, int, IntArray, np.random.Generator], IntArray] | None = field(
        default=None, metadata={"later": True}
    )

    name = "coverage"

    def __post_init__(self) -> None:
        check("Coverage", vars(self), {"growth": GROWTH, "solver": SOLVER})

    def balls(self, problem: SiteProblem) -> Balls:
        """Return the public set system."""
        return growing_balls(problem.space, problem.k, problem.power, self.growth, problem.space.n_points)

    def parts(self, problem: SiteProblem) -> tuple[Part, ...]:
        steps = sum(self.balls(problem).steps)
        check_options(steps * len(problem.space.candidates), "The algorithm 'coverage'")
        return (
            Covering(steps).part("cover", COVER),
            Counting().part("weights", 1 - COVER - SIZES),
            Counting().part("sizes", SIZES),
        )

    def guarantee(self, problem: SiteProblem) -> str | None:
        """Return the printed bound, which needs a delta: its proof has no constants."""
        if not problem.budget.delta or problem.space.is_one_sided:
            return None
        power, cited = ("^2", "Lemma 16") if problem.power == 2 else ("", "Corollary 13")
        factor = "a constant" if self.solver is None else "a constant times the solver's factor"
        return (
            f"The cost is at most {factor} times the best one plus O(k D{power} ln n ln(e / delta) / epsilon) for n points and "
            f"diameter D; constant not explicit (Jones, Nguyen and Nguyen, {cited})."
        )

    def run(self, purse: Purse, problem: SiteProblem, rng: np.random.Generator) -> Result:
        space = problem.space
        chosen = np.unique(space.candidates[purse.ask("cover", Cover(self.balls(problem)))])
        answer = purse.ask("weights", Counts(Labels(nearest_site(space, chosen), len(chosen))))
        weights = answer.private_counts * (answer.private_counts > answer.noise.std * math.log(len(chosen) + 1))
        mass = np.zeros(space.n_points)
        mass[chosen] = weights if weights.any() else 1.0
        kept = np.flatnonzero(weights)
        return released(purse, problem, self._solved(mass, problem, rng), chosen[kept], weights[kept].astype(np.float64))

    def _solved(self, weights: FloatArray, problem: SiteProblem, rng: np.random.Generator) -> IntArray:
        """Return k candidates for points of these weights."""
        space, k, existing = problem.space, problem.k, problem.existing
        if self.solver is None:
            return solve_medoids(space, weights, k, problem.power, rng, existing=existing).points
        found = np.asarray(self.solver(space, weights, k, problem.power, existing.copy(), rng))
        if found.shape != (k,) or len(np.setdiff1d(np.intersect1d(found, space.candidates), existing)) != k:
            raise ValueError("a solver must return as many different candidates, none with a site, as it is asked for")
        return found.astype(np.int64)
