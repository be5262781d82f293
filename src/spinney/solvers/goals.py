"""What planners ask of sites, as public values: limits of sites, travel within reach, costs of opening; and plain solvers.

A goal is asked of expected demand at public points, which is released before: what it answers is post-processing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from spinney.constraints import Constraint, check, optional, real
from spinney.exceptions import ParameterError
from spinney.solvers.capacities import Limited, solve_limited
from spinney.solvers.medoids import solve_medoids, solve_service
from spinney.solvers.openings import growing, solve_openings
from spinney.solvers.service import SLACK, Service
from spinney.solvers.task import SiteChoice, SiteTask
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray, nearest_site

#: Seeded searches of the default, for one reach, and for one number of sites.
RESTARTS, FEWER = 8, 4
#: A radius is found up to this share.
CLOSE = 1e-4
#: A share is reached up to this one: weights are added up in another order.
ROUNDED = 1e-12

SHARE = real(lambda value: 0 < value < 1, "(0, 1)", "0.9 is nine rows of ten.")
POSITIVE = real(lambda value: 0 < value < math.inf, "(0, inf)", "in the units of distances.")


@dataclass(frozen=True)
class Goal(ABC):
    """A question about sites. Its values are public."""

    #: What releases call it, what it is in words, and whether the number of sites may, or must, be left to it.
    kind: ClassVar[str]
    title: ClassVar[str]
    may_count: ClassVar[bool] = False
    must_count: ClassVar[bool] = False

    @abstractmethod
    def _solve(self, task: SiteTask, rng: np.random.Generator) -> SiteChoice:
        """Return good sites for expected demand."""

    @abstractmethod
    def _value(self, task: SiteTask, chosen: SiteChoice) -> float:
        """Return what is to be small, of chosen sites, for expected demand."""


def per_point(value: Any, n_points: int) -> FloatArray:
    """Return a number for each point."""
    return np.broadcast_to(np.asarray(value, dtype=np.float64), (n_points,))


def _amounts(name: str, hint: str) -> dict[str, Constraint]:
    """Return the constraint of one number above zero, or of an array of them."""

    def holds(value: Any) -> bool:
        if type(value) is np.ndarray:
            is_plain = value.ndim == 1 and value.dtype.kind in "iuf"
            return bool(is_plain and np.isfinite(value).all() and (value > 0).all())
        return POSITIVE.holds(value)

    return {name: Constraint(holds, "a float in (0, inf), or an array of them, one for each point", hint)}


@dataclass(frozen=True)
class Travel(Goal):
    """Travel costs in sum, the default. If the number of sites is left to it, each must save a share of what the first leaves.

    Parameters
    ----------
    gain : float, default 0.05
        With ``n_clusters="auto"``: the least that each site saves, as a share of the travel costs of the existing sites, or else
        of the best single one.
    """

    gain: float = 0.05

    kind, title = "travel", "k-medoids"
    may_count = True

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), {"gain": SHARE})

    def _solve(self, task: SiteTask, rng: np.random.Generator) -> SiteChoice:
        if not task.is_counted:
            return SiteChoice(solve_medoids(task.space, task.demand, task.k, task.power, rng, existing=task.existing).points)
        service = task.service()
        one = task.existing if len(task.existing) else solve_service(service, 1, rng, 1, task.existing).points
        first = service.cost(one)
        opening = np.full(task.space.n_points, self.gain * first)
        return SiteChoice(solve_openings(service, opening, task.k, rng, task.existing).points)

    def _value(self, task: SiteTask, chosen: SiteChoice) -> float:
        return task.service().cost(np.concatenate([chosen.points, task.existing]))


@dataclass(frozen=True)
class OpeningCosts(Goal):
    """Travel costs and what sites cost to open, in sum: as many sites as are worth it (facility location).

    Parameters
    ----------
    cost : float, or array of shape (n_points,)
        What a site costs, in rows times units of distance (of squared ones if ``power=2``).
    """

    cost: Any

    kind, title = "opening-costs", "travel and opening costs"
    may_count = must_count = True

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), _amounts("cost", "500.0 is as much as 50 rows that travel 10 farther."))

    def _solve(self, task: SiteTask, rng: np.random.Generator) -> SiteChoice:
        opening = per_point(self.cost, task.space.n_points)
        return SiteChoice(solve_openings(task.service(), opening, task.k, rng, task.existing).points)

    def _value(self, task: SiteTask, chosen: SiteChoice) -> float:
        opening = float(per_point(self.cost, task.space.n_points)[chosen.points].sum())
        return opening + task.service().cost(np.concatenate([chosen.points, task.existing]))


@dataclass(frozen=True)
class Capacities(Goal):
    """Travel costs in sum, where no site serves more than a limit and each point goes wholly to one site.

    The sites' demand that is expected is held to the limits; noisy sizes are released beside them. Demand that no sites can take
    goes where it passes a limit least, and the release says so.

    Parameters
    ----------
    limit : float, or array of shape (n_points,)
        Rows that a site can serve, at each point; for existing sites too.
    """

    limit: Any

    kind, title = "capacities", "travel within limits of sites"

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), _amounts("limit", "2000 rows; math.inf is no limit, so leave the goal out."))

    def _limited(self, task: SiteTask) -> Limited:
        service, limits = task.service(), per_point(self.limit, task.space.n_points)
        return Limited(service, task.loads[service.demand], np.array(limits), task.existing)

    def _solve(self, task: SiteTask, rng: np.random.Generator) -> SiteChoice:
        problem = self._limited(task)
        found = solve_limited(problem, task.k, rng)
        costs = task.space.distances(np.concatenate([found.points, task.existing])) ** task.power
        labels = (costs + found.assignment.prices[:, None]).argmin(axis=0)  # where no demand is expected, prices decide
        labels[problem.service.demand] = found.assignment.labels
        return SiteChoice(found.points, labels)

    def _value(self, task: SiteTask, chosen: SiteChoice) -> float:
        sites = np.concatenate([chosen.points, task.existing])
        labels = self._limited(task).assigned(chosen.points).labels if chosen.labels is None else chosen.labels
        service = task.service()
        costs = service.from_points(sites)
        served = labels[service.demand] if len(labels) == task.space.n_points else labels
        return float(service.weights @ costs[served, np.arange(len(served))])


@dataclass(frozen=True)
class WithinReach(Goal):
    """As much demand as can be within reach of k sites; or the fewest sites that have a share of it within reach.

    Rows beyond reach are counted too, and served by nobody.

    Parameters
    ----------
    within : float
        How far a site reaches, in units of distance.
    share : float, optional
        With ``n_clusters="auto"``: the share of demand that is to be within reach.
    """

    within: float
    share: float | None = None

    kind, title = "reach", "demand within reach"

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), {"within": POSITIVE, "share": optional(SHARE)})

    @property
    def must_count(self) -> bool:  # type: ignore[override]
        """Whether the number of sites is what is asked."""
        return self.share is not None

    @property
    def may_count(self) -> bool:  # type: ignore[override]
        """Whether it can be found."""
        return self.share is not None

    def _solve(self, task: SiteTask, rng: np.random.Generator) -> SiteChoice:
        service = task.service(1).reaching(self.within)
        points = self._points(service, task, rng)
        labels = nearest_site(task.space, np.concatenate([points, task.existing]))
        labels[task.nearest(points) > self.within * (1 + SLACK)] = -1
        return SiteChoice(points, labels)

    def _points(self, service: Service, task: SiteTask, rng: np.random.Generator) -> IntArray:
        if self.share is None:
            return solve_service(service, task.k, rng, RESTARTS, task.existing).points
        most = (1 - self.share + ROUNDED) * float(service.weights.sum())
        found = next(
            (one for one in growing(service, task.k, rng, task.existing) if one.cost <= most),
            None,
        )
        if found is None:
            return solve_service(service, task.k, rng, RESTARTS, task.existing).points
        while len(found.points) > 1:
            fewer = solve_service(service, len(found.points) - 1, rng, RESTARTS, task.existing)
            if fewer.cost > most:
                break
            found = fewer
        return found.points

    def _value(self, task: SiteTask, chosen: SiteChoice) -> float:
        missed = float(task.demand @ (task.nearest(chosen.points) > self.within * (1 + SLACK)))
        return missed if self.share is None else float(len(chosen.points))


@dataclass(frozen=True)
class Farthest(Goal):
    """The distance within which all demand but a share has a site, as short as can be (p-center with outliers).

    Parameters
    ----------
    all_but : float, default 0.05
        The share of demand that may be farther away. Noise looks like demand far away, so it is not 0.
    """

    all_but: float = 0.05

    kind, title = "farthest", "the longest travel, but for a share"

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), {"all_but": SHARE})

    def _solve(self, task: SiteTask, rng: np.random.Generator) -> SiteChoice:
        service = task.service(1)
        service.tabulate()
        points = solve_service(service, task.k, rng, FEWER, task.existing).points
        low, high = 0.0, self._radius(service, np.concatenate([points, task.existing]))
        most = self.all_but * float(service.weights.sum()) * (1 + ROUNDED)
        while high - low > CLOSE * high:
            middle = (low + high) / 2
            found = solve_service(service.reaching(middle), task.k, rng, FEWER, task.existing)
            if found.cost <= most:
                points = found.points
                high = min(middle, self._radius(service, np.concatenate([points, task.existing])))
            else:
                low = middle
        return SiteChoice(points)

    def _radius(self, service: Service, sites: ArrayLike) -> float:
        """Return the distance within which all demand but the share has one of these sites."""
        if not len(service.demand):
            return 0.0
        nearest = service.from_nearest(sites)
        order = np.argsort(-nearest, kind="stable")
        missed = np.cumsum(service.weights[order]) <= self.all_but * float(service.weights.sum()) * (1 + ROUNDED)
        return float(nearest[order[min(int(missed.sum()), len(order) - 1)]])

    def _value(self, task: SiteTask, chosen: SiteChoice) -> float:
        return self._radius(task.service(1), np.concatenate([chosen.points, task.existing]))


#: All goals: rows are asked about what they make of public facts, so a caller's own is none.
GOALS: tuple[type[Goal], ...] = (Travel, Capacities, WithinReach, Farthest, OpeningCosts)


def solve_goal(goal: Goal, task: SiteTask, rng: np.random.Generator) -> SiteChoice:
    """Return good sites for expected demand."""
    return goal._solve(task, rng)


def value_of(goal: Goal, task: SiteTask, chosen: SiteChoice) -> float:
    """Return what a goal wants to be small, of chosen sites, for expected demand."""
    return goal._value(task, chosen)


def check_goal(goal: Goal, owner: str, n_points: int) -> None:
    """Raise a ParameterError unless arrays of a goal have a number for each point."""
    for name, value in vars(goal).items():
        if np.ndim(value) and len(value) != n_points:
            hint = "points that are no candidates need a number too."
            raise ParameterError.wrong(f"goal.{name}", owner, f"one number, or {n_points}, one for each point", value, hint)


def described(goal: Goal, sites: IntArray) -> dict[str, Any]:
    """Return what a release says of a goal: plain numbers, and of arrays those of its sites."""
    told = {name: value for name, value in vars(goal).items() if value is not None}
    found = {name: float(value) if np.ndim(value) == 0 else np.asarray(value)[sites].tolist() for name, value in told.items()}
    return {"kind": goal.kind, **found}
