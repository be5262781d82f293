"""The loops over rows. Each maps one batch of raw rows to exact integers.

Every kernel takes rows through the same door (`entrance.py`), slab by slab. The loops that are worth it are compiled; NumPy
does the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.curators.entrance import PLACES, RAW, STEPS, Near, enter, enter_near
from spinney.curators.paths import code_bounds, encode, find_cells, masks, offsets
from spinney.curators.walks import Adders, walk_bins, walk_near
from spinney.questions import PlaneCells
from spinney.questions.question import OfEachRow
from spinney.questions.sums import KERNELS
from spinney.spaces import BLOCK, Door, FloatArray, IntArray, ScaledCenters, find_labels
from spinney.spaces.nearest import squared_distances
from spinney.trees.quadtree import BIN_BITS, CodeArray, Route

Rows = NDArray[Any]
Mask = NDArray[np.uint8]
Labels = NDArray[np.int32]
#: Where rows have come in a tree of planes.
Nodes = NDArray[np.int32]
#: Labels of rows, or what finds them.
Labeled = Labels | Near


def count_rows(rows: Rows, mask: Mask, door: Door) -> IntArray:
    """Count the rows that enter."""
    return np.array([sum(int(np.count_nonzero(e.alive)) for e in enter(rows, mask, door, RAW))], dtype=np.int64)


def add_up(rows: Rows, mask: Mask, door: Door, aggregate: OfEachRow) -> IntArray:
    """Add up what an aggregate makes of each row that enters."""
    total = aggregate.summed(np.empty((0, door.lower.size)))
    for entered in enter(rows, mask, door, PLACES):
        total = total + aggregate.summed(entered.rows[entered.alive])
    return total


def count_columns(rows: Rows, mask: Mask, door: Door) -> IntArray:
    """Count rows in 2**BIN_BITS equal bins of each column: a row counts once in every column."""
    counts = np.zeros((door.lower.size, 2**BIN_BITS), dtype=np.int64)
    walk_bins(rows, mask, door, counts)
    return counts


def count_between(codes: CodeArray, first: CodeArray, last: CodeArray) -> IntArray:
    """Count the sorted codes from each first to each last code, both included."""
    return code_bounds(codes, last, True) - code_bounds(codes, first, False)


def count_cells(rows: Rows, mask: Mask, door: Door, route: Route, cells: CodeArray, depths: IntArray) -> IntArray:
    """Count rows in disjoint cells sorted by code; a row may lie in none. The route ends at the last level of the cells."""
    counts, starts = np.zeros(depths.size, dtype=np.int64), masks(depths, cells.shape[1])
    for entered in enter(rows, mask, door, STEPS):
        codes = encode(entered, route, cells.shape[1]).T[entered.alive]
        # A cell's code is the smallest code inside it, so only the last cell that does not start later can hold the row.
        places = code_bounds(cells, codes, True) - 1
        codes, places = codes[places >= 0], places[places >= 0]
        inside = (((codes ^ cells[places]) & starts[places]) == 0).all(axis=1)
        counts += np.bincount(places[inside], minlength=depths.size)
    return counts


@compiled
def _add_ones(places, totals):  # type: ignore[no-untyped-def]
    for i in range(places.size):
        if places[i] >= 0:
            totals[places[i]] += 1


def count_below(
    rows: Rows, mask: Mask, door: Door, totals: IntArray, route: Route, cells: CodeArray, table: IntArray, depth: int, levels: int
) -> None:
    """Count rows in all cells `levels` levels below disjoint cells of one level; a row may lie in none.

    ``route`` ends at the last of these levels, and ``table`` is the hash table of the cells. The counts of the descendants of
    cell j, in the order of their codes, stand in ``totals`` from place ``j << levels`` on.
    """
    for entered in enter(rows, mask, door, STEPS):
        codes = encode(entered, route, cells.shape[1])
        places = find_cells(codes, cells, depth, table)
        lives = entered.alive & (places >= 0)
        places <<= levels
        places += offsets(codes, depth, levels)
        places[~lives] = -1
        _add_ones(places, totals)


def find_nearest(rows: Rows, mask: Mask, door: Door, scaled: ScaledCenters) -> Labels:
    """Return the index of each row's nearest center, or -1 for a row that does not count."""
    found = np.empty(len(rows), dtype=np.int32)
    walk_near(rows, mask, door, Near(scaled, found), Adders())
    return found


@compiled
def _walk(slab, normals, planes, offsets, first_child, scores, is_known, nodes):  # type: ignore[no-untyped-def]
    """Walk each row down a tree of planes from its node to a leaf.

    Rows of a block mostly meet the same planes, so products with one are computed for all of them when the first row meets it.
    """
    for b in range(slab.shape[0]):
        size = min(BLOCK, nodes.size - b * BLOCK)
        is_known[:] = False
        for i in range(size):
            node = nodes[b * BLOCK + i]
            while first_child[node] >= 0:
                plane = planes[node]
                if not is_known[plane]:
                    is_known[plane], found = True, scores[plane]
                    found[:] = 0.0
                    for t in range(slab.shape[1]):
                        normal, places = normals[plane, t], slab[b, t]
                        for j in range(size):
                            found[j] += normal * places[j]
                node = first_child[node] + np.int64(scores[plane, i] >= offsets[node])
            nodes[b * BLOCK + i] = node


