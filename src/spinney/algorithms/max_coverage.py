"""Maximum coverage over any public family of sets (Gupta et al. 2010; Jones, Nguyen and Nguyen 2021).

``cover``  sets one after another, by the exponential mechanism on the rows they cover; covered rows leave. With a delta all
choices share one price, without each pays for itself.

Proof: ``proofs/coverage.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.problem import Problem
from spinney.algorithms.result import Result
from spinney.algorithms.sites import check_options
from spinney.curators.purse import Purse
from spinney.mechanisms import Noise
from spinney.mechanisms.coverage import step_epsilon
from spinney.privacy import Charge, Measure, Part
from spinney.questions import Cover, Covering, Family
from spinney.questions.ground import Ground
from spinney.releases.cover import CoverRelease
from spinney.releases.preparation import missing_names, prepared_names


@dataclass(frozen=True, kw_only=True)
class CoverProblem(Problem):
    """Sets of a public family that together cover many rows, which name items."""

    family: Family

    solves = "cover"
    few_rows = 20
    what = "sets"
    objective = "coverage"
    title = "maximum coverage"

    @property
    def ground(self) -> Ground:
        return Ground(None, int(self.family.members.shape[0]))

    @property
    def size(self) -> str:
        return f"{self.k} choices of {self.family.n_sets} sets"

    def release(self, result: Result, algorithm: str, columns: tuple[str, ...] | None, promise: dict[str, Any]) -> CoverRelease:
        return CoverRelease(
            chosen=result.centers,
            n_sets=self.family.n_sets,
            n_items=int(self.family.members.shape[0]),
            preprocessing=prepared_names("item", "the first item", promise["adjacency"], promise["max_rows_per_group"]),
            missing_values=missing_names("item", "the first item", promise["adjacency"]),
            **promise,
        )


class MaxCoverage(Algorithm):
    """One question, which the whole budget pays for."""

    name = "coverage"
    solves = "cover"
    backends = ("memory",)

    def parts(self, problem: CoverProblem) -> tuple[Part, ...]:
        check_options(problem.k * problem.family.n_sets, "max_coverage")
        return (Covering(problem.k).part("cover", Fraction(1)),)

    def plan(self, problem: CoverProblem) -> tuple[Charge, ...]:
        (part,) = self.parts(problem)
        return (Charge(part.name, part.question, Measure.PURE, problem.budget.epsilon, problem.budget.delta),)

    def guarantee(self, problem: CoverProblem) -> str:
        """Return the bound of ``proofs/coverage.md``, "What it covers", in numbers."""
        k, (charge,) = problem.k, self.plan(problem)
        factor = 1 - (1 - 1 / k) ** k
        if problem.budget.is_infinite:
            return f"The sets cover at least {factor:.3g} times the most rows that can be covered."
        lost = k * math.log(problem.family.n_sets) / float(step_epsilon(charge, problem.unit, k))
        return (
            f"The expected number of rows that are covered is at least {factor:.3g} times the most that can be covered, "
            f"less {lost:.4g} (Gupta et al., with the constants of proofs/coverage.md)."
        )

    def run(self, purse: Purse, problem: CoverProblem, rng: np.random.Generator) -> Result:
        chosen = purse.ask("cover", Cover(problem.family))
        return Result(chosen, np.empty(0, np.int64), Noise("none", 0.0), np.empty(0), np.empty(0))
