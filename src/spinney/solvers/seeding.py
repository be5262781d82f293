"""First centers for k-medoids: k-median++ (D^power sampling; Arthur and Vassilvitskii 2007) on weighted demand."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from spinney.exceptions import ParameterError
from spinney.solvers.service import Service
from spinney.spaces.metric import IntArray


def seed_medoids(service: Service, k: int, rng: np.random.Generator, existing: ArrayLike = (), trials: int = 1) -> IntArray:
    """Draw k centers, each at a demand point drawn in proportion to its weight and cost so far; return them as drawn.

    A demand point that is no candidate sends its center to the nearest candidate. Where no demand is left that costs anything,
    centers are drawn evenly from the other candidates. Existing points have a center already. Of several trials the draw that
    lowers the cost most is kept; one is the published algorithm.
    """
    fixed = np.asarray(existing, dtype=np.int64)
    free = ~np.isin(service.candidates, fixed)
    check_room(int(free.sum()), k)
    closest = np.min(service.from_points(fixed), axis=0, initial=np.inf)
    chosen: list[int] = []
    while len(chosen) < k:
        shares = service.weights * np.where(np.isinf(closest), 1.0, closest)
        cumulative = np.cumsum(shares)
        if not len(cumulative) or not cumulative[-1] > 0:
            break
        picks = np.searchsorted(cumulative, rng.random(trials) * cumulative[-1], side="right")
        places = np.unique([_place(service, int(pick), free) for pick in np.minimum(picks, len(shares) - 1)])
        rows = np.minimum(service.from_candidates(places), closest)
        best = int((rows @ service.weights).argmin())
        chosen.append(int(places[best]))
        free[places[best]] = False
        closest = rows[best]
    return service.candidates[fill_up(np.array(chosen, dtype=np.int64), free, k, rng)]


def fill_up(places: IntArray, free: np.ndarray, k: int, rng: np.random.Generator) -> IntArray:
    """Return k places: the given ones, and further free ones drawn evenly."""
    others = rng.choice(np.flatnonzero(free), k - len(places), replace=False) if len(places) < k else places[:0]
    return np.concatenate([places, others])


def check_room(free: int, k: int) -> None:
    """Raise an error unless k centers find a free candidate each."""
    if not 1 <= k <= free:
        raise ParameterError.wrong(
            "n_clusters", "k-medoids", f"from 1 to {free}, the number of free candidates", k, "ask for fewer."
        )


def _place(service: Service, pick: int, free: np.ndarray) -> int:
    """Return the place of the free candidate nearest to a demand point: the point itself if it is one."""
    place = int(np.searchsorted(service.candidates, service.demand[pick]))
    if place < len(service.candidates) and service.candidates[place] == service.demand[pick] and free[place]:
        return place
    return int(np.where(free, service.rows(np.array([pick]))[0], np.inf).argmin())
