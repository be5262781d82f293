"""How many centers, and which, if each costs something to open: local search that opens, closes and swaps (Arya et al. 2004).

And the gain of each further center: a curve over their number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service, nearest_two
from spinney.solvers.swaps import Medoids, local_search, places_of, swap_changes
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray

#: Searches, draws for each drawn center, and at most so many changes in one search.
SEARCHES, TRIALS, STEPS = 12, 16, 1000
#: Costs that fall by less than this share have not fallen: rounding.
ROUNDING = 1e-12


def growing(service: Service, most: int, rng: np.random.Generator, fixed: IntArray) -> Iterator[Medoids]:
    """Yield good centers, one more each time: the ones before and the best of some draws, swapped as long as that is better."""
    points = np.empty(0, dtype=np.int64)
    for _ in range(most):
        more = seed_medoids(service, 1, rng, np.concatenate([fixed, points]), TRIALS)
        found = local_search(service, np.concatenate([points, more]), fixed, alpha=0.0)
        points = found.points
        yield found


def solve_openings(service: Service, opening: FloatArray, most: int, rng: np.random.Generator, fixed: IntArray) -> Medoids:
    """Return centers, from one to `most`, that are cheap together with what each costs to open, one cost per point of the space.

    Their cost is with that of opening them.
    """
    service.tabulate()
    own = opening[service.candidates]
    best = _search(service, own, seed_medoids(service, 1, rng, fixed, TRIALS), most, fixed)
    for _ in range(SEARCHES - 1):
        kept = best.points[rng.random(len(best.points)) < 0.5]
        more = max(1, min(int(rng.integers(len(best.points) + 1)), most - len(kept)))
        kept = kept[: most - more]
        start = np.concatenate([kept, seed_medoids(service, more, rng, np.concatenate([fixed, kept]), TRIALS)])
        best = min(best, _search(service, own, start, most, fixed), key=lambda one: one.cost)
    return best


def _search(service: Service, opening: FloatArray, start: IntArray, most: int, fixed: IntArray) -> Medoids:
    """Open, close or swap a center, whatever lowers the cost most, until nothing does."""
    places = places_of(service, start)
    taken = np.searchsorted(service.candidates, fixed[np.isin(fixed, service.candidates)])
    n, standing = len(service.candidates), service.from_points(fixed)
    cost, step = _cost(service, opening, places, standing), 0
    while step < STEPS:
        step += 1
        present = np.concatenate([service.from_candidates(places), standing])
        nobody = np.full((1, present.shape[1]), np.inf)  # to put a center in nobody's place is to open it
        changes = swap_changes(service, np.concatenate([nobody, present]), 1 + len(places)) + opening
        changes[1:] -= opening[places][:, None]
        changes[:, np.concatenate([places, taken])] = np.inf
        if len(places) >= most:
            changes[0] = np.inf
        label, first, second = nearest_two(present)
        if len(present) > 1 and len(places) > 1:
            lost = np.bincount(label, service.weights * (second - first), len(present))[: len(places)] - opening[places]
        else:
            lost = np.full(len(places), np.inf)
        if lost.min() < changes.min():
            tried = np.delete(places, int(lost.argmin()))
        else:
            x, y = divmod(int(changes.argmin()), n)
            tried = np.append(np.delete(places, x - 1) if x else places, y)
        found = _cost(service, opening, tried, standing)
        if not found < (1 - ROUNDING) * cost:
            break
        places, cost = tried, found
    return Medoids(np.sort(service.candidates[places]), cost)


def _cost(service: Service, opening: FloatArray, places: IntArray, standing: FloatArray) -> float:
    nearest = np.concatenate([service.from_candidates(places), standing]).min(axis=0)
    return float(service.weights @ nearest + opening[places].sum())
