"""What questions accept: every public argument is checked and copied before anything is charged.

An algorithm may be anyone's, and the proofs rest on its arguments: cells that overlap would count a row twice at the price of
once, an array of another length would be read beyond its end. So only the library's own types pass, not classes derived from
them: no code of a caller runs on exact values, and nothing that a caller does to an array later changes a question.

Proof: ``proofs/questions.md``, "The gate".
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.partitions import Cells, Columns, Labels, Partition, Rings, Whole
from spinney.mechanisms.source import IntArray
from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import GRID_BITS
from spinney.trees.quadtree import MAX_DEPTH, WORD, CodeArray, Route, Splits

__all__ = [
    "KERNELS",
    "MOST_THRESHOLD",
    "SplitsGate",
    "read_centers",
    "read_domain",
    "read_labels",
    "read_radii",
    "read_rings",
    "read_threshold",
    "real_array",
    "whole_array",
    "whole_number",
]

#: What `sums` can add up.
KERNELS = ("mean", "median", "second-moment")
#: Lengths between which squares neither vanish nor overflow.
SHORTEST, LONGEST = 1e-150, 1e150
#: The largest threshold of `grow`, in rows: its scores fit into 64 bits.
MOST_THRESHOLD = 2**45
#: Orders of splits whose checked copies are remembered.
KEPT = 4


def whole_number(value: Any, least: int, most: int, what: str) -> int:
    """Return a whole number between two others, or raise."""
    number = int(value) if not isinstance(value, bool) and isinstance(value, Integral) else least - 1
    if not least <= number <= most:
        raise ValueError(what)
    return number


def _real(value: Any) -> float:
    """Return a real number; what is none is missing."""
    return float(value) if not isinstance(value, bool) and isinstance(value, Real) else math.nan


def real_array(values: Any, ndim: int, what: str) -> FloatArray:
    """Return a copy as a plain array of finite numbers, or raise."""
    try:
        array: FloatArray = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        array = np.empty(())
    if array.ndim != ndim or not np.isfinite(array).all():
        raise ValueError(what)
    return array


def whole_array(values: Any, least: int, most: int, what: str) -> IntArray:
    """Return a copy of a list of whole numbers between two others, or raise."""
    try:
        array = np.array(values)
    except (TypeError, ValueError):
        array = np.empty(())
    if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or array.min() < least or array.max() > most)):
        raise ValueError(what)
    return array.astype(np.int64)


def read_centers(centers: Any, n_features: int) -> FloatArray:
    """Return at least one finite point, with one coordinate per column."""
    what = "centers and anchors must be finite points with one coordinate per column"
    array = real_array(centers, 2, what)
    if not len(array) or array.shape[1] != n_features:
        raise ValueError(what)
    return array


def read_radii(radii: Any, k: int) -> FloatArray:
    """Return one radius per center."""
    what = "radii must be positive and finite, one for each center"
    array = real_array(radii, 1, what)
    if array.shape != (k,) or not ((array > SHORTEST) & (array < LONGEST)).all():
        raise ValueError(what)
    return array


def read_rings(rings: Rings, n_features: int) -> Rings:
    """Return Voronoi cells whose edges grow, so that a distance lies between two of them."""
    what = "edges must be a growing list of distances"
    edges, foreseen = real_array(rings.edges, 1, what), real_array(rings.foreseen, 1, what)
    for cuts in (edges, foreseen):
        if cuts.size and (cuts[0] < 0 or cuts[-1] >= LONGEST or (np.diff(cuts) < 0).any()):
            raise ValueError(what)
    return Rings(read_centers(rings.centers, n_features), edges, foreseen)


def read_domain(domain: Domain, n_features: int) -> Domain:
    """Return a box, or a ball, of the same number of columns."""
    what = "a view must be within a Domain of as many columns, with finite bounds, each lower one below its upper one"
    if type(domain) is not Domain:
        raise ValueError(what)
    lower, upper = real_array(domain.lower, 1, what), real_array(domain.upper, 1, what)
    radius = _real(domain.radius)
    is_far = (np.abs(np.concatenate([lower, upper])) >= LONGEST).any()
    if is_far or not (lower.size == upper.size == n_features and (upper - lower > SHORTEST).all() and radius > SHORTEST):
        raise ValueError(what)
    return Domain(lower, upper, radius)


def read_threshold(threshold: float | None) -> float | None:
    """Return a number of rows that is not missing, or None."""
    if threshold is None:
        return None
    number = _real(threshold)
    if math.isnan(number):
        raise ValueError("a threshold must be a number of rows, or None")
    return number


def read_labels(partition: Labels, n_points: int) -> Labels:
    """Return the cell of each point: one, so a row is counted once."""
    if type(partition) is not Labels:
        raise ValueError("rows at points are counted over Labels")
    n_cells = whole_number(partition.n_cells, 1, 2**40, "a partition must have at least one cell")
    labels = whole_array(partition.labels, -1, n_cells - 1, "labels must give each point a cell, or -1")
    if labels.shape != (n_points,):
        raise ValueError("labels must give each point a cell, or -1")
    return Labels(labels, n_cells)


def _read_splits(splits: Splits, n_features: int) -> Splits:
    what = "splits must be Splits of as many columns"
    if type(splits) is not Splits or type(splits.route) is not Route:
        raise ValueError(what)
    axes = whole_array(splits.route.axes, 0, n_features - 1, what)
    shifts = whole_array(splits.route.shifts, 0, GRID_BITS - 1, what).astype(np.uint64)
    fractions = whole_array(splits.route.fractions, 0, 2**GRID_BITS - 1, what)
    if not 1 <= axes.size <= MAX_DEPTH or fractions.size != axes.size or shifts.size not in (0, axes.size):
        raise ValueError(what)
    for array in (axes, shifts, fractions):
        array.flags.writeable = False  # these go out again, with the tree that is released
    return Splits(splits.domain, Route(axes, shifts, fractions), splits.densities)


def _below(depths: NDArray[np.int64], words: int) -> CodeArray:
    """Return, for each cell, the bits of its code that lie below its depth."""
    free = np.clip(depths[:, None] - WORD * np.arange(words), 0, WORD)
    masks = np.uint64(2**WORD - 1) >> np.minimum(free, WORD - 1).astype(np.uint64)
    return np.where(free < WORD, masks, np.uint64(0))


def _read_cells(cells: Cells, splits: Splits) -> Cells:
    what = "cells must be disjoint cells of their splits, in the order of their codes"
    depths = whole_array(cells.depths, 0, splits.depth, what)
    codes = np.array(cells.codes, order="C")
    if codes.dtype != np.uint64 or codes.shape != (len(depths), splits.words) or not len(depths):
        raise ValueError(what)
    below = _below(depths, splits.words)
    last = codes | below
    is_before = np.zeros(len(depths) - 1, dtype=np.bool_)
    is_alike = ~is_before
    for word in range(splits.words):
        is_before |= is_alike & (last[:-1, word] < codes[1:, word])
        is_alike &= last[:-1, word] == codes[1:, word]
    if (codes & below).any() or not is_before.all():
        raise ValueError(what)
    return Cells(splits, codes, depths)


class SplitsGate:
    """Checks splits and partitions, and gives the same copy for the same splits: curators keep what they know of one order.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features: int) -> None:
        self._n_features = n_features
        self._known: list[tuple[Splits, Splits]] = []

    def splits(self, splits: Splits) -> Splits:
        """Return the checked copy."""
        for given, copy in self._known:
            if splits is given or splits is copy:
                return copy
        copy = _read_splits(splits, self._n_features)
        self._known = [*self._known[1 - KEPT :], (splits, copy)]
        return copy

    def partition(self, partition: Partition) -> Partition:
        """Return a checked copy of a public partition: a row lies in at most one of its cells, or in one bin of every column."""
        if type(partition) is Rings:
            return read_rings(partition, self._n_features)
        if type(partition) is Cells:
            return _read_cells(partition, self.splits(partition.splits))
        if type(partition) is Whole or type(partition) is Columns:
            return partition
        raise ValueError("rows are counted over Whole, Rings, Cells or Columns")