def _find_leaves(rows: Rows, mask: Mask, door: Door, cells: PlaneCells, nodes: Nodes | None) -> Labels:
    """Return the cell of each row, or -1 for a row that does not count."""
    nodes = np.zeros(len(rows), dtype=np.int32) if nodes is None else nodes
    found, ranks = np.empty(len(rows), dtype=np.int32), np.cumsum(cells.first_child < 0) - 1
    scratch = np.empty((len(cells.normals), BLOCK)), np.empty(len(cells.normals), dtype=np.bool_)
    for entered in enter(rows, mask, door, PLACES):
        own = nodes[entered.here]
        _walk(entered.slab, cells.normals, cells.planes, cells.offsets, cells.first_child, *scratch, own)
        found[entered.here] = np.where(entered.alive, ranks[own], -1)
    return found


def count_planes(rows: Rows, mask: Mask, door: Door, cells: PlaneCells, nodes: Nodes | None) -> IntArray:
    """Count rows in the leaves of a tree of planes.

    ``nodes`` says where the walk of each row begins, the root if there are none, and in the end where it ended.
    """
    counts = np.zeros(len(cells), dtype=np.int64)
    _add_ones(_find_leaves(rows, mask, door, cells, nodes).astype(np.int64), counts)
    return counts


def count_rings(
    rows: Rows, mask: Mask, door: Door, labels: Labeled, centers: FloatArray, squared_edges: FloatArray, units: FloatArray
) -> IntArray:
    """Count rows by nearest center and by ring: ring r lies between edges r-1 and r; no edges make one ring.

    Squared offsets are multiplied by the units of their columns before they add up to squared distances; none are plain ones.
    """
    counts = np.zeros((len(centers), squared_edges.size + 1), dtype=np.int64)
    if not squared_edges.size:
        found = find_nearest(rows, mask, door, labels.scaled) if isinstance(labels, Near) else labels
        if isinstance(labels, Near):
            labels.labels[:] = found
        _add_ones(found.astype(np.int64), counts[:, 0])
        return counts
    walk_near(rows, mask, door, labels, Adders.rings(centers, squared_edges, units, counts))
    return counts


def sum_offsets(
    rows: Rows, mask: Mask, door: Door, labels: Labeled, anchors: FloatArray, radii: FloatArray, widths: FloatArray, kernel: str
) -> tuple[IntArray, IntArray]:
    """Sum clipped offsets from the anchor of each row's nearest center, in steps of radius / RADIUS_STEPS, and weights.

    `Sums` says what each kernel makes of an offset; all truncate toward zero. Floats that hold whole numbers add up exactly here:
    a chunk's sums stay far below 2**53.
    """
    adders = Adders.offsets(anchors, radii, 1.0 / widths, KERNELS.index(kernel))
    walk_near(rows, mask, door, labels, adders)
    return adders.vectors.T.astype(np.int64), adders.weights.astype(np.int64)


def sum_planes(
    rows: Rows, mask: Mask, door: Door, cells: PlaneCells, nodes: Nodes | None, *offsets: Any
) -> tuple[IntArray, IntArray]:
    """As `sum_offsets`, over the leaves of a tree of planes, with walks as in `count_planes`."""
    return sum_offsets(rows, mask, door, _find_leaves(rows, mask, door, cells, nodes), *offsets)


def sum_costs(
    rows: Rows,
    mask: Mask,
    door: Door,
    labels: Labeled,
    first: FloatArray,
    second: FloatArray,
    scaled: ScaledCenters,
    is_median: bool,
    inverse_step: float,
    bound: int,
) -> IntArray:
    """Sum cost differences d(x, first)^p - d(x, second)^p in integer steps, each clipped to the bound.

    ``labels`` are the nearest of the first set and ``scaled`` looks at the second; no second set means the cost of the first.
    """
    total = np.zeros(1, dtype=np.int64)
    for entered, own in enter_near(rows, mask, door, labels):
        ours, theirs = squared_distances(entered.slab, first, own), np.zeros(entered.size)
        if len(second):
            theirs = squared_distances(entered.slab, second, find_labels(entered.slab, entered.size, scaled))
        with np.errstate(all="ignore"):
            gaps = (np.sqrt(ours) - np.sqrt(theirs) if is_median else ours - theirs) * inverse_step
            # fmin and fmax take the bound where there is no number: whatever a row is, it adds at most the bound.
            steps = np.fmax(np.fmin(gaps, float(bound)), -float(bound)).astype(np.int64)
        total += steps[own >= 0].sum()
    return total
