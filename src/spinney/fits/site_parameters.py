"""Checks of parameters of fits of sites, all before any row is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.problem import SiteProblem
from spinney.algorithms.registry import choose
from spinney.algorithms.travel import WithTravel
from spinney.constraints import Constraint, boolean, check, is_real, real
from spinney.exceptions import ParameterError
from spinney.fits.fit import Fit
from spinney.fits.parameters import AUTO, MOST_FOUND, cap_of, check_count, check_promise
from spinney.solvers.goals import GOALS, Goal, Travel, check_goal
from spinney.spaces.distances import places_of
from spinney.spaces.metric import FiniteMetric, Source
from spinney.tables.positions import Weights

#: How often a row may count at most, by its weight.
MOST_TIMES = 10**6
GOAL = Constraint(
    lambda value: value is None or type(value) in GOALS,
    "a goal",
    "leave it out for little travel in sum; others are goal=Capacities(limit=2000) and goal=WithinReach(within=10.0).",
)
SITES = {
    "power": Constraint(
        lambda value: not isinstance(value, bool) and isinstance(value, int | float) and value in (1, 2), "1 or 2",
        "1 sums distances, 2 squared distances.",
    ),
    "travel": boolean("True asks for the mean travel to each site, too, for a tenth of epsilon."),
    # The space is asked about the rows' points, so it is no class of the caller's.
    "space": Constraint(
        lambda value: type(value) is FiniteMetric and type(value.source) in get_args(Source), "a FiniteMetric",
        "space=FiniteMetric.from_graph(edges), .from_points(points), .from_matrix(distances) or .from_costs(costs).",
    ),
}  # fmt: skip


def _existing(sites: Any, space: FiniteMetric, owner: str) -> NDArray[np.int64]:
    """Return the existing sites as different indices of points."""
    sites = places_of(sites, space.names, "existing_sites", owner)
    try:
        places = np.asarray(sites)
    except Exception:  # whatever a table in its place raises
        places = np.empty(())
    if places.ndim == 1 and places.size == 0:
        return np.empty(0, dtype=np.int64)
    known = places.ndim == 1 and places.dtype.kind in "iu" and places.min() >= 0 and places.max() < space.n_points
    if not known or len(np.unique(places)) < len(places):
        raise ParameterError.wrong(
            "existing_sites", owner, f"different indices of points, from 0 to {space.n_points - 1}", sites,
            "leave it out if there are none.",
        )  # fmt: skip
    return places.astype(np.int64)


def check_row_weights(typed: Mapping[str, Any], owner: str) -> Weights | None:
    """Return how rows count by their weights, if there are some."""
    largest, step = typed.get("max_row_weight"), typed.get("row_weight_step", 1.0)
    check(
        owner,
        {"row_weight_step": step},
        {"row_weight_step": real(lambda value: 0 < value < math.inf, "(0, inf)", "1.0 is common.")},
    )
    if largest is None:
        return None
    hint = "a public weight that none passes; noise is in proportion to max_row_weight / row_weight_step."
    lawful = real(lambda value: step <= value <= MOST_TIMES * step, f"[row_weight_step, {MOST_TIMES} of it]", hint)
    check(owner, {"max_row_weight": largest}, {"max_row_weight": lawful})
    return Weights(float(largest), float(step))


def check_sites(typed: Mapping[str, Any], owner: str, has_groups: bool) -> Fit:
    """Return a fit of sites from what was typed, or raise a ParameterError that says what to type.

    A row of weight w counts as w / row_weight_step rows, and the unit holds all of them.
    """
    absent = dict.fromkeys(("random_state", "noise_seed", "goal", "weights", "max_clusters"))
    typed = {**absent, "travel": False, **typed}
    check_count(typed, owner)
    limit = real(lambda value: 0 <= value < math.inf, "None, or in [0, inf)", "meters, if coordinates are degrees.")
    if typed.get("snap_limit") is not None:
        check(owner, typed, {"snap_limit": limit})
    weights = check_row_weights(typed, owner)
    if weights is not None:
        check(owner, typed, {"max_rows_per_group": cap_of(has_groups)})
        typed |= {"max_rows_per_group": weights.most * int(typed["max_rows_per_group"] or 1)}
    budget, unit = check_promise(typed, owner, has_groups or weights is not None, "sites")
    check(owner, typed, {**SITES, "goal": GOAL})
    space = typed["space"]
    existing = _existing(typed["existing_sites"], space, owner)
    free = int(np.count_nonzero(~np.isin(space.candidates, existing)))
    is_counted = isinstance(typed["n_clusters"], str)
    k = min(int(typed["max_clusters"] or MOST_FOUND), max(free, 1)) if is_counted else int(typed["n_clusters"])
    fewer = Constraint(lambda count: count <= free, f"at most {free}, the number of free candidates", "ask for fewer.")
    check(owner, {"n_clusters": k}, {"n_clusters": fewer})
    goal = Travel() if typed["goal"] is None else typed["goal"]
    _check_number_of_sites(goal, typed["n_clusters"], space.n_points, owner)
    problem = SiteProblem(
        k=k, power=int(typed["power"]), space=space, existing=existing, budget=budget, unit=unit, goal=goal,
        is_counted=is_counted, weights=_point_weights(typed["weights"], space.n_points, owner),
        row_times=None if weights is None else weights.most,
    )  # fmt: skip
    algorithm = choose(typed["algorithm"], "sites")
    if not (problem.is_plain or getattr(algorithm, "has_goals", False)):
        hint = "algorithm='cells', the default, has a summary that every question about sites is solved on."
        raise ParameterError.wrong("algorithm", owner, "'cells' with a goal, weights, or k to be found", typed["algorithm"], hint)
    if typed["travel"]:
        if algorithm.plan is not None:
            hint = "travel=False: what this algorithm charges is its own, and leaves nothing for another question."
            raise ParameterError.wrong("algorithm", owner, "one whose parts are its plan, with travel=True", algorithm.name, hint)
        algorithm = WithTravel(algorithm)
    return Fit(problem, algorithm, has_groups, typed["random_state"], typed["noise_seed"])


def _check_number_of_sites(goal: Goal, k: Any, n_points: int, owner: str) -> None:
    """Raise unless a goal fits the space, and whether the number of sites is to be found."""
    is_counted = isinstance(k, str)
    check_goal(goal, owner, n_points)
    if is_counted and not goal.may_count:
        hint = "n_clusters=8: how many sites there are to be is given."
        raise ParameterError.wrong("n_clusters", owner, f"an int with the goal {goal.kind!r}", AUTO, hint)
    if goal.must_count and not is_counted:
        hint = "n_clusters='auto': this goal finds how many sites."
        raise ParameterError.wrong("n_clusters", owner, f"{AUTO!r} with the goal {goal.kind!r}", k, hint)


def _point_weights(weights: Any, n_points: int, owner: str) -> NDArray[np.float64] | None:
    """Return how much a row at each point counts, if it is said."""
    if weights is None:
        return None
    plain = type(weights) in (np.ndarray, list, tuple)
    values = np.asarray(weights) if plain and all(map(is_real, weights)) else np.empty(0)
    fits = values.shape == (n_points,) and bool(np.isfinite(values).all() and (values > 0).all())
    if not fits:
        hint = "a weight for each point of the space, such as that of its district; they are public."
        raise ParameterError.wrong("weights", owner, f"{n_points} numbers above 0, one for each point", weights, hint)
    return values.astype(np.float64)
