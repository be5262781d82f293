"""The loops over rows whose first columns decide a cluster, and whose further columns are described."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.curators.entrance import STEPS, Entered, enter
from spinney.curators.kernels import Mask, Rows, find_nearest
from spinney.questions import ClusterBins, Clusters
from spinney.questions.sums import RADIUS_STEPS
from spinney.questions.totals import ColumnTotals
from spinney.spaces import BLOCK, GRID_BITS, Door, IntArray, scale_centers

#: Columns behind reach from 0 to 2 (ABSENT), so that a step below this one is a number from 0 to 1 with this many bits.
_BITS = GRID_BITS - 1
_SAID = 3 << (GRID_BITS - 2)
#: Steps of the grid to a step of a sum.
_SHIFT = _BITS - RADIUS_STEPS.bit_length()


def _part(door: Door, columns: slice, radius: float = np.inf) -> Door:
    """Return the door of some columns."""
    lower, upper, inverse, step, center = (array[columns] for array in door[:5])
    return Door(lower, upper, inverse, step, center, radius, door.nan_to_center)


def _labels(rows: Rows, mask: Mask, door: Door, clusters: Clusters) -> NDArray[np.int32]:
    """Return the cluster of each row by its first columns, or -1 for a row that does not count."""
    first = slice(0, clusters.n_features)
    return find_nearest(rows[:, first], mask, _part(door, first, clusters.radius), scale_centers(clusters.centers))


def _behind(rows: Rows, mask: Mask, door: Door, clusters: Clusters) -> Iterator[tuple[Entered, NDArray[np.int32]]]:
    """Yield the columns behind as they come in, and the cluster of each row."""
    labels, behind = _labels(rows, mask, door, clusters), slice(clusters.n_features, None)
    for entered in enter(rows[:, behind], mask, _part(door, behind), STEPS):
        yield entered, labels[entered.here]


def count_cluster_rows(rows: Rows, mask: Mask, door: Door, clusters: Clusters) -> IntArray:
    """Count rows by cluster."""
    labels = _labels(rows, mask, door, clusters)
    return np.bincount(labels[labels >= 0], minlength=len(clusters)).astype(np.int64)


@compiled
def _add_bins(slab, alive, labels, bins, counts):  # type: ignore[no-untyped-def]
    for b in range(slab.shape[0]):
        for i in range(min(BLOCK, labels.size - b * BLOCK)):
            j = labels[b * BLOCK + i]
            if j < 0 or not alive[b * BLOCK + i]:
                continue
            start = 0
            for t in range(slab.shape[1]):
                step = np.int64(slab[b, t, i])
                place = min((step * bins[t]) >> _BITS, bins[t] - 1) if step < _SAID else bins[t]
                counts[j, start + place] += 1
                start += bins[t] + 1


def count_cluster_bins(rows: Rows, mask: Mask, door: Door, cells: ClusterBins) -> IntArray:
    """Count rows by cluster and by bin of each column behind: the bins of a column, "no answer" last, then the next column's."""
    counts = np.zeros((len(cells.clusters), cells.width), dtype=np.int64)
    for entered, labels in _behind(rows, mask, door, cells.clusters):
        _add_bins(entered.slab, entered.alive, labels, cells.bins, counts)
    return counts


@compiled
def _add_totals(slab, alive, labels, columns, totals):  # type: ignore[no-untyped-def]
    for b in range(slab.shape[0]):
        for i in range(min(BLOCK, labels.size - b * BLOCK)):
            j = labels[b * BLOCK + i]
            if j < 0 or not alive[b * BLOCK + i]:
                continue
            for c in range(columns.size):
                step = np.int64(slab[b, columns[c], i])
                if step < _SAID:  # 2**_BITS is the upper bound, one half width above the middle
                    totals[j, c] += min(np.int64(step >> _SHIFT), np.int64(2 * RADIUS_STEPS)) - RADIUS_STEPS


def sum_columns(rows: Rows, mask: Mask, door: Door, asked: ColumnTotals) -> IntArray:
    """Sum columns behind by cluster: from the middle of their bounds, in steps of half a width; no answer adds nothing."""
    totals = np.zeros((len(asked.clusters), asked.columns.size), dtype=np.int64)
    for entered, labels in _behind(rows, mask, door, asked.clusters):
        _add_totals(entered.slab, entered.alive, labels, asked.columns, totals)
    return totals
