"""What is wanted, from public facts: centers of points, or sites of a space; and how an algorithm is asked for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.result import Result
from spinney.privacy import Budget, Charge, Measure, Part, Unit, compose
from spinney.questions import Family
from spinney.questions.ground import Ground
from spinney.releases.centers import Release
from spinney.releases.objectives import counted_words, objective_of, title_of
from spinney.releases.preparation import missing_names, missing_rows, prepared_names, prepared_rows
from spinney.releases.sites import SiteRelease
from spinney.solvers.categories import counted_as
from spinney.solvers.goals import Goal, Travel, described
from spinney.solvers.task import SiteTask
from spinney.spaces import Domain, FiniteMetric, FloatArray, IntArray, Schema, domain_to_dict

#: The charges of a plan by their names, in the order of asking.
Charges = Mapping[str, Charge]
#: The part of delta that a cover takes; what other questions need it for, the conversion of zCDP, takes the rest.
COVER_DELTA = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class Problem(ABC):
    """Public facts: how many centers, the power of distances (1 median, 2 means), the budget and the protected unit."""

    k: int
    power: int
    budget: Budget
    unit: Unit

    #: Which algorithms serve: those with the same word.
    solves: ClassVar[str]
    #: Rows per center, times epsilon, below which centers are poor.
    few_rows: ClassVar[int]
    #: What is released, in a word.
    what: ClassVar[str]
    #: Columns of numbers; 0 if rows are not numbers.
    n_features: int = 0
    #: How often a row counts at most, if it does so by its weight: the unit holds as many times its rows.
    row_times: int | None = None

    @property
    def rows_of_group(self) -> int:
        """The most rows of a group that count, each once or by its weight."""
        return self.unit.max_rows // (self.row_times or 1)

    @property
    def shown(self) -> Self:
        """A copy for an algorithm, which may be anyone's: what it does to the copy changes no promise. Spaces are not copied."""
        return deepcopy(self, {id(value): value for value in vars(self).values() if type(value) in (FiniteMetric, Family)})

    @property
    @abstractmethod
    def ground(self) -> Ground:
        """The public ground that rows lie on."""

    @property
    @abstractmethod
    def objective(self) -> str:
        """What is minimized, as ledgers and releases name it."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is minimized, in words."""

    @property
    @abstractmethod
    def size(self) -> str:
        """How much is asked for, in words."""

    def expected(self, noise: Callable[[str], Any], n_guess: int) -> list[str] | None:
        """Return what to expect of about `n_guess` rows, from the noise of each part by its name; None: as for centers."""
        return None

    @abstractmethod
    def release(self, result: Any, algorithm: str, columns: tuple[str, ...] | None, promise: dict[str, Any]) -> Any:
        """Return what may be published of rows with these columns; `promise` has the fields that all releases share."""


@dataclass(frozen=True, kw_only=True)
class PointProblem(Problem):
    """Centers anywhere in a public domain, for rows of numbers; `names` are the names of its columns, if bounds name them.

    The domain is in scaled numbers if there is a schema, and so are the rows; the release is in the user's own numbers.
    If `is_counted`, as many centers are wanted as there are clusters, and k is the most there may be.
    """

    domain: Domain
    names: tuple[str, ...] | None = None
    schema: Schema | None = None
    is_counted: bool = False
    n_features: int = field(init=False, default=0)

    solves = "points"
    few_rows = 300
    what = "centers"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_features", self.domain.n_features)

    @property
    def ground(self) -> Ground:
        return Ground(self.domain)

    @property
    def objective(self) -> str:
        return objective_of(self.power)

    @property
    def title(self) -> str:
        return title_of(self.objective)

    @property
    def size(self) -> str:
        clusters = f"at most {self.k} clusters, as many as the summary shows" if self.is_counted else f"{self.k} clusters"
        return f"{clusters}, {self.n_features} columns"

    @property
    def counted_as(self) -> str | None:
        """How categories are looked at where clusters are counted, if they are."""
        return counted_as(self.schema) if self.is_counted else None

    @property
    def kernel(self) -> str:
        """The name of the `sums` kernel that serves this objective."""
        return "median" if self.power == 1 else "mean"

    def release(self, result: Result, algorithm: str, columns: tuple[str, ...] | None, promise: dict[str, Any]) -> Release:
        """Return the centers, their sizes and the summary, in the user's own numbers; and how k was found, if it was."""
        units = 1.0 if self.schema is None else self.schema.units
        own = self.domain if self.schema is None else self.schema.own
        box = result.box
        counted = result.counted
        if counted is not None:
            words = [counted_words(counted.k, self.k), *([self.counted_as] if self.counted_as else [])]
            promise = {**promise, "k": counted.k, "k_source": "; ".join(words)}
        return Release(
            objective=self.objective,
            algorithm=algorithm,
            centers=result.centers * units,
            sizes=result.private_sizes.astype(np.float64),
            sizes_margin=float(result.size_noise.quantile(0.95)),
            summary_points=self.domain.clip(result.summary_points) * units,  # a leaf may reach out of a ball
            summary_weights=result.summary_weights,
            preprocessing=prepared_rows(promise["adjacency"], promise["max_rows_per_group"], self.schema),
            missing_values=missing_rows(promise["adjacency"], self.schema),
            domain=domain_to_dict(own) | ({} if self.names is None else {"columns": list(self.names)}),
            tightened=None if box is None else domain_to_dict(Domain(box.lower * units, box.upper * units, box.radius)),
            feature_names=columns,
            schema=None if self.schema is None else self.schema.record,
            supported_centers=result.supported,
            center_margins=None if result.margins is None else result.margins * units,
            k_costs=None if counted is None else counted.costs,
            **promise,
        )


