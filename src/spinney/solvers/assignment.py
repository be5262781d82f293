"""Which center serves which demand, if each center serves no more than its limit and no demand is split.

Letters: w the demand of a point, c what a unit of it costs from a center, L the limits.

1. Prices of centers: each point goes to the center with the lowest sum of cost and price. Prices of full centers rise until the
   demand fits, nearly (subgradients of the Lagrangian dual; Fisher 1981). The highest dual value is a bound on every solution.
2. Moves of one point, and exchanges of two, as long as they lower the cost, where each unit of demand above a limit costs more
   than any two distances. So what does not fit is as little as the moves find, and no limit makes this fail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray

#: A unit of demand above a limit costs this many times the largest cost of a unit.
PENALTY = 1000.0
#: Costs that fall by less than this share of a unit's largest one have not fallen.
ROUNDING = 1e-9
#: Rounds of prices, and passes over the demand.
ROUNDS, PASSES = 60, 50
#: Exchanges are tried among so many points; of more, each is so small that moves do.
PARTNERS = 512
#: Points that a kick sends anywhere.
KICKED = 4


@dataclass(frozen=True)
class Assignment:
    """The center of each demand point, what it costs with the penalty, by how much limits are passed, a bound, and prices."""

    labels: IntArray
    cost: float
    overload: float
    bound: float
    prices: FloatArray


@compiled
def _price(costs, weights, limits, rounds, step, prices, load, best, labels):  # type: ignore[no-untyped-def]
    """Raise and lower prices; return the highest dual value, whose prices are `best` and whose labels are `labels`."""
    k, n = costs.shape
    highest = -np.inf
    for turn in range(rounds + 1):
        if turn == rounds:
            for j in range(k):
                prices[j] = best[j]
        for j in range(k):
            load[j] = 0.0
        value = 0.0
        for i in range(n):
            least, at = costs[0, i] + prices[0], 0
            for j in range(1, k):
                if costs[j, i] + prices[j] < least:
                    least, at = costs[j, i] + prices[j], j
            labels[i] = at
            load[at] += weights[i]
            value += weights[i] * least
        for j in range(k):
            value -= prices[j] * limits[j]
        if value > highest:
            highest = value
            for j in range(k):
                best[j] = prices[j]
        for j in range(k):
            change = step / (1.0 + turn / 8.0) * (load[j] - limits[j]) / max(limits[j], 1e-300)
            prices[j] = max(0.0, prices[j] + max(-step, min(step, change)))
    return highest


@compiled
def _improve(costs, weights, limits, penalty, least, passes, partners, load, labels):  # type: ignore[no-untyped-def]
    """Move demand, and exchange it with the first `partners`, as long as the cost falls, at most so many times over all of it."""
    k, n = costs.shape
    for _ in range(passes):
        has_moved = False
        for i in range(n):
            a, w = labels[i], weights[i]
            off = max(0.0, load[a] - limits[a]) - max(0.0, load[a] - w - limits[a])
            lowest, at = -least * w, a
            for b in range(k):
                change = w * (costs[b, i] - costs[a, i]) - penalty * off
                change += penalty * (max(0.0, load[b] + w - limits[b]) - max(0.0, load[b] - limits[b]))
                if b != a and change < lowest:
                    lowest, at = change, b
            if at != a:
                load[a] -= w
                load[at] += w
                labels[i] = at
                has_moved = True
        for i in range(n):
            a, w = labels[i], weights[i]
            nearest = a
            for b in range(k):
                if costs[b, i] < costs[nearest, i]:
                    nearest = b
            if nearest == a and load[a] <= limits[a]:
                continue  # it would rather stay, and may
            lowest, with_ = -least * w, -1
            before_a = max(0.0, load[a] - limits[a])
            for j in range(partners):
                b, other = labels[j], weights[j]
                if b == a:
                    continue
                change = w * (costs[b, i] - costs[a, i]) + other * (costs[a, j] - costs[b, j])
                if change - penalty * before_a >= lowest:
                    continue
                change += penalty * (max(0.0, load[a] - w + other - limits[a]) - before_a)
                change += penalty * (max(0.0, load[b] + w - other - limits[b]) - max(0.0, load[b] - limits[b]))
                if change < lowest:
                    lowest, with_ = change, j
            if with_ >= 0:
                b, other = labels[with_], weights[with_]
                load[a] += other - w
                load[b] += w - other
                labels[i], labels[with_] = b, a
                has_moved = True
        if not has_moved:
            break


def assign(
    costs: FloatArray, weights: FloatArray, limits: FloatArray, kicks: int = 0, rng: np.random.Generator | None = None
) -> Assignment:
    """Return who serves which demand; ``costs`` of a unit have a row per center.

    After a kick, a few points that go anywhere, moves begin again; what is better is kept.
    """
    k, n = costs.shape
    top = float(costs.max(initial=0.0)) or 1.0
    labels, load, prices = np.zeros(n, dtype=np.int64), np.zeros(k), np.zeros(k)
    table = np.ascontiguousarray(costs, dtype=np.float64)
    step = float(table.mean()) / 2 if table.size else 0.0
    bound = float(_price(table, weights, limits, ROUNDS, step, prices, load, np.zeros(k), labels))

    def improved(labels: IntArray) -> Assignment:
        load = np.bincount(labels, weights, k)
        _improve(table, weights, limits, PENALTY * top, ROUNDING * top, PASSES, n if n <= PARTNERS else 0, load, labels)
        overload = float(np.maximum(np.bincount(labels, weights, k) - limits, 0.0).sum())
        cost = float(weights @ table[labels, np.arange(n)]) + PENALTY * top * overload
        return Assignment(labels, cost, overload, bound, prices)

    best = improved(labels)
    for _ in range(kicks if rng is not None and n and best.cost > bound else 0):
        assert rng is not None
        kicked = best.labels.copy()
        kicked[rng.integers(n, size=KICKED)] = rng.integers(k, size=KICKED)
        best = min(best, improved(kicked), key=lambda one: one.cost)
    return best
