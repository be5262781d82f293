"""Rows on a device: passes over chunks, kernel by kernel, and exact integers between them.

What has no kernel here is computed by the CPU from rows in host memory, batch by batch: the same integers, later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.entrance import STEPS
from spinney.curators.files import EXACT, FileBackend
from spinney.curators.gpu.chunks import Resident, Sent
from spinney.curators.gpu.device import Device
from spinney.curators.gpu.slab import COPIES, MOST_TOTALS, Search, Slab, cells_of, route_of, search_of
from spinney.curators.kernels import count_below, count_columns, count_planes, count_rings, sum_costs, sum_offsets
from spinney.curators.paths import masks
from spinney.privacy import Unit
from spinney.questions import PlaneCells
from spinney.questions.ground import Ground
from spinney.questions.sums import KERNELS
from spinney.spaces import FloatArray, IntArray, ScaledCenters, scale_centers
from spinney.spaces.nearest import far_ends
from spinney.tables.streams import Batches
from spinney.trees.quadtree import BIN_BITS, WORD, CodeArray, Route


class CudaBackend(FileBackend):
    """Rows on a device, or sent there chunk by chunk; the batches are the same rows in host memory."""

    def __init__(
        self,
        device: Device,
        slab: Slab,
        nonprivate_chunks: Resident | Sent,
        nonprivate_batches: Batches,
        ground: Ground,
        unit: Unit,
        key: Callable[[], bytes],
    ) -> None:
        self._device, self._slab, self._chunks = device, slab, nonprivate_chunks
        super().__init__(nonprivate_batches, ground, unit, key)

    def _added(self, shape: tuple[int, ...], add: Callable[[Any, Any, Any], None], dtype: Any = object) -> NDArray[Any]:
        """Return the sums of what ``add(rows, mask, totals)`` adds for each chunk, in integers of any size; counts need none."""
        totals, part = np.zeros(shape, dtype=dtype), self._device.zeros(shape)
        for i, (start, rows) in enumerate(self._chunks, start=1):
            mask = self._device.put(self._mask_of(start, len(rows))) if self._batches.has_groups else None
            add(rows, mask, part)
            if i % EXACT == 0:
                totals = totals + self._device.get(part)
                part = self._device.zeros(shape)
        return np.asarray(totals + self._device.get(part))

    def _map(self, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        if kernel is not count_columns or self._door.view is not None:
            return super()._map(kernel, *arguments)

        def add(rows: Any, mask: Any, counts: Any) -> None:
            self._slab.load(rows)
            self._slab.enter(self._door, STEPS, mask)
            self._slab.count_bins(counts)

        return [self._added((self._door.n_columns, 2**BIN_BITS), add)]

    def _map_nearest(self, centers: FloatArray, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        if kernel not in _NEAREST or self._door.view is not None:
            return super()._map_nearest(centers, kernel, *arguments)
        search = search_of(self._device, scale_centers(centers), self._door)

        def come_in(rows: Any, mask: Any) -> None:
            self._slab.enter_near(rows, self._door, search, mask)

        return _NEAREST[kernel](self, come_in, *arguments)

    def _map_leaves(self, kernel: Callable[..., Any], cells: PlaneCells, *arguments: Any) -> list[NDArray[Any]]:
        if self._door.view is not None:
            return super()._map_leaves(kernel, cells, *arguments)
        arrays = cells_of(self._device, cells)

        def come_in(rows: Any, mask: Any) -> None:
            self._slab.enter_cells(rows, self._door, arrays, mask)

        if kernel is count_planes:
            return [self._rings(come_in, np.empty((len(cells), 0)), np.empty(0), np.empty(0))[0][:, 0]]
        return self._offsets(come_in, *arguments)

    def _rings(self, come_in: Any, centers: FloatArray, edges: FloatArray, units: FloatArray) -> list[NDArray[Any]]:
        """Count rows by center and ring; without edges by center."""
        k, columns, put = len(centers), centers.shape[1] if edges.size else 0, self._device.put
        rings = put(edges), edges.size, put(units), int(units.size > 0)
        places = put(centers.T)

        def add(rows: Any, mask: Any, counts: Any) -> None:
            come_in(rows, mask)
            self._slab.count_rings(columns, places, k, rings, counts)

        return [self._added((k, edges.size + 1), add)]

    def _offsets(
        self, come_in: Any, anchors: FloatArray, radii: FloatArray, widths: FloatArray, kernel: str
    ) -> list[NDArray[Any]]:
        """Sum clipped offsets, and weights, which are one more column."""
        (k, d), put = anchors.shape, self._device.put
        places, reach, units, code = put(anchors.T), put(np.array(radii)), put(1.0 / widths), KERNELS.index(kernel)

        def add(rows: Any, mask: Any, totals: Any) -> None:
            come_in(rows, mask)
            self._slab.sum_offsets(places, k, reach, units, code, totals)

        copies = max(min(COPIES, MOST_TOTALS // (k * (d + 1))), 1)
        totals = self._added((copies, d + 1, k), add).sum(axis=0)
        return [totals[:d].T, totals[d]]

    def _costs(
        self, come_in: Any, first: FloatArray, second: FloatArray, scaled: ScaledCenters, *bounds: Any
    ) -> list[NDArray[Any]]:
        """Sum costs, or differences of costs."""
        put, search = self._device.put, Search(self._device, scaled, far_ends(self._door.n_columns))
        ours, theirs = put(first.T), put(second.T if len(second) else first.T)
        is_median, inverse_step, most = bounds
        steps = int(is_median), inverse_step, float(most)

        def add(rows: Any, mask: Any, total: Any) -> None:
            come_in(rows, mask)
            self._slab.add_costs(ours, len(first), theirs, len(second), steps, search, total)

        return [self._added((1,), add)]

    def _tally(self, size: int, kernel: Callable[..., Any], *arguments: Any) -> IntArray:
        if kernel is not count_below or self._door.view is not None:
            return super()._tally(size, kernel, *arguments)
        return self._below(size, *arguments)

    def _below(self, size: int, route: Route, cells: CodeArray, table: IntArray, depth: int, levels: int) -> IntArray:
        """Count rows in all cells some levels below those of a level."""
        put, last, words = self._device.put, route.axes.size, cells.shape[1]
        arrays, halves = route_of(self._device, route)
        shift = WORD + 1 - table.size.bit_length()
        looked = put(cells), words, put(masks(np.array(depth), words)[0]), shift, put(table), table.size, depth, levels

        def add(rows: Any, mask: Any, totals: Any) -> None:
            self._slab.load(rows)
            self._slab.enter(self._door, STEPS, mask)
            self._slab.count_below(self._slab.encode(last, arrays, halves), looked, totals)

        return self._added((size,), add, np.int64)


_NEAREST: dict[Any, Callable[..., list[NDArray[Any]]]] = {
    count_rings: CudaBackend._rings,
    sum_offsets: CudaBackend._offsets,
    sum_costs: CudaBackend._costs,
}
