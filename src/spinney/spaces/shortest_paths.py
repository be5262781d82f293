"""Shortest paths in a public network, over flat arrays.

A network is ``starts, ends, lengths``: the edges of node u lead to ``ends[starts[u]:starts[u + 1]]``. Edges may have length 0.

No node that waits is farther ahead of the nearest one than the longest edge, so nodes wait in a ring of buckets of equal widths
(Dial 1969; Meyer and Sanders 2003), in no order within a bucket: a node whose path gets shorter there is taken again. A distance
is the least sum of lengths, each added up from the source on, so however it is searched for it has the same bits.
"""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled

#: Buckets of the ring, a power of two; some of them stay empty, so that rounding never closes it.
BUCKETS, SPARE = 256, 4
#: Where buckets would be narrower, one holds all: no quotient overflows.
NARROWEST = 1e-280
#: No search goes through as many buckets.
LAST = 2.0**62


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
def _search(starts, ends, lengths, source, per, last, found, heads, keys, nodes, behind):  # type: ignore[no-untyped-def]
    """Write the distances of all nodes from a source, up to the bucket `last`; return whether there was room for all entries."""
    found[:] = np.inf
    found[source] = keys[0] = 0.0
    heads[:] = -1
    nodes[0], behind[0], heads[0] = source, -1, 0
    first, waiting, used, free = 0, 1, 1, -1
    while waiting > 0:
        while heads[first & (BUCKETS - 1)] < 0:
            first += 1
        if first > last:
            break
        entry = heads[first & (BUCKETS - 1)]
        heads[first & (BUCKETS - 1)] = -1
        while entry >= 0:
            key, node = keys[entry], nodes[entry]
            later = behind[entry]
            behind[entry], free = free, entry
            entry = later
            waiting -= 1
            if key > found[node]:
                continue  # a shorter path has overtaken it
            for e in range(starts[node], starts[node + 1]):
                length, end = key + lengths[e], ends[e]
                if length < found[end]:
                    found[end] = length
                    if free >= 0:
                        place, free = free, behind[free]
                    elif used < keys.size:
                        place, used = used, used + 1
                    else:
                        return False
                    bucket = int(length * per) & (BUCKETS - 1)
                    keys[place], nodes[place] = length, end
                    behind[place], heads[bucket] = heads[bucket], place
                    waiting += 1
    return True


@compiled
def shortest_paths(starts, ends, lengths, sources, targets, within, out):  # type: ignore[no-untyped-def]
    """Write the distances from `sources` to `targets` into the rows of `out`; infinity where there is no path.

    A search ends at the distance `within`: what is at least as far may be written as infinity.
    """
    longest, room = 0.0, ends.size + 1
    for length in lengths:
        longest = max(longest, length)
    width = longest / (BUCKETS - SPARE)
    per = 1.0 / width if width > NARROWEST else 0.0
    last = int(min(min(within, 1e300) * per, LAST))
    heads, found = np.empty(BUCKETS, dtype=np.int64), np.empty(starts.size - 1)
    keys, nodes, behind = np.empty(room), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    for i in range(sources.size):
        while not _search(starts, ends, lengths, sources[i], per, last, found, heads, keys, nodes, behind):
            room *= 2
            keys, nodes, behind = np.empty(room), np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        for j in range(targets.size):
            out[i, j] = found[targets[j]]
