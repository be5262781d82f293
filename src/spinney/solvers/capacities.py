"""k centers that serve no more than their limits: swaps of centers, judged by whom they can serve (`spinney.solvers.assignment`).

Each search starts from the centers without limits, or from drawn ones, and swaps one center at a time for a candidate nearby, as
long as the cost falls. In small spaces every candidate is nearby.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney.solvers.assignment import Assignment, assign
from spinney.solvers.medoids import solve_service
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray

#: Candidates next to a center that it is swapped for.
NEAR = 32
#: Costs of units of demand that all assignments together look at, about: some seconds; and the fewest assignments of a search.
MOST_LOOKED, LEAST_TRIED = 2**28, 64
#: Searches, and those of the centers without limits that the first one starts from.
SEARCHES, RESTARTS = 6, 4
#: Kicks of the last assignment, at most.
MOST_KICKS = 2000
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
    left = max(SEARCHES * LEAST_TRIED, MOST_LOOKED // max(1, looked))
    best: Served | None = None
    for turn in range(SEARCHES):
        if turn == 0:
            start = solve_service(service, k, rng, RESTARTS, fixed).points
        elif turn % 2 and best is not None:
            kept = rng.choice(best.points, k - max(1, k // 4), replace=False)
            start = np.concatenate([kept, seed_medoids(service, k - len(kept), rng, np.concatenate([fixed, kept]))])
        else:
            start = seed_medoids(service, k, rng, fixed, 3)
        found = _search(problem, np.sort(start), rng, left // SEARCHES)
        if best is None or found.assignment.cost < best.assignment.cost:
            best = found
    assert best is not None
    kicks = min(MOST_KICKS, left // SEARCHES)
    last = problem.assigned(best.points, kicks, rng)
    return Served(best.points, last) if last.cost < best.assignment.cost else best


def _search(problem: Limited, start: IntArray, rng: np.random.Generator, tries: int) -> Served:
    """Swap centers for candidates nearby until no swap is better, or all tries are used."""
    points, best = start, problem.assigned(start)
    candidates, space = problem.service.candidates, problem.service.space
    has_improved = True
    while has_improved and tries > 0:
        has_improved = False
        for x in rng.permutation(len(points)):
            free = np.setdiff1d(candidates, np.concatenate([points, problem.fixed]))
            apart = space.distances_between([points[x]], free)[0]
            near = free[np.argsort(apart, kind="stable")[:NEAR]]
            for y in rng.permutation(near):
                if tries <= 0:
                    break
                tries -= 1
                other = points.copy()
                other[x] = y
                other.sort()
                found = problem.assigned(other)
                if found.cost < (1 - ROUNDING) * best.cost:
                    points, best, has_improved = other, found, True
                    break
    return Served(points, best)
