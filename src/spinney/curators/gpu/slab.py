"""What is done to a chunk of rows on a device, kernel by kernel. Scratch is made once, for the largest chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.entrance import CLIPPED, PLACES, RAW, fences_of
from spinney.curators.gpu.chunks import chunk_rows
from spinney.curators.gpu.device import Device
from spinney.questions import PlaneCells
from spinney.spaces import Door, FloatArray, IntArray, ScaledCenters
from spinney.spaces.nearest import far_ends, scaled_ends
from spinney.trees.quadtree import WORD, Route

#: Centers whose scores a thread keeps at a time, and rows that a block adds up before it meets others; as in `kernels.cu`.
CENTERS, SHORT_ROWS = 8, 2047
#: Most totals of one sum, and numbers in all of them: blocks add to different ones.
COPIES, MOST_TOTALS = 64, 2**22
#: Blocks that share out the columns of a slab.
COLUMN_BLOCKS = 64


class Search:
    """Public centers as the search for nearest ones takes them: four columns of a center together, the centers filled up."""

    def __init__(self, device: Device, scaled: ScaledCenters, ends: FloatArray) -> None:
        k, columns = scaled.centers.shape
        self.groups, self.has_pair, self.columns = columns // 4, columns % 4 != 0, columns
        self.k = -(-k // CENTERS) * CENTERS
        quads = np.zeros((self.k, self.groups + self.has_pair, 4), dtype=np.float32)
        quads.reshape(self.k, -1)[:k, :columns] = scaled.centers
        halves = np.full(self.k, np.inf, dtype=np.float32)
        halves[:k] = scaled.halves
        self.quads, self.halves = device.put(quads.swapaxes(0, 1)), device.put(halves)
        self.ends, self.shift, self.zoom = device.put(ends), device.put(scaled.shift), float(scaled.zoom)


class Slab:
    """Rows of a chunk that have come in through a door, which is public; they are written over by the next chunk."""

    def __init__(self, device: Device, n_features: int) -> None:
        size = chunk_rows(n_features)
        self._device, self._d, self.count = device, n_features, 0
        self._slab = device.empty((n_features + 1) * size, np.float64)
        self._scaled = device.empty((n_features + 2) * size, np.float32)
        self._alive, self._codes = device.empty(size, np.uint8), device.empty(size, np.uint64)
        self.labels, self._others = device.empty(size, np.int32), device.empty(size, np.int32)

    def drop(self) -> None:
        """Drop the scratch: the next question fails."""
        vars(self).clear()

    def _launch(self, name: str, *arguments: Any, columns: int = 1) -> None:
        self._device.launch(name, self.count, *arguments, columns=columns)

    def load(self, rows: Any) -> None:
        """Take rows as they are, 32- or 64-bit floats one behind the other."""
        self.count = len(rows)
        self._launch(f"load_{rows.dtype.name}", rows, self.count, self._d, self._slab)

    def enter(self, door: Door, form: int, mask: Any) -> None:
        """Let rows in."""
        public, is_ball = self._device.put(fences_of(door, form)), bool(np.isfinite(door.radius))
        has_mask, mask = mask is not None, self._alive if mask is None else mask
        bounds = public, door.radius, int(is_ball), int(door.nan_to_center)
        self._launch("enter", self._slab, self.count, self._d, *bounds, form, mask, int(has_mask), self._alive)

    def find(self, search: Search, labels: Any) -> None:
        """Find the nearest centers of the rows."""
        shape = self.count, self._d, search.columns
        self._launch("scale", self._slab, *shape, search.ends, search.shift, search.zoom, self._scaled)
        groups = search.groups, int(search.has_pair), search.quads, search.halves, search.k
        self._launch("label", self._scaled, self.count, *groups, self._alive, labels)

    def enter_near(self, rows: Any, door: Door, search: Search, mask: Any) -> None:
        """Let rows in, find their nearest centers, and put them in the middles of their grid steps."""
        self.load(rows)
        self.enter(door, CLIPPED if np.isfinite(door.radius) else RAW, mask)
        self.find(search, self.labels)
        if np.isfinite(door.radius):  # a ball is entered once
            self.load(rows)
        self.enter(door, PLACES, mask)

    def enter_cells(self, rows: Any, door: Door, cells: tuple[Any, ...], mask: Any) -> None:
        """Let rows in, and find their leaves of a tree of planes, by its arrays on the device."""
        self.load(rows)
        self.enter(door, PLACES, mask)
        self._launch("walk", self._slab, self.count, self._d, self._alive, *cells, self.labels)

    def count_rings(self, columns: int, centers: Any, k: int, rings: tuple[Any, ...], counts: Any) -> None:
        """Count rows by label and ring."""
        self._launch("rings", self._slab, self.count, columns, self.labels, centers, k, *rings, counts)

    def sum_offsets(self, anchors: Any, k: int, radii: Any, units: Any, kernel: int, totals: Any) -> None:
        """Add up clipped offsets and weights by label."""
        self._launch("offsets", self._slab, self.count, self._d, self.labels, anchors, k, radii, units, kernel)
        rows, columns = -(-self.count // SHORT_ROWS) * 256, min(self._d + 1, COLUMN_BLOCKS)
        arguments = self._slab, self.count, self._d + 1, self.labels, k, len(totals), totals
        self._device.launch("sum_columns", rows, *arguments, columns=columns)

    def count_bins(self, counts: Any) -> None:
        """Count rows in equal bins of each column; they have come in as places on the grid."""
        columns = min(self._d, COLUMN_BLOCKS)
        self._launch("column_bins", self._slab, self.count, self._d, self._alive, counts, columns=columns)

    def encode(self, levels: int, route: tuple[Any, ...], halves: bool) -> Any:
        """Return the path codes of places on the grid."""
        words = -(-levels // WORD)
        if words * self.count > len(self._codes):
            self._codes = self._device.empty(words * self.count, np.uint64)
        self._launch("read_bits" if halves else "cut", self._slab, self.count, levels, *route, self._codes)
        return self._codes

    def count_below(self, codes: Any, cells: tuple[Any, ...], totals: Any) -> None:
        """Count rows in the cells some levels below those of a level."""
        self._launch("below", codes, self.count, self._alive, *cells, totals)

    def add_costs(self, first: Any, k: int, second: Any, k_second: int, bounds: tuple[Any, ...], search: Any, total: Any) -> None:
        """Add up costs of the first centers, or how much more they cost than others."""
        if k_second:
            self.find(search, self._others)
        centers = first, k, self.labels, second, k_second, self._others
        self._launch("costs", self._slab, self.count, self._d, *centers, *bounds, total)


def search_of(device: Device, scaled: ScaledCenters, door: Door) -> Search:
    """Return the search for centers nearest to rows that come in through a door."""
    is_box = door.radius == np.inf
    ends = scaled_ends(scaled, np.array([door.lower, door.upper])) if is_box else far_ends(door.lower.size)
    return Search(device, scaled, ends)


def route_of(device: Device, route: Route) -> tuple[tuple[Any, ...], bool]:
    """Return the arrays of a route on the device, and whether it halves."""
    axes = device.put(route.axes)
    if route.shifts.size:
        return (axes, device.put(route.shifts)), True
    order: IntArray = np.argsort(route.axes, kind="stable")
    return (axes, device.put(route.fractions), device.put(order)), False


def cells_of(device: Device, cells: PlaneCells) -> tuple[Any, ...]:
    """Return the arrays of a tree of planes on the device."""
    ranks: NDArray[np.int64] = np.cumsum(cells.first_child < 0) - 1
    arrays = cells.normals, cells.planes, cells.offsets, cells.first_child, ranks
    return tuple(map(device.put, arrays))
