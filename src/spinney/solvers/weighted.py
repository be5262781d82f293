"""k-means and k-median of weighted points: seeding, Lloyd and Weiszfeld steps, restarts, exchanges.

Deterministic given the uniforms passed in. Weights are not negative; points of weight zero are ignored by the updates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney.compilation import compiled
from spinney.solvers.exchanges import Exchanges
from spinney.spaces.box import FloatArray
from spinney.spaces.nearest import BLOCK, as_slab, by_blocks, find_labels, nearest, scale_centers, squared_distances
from spinney.threads import each

#: Candidates tried for each seeded center; the one that lowers the cost most is kept.
TRIALS = 8
#: Exchanges of centers of the best restart: per center, at least, candidates drawn for each, and the
#: steps after it. The more centers there are, the more are in the wrong place after a restart.
EXCHANGES, LEAST_EXCHANGES, DRAWN, EXCHANGE_STEPS = 2, 32, 4, 3
#: An exchange is kept if the cost is below this part of the one before.
LOWER = 1 - 1e-6
#: Points times centers times columns up to which all restarts, trials and steps are made; beyond, fewer in proportion.
FULL_WORK = 2**28
#: Points times centers times columns from which on threads save more than they cost.
WORTH_THREADS = 2**17
#: Steps of the best restart in the end, and the least number of them.
STEPS, LEAST_STEPS = 100, 5


@dataclass(frozen=True, repr=False)
class Solution:
    """Centers and their cost on the points they were found on."""

    centers: FloatArray
    cost: float


@compiled
def _seed(columns, weights, power, uniforms, shares, closest, best, trials, costs, found, picks):  # type: ignore[no-untyped-def]
    """Write the indices of the points drawn as centers, one for each pick; it stays once no weighted point lies apart from them.

    ``shares`` (the weights at first), ``closest`` (infinite at first) and ``best``, one number a point, are scratch, and so are
    ``trials``, ``costs`` and ``found`` of four attempts: four sums are added up in the time that one would take, each in its own
    order.
    """
    d, n = columns.shape
    for j in range(picks.size):
        total = 0.0
        for i in range(n):
            total += shares[i]
            shares[i] = total  # cumulative from here on
        if not total > 0.0:
            continue
        attempts, best_cost = uniforms.shape[1] if j else 1, np.inf
        for start in range(0, attempts, 4):
            for a in range(min(4, attempts - start)):
                drawn = uniforms[j, start + a] * total
                low, high = 0, n - 1
                while low < high:  # the first point whose cumulative share exceeds what was drawn, or the last
                    middle = (low + high) >> 1
                    if shares[middle] <= drawn:
                        low = middle + 1
                    else:
                        high = middle
                found[a] = low
                for i in range(n):
                    gap = columns[0, i] - columns[0, low] if d % 2 else 0.0
                    trials[a, i] = gap * gap
                for t in range(d % 2, d, 2):  # two columns on one walk, added up one after the other
                    here, there = columns[t, low], columns[t + 1, low]
                    for i in range(n):
                        gap, other = columns[t, i] - here, columns[t + 1, i] - there
                        trials[a, i] = (trials[a, i] + gap * gap) + other * other
                for i in range(n):
                    trials[a, i] = min(trials[a, i], closest[i])
            c0 = c1 = c2 = c3 = 0.0
            if power == 2:
                for i in range(n):
                    weight = weights[i]
                    c0, c1 = c0 + weight * trials[0, i], c1 + weight * trials[1, i]
                    c2, c3 = c2 + weight * trials[2, i], c3 + weight * trials[3, i]
            else:
                for i in range(n):
                    weight = weights[i]
                    c0, c1 = c0 + weight * np.sqrt(trials[0, i]), c1 + weight * np.sqrt(trials[1, i])
                    c2, c3 = c2 + weight * np.sqrt(trials[2, i]), c3 + weight * np.sqrt(trials[3, i])
            costs[0], costs[1], costs[2], costs[3] = c0, c1, c2, c3
            for a in range(min(4, attempts - start)):
                if costs[a] < best_cost:
                    best_cost, picks[j] = costs[a], found[a]
                    for i in range(n):
                        best[i] = trials[a, i]
        for i in range(n):
            closest[i] = best[i]
            shares[i] = weights[i] * (closest[i] if power == 2 else np.sqrt(closest[i]))


def seed(points: FloatArray, weights: FloatArray, k: int, power: int, uniforms: FloatArray, fillers: FloatArray) -> FloatArray:
    """Draw k centers by greedy D^power seeding, one trial for each column of ``uniforms``, which have a row per center.

    Fillers, one per center, are used once no weighted point lies apart from the centers drawn so far.
    """
    columns, weights = np.ascontiguousarray(points.T, dtype=np.float64), np.ascontiguousarray(weights, dtype=np.float64)
    n, picks = len(points), np.full(k, -1, dtype=np.int64)
    uniforms = np.ascontiguousarray(uniforms)
    shares, closest, best = weights.copy(), np.full(n, np.inf), np.empty(n)
    trials, costs, found = np.empty((4, n)), np.empty(4), np.empty(4, dtype=np.int64)
    _seed(columns, weights, power, uniforms, shares, closest, best, trials, costs, found, picks)
    return np.where(picks[:, None] >= 0, columns.T[picks] if n else np.nan, fillers)


@compiled
def _move(points, squares, weights, centers, labels, power, floor, sums, mass, held, moved):  # type: ignore[no-untyped-def]
    """Write the centers after a Lloyd (power 2) or Weiszfeld (power 1) step; return the cost before it.

    ``labels`` tell the nearest centers, and ``squares`` how far they are; ``sums``, ``mass`` and ``held`` are zero at first. A
    Weiszfeld step that starts on a point would never leave it: points closer than `floor` hold their center back only by their
    weight against the pull of the others (Vardi and Zhang 2000).
    """
    (n, d), cost = points.shape, 0.0
    for i in range(n):
        j, weight, square = labels[i], weights[i], squares[i]
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
            sums[j, t] += weight * points[i, t]
    for j in range(centers.shape[0]):
        if mass[j] > 0.0:
            pull = 0.0
            for t in range(d):
                pull += (sums[j, t] - mass[j] * centers[j, t]) ** 2
            stay = min(1.0, held[j] / max(np.sqrt(pull), 1e-300))
            for t in range(d):
                moved[j, t] = (1.0 - stay) * sums[j, t] / mass[j] + stay * centers[j, t]
    return cost


class Descent:
    """Weighted points, row by row and as a slab, on which centers descend."""

    def __init__(self, points: FloatArray, weights: FloatArray, power: int, floor: float) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)
        self.slab, self.power, self.floor = as_slab(self.points), power, floor

    def step(self, centers: FloatArray) -> tuple[FloatArray, float]:
        """Take one step; return the new centers and the cost of the old ones."""
        k, n, scaled = len(centers), len(self.weights), scale_centers(centers)
        squares, labels = np.empty(n), np.empty(n, dtype=np.int32)

        def look(here: slice) -> None:
            part = self.slab[here.start // BLOCK : -(-here.stop // BLOCK)]
            labels[here] = find_labels(part, here.stop - here.start, scaled)
            squares[here] = squared_distances(part, centers, labels[here])

        by_blocks(look, n, centers.size)
        known = self.points, squares, self.weights, centers, labels, self.power, self.floor
        moved = centers.copy()
        return moved, _move(*known, np.zeros(centers.shape), np.zeros(k), np.zeros(k), moved)

    def descend(self, centers: FloatArray, steps: int, tolerance: float) -> Solution:
        """Run up to `steps` steps, until the cost falls by less than `tolerance` of itself."""
        centers, cost = np.array(centers, dtype=np.float64), np.inf
        for _ in range(steps):
            moved, new_cost = self.step(centers)
            if cost - new_cost <= tolerance * new_cost:
                return Solution(centers, new_cost)
            centers, cost = moved, new_cost
        return Solution(centers, self.step(centers)[1])


def improve(
    points: FloatArray, weights: FloatArray, centers: FloatArray, power: int, steps: int, tolerance: float, floor: float
) -> Solution:
    """Run up to `steps` steps, until the cost falls by less than `tolerance` of itself."""
    return Descent(points, weights, power, floor).descend(centers, steps, tolerance)


def solve(
    points: FloatArray,
    weights: FloatArray,
    k: int,
    power: int,
    rng: np.random.Generator,
    fillers: FloatArray,
    restarts: int = 4,
    starts: tuple[FloatArray, ...] = (),
) -> Solution:
    """Return the best of several restarts of seeding and descent, its centers then exchanged while that helps.

    The work is bounded: with very many centers there are fewer restarts, trials and steps, see `FULL_WORK`. The power is 1 for
    k-median and 2 for k-means; the generator is public. Fillers, k of them, stand in where the points offer fewer; ``starts`` are
    further starting centers. Columns in which all points are equal tell nothing and are left out: a tree cuts few of many.
    """
    share = min(1.0, FULL_WORK / max(points.size * k, 1))
    restarts, steps = max(1, int(share * restarts)), max(LEAST_STEPS, int(share * STEPS))
    draws = rng.random((restarts, k, max(1, int(share * TRIALS))))
    spreads = np.ptp(points, axis=0) if len(points) else np.ones(points.shape[1])
    apart = (spreads > 0) | np.array([(start != points[:1]).any(axis=0) for start in starts]).any(axis=0)
    apart |= not apart.any()
    known = Descent(points[:, apart], weights, power, max(1e-9 * float(spreads.max()), 1e-300))

    def begin(index: int) -> Solution:
        reach = power if index % 2 else 2  # far-reaching seeds find small clusters; both kinds are tried for k-median
        if index >= restarts:
            return known.descend(starts[index - restarts][:, apart], 3, 0.0)
        return known.descend(seed(known.points, known.weights, k, reach, draws[index], fillers[:, apart]), 3, 0.0)

    def finish(solution: Solution) -> Solution:
        return known.descend(solution.centers, steps, 1e-5)

    def completed(solution: Solution) -> Solution:
        centers, is_filler = np.array(fillers), (solution.centers == fillers[:, apart]).all(axis=1)
        centers[~is_filler] = points[:1]
        centers[:, apart] = solution.centers
        return Solution(centers, solution.cost)

    attempts = range(restarts + len(starts))
    begun = min((map if known.points.size * k < WORTH_THREADS else each)(begin, attempts), key=lambda s: s.cost)
    best = finish(begun)
    if not 1 < k < len(points) or not best.cost > 0:
        return completed(best)
    exchanges, found = Exchanges(known.points, known.weights, best.centers, power), best
    for uniforms in rng.random((int(share * max(EXCHANGES * k, LEAST_EXCHANGES)), DRAWN)):
        tried = known.descend(exchanges.exchanged(uniforms), EXCHANGE_STEPS, 0.0)
        if tried.cost < LOWER * found.cost:
            found = tried
            exchanges.settle(tried.centers)
    return completed(best if found is best else finish(found))


def total_cost(points: FloatArray, centers: FloatArray, power: int) -> float:
    """Return the sum of distances, or of squared distances, to the nearest centers."""
    squares = nearest(points, centers)[0]
    return float(np.sum(squares if power == 2 else np.sqrt(squares)))
