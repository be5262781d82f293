"""k centers that serve no more than their limits: swaps of centers, judged by whom they can serve (`spinney.solvers.assignment`).

The first search starts from the centers without limits, the others from the best ones so far, some of them drawn anew. Swaps are
ranked as if there were no limits, where a center costs what its limit is worth: its price in the last assignment, and a candidate
that of the center next to it. Those ranked first are tried, until one lowers the cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney.solvers.assignment import Assignment, assign
from spinney.solvers.medoids import solve_service
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.swaps import swap_changes
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray

#: Swaps that are tried in a row, or this part of all that a search may try. On Oldenburg (20,000 rows, 300 candidates, 3 demands)
#: 16 and 32 led to the same costs: 4.4, 0.5 and 4.0% below what swaps for the 32 candidates next to a center led to.
TRIED, PART = 16, 4
#: Demand points times candidates that swaps are ranked among: of more candidates, those next to the centers and drawn ones.
RANKED = 2**22
#: Costs of units of demand that all assignments together look at, about: some seconds; and the fewest assignments of a search.
MOST_LOOKED, LEAST_TRIED = 2**28, 64
#: Searches, more of them in small spaces, up to one for each of so many assignments; and those of the centers without limits.
SEARCHES, MORE, MOST_SEARCHES, RESTARTS = 12, 256, 64, 4
#: Draws for each center drawn anew; kicks of the last assignment, at most.
TRIALS, MOST_KICKS = 3, 2000
#: Costs of all demand are compared up to this share.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Served:
    """Centers, sorted points of the space, and who serves which demand: chosen ones first, then the fixed ones."""

    points: IntArray
    assignment: Assignment


@dataclass(frozen=True, eq=False)
class Limited:
    """Demand and limits: `loads` is what the demand fills, `limits` has one for each point of the space."""

    service: Service
    loads: FloatArray
    limits: FloatArray
    fixed: IntArray

    def assigned(self, points: IntArray, kicks: int = 0, rng: np.random.Generator | None = None) -> Assignment:
        """Return who serves which demand from these centers and the fixed ones; its cost is that of the service's weights."""
        sites = np.concatenate([points, self.fixed])
        own = np.searchsorted(self.service.candidates, points)
        costs = np.concatenate([self.service.from_candidates(own), self.service.from_points(self.fixed)])
        units = self.service.weights / np.maximum(self.loads, 1e-300)  # the cost of a point is by its weight, not by its load
        return assign(costs * units, self.loads, self.limits[sites], kicks, rng)


def solve_limited(problem: Limited, k: int, rng: np.random.Generator) -> Served:
    """Return good centers with limits, and whom each serves."""
    service, fixed = problem.service, problem.fixed
    service.tabulate()
    looked = 64 * len(service.demand) * (k + len(fixed))
    most = max(SEARCHES * LEAST_TRIED, MOST_LOOKED // max(1, looked))
    searches = min(max(SEARCHES, most // MORE), MOST_SEARCHES)
    tries = most // searches
    best = _search(problem, solve_service(service, k, rng, RESTARTS, fixed).points, rng, tries)
    for _ in range(searches - 1):
        kept = rng.choice(best.points, k - int(rng.integers(1, k // 2 + 2)), replace=False)
        start = np.concatenate([kept, seed_medoids(service, k - len(kept), rng, np.concatenate([fixed, kept]), TRIALS)])
        best = min(best, _search(problem, np.sort(start), rng, tries), key=lambda one: one.assignment.cost)
    last = problem.assigned(best.points, min(MOST_KICKS, most // SEARCHES), rng)
    return Served(best.points, last) if last.cost < best.assignment.cost else best


def _search(problem: Limited, points: IntArray, rng: np.random.Generator, tries: int) -> Served:
    """Swap centers until no swap of those ranked first is better, or all tries are used."""
    near = _near(problem, points, rng)
    best, has_improved, whole = problem.assigned(points), True, tries
    while has_improved and tries > 0:
        has_improved = False
        for x, y in _ranked(problem, near, points, best, max(TRIED, whole // PART))[:tries]:
            tries -= 1
            other = points.copy()
            other[x] = near.candidates[y]
            other.sort()
            found = problem.assigned(other)
            if found.cost < (1 - ROUNDING) * best.cost:
                points, best, has_improved = other, found, True
                break
    return Served(points, best)


def _near(problem: Limited, points: IntArray, rng: np.random.Generator) -> Service:
    """Return the demand with all candidates, or with those next to the centers and drawn ones, as many of each."""
    service, candidates = problem.service, problem.service.candidates
    each = max(2 * len(points), RANKED // 2 // max(1, len(service.demand)))
    if 2 * each < len(candidates):
        next_to = np.argpartition(service.space.distances_between(points, candidates), each // len(points), axis=1)
        some = candidates[next_to[:, : each // len(points)].ravel()]
        candidates = np.unique(np.concatenate([points, some, rng.choice(candidates, each, replace=False)]))
    found = service.among(candidates)
    found.tabulate()
    return found


def _ranked(problem: Limited, near: Service, points: IntArray, served: Assignment, most: int) -> IntArray:
    """Return the swaps that cost least at these prices, the least first: which center, and the place of the candidate."""
    own, sites = np.searchsorted(near.candidates, points), np.concatenate([points, problem.fixed])
    with np.errstate(all="ignore"):  # expected demand may be anything; what is not a number comes last
        per_cost = (problem.loads / near.weights)[:, None]  # prices are of a unit of load, costs of a unit of weight
        next_to = near.space.distances_between(sites, near.candidates).argmin(axis=0)
        costs = np.concatenate([near.from_candidates(own), near.from_points(problem.fixed)])
        costs += served.prices[:, None] * per_cost.T
        changes = swap_changes(near.dearer(served.prices[next_to] * per_cost), costs, len(points))
    changes[:, np.isin(near.candidates, sites)] = np.inf
    least = np.argpartition(changes, most, axis=None)[:most] if changes.size > most else np.arange(changes.size)
    order = least[np.argsort(changes.ravel()[least], kind="stable")]
    return np.array([divmod(int(at), changes.shape[1]) for at in order if changes.ravel()[at] < np.inf]).reshape(-1, 2)
