"""k-medoids of weighted demand in a finite metric: the best of several local searches.

Some searches start from k-median++; the others from the best centers so far, a few of them drawn anew. Of many candidates first a
sample is tried and then those next to the centers found; where the table of all costs would be too large, a sample of the demand
stands for all of it, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from spinney.solvers.seeding import check_room, seed_medoids
from spinney.solvers.service import TABLE_BYTES, Service
from spinney.solvers.swaps import Medoids, local_search
from spinney.spaces.metric import FiniteMetric, IntArray

#: Draws for each seeded center.
TRIALS = 3
#: One center in this many is drawn anew before a search that starts from the best centers.
KICK = 8
#: Demand points, and candidates, in the samples of a problem whose table does not fit.
SAMPLE = 4096
#: Candidates that are all tried by every search; of more, samples are.
MANY = 2**14
#: Costs that all searches together look at, about: minutes. Only with thousands of centers does this mean fewer searches.
MOST_COSTS = 2**38


def solve_medoids(
    space: FiniteMetric,
    weights: ArrayLike,
    k: int,
    power: int = 1,
    rng: np.random.Generator | None = None,
    restarts: int = 8,
    existing: ArrayLike = (),
) -> Medoids:
    """Return good centers: the best of `restarts` seeded searches, and of equally many that start near the best.

    Every point has a weight, its demand, that is not negative. The power is 1 for k-median and 2 for squared distances. Existing
    points, candidates or not, have a center already; they stay and are not counted in k. By default `rng` is seeded with 0.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    return solve_service(Service.of(space, weights, power), k, rng, restarts, np.asarray(existing, dtype=np.int64))


def solve_service(service: Service, k: int, rng: np.random.Generator, restarts: int, fixed: IntArray) -> Medoids:
    """Return good centers for this demand; the points that are fixed have one already."""
    check_room(int(np.count_nonzero(~np.isin(service.candidates, fixed))), k)
    fits = 4 * len(service.demand) * len(service.candidates) <= TABLE_BYTES
    if fits and len(service.candidates) <= MANY:
        return _search(service, k, rng, restarts, fixed)
    if fits:
        service.tabulate()
    return _search_samples(service, k, rng, restarts, fixed)


def _search(service: Service, k: int, rng: np.random.Generator, restarts: int, fixed: IntArray) -> Medoids:
    """Search from fresh seeds, and from the best centers with a few drawn anew."""
    service.tabulate()
    a_step = (len(service.demand) + k) * len(service.candidates)
    best = local_search(service, seed_medoids(service, k, rng, fixed, TRIALS), fixed, alpha=0.0)
    steps = best.swaps + 1
    for turn in range(1, 2 * restarts):
        if best.cost == 0 or steps * a_step > MOST_COSTS:
            break
        if turn < restarts:
            start = seed_medoids(service, k, rng, fixed, TRIALS)
        else:
            kept = rng.choice(best.points, k - max(1, k // KICK), replace=False)
            start = np.concatenate([kept, seed_medoids(service, k - len(kept), rng, np.concatenate([fixed, kept]), TRIALS)])
        found = local_search(service, start, fixed, alpha=0.0)
        steps += found.swaps + 1
        best = min(best, found, key=lambda one: one.cost)
    return best


def _search_samples(service: Service, k: int, rng: np.random.Generator, restarts: int, fixed: IntArray) -> Medoids:
    """Solve first among sampled candidates, then among those next to the centers found; without a table, for sampled demand."""
    space, candidates = service.space, service.candidates
    seeds = seed_medoids(service, k, rng, fixed)
    sample = service if "table" in vars(service) else _sample_demand(service, np.concatenate([seeds, fixed]), rng)
    size = max(SAMPLE, 4 * k)
    near = candidates[np.isin(candidates, sample.demand)]
    some = np.concatenate([seeds, rng.permutation(near)[: size // 2], rng.permutation(candidates)[: size // 2]])
    found = _search(sample.among(np.unique(some)), k, rng, restarts, fixed)
    apart = space.distances_between(found.points, candidates)
    next_to = np.argpartition(apart, min(size // k, len(candidates) - 1), axis=1)[:, : size // k]
    local = np.unique(np.concatenate([found.points, candidates[next_to.ravel()]]))
    better = local_search(sample.among(local), found.points, fixed, alpha=0.0)
    costs = [(service.cost(np.concatenate([points, fixed])), points) for points in (seeds, found.points, better.points)]
    cost, points = min(costs, key=lambda pair: pair[0])
    return Medoids(np.sort(points), cost, found.swaps + better.swaps)


def _sample_demand(service: Service, centers: IntArray, rng: np.random.Generator) -> Service:
    """Draw demand points, half by weight and half by cost from these centers, weighted so that costs are right on average."""
    closest = service.from_nearest(centers)
    shares = service.weights / service.weights.sum()
    if (total := float(service.weights @ closest)) > 0:
        shares = shares / 2 + service.weights * closest / total / 2
    draws = np.bincount(rng.choice(len(shares), SAMPLE, p=shares / shares.sum()), minlength=len(shares))
    kept = np.flatnonzero(draws)
    weights = draws[kept] * service.weights[kept] / (SAMPLE * shares[kept])
    return replace(service, demand=service.demand[kept], weights=weights)
