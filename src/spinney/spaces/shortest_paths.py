"""Shortest paths in a public network: Dijkstra's algorithm with a binary heap, over flat arrays.

A network is ``starts, ends, lengths``: the edges of node u lead to ``ends[starts[u]:starts[u + 1]]``. Edges may have length 0.
"""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled


@compiled
def push(keys, nodes, size, key, node):  # type: ignore[no-untyped-def]
    """Add an entry to a heap of `size` entries."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at], nodes[at] = keys[above], nodes[above]
        at = above
    keys[at], nodes[at] = key, node


@compiled
def pop(keys, nodes, size):  # type: ignore[no-untyped-def]
    """Remove the first entry of a heap of `size` entries, which the caller has read."""
    key, node = keys[size - 1], nodes[size - 1]
    size -= 1
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[at], nodes[at] = keys[below], nodes[below]
        at = below
    keys[at], nodes[at] = key, node


@compiled
def shortest_paths(starts, ends, lengths, sources, targets, out):  # type: ignore[no-untyped-def]
    """Write the distances from `sources` to `targets` into the rows of `out`; infinity where there is no path."""
    n = starts.size - 1
    keys, nodes = np.empty(ends.size + 1), np.empty(ends.size + 1, dtype=np.int64)
    found = np.empty(n)
    for i in range(sources.size):
        found[:] = np.inf
        found[sources[i]] = 0.0
        keys[0], nodes[0] = 0.0, sources[i]
        size = 1
        while size > 0:
            key, node = keys[0], nodes[0]
            pop(keys, nodes, size)
            size -= 1
            if key > found[node]:
                continue  # an entry that a shorter path has overtaken
            for e in range(starts[node], starts[node + 1]):
                length = key + lengths[e]
                if length < found[ends[e]]:
                    found[ends[e]] = length
                    push(keys, nodes, size, length, ends[e])
                    size += 1
        for j in range(targets.size):
            out[i, j] = found[targets[j]]