@dataclass(frozen=True, kw_only=True)
class SiteProblem(Problem):
    """Sites among the candidates of a public space, beside sites that are there already, for rows that name its points."""

    space: FiniteMetric
    existing: IntArray
    goal: Goal = field(default_factory=Travel)
    weights: FloatArray | None = None
    is_counted: bool = False

    solves = "sites"
    few_rows = 20
    what = "sites"
    objective = "kmedoids"

    @property
    def ground(self) -> Ground:
        return Ground(None, self.space.n_points, self.space)

    @property
    def title(self) -> str:
        return f"{self.goal.title} ({'squared distances' if self.power == 2 else 'distances'})"

    @property
    def size(self) -> str:
        return f"{'at most ' if self.is_counted else ''}{self.k} sites of {len(self.space.candidates)} candidates"

    @property
    def is_plain(self) -> bool:
        """Whether nothing is wanted but k sites with little travel."""
        return type(self.goal) is Travel and not self.is_counted and self.weights is None

    def task(self, loads: FloatArray) -> SiteTask:
        """Return what is to be solved for this expected demand of all points."""
        return SiteTask(
            space=self.space, loads=loads, k=self.k, is_counted=self.is_counted, power=self.power, existing=self.existing,
            weights=self.weights,
        )  # fmt: skip

    def release(self, result: Result, algorithm: str, columns: tuple[str, ...] | None, promise: dict[str, Any]) -> SiteRelease:
        """Return the sites in the order of their indices, their sizes and the summary."""
        space, order = self.space, np.argsort(result.centers)
        sites, places = np.concatenate([result.centers[order], self.existing]), np.arange(len(result.private_sizes))
        places[: len(order)] = order
        travel, margins = (None, None) if result.travel is None else result.travel[:, places]
        named, adjacency = ("point of the space", "its first point"), promise["adjacency"]
        if self.is_counted:
            promise = {**promise, "k": len(order), "k_source": f"found on the private summary, of at most {self.k}"}
        goal = None if self.is_plain else described(self.goal, sites) | {"is_weighted": self.weights is not None}
        return SiteRelease(
            algorithm=algorithm,
            power=self.power,
            medoids=result.centers[order],
            existing_sites=self.existing,
            sizes=result.private_sizes[places].astype(np.float64),
            sizes_margin=float(result.size_noise.quantile(0.95)),
            summary_points=result.summary_points,
            summary_weights=result.summary_weights,
            space=space.described,
            coordinates=None if space.coordinates is None else space.coordinates[sites],
            names=None if space.names is None else tuple(space.names[site] for site in sites),
            preprocessing=prepared_names(*named, adjacency, promise["max_rows_per_group"], self.row_times),
            missing_values=missing_names(*named, adjacency),
            row_times=self.row_times,
            goal=goal,
            assignment=result.assignment,
            unserved=result.private_unserved,
            travel=travel,
            travel_margins=margins,
            **promise,
        )


def planned(algorithm: Algorithm, problem: Problem) -> tuple[Charge, ...]:
    """Return the charges of an algorithm in the order of asking."""
    shown = problem.shown
    if algorithm.plan is None:
        return charges_of(problem.budget, algorithm.parts(shown))
    return tuple(algorithm.plan(shown))


def charges_of(budget: Budget, parts: Sequence[Part]) -> tuple[Charge, ...]:
    """Return the charges of parts: a cover, if there is one, makes a promise of its own, the others share what is left."""
    cover = next((part for part in parts if part.question == "cover"), None)
    if cover is None or cover.share == 1:
        return compose(budget, parts)
    own = budget.delta * COVER_DELTA
    rest = Budget(budget.epsilon * (1 - cover.share), budget.delta - own)
    others = [replace(part, share=part.share / (1 - cover.share)) for part in parts if part is not cover]
    charges = {charge.name: charge for charge in compose(rest, others)}
    charges[cover.name] = Charge(cover.name, cover.question, Measure.PURE, budget.epsilon * cover.share, own)
    return tuple(charges[part.name] for part in parts)
