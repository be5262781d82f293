"""Plain k-means and k-median of many small sets of weighted points at once: greedy seeding, a fixed number of steps.

Deterministic given the points, in their order, and public uniforms. Every set gives exactly k centers, an empty one too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray

#: Restarts of each set, attempts for each seeded center, and steps after the seeding: public, so no loop waits for the points.
RESTARTS, ATTEMPTS, STEPS = 2, 4, 12


@compiled
def _draw(shares, n, drawn):  # type: ignore[no-untyped-def]
    """Return the first point at which the sum of shares passes what was drawn, or the last that has a share."""
    total, found = 0.0, 0
    for i in range(n):
        if shares[0, i] > 0.0:
            found = i
            total += shares[0, i]
            if total > drawn:
                break
    return found


@compiled
def _seed(points, weights, first, n, power, uniforms, fillers, scratch, centers):  # type: ignore[no-untyped-def]
    """Write seeded centers. Rows of ``scratch`` are shares, distances so far, distances of an attempt, and of the best one.

    Where no point is left apart from the centers, those that are there are used again; fillers are for no points at all.
    """
    k, d = centers.shape
    found = 0
    for i in range(n):
        scratch[0, i], scratch[1, i] = weights[first + i], np.inf
    for j in range(k):
        total, best_cost, chosen = 0.0, np.inf, -1
        for i in range(n):
            total += scratch[0, i]
        if total > 0.0:
            for a in range(uniforms.shape[1] if j else 1):
                pick, cost = first + _draw(scratch, n, uniforms[j, a] * total), 0.0
                for i in range(n):
                    square = 0.0
                    for t in range(d):
                        gap = points[first + i, t] - points[pick, t]
                        square += gap * gap
                    scratch[2, i] = min(square, scratch[1, i])
                    cost += weights[first + i] * (scratch[2, i] if power == 2 else np.sqrt(scratch[2, i]))
                if cost < best_cost:
                    best_cost, chosen = cost, pick
                    for i in range(n):
                        scratch[3, i] = scratch[2, i]
        for t in range(d):
            if chosen >= 0:
                centers[j, t] = points[chosen, t]
            else:
                centers[j, t] = centers[j % found, t] if found else fillers[j, t]
        if chosen >= 0:
            found += 1
            for i in range(n):
                scratch[1, i] = scratch[3, i]
                scratch[0, i] = weights[first + i] * (scratch[1, i] if power == 2 else np.sqrt(scratch[1, i]))


@compiled
def _step(points, weights, first, n, power, floor, centers, sums):  # type: ignore[no-untyped-def]
    """Move the centers by a Lloyd or Weiszfeld step; return the cost before it. The last column of ``sums`` is the weight."""
    k, d = centers.shape
    cost = 0.0
    for j in range(k):
        for t in range(d + 1):
            sums[j, t] = 0.0
    for i in range(first, first + n):
        label, least = 0, np.inf
        for j in range(k):
            square = 0.0
            for t in range(d):
                gap = points[i, t] - centers[j, t]
                square += gap * gap
            if square < least:
                label, least = j, square
        weight = weights[i]
        if power == 2:
            cost += weight * least
        else:
            length = np.sqrt(least)
            cost += weight * length
            weight /= max(length, floor)
        for t in range(d):
            sums[label, t] += weight * points[i, t]
        sums[label, d] += weight
    for j in range(k):
        if sums[j, d] > 0.0:
            for t in range(d):
                centers[j, t] = sums[j, t] / sums[j, d]
    return cost


@compiled
def _cluster(points, weights, starts, power, floor, steps, uniforms, fillers, scratch, sums, trial, centers):  # type: ignore[no-untyped-def]
    """Write the centers of every set: the best of its restarts, by the cost before the last step."""
    k, d = trial.shape
    for b in range(starts.size - 1):
        first, n, best = starts[b], starts[b + 1] - starts[b], np.inf
        for r in range(uniforms.shape[0]):
            cost = 0.0
            _seed(points, weights, first, n, power, uniforms[r], fillers[b], scratch, trial)
            for _ in range(steps):
                cost = _step(points, weights, first, n, power, floor, trial, sums)
            if cost < best or r == 0:
                best = cost
                for j in range(k):
                    for t in range(d):
                        centers[b, j, t] = trial[j, t]


def cluster_blocks(
    points: FloatArray,
    weights: FloatArray,
    starts: NDArray[np.int64],
    power: int,
    floor: float,
    uniforms: FloatArray,
    fillers: FloatArray,
) -> FloatArray:
    """Return k centers of every set, as an array of shape (sets, k, d).

    Points, with positive weights, come set after set; ``starts`` says where each set starts, and where the last one ends. The
    power is 1 for k-median, 2 for k-means; in a step toward medians distances below ``floor`` count as it. ``uniforms`` are
    public, of shape (restarts, k, attempts). ``fillers``, of shape (sets, k, d), are public centers of sets without points; sets
    with fewer than k different points repeat them.
    """
    _, k, d = fillers.shape
    points, weights = np.ascontiguousarray(points, dtype=np.float64), np.ascontiguousarray(weights, dtype=np.float64)
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    scratch, centers = np.empty((4, max(int(np.diff(starts).max(initial=0)), 1))), np.empty(fillers.shape)
    sums, trial = np.empty((k, d + 1)), np.empty((k, d))
    _cluster(points, weights, starts, power, floor, STEPS, uniforms, fillers, scratch, sums, trial, centers)
    return centers
