"""For separated clusters: any algorithm, then one private step of rows that have a clear center, then the cheaper of the two.

Shechner 2021 (with Sheffet and Stemmer 2020): Private-Stable-k-Means and Private-Stable-k-median. Letters: k clusters, B the
centers that the base found, D_i the distance from center i to the next center.

1. The parts of the base, with most of epsilon: B.
2. ``stable step``   k-means: each center goes to the noisy mean of the rows within D_i / 3 of it. No row has two such centers,
   and offsets are taken from the center, so noise is in proportion to D_i / 3, not to the domain. k-median: a clipped Weiszfeld
   step toward the median of the whole Voronoi cell, or another one if it is chosen (`spinney.algorithms.medians`).
3. ``stable cost``   the noisy difference of both costs; the cheaper centers stay.
4. ``extra i``       on request: a clipped Lloyd or Weiszfeld step over whole cells. The bound on how far centers are from the
   best ones (Theorem 4.5 there) wants centers that are means of their clusters.
5. ``recount``       noisy sizes of the released clusters.

Proof: ``proofs/stable.md``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.margins import least_weight, step_margins
from spinney.algorithms.medians import MEDIAN_STEP, check_median_step, median_backends, median_parts, move_to_medians
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.registry import adapted, choose, find, names, solves_of
from spinney.algorithms.result import Result
from spinney.constraints import Constraint, check, integer
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Cost, Costing, Counting, Counts, Rings, Summing, Sums
from spinney.questions.sums import SumAnswer
from spinney.solvers.stability import next_distances
from spinney.spaces import FloatArray, IntArray

#: Hundredths of epsilon without extra steps: of the base, of each step, of the comparison and of the sizes. Where rows are few
#: the base needs them most; steps toward medians gain more than steps toward means.
MEAN_WEIGHTS, MEDIAN_WEIGHTS = (85, 10, 3, 2), (80, 15, 3, 2)
#: A step looks at the rows within this part of the distance to the next center, as published ...
NEAR = 1 / 3
#: ... an extra Lloyd step clips offsets where a row may be as near to another center ...
HALF = 1 / 2
#: ... and a Weiszfeld step treats rows within this part as equally near.
EQUALLY_NEAR = 1 / 8
#: No radius is smaller than this part of the domain's: centers may coincide.
LEAST_RADIUS = 2.0**-10
#: Lengths of steps that are tried, as squared shares of the radii.
LENGTHS = np.concatenate([[0.0], np.geomspace(1e-7, 1.0, 100)])
#: The name of the first step.
FIRST_STEP = "stable step"
#: Names of the rounds before the first step toward medians. Its share is divided equally among them and it.
ROUNDS = tuple(f"stable round {i}" for i in range(1, 7))
#: They are taken if the noise in one of them is expected to cost at most this part of the cost.
SMALL = 1e-3
#: Radii shrink by this factor from round to round where rows weigh more than this part of their number: most are within them.
SHRINK, MOST_NEAR = 1 / 4, 1 / 2
#: Steps of rounds are as much longer: Weiszfeld's steps are too short, and twice as long is where they cease to lower the cost.
LONGER = 1.5
#: More steps would leave each of them nearly nothing.
MOST_STEPS = 100


def _is_base(value: Any) -> bool:
    """Whether something is the name of an algorithm for points other than this one, or one itself."""
    if isinstance(value, str):
        return value != Stable.name and (value in names("points") or find(value, "points") is not None)
    return solves_of(value) == "points" and not isinstance(value, Stable)


@dataclass(frozen=True)
class Stable(Algorithm):
    """Any algorithm, a private step around its centers, and the cheaper of the two.

    Parameters
    ----------
    base : str or Algorithm
        What finds the first centers: a name, ``"auto"``, or an algorithm for points.
    steps : int
        Extra private steps at the end, over whole cells.
    median_step : {"weiszfeld", "gradient", "localized", "objective"}
        Of k-median: how a step moves centers toward the medians of their rows.
    """

    base: Any = "auto"
    steps: int = 0
    median_step: str = field(default="weiszfeld", metadata={"later": True})

    name = "stable"

    def __post_init__(self) -> None:
        listed = ", ".join(repr(name) for name in names("points") if name != self.name)
        base = Constraint(
            _is_base, f"one of {listed}, a registered name, or an algorithm for tables", "leave it out for the default."
        )
        steps = integer(0, "0 is enough in most cases; 1 for a step over whole clusters at the end.", MOST_STEPS)
        check("Stable", vars(self), {"base": base, "steps": steps, "median_step": MEDIAN_STEP})

    @property
    def backends(self) -> tuple[str, ...]:  # type: ignore[override]
        return median_backends(
            self.median_step, Algorithm.backends if isinstance(self.base, str) else adapted(self.base).backends
        )

    def base_of(self, problem: PointProblem) -> Algorithm:
        """Return the algorithm that finds the first centers, from public facts alone."""
        return choose(self.base, "points")

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        weights = MEDIAN_WEIGHTS if problem.power == 1 else MEAN_WEIGHTS
        base, step, cost, sizes = (Fraction(weight, 100 + weights[1] * int(self.steps)) for weight in weights)
        check_median_step(self.median_step, problem, "Stable")
        return (
            *(replace(part, share=part.share * base) for part in self.base_of(problem).parts(problem)),
            *self._first_parts(step, problem),
            Costing().part("stable cost", cost),
            *(part for i in range(1, self.steps + 1) for part in self._step_parts(f"extra {i}", step, problem)),
            Counting().part("recount", sizes),
        )

    def _first_parts(self, share: Fraction, problem: PointProblem) -> tuple[Part, ...]:
        """Return the parts of the first step, and of the rounds before it if it is one toward medians."""
        names = (*self._rounds(problem), FIRST_STEP)
        return tuple(part for name in names for part in self._step_parts(name, share / len(names), problem))

    def _rounds(self, problem: PointProblem) -> tuple[str, ...]:
        """Return the names of the rounds before the first step."""
        return ROUNDS if problem.power == 1 and self.median_step == "weiszfeld" else ()

    def _step_parts(self, name: str, share: Fraction, problem: PointProblem) -> tuple[Part, ...]:
        """Return the parts of a step of this name."""
        if problem.power == 1:
            return median_parts(name, share, problem, self.median_step)
        return (Summing(step_kernel(problem, name), problem.n_features).part(name, share),)

    def _first_moved(
        self, purse: Purse, problem: PointProblem, centers: FloatArray, private_sizes: IntArray
    ) -> tuple[FloatArray, FloatArray | None]:
        """Take the first step, in rounds if noise in each of them is small; return the moved centers and their margins."""
        reach, rounds = radii(problem, centers, EQUALLY_NEAR if problem.power == 1 else NEAR), self._rounds(problem)
        sizes = np.maximum(private_sizes, 1.0)
        if rounds and _noise_cost(purse, problem, sizes) > SMALL:
            for name, later in itertools.pairwise((*rounds, FIRST_STEP)):
                purse.pass_on(name, later)
            rounds = ()
        for name in rounds:
            centers, answer = _stepped(purse, problem, centers, reach, name, LONGER)
            shrunk = np.maximum(SHRINK * reach, LEAST_RADIUS * problem.domain.half_diagonal)
            reach = np.where(answer.private_weights > MOST_NEAR * sizes, shrunk, reach)
        return self._moved(purse, problem, centers, reach, FIRST_STEP)

    def _moved(
        self, purse: Purse, problem: PointProblem, centers: FloatArray, reach: FloatArray, name: str
    ) -> tuple[FloatArray, FloatArray | None]:
        """Take the step of this name; return the moved centers and their margins."""
        if self.median_step != "weiszfeld":
            found = move_to_medians(purse, problem, centers, reach, name, self.median_step)
            return found.centers, found.margins
        moved, answer = _stepped(purse, problem, centers, reach, name)
        return moved, step_margins(answer, reach)

    def counts(self, problem: PointProblem) -> bool:
        return self.base_of(problem).counts(problem)

    def guarantee(self, problem: PointProblem) -> str | None:
        """Return in a sentence what the theorems make of a bound on the base's cost, if it has one."""
        base = self.base_of(problem).guarantee(problem)
        if base is None or base.startswith("No bound"):
            return None
        phi, theorem = ("phi", "5.4") if problem.power == 1 else ("phi^2", "4.3")
        return (
            f"If the base's cost is at most v OPT + t, and rows are phi-separated with {phi} at most of the order 1 / v, the "
            f"published step brings it to (1 + O({phi})) OPT + O(v t + noise); constant not explicit (Shechner et al., "
            f"Theorem {theorem}). Of the base: {base}"
        )

    def memory(self, problem: PointProblem) -> str | None:
        return self.base_of(problem).memory(problem)

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        result: Result = self.base_of(problem).run(purse, problem, rng)
        centers = problem.domain.clip(result.centers)
        moved, margins = self._first_moved(purse, problem, centers, result.private_sizes)
        more = purse.ask("stable cost", Cost(centers, problem.power, moved)).private_cost
        supported = len(centers) if more > 0 or self.steps else result.supported
        centers, margins = (moved, margins) if more > 0 else (centers, result.margins)
        for i in range(1, self.steps + 1):
            reach = radii(problem, centers, EQUALLY_NEAR if problem.power == 1 else HALF)
            centers, margins = self._moved(purse, problem, centers, reach, f"extra {i}")
        sizes = purse.ask("recount", Counts(Rings(centers)))
        counts = np.maximum(sizes.private_counts, 0)
        return replace(
            result, centers=centers, private_sizes=counts, size_noise=sizes.noise, supported=supported, margins=margins
        )


