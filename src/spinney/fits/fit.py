"""What one fit is: a problem, the algorithm that solves it, and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.plan import Plan
from spinney.algorithms.problem import Problem
from spinney.constraints import check, integer, optional


def check_guess(n_guess: Any, owner: str) -> None:
    """Raise unless a public guess of the number of rows is a whole number, or left out."""
    check(owner, {"n_guess": n_guess}, {"n_guess": optional(integer(1, "for example n_guess=8."))})


@dataclass(frozen=True)
class Fit:
    """What is wanted and how: checked, and from public facts alone. Seeds are as they were given."""

    problem: Problem
    algorithm: Algorithm
    grouped: bool = False
    random_state: Any = None
    noise_seed: int | None = None
    #: How many rows a user expects, of a fit of points; the release says so, and nothing else depends on it.
    n_guess: int | None = None

    @property
    def cap(self) -> int | None:
        """The most rows of a group that count; None if the unit is a row."""
        return self.problem.rows_of_group if self.grouped else None

    def plan(self, n_guess: int | None = None, owner: str = "plan") -> Plan:
        """Return every question with its charge and noise; an algorithm may refuse the problem, and an owner's guess be none."""
        check_guess(n_guess, owner)
        plan = Plan(self.algorithm, self.problem, n_guess, self.grouped)
        _ = plan.charges
        return plan
