"""Least-element lists: which points of a random order are closer to a point than all points before them.

Walking through the order, a point u lists every v that is strictly closer to u than all before v. The first point of the order
within distance r of u is then on u's list for every r, so the lists, about ln n long, hold a ball carving of every radius
(Cohen 1997; Blelloch, Gu and Sun 2017). In a network a search from v goes no further where an earlier point is as close,
so all searches together take about log n times as long as one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import Coordinates, FiniteMetric, IntArray, Matrix, Network
from spinney.spaces.pairwise import distance_below, in_strides, pairwise
from spinney.spaces.shortest_paths import pop, push
from spinney.spaces.sphere import Sphere

#: Points of the order that are compared with one point while it is in the cache.
BATCH = 64
#: At most this many groups of points that are skipped together.
GROUPS = 1024
#: Coordinates of all group centers; points with more columns than this allows for are not grouped.
NUMBERS = 2**14


class LeastElements(NamedTuple):
    """Entries of all lists, each in the random order: ``points[e]`` lists the point of this rank, at this distance."""

    points: IntArray
    ranks: IntArray
    distances: FloatArray


@compiled
def _room(entries, needed):  # type: ignore[no-untyped-def]
    """Return the columns (points, ranks, distances) with room for one entry more."""
    points, ranks, distances = entries
    if needed < points.size:
        return entries
    longer = 2 * points.size
    more = (np.empty(longer, dtype=np.int64), np.empty(longer, dtype=np.int64), np.empty(longer))
    more[0][:needed], more[1][:needed], more[2][:needed] = points[:needed], ranks[:needed], distances[:needed]
    return more


@compiled
def _in_network(starts, ends, lengths, order, floor):  # type: ignore[no-untyped-def]
    n = order.size
    entries = (np.empty(4 * n, dtype=np.int64), np.empty(4 * n, dtype=np.int64), np.empty(4 * n))
    count = 0
    best, seen, stamp = np.full(n, np.inf), np.empty(n), np.full(n, -1)
    keys, nodes = np.empty(ends.size + 1), np.empty(ends.size + 1, dtype=np.int64)
    for rank in range(n):
        if best[order[rank]] == 0.0:
            continue  # a twin came earlier
        keys[0], nodes[0] = 0.0, order[rank]
        size = 1
        while size > 0:
            key, node = keys[0], nodes[0]
            pop(keys, nodes, size)
            size -= 1
            if key >= best[node]:
                continue
            if best[node] > floor:  # later entries would be read by no level
                entries = _room(entries, count)
                entries[0][count], entries[1][count], entries[2][count] = node, rank, key
                count += 1
            best[node] = key
            for e in range(starts[node], starts[node + 1]):
                end, length = ends[e], key + lengths[e]
                if length < best[end] and (stamp[end] != rank or length < seen[end]):
                    stamp[end], seen[end] = rank, length
                    push(keys, nodes, size, length, end)
                    size += 1
    return entries[0][:count], entries[1][:count], entries[2][:count]


@compiled
def _in_coordinates(points, strides, manhattan, order, floor):  # type: ignore[no-untyped-def]
    """Compare batches of the order with the points; points of a group, which share a close center, are skipped together.

    If v is at distance D of a group's center c, and u of the group at distance g, then u does not list v unless D - g is below
    what u has found already. Points drop out once they have found one within `floor`.
    """
    n = order.size
    entries = (np.empty(4 * n, dtype=np.int64), np.empty(4 * n, dtype=np.int64), np.empty(4 * n))
    count = 0
    best, last = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    active, group, offset = np.arange(n), np.zeros(n, dtype=np.int64), np.full(n, np.inf)
    bounds, reach, centers = np.array([0, n]), np.array([np.inf]), order[:1]
    nearby, due = np.empty(BATCH, dtype=np.int64), BATCH
    for start in range(0, n, BATCH):
        if start == due:
            due *= 2
            if start <= GROUPS and start * points.shape[1] <= NUMBERS:
                group, offset = last.copy(), best.copy()
                centers = order[:start]
            active = active[best[active] > floor]
            active = active[np.argsort(group[active], kind="mergesort")]
            bounds = np.searchsorted(group[active], np.arange(centers.size + 1))
            reach = np.zeros(centers.size)
            for u in active:
                reach[group[u]] = max(reach[group[u]], best[u] + offset[u])
            if active.size == 0:
                break
        batch = order[start : start + BATCH]
        apart = np.zeros((batch.size, centers.size))
        if start and centers.size > 1:
            pairwise(points, batch, centers, manhattan, apart)
        for c in range(centers.size):
            close = 0
            for b in range(batch.size):
                if apart[b, c] < reach[c]:
                    nearby[close] = b
                    close += 1
            for a in range(bounds[c], bounds[c + 1] if close else bounds[c]):
                u = active[a]
                for b in nearby[:close]:
                    if best[u] <= floor:
                        break
                    if apart[b, c] - offset[u] < best[u]:
                        gap = distance_below(strides, u, batch[b], manhattan, best[u])
                        if gap < best[u]:
                            entries = _room(entries, count)
                            entries[0][count], entries[1][count], entries[2][count] = u, start + b, gap
                            count += 1
                            best[u], last[u] = gap, start + b
    return entries[0][:count], entries[1][:count], entries[2][:count]


@compiled
def _in_matrix(values, order, floor):  # type: ignore[no-untyped-def]
    n = order.size
    entries = (np.empty(4 * n, dtype=np.int64), np.empty(4 * n, dtype=np.int64), np.empty(4 * n))
    count, left = 0, n
    best, active = np.full(n, np.inf), np.arange(n)
    for rank in range(n):
        row = values[order[rank]]
        kept = 0
        for a in range(left):
            u = active[a]
            if row[u] < best[u]:
                entries = _room(entries, count)
                entries[0][count], entries[1][count], entries[2][count] = u, rank, row[u]
                count += 1
                best[u] = row[u]
            if best[u] > floor:
                active[kept] = u
                kept += 1
        left = kept
        if left == 0:
            break
    return entries[0][:count], entries[1][:count], entries[2][:count]


def least_elements(space: FiniteMetric, order: IntArray, floor: float = 0.0) -> LeastElements:
    """Return the lists of all points for a random order of them.

    Balls of a radius below `floor` are not asked for, so a list may end once it has come this close.
    """
    source = space.source
    if isinstance(source, Network):
        return LeastElements(*_in_network(source.starts, source.ends, source.lengths, order, floor))
    if isinstance(source, Coordinates | Sphere):  # on the globe by straight lines: arcs are at most pi / 2 times as long
        strides, manhattan = in_strides(source.points), isinstance(source, Coordinates) and source.manhattan
        return LeastElements(*_in_coordinates(source.points, strides, manhattan, order, floor))
    assert isinstance(source, Matrix)
    return LeastElements(*_in_matrix(source.values, order, floor))
