"""One compiled call for a batch of rows: tile by tile they come in, are labeled, and add to counts or sums.

A tile stays in the cache from the door to the sums, and no thread comes back to Python between tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.curators.clipping import add_offsets
from spinney.curators.entrance import (
    ALL,
    CLIPPED,
    FINITE,
    NO_MASK,
    NOTHING,
    PLACES,
    RAW,
    STEPS,
    Near,
    enter_slab,
    fences_of,
    seen,
)
from spinney.curators.paths import CodeReader, read_codes
from spinney.spaces import BLOCK, GRID_BITS, Door, FloatArray, IntArray, as_floats, scale_centers
from spinney.spaces.nearest import GAP, far_ends, label_slab, scaled_ends, search_scratch
from spinney.trees.quadtree import BIN_BITS, CodeArray, Route

#: What labeled rows add to: nothing, rings, or sums of clipped offsets.
LABELS, RINGS, OFFSETS = 0, 1, 2
#: Numbers of a tile, what a walk takes of the rows at a time: the second-level cache has room for it and for what a search makes
#: of it. It has at least so many rows, so that loops over them are worth their start, and at most a block.
TILE_NUMBERS, LEAST_TILE = 48 * 2**10, 64
#: Rows that are made 64-bit at a time, if they are not, and numbers of them if they are wide: they stay in the cache until read.
STRETCH, STRETCH_NUMBERS = 2**13, 2**17
_BIN_SHIFT = GRID_BITS - BIN_BITS
_NO_CENTERS = scale_centers(np.zeros((1, 1)))


@compiled
def add_rings(slab, labels, start, size, centers, squared_edges, units, cells, scratch, counts):  # type: ignore[no-untyped-def]
    """Count a block of rows by label and ring; ``centers`` has a row per column, ``cells`` and ``scratch`` are scratch.

    Labels are read from a place on. Squared gaps are multiplied by the column's unit, if there are any.
    """
    for i in range(size):
        cells[i], scratch[0, i] = max(labels[start + i], 0), 0.0
    for t in range(slab.shape[1]):
        unit = units[t] if units.size else 1.0
        if centers.shape[1] == 1:  # nothing to look up
            middle = centers[t, 0]
            for i in range(size):
                gap = slab[0, t, i] - middle
                scratch[0, i] += gap * gap * unit
        else:
            for i in range(size):
                gap = slab[0, t, i] - centers[t, cells[i]]
                scratch[0, i] += gap * gap * unit
    for i in range(size):
        square = scratch[0, i]
        if labels[start + i] < 0:
            continue
        low, high = 0, squared_edges.size
        while low < high:
            half = (low + high) >> 1
            if squared_edges[half] < square:
                low = half + 1
            else:
                high = half
        counts[cells[i], low] += 1


class Adders(NamedTuple):
    """What labeled rows add to, beside scratch; nothing by default."""

    kind: int = LABELS
    columns: FloatArray = np.empty((0, 0))
    edges: FloatArray = np.empty(0)
    units: FloatArray = np.empty(0)
    counts: IntArray = np.empty((0, 0), np.int64)
    radii: FloatArray = np.empty(0)
    code: int = 0
    vectors: FloatArray = np.empty((0, 0))
    weights: FloatArray = np.empty(0)

    @classmethod
    def rings(cls, centers: FloatArray, squared_edges: FloatArray, units: FloatArray, counts: IntArray) -> Adders:
        """Count rows by center and ring."""
        return cls(RINGS, np.ascontiguousarray(centers.T), squared_edges, units, counts)

    @classmethod
    def offsets(cls, anchors: FloatArray, radii: FloatArray, units: FloatArray, code: int) -> Adders:
        """Sum clipped offsets and weights."""
        columns = np.ascontiguousarray(anchors.T)
        vectors, weights = np.zeros(columns.shape), np.zeros(len(anchors))
        return cls(OFFSETS, columns, units=units, radii=np.array(radii), code=code, vectors=vectors, weights=weights)

    def __repr__(self) -> str:
        return object.__repr__(self)  # no exact count is printed


@compiled
def _walk_near(  # type: ignore[no-untyped-def]
    rows, mask, is_known, fences, nan_to_center, radius, first_form, looks, ends, shift, zoom, centers, halves, work, scores,
    found, none, no_mask, everyone, slab, alive, labels, cells, scratch, kind, columns, edges, units, counts, radii, code,
    vectors, weights,
):  # fmt: skip
    """Let rows in, label them unless that is done, and count their rings or add up their offsets.

    ``fences`` are those of the form in which rows are labeled, and of places on the grid.
    """
    tile = slab.shape[2] - GAP
    for start in range(0, labels.size, tile):
        size = min(tile, labels.size - start)
        if looks:
            enter_slab(rows, start, slab, size, mask, fences[0], radius, nan_to_center, first_form, is_known, alive)
            if centers.shape[0] > 1:
                label_slab(slab, size, ends, shift, zoom, centers, halves, work, scores, found)
            for i in range(size):
                labels[start + i] = found[0, i] if alive[0, i] else -1
        if kind == LABELS:
            continue
        if looks:  # those that had to be clipped are, in either form
            enter_slab(none, 0, slab, size, no_mask, fences[1], np.inf, nan_to_center, PLACES, True, everyone)
        else:
            enter_slab(rows, start, slab, size, mask, fences[1], radius, nan_to_center, PLACES, is_known, alive)
        if kind == RINGS:
            add_rings(slab, labels, start, size, columns, edges, units, cells, scratch, counts)
        else:
            add_offsets(slab, labels, start, size, columns, radii, units, code, cells, scratch, vectors, weights)


@compiled
def _walk_bins(rows, mask, is_known, fences, nan_to_center, radius, slab, alive, counts):  # type: ignore[no-untyped-def]
    """Let rows in as places on the grid, and count those that count in equal bins of each column."""
    d, tile = slab.shape[1], slab.shape[2] - GAP
    for start in range(0, rows.shape[0], tile):
        size = min(tile, rows.shape[0] - start)
        enter_slab(rows, start, slab, size, mask, fences, radius, nan_to_center, STEPS, is_known, alive)
        for t in range(0, d - 3, 4):  # four columns at once: rows of one bin after each other would wait for each other's count
            for i in range(size):
                if alive[0, i]:
                    counts[t, np.int64(slab[0, t, i]) >> _BIN_SHIFT] += 1
                    counts[t + 1, np.int64(slab[0, t + 1, i]) >> _BIN_SHIFT] += 1
                    counts[t + 2, np.int64(slab[0, t + 2, i]) >> _BIN_SHIFT] += 1
                    counts[t + 3, np.int64(slab[0, t + 3, i]) >> _BIN_SHIFT] += 1
        for t in range(d - d % 4, d):
            for i in range(size):
                if alive[0, i]:
                    counts[t, np.int64(slab[0, t, i]) >> _BIN_SHIFT] += 1


@compiled
def _walk_codes(  # type: ignore[no-untyped-def]
    rows, mask, is_known, fences, nan_to_center, radius, slab, alive, axes, fractions, digits, numbers, table, steps, sides,
    found, kept, codes,
):  # fmt: skip
    """Let rows in as places on the grid, and write the path codes of those that count from a place on; return the next place."""
    tile = slab.shape[2] - GAP
    for start in range(0, rows.shape[0], tile):
        size = min(tile, rows.shape[0] - start)
        enter_slab(rows, start, slab, size, mask, fences, radius, nan_to_center, STEPS, is_known, alive)
        read_codes(slab, size, axes, fractions, digits, numbers, table, steps, sides, found)
        for i in range(size):
            if alive[0, i]:
                for word in range(found.shape[0]):
                    codes[kept, word] = found[word, i]
                kept += 1
    return kept


def ready(rows: NDArray[Any]) -> Iterator[tuple[slice, FloatArray]]:
    """Yield stretches of rows as 64-bit floats row by row: all at once if that is what they are; the next one is in its place."""
    n, d = rows.shape
    if rows.dtype == np.float64 and rows.flags.c_contiguous:
        yield slice(0, n), as_floats(rows)
        return
    size = min(max(STRETCH_NUMBERS // d // BLOCK, 1) * BLOCK, STRETCH, n)
    found = np.empty((size, d))
    for start in range(0, n, max(size, 1)):
        here = slice(start, min(start + size, n))
        with np.errstate(all="ignore"):  # a warning must not reveal a value
            found[: here.stop - start] = rows[here]
        yield here, as_floats(found[: here.stop - start])


def _known(mask: NDArray[np.uint8], door: Door, form: int) -> tuple[Any, ...]:
    """Return what a walk knows of its rows and their door, a slab of one tile, and which of its rows count unless told."""
    d = door.lower.size
    tile = min(max(TILE_NUMBERS // d // LEAST_TILE, 1) * LEAST_TILE, BLOCK)
    slab, alive = np.empty((1, d, tile + GAP)), np.ones((1, BLOCK), dtype=np.bool_)
    return mask is FINITE, fences_of(door, form), door.nan_to_center, door.radius, slab, alive


def walk_bins(rows: NDArray[Any], mask: NDArray[np.uint8], door: Door, counts: IntArray) -> None:
    """Count rows in equal bins of each column."""
    rows, mask, door = seen(rows, mask, door)
    known = _known(mask, door, STEPS)
    for here, part in ready(rows):
        _walk_bins(part, mask[here], *known, counts)


def walk_codes(rows: NDArray[Any], mask: NDArray[np.uint8], door: Door, route: Route, words: int, codes: CodeArray) -> int:
    """Write the first words of the codes of the rows that count; return how many there are."""
    rows, mask, door = seen(rows, mask, door)
    kept, known = 0, _known(mask, door, STEPS)
    reader, found = CodeReader.of(route, words, door.lower.size), np.empty((words, BLOCK), dtype=np.uint64)
    for here, part in ready(rows):
        kept = _walk_codes(part, mask[here], *known, *reader, found, kept, codes)
    return kept


def walk_near(rows: NDArray[Any], mask: NDArray[np.uint8], door: Door, near: Near | NDArray[np.int32], adders: Adders) -> None:
    """Label rows, unless they are given with their labels, and let them add."""
    rows, mask, door = seen(rows, mask, door)
    labels = near.labels if isinstance(near, Near) else near
    cells, scratch = np.empty(BLOCK, np.uint64), np.empty((3, BLOCK))
    is_box = door.radius == np.inf
    first_form = RAW if is_box else CLIPPED  # a box is clipped to on the way: one walk less
    fences = np.stack([fences_of(door, first_form), fences_of(door, PLACES)])
    scaled = near.scaled if isinstance(near, Near) else _NO_CENTERS
    ends = scaled_ends(scaled, np.array([door.lower, door.upper])) if is_box else far_ends(door.lower.size)
    found = np.zeros((1, BLOCK), np.int32)
    search = ends, *scaled, *search_scratch(scaled)
    is_known, _, *outer, slab, alive = _known(mask, door, first_form)
    known = is_known, fences, *outer, first_form, isinstance(near, Near)
    for here, part in ready(rows):
        own = labels[here]
        _walk_near(part, mask[here], *known, *search, found, NOTHING, NO_MASK, ALL, slab, alive, own, cells, scratch, *adders)
