"""k-means and k-median of weighted points: seeding, Lloyd and Weiszfeld steps, restarts.

Deterministic given the uniforms passed in. Weights are not negative; points of weight zero are ignored by the updates.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import njit

from spinney.solvers.nearest import BLOCK, lens, load_block, nearest, nearest_block, scratch, squared_distance
from spinney.spaces.box import FloatArray

__all__ = ["Solution", "improve", "seed", "solve", "total_cost"]

#: Candidates tried for each seeded center; the one that lowers the cost most is kept.
TRIALS = 8
#: Restarts that are carried to convergence after a few steps of all of them.
FINALISTS = 4
#: Points times centers times columns up to which all restarts, trials and steps are made; beyond, fewer in proportion.
FULL_WORK = 2**28
#: A restart takes at least so many steps in the end.
LEAST_STEPS = 5


@dataclass(frozen=True)
class Solution:
    """Centers and their cost on the points they were found on."""

    centers: FloatArray
    cost: float


@njit(cache=True, nogil=True)
def seed(points, weights, k, power, uniforms, fillers):  # type: ignore[no-untyped-def]
    """Draw k centers by greedy D^power seeding.

    Parameters
    ----------
    points : array of shape (n, d)
    weights : array of shape (n,)
    k, power : int
    uniforms : array of shape (k, trials)
    fillers : array of shape (k, d)
        Centers used once no weighted point lies apart from the centers drawn so far.
    """
    n, d = points.shape
    columns = np.ascontiguousarray(points.T)
    centers = np.empty((k, d))
    shares = weights.copy()
    closest = np.full(n, np.inf)
    trial, best = np.empty(n), np.empty(n)
    for j in range(k):
        cumulative = np.cumsum(shares)
        total = cumulative[-1] if n else 0.0
        if not total > 0.0:
            centers[j] = fillers[j]
            continue
        best_cost = np.inf
        for attempt in range(uniforms.shape[1] if j else 1):
            pick = min(np.searchsorted(cumulative, uniforms[j, attempt] * total, side="right"), n - 1)
            trial[:] = 0.0
            for t in range(d):
                coordinate = points[pick, t]
                for i in range(n):
                    gap = columns[t, i] - coordinate
                    trial[i] += gap * gap
            cost = 0.0
            for i in range(n):
                trial[i] = min(trial[i], closest[i])
                cost += weights[i] * (trial[i] if power == 2 else np.sqrt(trial[i]))
            if cost < best_cost:
                best_cost = cost
                best[:] = trial
                centers[j] = points[pick]
        closest[:] = best
        for i in range(n):
            shares[i] = weights[i] * (closest[i] if power == 2 else np.sqrt(closest[i]))
    return centers


@njit(cache=True, nogil=True)
def _step(points, weights, centers, glass, power, floor):  # type: ignore[no-untyped-def]
    """One Lloyd (power 2) or Weiszfeld (power 1) step; return the new centers and the cost of the old ones.

    A Weiszfeld step that starts on a point would never leave it: points closer than `floor` hold their center back only by
    their weight against the pull of the others (Vardi and Zhang 2000).
    """
    n, d = points.shape
    k = centers.shape[0]
    sums, mass, held = np.zeros((k, d)), np.zeros(k), np.zeros(k)
    block = np.empty((d, BLOCK))
    view, labels, best, work = scratch(glass)
    cost = 0.0
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        load_block(points, start, count, block)
        nearest_block(block, count, glass, view, labels, best, work)
        for i in range(count):
            j = labels[i]
            weight = weights[start + i]
            square = squared_distance(block, i, centers, j)
            if power == 1:
                length = np.sqrt(square)
                cost += weight * length
                if length <= floor:
                    held[j] += weight
                    continue
                weight = weight / length
            else:
                cost += weight * square
            mass[j] += weight
            for t in range(d):
                sums[j, t] += weight * block[t, i]
    moved = centers.copy()
    for j in range(k):
        if mass[j] > 0.0:
            pull = 0.0
            for t in range(d):
                pull += (sums[j, t] - mass[j] * centers[j, t]) ** 2
            stay = min(1.0, held[j] / max(np.sqrt(pull), 1e-300))
            for t in range(d):
                moved[j, t] = (1.0 - stay) * sums[j, t] / mass[j] + stay * centers[j, t]
    return moved, cost


def improve(
    points: FloatArray, weights: FloatArray, centers: FloatArray, power: int, steps: int, tolerance: float, floor: float
) -> Solution:
    """Run up to `steps` steps, until the cost falls by less than `tolerance` of itself."""
    cost = np.inf
    for _ in range(steps):
        moved, new_cost = _step(points, weights, centers, lens(centers), power, floor)
        if cost - new_cost <= tolerance * new_cost:
            return Solution(centers, new_cost)
        centers, cost = moved, new_cost
    return Solution(centers, _step(points, weights, centers, lens(centers), power, floor)[1])


def solve(
    points: FloatArray,
    weights: FloatArray,
    k: int,
    power: int,
    rng: np.random.Generator,
    fillers: FloatArray,
    restarts: int = 16,
    starts: tuple[FloatArray, ...] = (),
    steps: int = 100,
) -> Solution:
    """Return the best of several restarts of seeding and descent.

    The work is bounded: with very many centers there are fewer restarts, trials and steps, see `FULL_WORK`.

    Parameters
    ----------
    points, weights : arrays of shape (n, d) and (n,)
    k : int
    power : {1, 2}
        1 for k-median, 2 for k-means.
    rng : numpy.random.Generator
        Public randomness.
    fillers : array of shape (k, d)
        Centers to use where the points offer fewer than k.
    restarts : int
    starts : tuple of arrays of shape (k, d)
        Further starting centers.
    steps : int
        At most this many steps a restart.
    """
    points, weights = np.ascontiguousarray(points, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    share = min(1.0, FULL_WORK / max(points.size * k, 1))
    restarts, steps = max(1, int(share * restarts)), min(steps, max(LEAST_STEPS, int(share * steps)))
    draws = rng.random((restarts, k, max(1, int(share * TRIALS))))
    spread = float(np.ptp(points, axis=0).max()) if len(points) else 1.0
    floor = max(1e-9 * spread, 1e-300)

    def begin(index: int) -> Solution:
        reach = power if index % 2 else 2  # far-reaching seeds find small clusters; both kinds are tried for k-median
        first = seed(points, weights, k, reach, draws[index], fillers) if index < restarts else starts[index - restarts]
        return improve(points, weights, first, power, 3, 0.0, floor)

    def finish(solution: Solution) -> Solution:
        return improve(points, weights, solution.centers, power, steps, 1e-5, floor)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        begun = sorted(pool.map(begin, range(restarts + len(starts))), key=lambda s: s.cost)
        return min(pool.map(finish, begun[: FINALISTS if share == 1 else min(FINALISTS, restarts)]), key=lambda s: s.cost)


def total_cost(points: FloatArray, centers: FloatArray, power: int) -> float:
    """Return the sum of distances, or of squared distances, to the nearest centers."""
    squares = nearest(points, centers)[0]
    return float(np.sum(squares if power == 2 else np.sqrt(squares)))
