"""Local search by swaps (Arya et al. 2004): exchange a center for a candidate as long as the cost falls.

Letters: F the centers, y a candidate, x in F. With d1 and d2 the costs of the nearest and the second-nearest center of a demand
point and d the cost of y, putting y in place of x changes the cost by

    sum over all points of w (min(d, d1) - d1)  +  sum over the points of x of w (min(d, d2) - min(d, d1)).

The first sum does not depend on x and a point has one x, so one pass over the demand gives all k changes of y (as FastPAM1 of
Schubert and Rousseeuw 2021). Points are visited center by center, and the inner loop runs over candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.compilation import compiled
from spinney.exceptions import ParameterError
from spinney.solvers.service import Service, nearest_two
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import BLOCK_ENTRIES, IntArray
from spinney.threads import each

#: Candidates per tile: the running sums of a tile stay in the first-level cache.
TILE = 2048
#: Demand points added up in the table's own precision before they go into 64-bit sums.
FLUSH = 32
#: Costs that fall by less than this share have not fallen: rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Medoids:
    """Centers as sorted indices of points, without existing sites, and their cost with them."""

    points: IntArray
    cost: float
    swaps: int = 0


@compiled
def add_changes(table, members, bounds, weights, first, second, start, stop, gains, changes):  # type: ignore[no-untyped-def]
    """Add the two sums of the candidates from `start` to `stop` for the demand in these rows of the table, of any number type.

    ``members[bounds[x]:bounds[x + 1]]`` are the rows of center x; weights, first and second are in the order of `members`.
    """
    kind, count = table.dtype, stop - start
    all_sums, own_sums = np.zeros(count, dtype=kind), np.zeros(count, dtype=kind)
    part = np.empty(3, dtype=kind)
    for x in range(bounds.size - 1):
        for begin in range(bounds[x], bounds[x + 1], FLUSH):
            all_sums[:] = 0
            own_sums[:] = 0
            for m in range(begin, min(begin + FLUSH, bounds[x + 1])):
                part[0], part[1], part[2] = weights[m], first[m], second[m]
                weight, one, two = part[0], part[1], part[2]
                row = table[members[m], start:stop]
                for y in range(count):
                    near = min(row[y], one)
                    all_sums[y] += weight * (near - one)
                    own_sums[y] += weight * (min(row[y], two) - near)
            for y in range(count):
                gains[start + y] += all_sums[y]
                changes[x, start + y] += own_sums[y]


def swap_changes(service: Service, costs: FloatArray, removable: int) -> FloatArray:
    """Return by how much each swap changes the cost: one row per center that may go, one column per candidate.

    ``costs`` has a row per present center, with what it costs to serve each demand point; the `removable` ones come first.
    Threads share the tiles of candidates.
    """
    label, first, second = nearest_two(costs)
    members = np.argsort(label, kind="stable")
    bounds = np.searchsorted(label[members], np.arange(len(costs) + 1))
    largest = service.weights.max(initial=1e-300)  # taken out of the sums, which may be 32-bit
    weights, first, second = service.weights[members] / largest, first[members], second[members]
    n = len(service.candidates)
    gains, changes = np.zeros(n), np.zeros((len(costs), n))

    def add(table: NDArray[Any], rows: IntArray, limits: IntArray, part: slice) -> None:
        def tile(start: int) -> None:
            stop = min(start + TILE, n)
            add_changes(table, rows, limits, weights[part], first[part], second[part], start, stop, gains, changes)

        list(each(tile, range(0, n, TILE)))

    if service.table is not None:
        add(service.table, members, bounds, slice(None))
    else:
        step = max(1, BLOCK_ENTRIES // n)
        for start in range(0, len(members), step):
            here = slice(start, min(start + step, len(members)))
            limits = np.clip(bounds - start, 0, here.stop - start)
            add(service.rows(members[here]), np.arange(here.stop - start), limits, here)
    total: FloatArray = changes[:removable]
    total += gains
    total *= largest
    return total


def local_search(
    service: Service,
    start: ArrayLike,
    existing: ArrayLike = (),
    alpha: float = 1e-3,
    steps: int = 1000,
) -> Medoids:
    """Swap centers for candidates, always the swap that lowers the cost most, until none lowers it by alpha / k of itself.

    The search starts from k different candidates, as indices of points, and makes at most `steps` swaps. Existing points have a
    center already, which stays and is not counted in k. With alpha 0 it goes on as long as the cost falls at all.
    """
    places, fixed = places_of(service, start), np.asarray(existing, dtype=np.int64)
    k = len(places)
    costs = np.concatenate([service.from_candidates(places), service.from_points(fixed)])
    cost = float(service.weights @ costs.min(axis=0))
    swaps = 0
    taken = np.searchsorted(service.candidates, fixed[np.isin(fixed, service.candidates)])
    while swaps < steps and cost > 0:
        changes = swap_changes(service, costs, k)
        changes[:, places] = np.inf
        changes[:, taken] = np.inf
        x, y = np.unravel_index(int(changes.argmin()), changes.shape)
        if not changes[x, y] < 0 or not cost + changes[x, y] <= (1 - alpha / k) * cost:
            break
        was = costs[x].copy()
        costs[x] = service.from_candidates([y])[0]
        new_cost = float(service.weights @ costs.min(axis=0))
        if not new_cost < (1 - ROUNDING) * cost:
            costs[x] = was
            break
        cost, places[x] = new_cost, y
        swaps += 1
    points = np.sort(service.candidates[places])
    return Medoids(points, service.cost(np.concatenate([points, fixed])), swaps)


def places_of(service: Service, points: ArrayLike) -> IntArray:
    """Return the places of different points among the candidates."""
    chosen = np.asarray(points, dtype=np.int64)
    places = np.searchsorted(service.candidates, chosen)
    known = places < len(service.candidates)
    if not known.all() or (service.candidates[places] != chosen).any() or len(np.unique(chosen)) < len(chosen):
        raise ParameterError.wrong("start", "local search", "different candidates", points, "see space.candidates.")
    return places