def _noise_cost(purse: Purse, problem: PointProblem, sizes: FloatArray) -> float:
    """Return the part of the cost that noise in a round adds, about: half its squared length in distances of rows."""
    std = purse.preview(Summing(problem.kernel, problem.n_features), ROUNDS[0]).vector_std
    return float(problem.n_features * std**2 * (1 / sizes).sum() / sizes.sum() / 2)


def _stepped(
    purse: Purse, problem: PointProblem, centers: FloatArray, reach: FloatArray, name: str, longer: float = 1.0
) -> tuple[FloatArray, SumAnswer]:
    """Take one step that a question about sums pays for; return the moved centers and the answer."""
    answer = purse.ask(name, Sums(centers, step_kernel(problem, name), reach))
    weights = np.maximum(answer.private_weights, least_weight(answer.noise))
    shares = shortened(answer.private_vectors / weights[:, None], (answer.noise.vector_std / weights) ** 2)
    if problem.power == 2:  # no mean of rows within the radius is farther off
        shares /= np.maximum(np.sqrt((shares**2).sum(axis=1)), 1.0)[:, None]
    return problem.domain.clip(centers + longer * reach[:, None] * shares), answer


def step_kernel(problem: PointProblem, name: str) -> str:
    """Return the name of the `sums` kernel of a step."""
    return "core" if problem.power == 2 and name == FIRST_STEP else problem.kernel


def radii(problem: PointProblem, centers: FloatArray, part: float) -> FloatArray:
    """Return this part of each center's distance to the next one, within public limits; for one center the domain's radius."""
    widest = problem.domain.half_diagonal
    return np.asarray(np.clip(part * next_distances(centers), LEAST_RADIUS * widest, widest))


def shortened(shares: FloatArray, variances: FloatArray) -> FloatArray:
    """Return noisy steps, in radii, shortened the more the less all of them together stand out of their noise.

    The base missed each center by about one share of its radius: the one that makes these steps likeliest, of `LENGTHS`. A step
    alone says too little of its own length, so noise would pass for a step in some center nearly always. Variances are of the
    noise in each coordinate.
    """
    spread = LENGTHS[:, None] + np.maximum(variances, 1e-300)
    unlikely = shares.shape[1] * np.log(spread) + (shares**2).sum(axis=1) / spread
    length = LENGTHS[int(np.argmin(unlikely.sum(axis=1)))]
    return np.asarray((length / (length + np.maximum(variances, 1e-300)))[:, None] * shares)
