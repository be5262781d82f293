"""What an algorithm is given, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from spinney.curators.base import Curator
from spinney.mechanisms.additive import Noise
from spinney.mechanisms.source import IntArray
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge
from spinney.privacy.composition import Part, compose
from spinney.privacy.pricing import Unit
from spinney.spaces.box import Domain, FloatArray

__all__ = ["Algorithm", "Problem", "Result"]


@dataclass(frozen=True)
class Problem:
    """Public facts: k, the power of distances (1 median, 2 means), the domain, the budget and the protected unit."""

    k: int
    power: int
    domain: Domain
    budget: Budget
    unit: Unit

    #: Rows per cluster, times epsilon, below which centers are poor.
    few_rows: ClassVar[int] = 300
    #: What is released, in a word.
    what: ClassVar[str] = "centers"

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.domain.n_features

    @property
    def described(self) -> str:
        """What the plan is of, in words: the objective, a bar, the rest."""
        objective = "k-means" if self.power == 2 else "k-median"
        return f"{objective}|{self.k} clusters, {self.n_features} columns"

    @property
    def kernel(self) -> str:
        """The name of the `sums` kernel that serves this objective."""
        return "median" if self.power == 1 else "mean"


@dataclass(frozen=True)
class Result:
    """Released values: centers, noisy sizes of their cells, a weighted summary of the rows, and the private box, if any."""

    centers: FloatArray
    private_sizes: IntArray
    size_noise: Noise
    summary_points: FloatArray
    summary_weights: FloatArray
    box: Domain | None = None


class Algorithm(Protocol):
    """A published algorithm; those that derive from it need not write `plan`."""

    @property
    def name(self) -> str:
        """What users type."""

    @property
    def backends(self) -> tuple[str, ...]:
        """The curators it runs on."""

    def parts(self, problem: Problem) -> tuple[Part, ...]:
        """Return the share and the sensitivity of every question, in the order of asking, from public facts alone."""

    def plan(self, problem: Problem) -> tuple[Charge, ...]:
        """Return every charge, in the order of asking, from public facts alone."""
        return compose(problem.budget, self.parts(problem))

    def run(self, curator: Curator, problem: Problem, charges: tuple[Charge, ...], rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
