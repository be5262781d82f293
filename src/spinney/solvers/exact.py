"""The best sites there are, in small spaces, by integer programming (HiGHS through scipy): what heuristics are compared with.

x has a part of each demand at each candidate, y says which candidates are opened. Existing sites are candidates that are open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.solvers.goals import Capacities, Farthest, Goal, OpeningCosts, Travel, WithinReach, per_point
from spinney.solvers.service import SLACK
from spinney.solvers.task import SiteTask
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray

#: Demand points times candidates of an exact program, at most.
MOST_ENTRIES = 2**17
#: A program is solved up to this share of its cost.
GAP = 1e-6


@dataclass(frozen=True)
class Optimum:
    """The best sites, what the goal is worth there, and a bound on what any others can be worth."""

    points: IntArray
    value: float
    bound: float


def solve_exactly(goal: Goal, task: SiteTask, seconds: float = 60.0) -> Optimum:
    """Return the best sites of a small task; after so many seconds the best found so far, whose bound may be lower.

    Parameters
    ----------
    goal : Goal
    task : SiteTask
        Of public demand, or of what a release tells: its summary.
    seconds : float, default 60.0
    """
    sites = np.union1d(task.space.candidates, task.existing)
    demand = np.flatnonzero(task.demand)
    if len(sites) * len(demand) > MOST_ENTRIES:
        words = f"{len(demand)} demand points and {len(sites)} candidates are too many for an exact program."
        raise ParameterError(words, f"their product may be at most {MOST_ENTRIES}: take fewer candidates.")
    apart = task.space.distances_between(sites, demand)
    if isinstance(goal, Travel | OpeningCosts | Capacities):
        return _costs(goal, task, (sites, demand), apart**task.power, seconds)
    if isinstance(goal, WithinReach):
        return _covering(goal, task, (sites, demand), apart, seconds)
    assert isinstance(goal, Farthest)
    radii = np.unique(apart)
    low, high, best = 0, len(radii) - 1, None
    most = goal.all_but * float(task.demand.sum()) * (1 + 1e-12)
    while low < high or best is None:
        middle = (low + high) // 2
        found = _covering(WithinReach(max(float(radii[middle]), 1e-300)), task, (sites, demand), apart, seconds)
        if found.value <= most:
            high, best = middle, found
        elif low == high:
            break
        else:
            low = middle + 1
    assert best is not None
    return Optimum(best.points, float(radii[high]), float(radii[high]))


def _open(task: SiteTask, sites: IntArray) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    """Return which sites exist, and the lower and upper bounds of what is open."""
    exists = np.isin(sites, task.existing)
    return exists, exists.astype(np.float64), np.ones(len(sites))


def _costs(goal: Goal, task: SiteTask, where: tuple[IntArray, IntArray], costs: FloatArray, seconds: float) -> Optimum:
    """Solve for sums of costs: of travel, of opening, within limits."""
    import scipy.sparse as sp  # type: ignore[import-untyped]

    (sites, demand), n_points = where, task.space.n_points
    m, n = costs.shape
    exists, lower, upper = _open(task, sites)
    opening = per_point(goal.cost, n_points)[sites] * ~exists if isinstance(goal, OpeningCosts) else np.zeros(m)
    objective = np.concatenate([opening, (costs * task.demand[demand]).ravel()])
    served = sp.hstack([sp.csr_array((n, m)), sp.hstack([sp.eye_array(n)] * m)])
    from_open = sp.hstack([-sp.kron(sp.eye_array(m), np.ones((n, 1))), sp.eye_array(m * n)])
    rows: list[tuple[object, object, object]] = [(served, 1.0, 1.0), (from_open, -np.inf, 0.0)]
    if isinstance(goal, Capacities):
        loads = sp.kron(sp.eye_array(m), task.loads[demand][None, :])
        limits = per_point(goal.limit, n_points)[sites]
        rows.append((sp.hstack([-sp.diags_array(limits), loads]), -np.inf, 0.0))
    if not isinstance(goal, OpeningCosts):
        count = np.concatenate([~exists, np.zeros(m * n)])[None, :]
        rows.append((sp.csr_array(count), float(task.k), float(task.k)))
    whole = np.concatenate([np.ones(m), np.full(m * n, float(isinstance(goal, Capacities)))])
    bounds = np.concatenate([lower, np.zeros(m * n)]), np.concatenate([upper, np.ones(m * n)])
    found, value, bound = _solved(objective, rows, whole, bounds, seconds)
    return Optimum(sites[(found[:m] > 0.5) & ~exists], value, bound)


def _covering(goal: WithinReach, task: SiteTask, where: tuple[IntArray, IntArray], apart: FloatArray, seconds: float) -> Optimum:
    """Solve for the least demand beyond reach, or for the fewest sites that leave little of it there."""
    import scipy.sparse as sp

    sites, demand = where
    m, n = apart.shape
    exists, lower, upper = _open(task, sites)
    weights = task.demand[demand]
    reaches = (apart <= goal.within * (1 + SLACK)).T.astype(np.float64)
    near = sp.hstack([sp.csr_array(reaches), sp.eye_array(n)])  # open sites within reach, or missed
    rows: list[tuple[object, object, object]] = [(near, 1.0, np.inf)]
    chosen, missed = np.concatenate([~exists, np.zeros(n)]), np.concatenate([np.zeros(m), weights])
    if goal.share is None:
        objective, total = missed, float(task.k)
        rows.append((sp.csr_array(chosen[None, :]), total, total))
    else:
        objective = chosen.astype(np.float64)
        rows.append((sp.csr_array(missed[None, :]), -np.inf, (1 - goal.share) * float(weights.sum()) * (1 + 1e-9)))
    bounds = np.concatenate([lower, np.zeros(n)]), np.concatenate([upper, np.ones(n)])
    found, value, bound = _solved(objective, rows, np.concatenate([np.ones(m), np.zeros(n)]), bounds, seconds)
    return Optimum(sites[(found[:m] > 0.5) & ~exists], value, bound)


def _solved(
    objective: FloatArray,
    rows: list[tuple[object, object, object]],
    whole: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    seconds: float,
) -> tuple[FloatArray, float, float]:
    """Return the solution of a program with whole variables, its value, and the bound that was proved."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

    options = {"time_limit": float(seconds), "mip_rel_gap": GAP}
    constraints = [LinearConstraint(*row) for row in rows]
    found = milp(objective, integrality=whole, bounds=Bounds(*bounds), constraints=constraints, options=options)
    if found.x is None:
        raise ParameterError("No sites can do this, or none were found in time.", "loosen limits, or give more seconds.")
    return found.x, float(found.fun), float(found.mip_dual_bound if found.mip_dual_bound is not None else found.fun)
