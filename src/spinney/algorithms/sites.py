"""What an algorithm over a finite metric is given, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

import numpy as np

from spinney.curators.desk import CountAnswer
from spinney.curators.partitions import Labels
from spinney.curators.sites import SiteCurator
from spinney.exceptions import ParameterError
from spinney.mechanisms.additive import Noise
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge
from spinney.privacy.composition import Part, compose
from spinney.privacy.pricing import Unit
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import FiniteMetric, IntArray

__all__ = ["CHOICE", "SIZES", "SiteAlgorithm", "SiteProblem", "SiteResult", "ask_sizes", "check_options", "nearest_site"]

#: The part of epsilon that pays for the final sizes.
SIZES = Fraction(5, 100)
#: The sensitivities of a choice, for `Part`: its noise is range / epsilon, or range / sqrt(8 rho).
CHOICE = 0.5**0.5, 0.5
#: All choices of a fit together weigh at most so many options, some microseconds each: about an hour.
MOST_OPTIONS = 2**30


@dataclass(frozen=True)
class SiteProblem:
    """Public facts: k, the power of distances, the space, sites that are there already, the budget and the protected unit."""

    k: int
    power: int
    space: FiniteMetric
    existing: IntArray
    budget: Budget
    unit: Unit

    #: Rows per site, times epsilon, below which sites are poor.
    few_rows: ClassVar[int] = 20
    #: What is released, in a word.
    what: ClassVar[str] = "sites"
    #: Nothing here depends on a number of columns.
    n_features: ClassVar[int] = 0

    @property
    def described(self) -> str:
        """What the plan is of, in words: the objective, a bar, the rest."""
        power = "squared distances" if self.power == 2 else "distances"
        return f"k-medoids ({power})|{self.k} sites of {len(self.space.candidates)} candidates"


@dataclass(frozen=True)
class SiteResult:
    """Released values: chosen sites, noisy sizes of their cells and of existing sites' cells, a weighted summary."""

    medoids: IntArray
    private_sizes: IntArray
    size_noise: Noise
    summary_points: IntArray
    summary_weights: FloatArray


class SiteAlgorithm(Protocol):
    """A published algorithm over a finite metric; those that derive from it need not write `plan`."""

    @property
    def name(self) -> str:
        """What users type."""

    @property
    def backends(self) -> tuple[str, ...]:
        """The curators it runs on."""

    def parts(self, problem: SiteProblem) -> tuple[Part, ...]:
        """Return the share and the sensitivity of every question, in the order of asking, from public facts alone."""

    def plan(self, problem: SiteProblem) -> tuple[Charge, ...]:
        """Return every charge, in the order of asking, from public facts alone."""
        return compose(problem.budget, self.parts(problem))

    def run(
        self, curator: SiteCurator, problem: SiteProblem, charges: tuple[Charge, ...], rng: np.random.Generator
    ) -> SiteResult:
        """Ask the curator and return what may be released."""


def check_options(options: int, owner: str) -> None:
    """Raise if so many options, all choices of a fit together, would take too long; from public facts alone."""
    if options > MOST_OPTIONS:
        raise ParameterError(
            f"{owner} would weigh {options} options, more than {MOST_OPTIONS}, and take too long.\n"
            "Hint: ask for fewer choices or candidates; for sites, algorithm='cells' makes no choices."
        )


def nearest_site(space: FiniteMetric, sites: IntArray) -> IntArray:
    """Return, for every point, the place of its nearest site; ties go to the first."""
    label, closest = np.zeros(space.n_points, dtype=np.int64), np.full(space.n_points, np.inf)
    for part, block in space.blocks(sites):
        for place, row in zip(range(part.start, part.stop), block, strict=True):
            nearer = row < closest
            label[nearer], closest[nearer] = place, row[nearer]
    return label


def ask_sizes(curator: SiteCurator, problem: SiteProblem, medoids: IntArray, charge: Charge) -> CountAnswer:
    """Ask how many rows each chosen site serves, and then each existing one."""
    sites = np.concatenate([medoids, problem.existing])
    return curator.counts(Labels(nearest_site(problem.space, sites), len(sites)), charge)
