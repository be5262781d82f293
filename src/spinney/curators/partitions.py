"""Public partitions that rows can be counted over."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray
from spinney.trees.quadtree import Cells

__all__ = ["Cells", "Columns", "Labels", "Partition", "Rings", "Whole"]


@dataclass(frozen=True)
class Whole:
    """One cell: the whole domain. Its count is the number of rows."""


@dataclass(frozen=True)
class Rings:
    """Voronoi cells of public centers, each cut into rings at public distances; no edges make plain Voronoi cells.

    ``foreseen`` are the public edges of rings that may be asked about next: a curator may count both in one pass over its rows.
    """

    centers: FloatArray
    edges: FloatArray = field(default_factory=lambda: np.empty(0))
    foreseen: FloatArray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Columns:
    """Each column cut into 2**BIN_BITS equal bins. A row lies in one bin of every column."""


Partition = Whole | Rings | Cells | Columns


@dataclass(frozen=True)
class Labels:
    """A partition of a finite metric: the cell of each point, from 0 to n_cells - 1, or -1 for none."""

    labels: IntArray
    n_cells: int
