"""Public partitions that rows can be counted over: of a domain of numbers, or of finitely many points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from spinney.questions.arrays import LONGEST, finite_points, finite_widths, freeze, require
from spinney.questions.clusters import ClusterBins, Clusters
from spinney.questions.ground import Ground
from spinney.questions.planes import PlaneCells
from spinney.spaces import FloatArray
from spinney.trees.quadtree import BIN_BITS, WORD, Splits, TreeCells

#: A tree starts with all cells of a level: at most this one, so that they fit into memory.
MOST_START = 24
#: Most cells of a partition of points, unless there are more points.
MOST_CELLS = 2**MOST_START


@dataclass(frozen=True)
class Whole:
    """One cell: the whole domain. Its count is the number of rows."""

    family = "whole"


@dataclass(frozen=True, eq=False)
class Rings:
    """Voronoi cells of public centers, each cut into rings at public distances; no edges make plain Voronoi cells.

    Distances of rings are in units of the widths, one per column, if there are any; which center is nearest is not.
    """

    family = "rings"

    centers: FloatArray
    edges: FloatArray = field(default_factory=lambda: np.empty(0))
    widths: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(self, "centers", "edges", "widths")


@dataclass(frozen=True)
class ColumnBins:
    """Each column cut into 2**bits equal bins, at most 2**BIN_BITS. A row lies in one bin of every column."""

    family = "columns"

    bits: int = BIN_BITS

    def merged(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return counts of these bins from counts of 2**BIN_BITS bins a column."""
        return np.asarray(counts.reshape(len(counts), 2**self.bits, -1).sum(axis=2))


@dataclass(frozen=True, eq=False)
class Labels:
    """A partition of finitely many points: the cell of each point, from 0 to n_cells - 1, or -1 for none."""

    family = "labels"

    labels: NDArray[np.int64]
    n_cells: int

    def __post_init__(self) -> None:
        freeze(self, "labels", as_places=True)


Partition = Whole | Rings | TreeCells | PlaneCells | ColumnBins | Clusters | ClusterBins | Labels
#: What releases call the cells that rows are counted in. A row lies in a bin of every column of ``columns`` and of ``bins``, and
#: in one cell of every other family.
FAMILIES: dict[str, type[Partition]] = {kind.family: kind for kind in get_args(Partition)}


def check_partition(partition: Partition, ground: Ground) -> None:
    """Raise a ValueError unless cells are disjoint (in each column, for bins of columns) and fit the ground."""
    require(type(partition) in FAMILIES.values(), "rows are counted over partitions of the list")
    if isinstance(partition, Labels):
        labels = partition.labels
        most = max(MOST_CELLS, ground.n_points)
        is_size = type(partition.n_cells) is int and 1 <= partition.n_cells <= most
        require(is_size, "the number of cells must be a whole number, at least 1 and not far above the number of points")
        fits = labels.shape == (ground.n_points,) and labels.min(initial=0) >= -1 and labels.max(initial=-1) < partition.n_cells
        require(ground.domain is None and fits, "labels must give each point a cell, or -1")
        return
    require(ground.domain is not None, "only rows of numbers can be counted so")
    if isinstance(partition, Rings):
        finite_points(partition.centers, ground.n_features, "centers")
        edges = partition.edges
        is_sorted = edges.ndim == 1 and ((edges >= 0) & (edges < LONGEST)).all() and (np.diff(edges) > 0).all()
        require(is_sorted, "edges of rings must be finite and growing")
        finite_widths(partition.widths, ground.n_features)
    elif isinstance(partition, ColumnBins):
        is_size = type(partition.bits) is int and 0 <= partition.bits <= BIN_BITS
        require(is_size, "the bits of bins of columns must be a whole number, not below 0 nor above BIN_BITS")
    elif isinstance(partition, TreeCells):
        _check_cells(partition, ground)
    elif isinstance(partition, PlaneCells | ClusterBins):
        partition.check(ground)
    elif isinstance(partition, Clusters):
        partition.behind(ground)


def _check_cells(cells: TreeCells, ground: Ground) -> None:
    """Raise unless cells of a tree over the ground's columns are disjoint and in the order of their codes."""
    splits = cells.splits
    require(type(splits) is Splits, "cells of a tree must have its splits")
    splits.check(ground.n_features)
    codes, depths = cells.codes, cells.depths
    fits = codes.ndim == 2 and codes.shape == (depths.size, splits.words) and codes.dtype == np.uint64
    require(fits and depths.ndim == 1, "a cell of a tree is a code and a depth")
    require(depths.dtype == np.int64 and (depths >= 0).all() and (depths <= splits.depth).all(), "depths of cells must fit")
    first, last = codes, codes.copy()
    for word in range(splits.words):
        used = np.clip(depths - WORD * word, 0, WORD)
        rest = np.where(used < WORD, np.uint64(2**WORD - 1) >> np.minimum(used, WORD - 1).astype(np.uint64), np.uint64(0))
        require(((codes[:, word] & rest) == 0).all(), "bits of a code below its cell's depth must be zero")
        last[:, word] |= rest
    # Cells are disjoint and sorted if each one begins behind the last code of the one before.
    behind = np.zeros(max(len(codes) - 1, 0), dtype=np.bool_)
    alike = np.ones_like(behind)
    for word in range(splits.words):
        one, other = last[:-1, word], first[1:, word]
        behind |= alike & (other > one)
        alike &= other == one
    require(behind.all(), "cells of a tree must be disjoint and sorted by their codes")
