"""Rows of numbers: which kernel computes which aggregate.

A backend supplies `_map`, which applies a compiled kernel to all rows batch by batch and adds up the partial results, exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney.curators.backend import Backend
from spinney.curators.cluster_kernels import count_cluster_bins, count_cluster_rows, sum_columns
from spinney.curators.demand import SnappedBackend
from spinney.curators.entrance import Near
from spinney.curators.kernels import (
    add_up,
    count_cells,
    count_columns,
    count_planes,
    count_rings,
    count_rows,
    sum_costs,
    sum_offsets,
    sum_planes,
)
from spinney.curators.slopes import sum_slopes
from spinney.curators.views import fenced, narrowed, projected
from spinney.privacy import Adjacency, Unit
from spinney.questions import ClusterBins, Clusters, ColumnBins, PlaneCells, Rings, Whole
from spinney.questions.blocks import Tuples
from spinney.questions.cost import COST_STEPS, Costs
from spinney.questions.ground import Ground
from spinney.questions.minimize import Slopes
from spinney.questions.persons import OneEach
from spinney.questions.question import OfEachRow
from spinney.questions.sums import Offsets
from spinney.questions.totals import ColumnTotals
from spinney.spaces import Domain, Door, FiniteMetric, FloatArray, IntArray, as_floats, door, scale_centers
from spinney.trees.quadtree import WORD, TreeCells

#: Which kernel computes what is asked about clusters and the columns behind.
_OF_CLUSTERS: dict[type, Callable[..., IntArray]] = {
    Clusters: count_cluster_rows,
    ClusterBins: count_cluster_bins,
    ColumnTotals: sum_columns,
}


class NumberBackend(Backend):
    """Rows of numbers in a public domain: a row with a value that is not finite is read as its middle, or dropped."""

    def __init__(self, ground: Ground, nan_to_center: bool) -> None:
        self.ground = ground
        self._door = door(self.domain, nan_to_center)
        self._key: Callable[[], bytes] | None = None
        self._secret: bytes | None = None
        self._forget()

    @abstractmethod
    def _map(self, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        """Apply ``kernel(rows, mask, door, *arguments)`` to all batches; return the sums of its results, exactly."""

    @abstractmethod
    def _map_nearest(self, centers: FloatArray, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        """As `_map`, for kernels that also take each row's nearest center: ``kernel(rows, mask, door, labels, *arguments)``."""

    def _map_leaves(self, kernel: Callable[..., Any], cells: PlaneCells, *arguments: Any) -> list[NDArray[Any]]:
        """As `_map`, for kernels that take a tree of planes, and where an earlier question's walks ended, if that is known."""
        return self._map(kernel, cells, None, *arguments)

    def _forget(self) -> None:
        """Drop what was remembered of earlier questions."""
        self._over: tuple[Tuples, Backend] | None = None

    @property
    def domain(self) -> Domain:
        """The public domain that rows are clipped to."""
        assert self.ground.domain is not None
        return self.ground.domain

    def within(self, domain: Domain) -> Self:
        """Return a backend over the same rows that clips them to another public domain, and remembers nothing of this one."""
        ground = self.ground.within(domain)
        assert ground.domain is not None
        return self._behind(ground, narrowed(self._door, ground.domain))

    def projected(self, directions: FloatArray, domain: Domain) -> Self:
        return self._behind(*projected(self._door, self.ground, directions, domain))

    def near(self, centers: FloatArray, kept: IntArray) -> Self:
        return self._behind(self.ground, fenced(self._door, self.ground, centers, kept))

    def _behind(self, ground: Ground, door: Door) -> Self:
        inner = object.__new__(type(self))
        vars(inner).update(vars(self))
        inner.ground, inner._door = ground, door
        inner._forget()
        return inner

    def at(self, space: FiniteMetric) -> Backend:
        return SnappedBackend(self, space)

    def exact(self, aggregate: Any, levels_below: int = 0) -> Any:
        if isinstance(aggregate, TreeCells):
            return self._cell_counts(aggregate, levels_below)
        if isinstance(aggregate, Rings):
            units = np.empty(0) if aggregate.widths is None else 1 / aggregate.widths**2
            (counts,) = self._map_nearest(aggregate.centers, count_rings, aggregate.centers, aggregate.edges**2, units)
            return counts if aggregate.edges.size else counts[:, 0]
        if isinstance(aggregate, PlaneCells):
            return self._map_leaves(count_planes, aggregate)[0]
        if isinstance(aggregate, ColumnBins):
            return aggregate.merged(self._map(count_columns)[0])
        if type(aggregate) in _OF_CLUSTERS and self._door.view is None:  # columns behind are those of rows as they are
            return self._map(_OF_CLUSTERS[type(aggregate)], aggregate)[0]
        if isinstance(aggregate, OneEach) and self._door.view is None:
            return self._one_each().exact(aggregate.clusters)
        if isinstance(aggregate, Whole):
            return self._map(count_rows)[0]
        if isinstance(aggregate, Offsets):
            arguments = aggregate.anchors, aggregate.radii, aggregate.widths, aggregate.kernel
            if isinstance(aggregate.centers, PlaneCells):
                return self._map_leaves(sum_planes, aggregate.centers, *arguments)
            return self._map_nearest(aggregate.centers, sum_offsets, *arguments)
        if isinstance(aggregate, Costs):
            first, second = aggregate.first, aggregate.second
            scaled = scale_centers(second if len(second) else first)
            bounds = aggregate.power == 1, 1 / aggregate.step, COST_STEPS
            return self._map_nearest(first, sum_costs, first, second, scaled, *bounds)
        if isinstance(aggregate, Slopes):
            return self._map_nearest(aggregate.centers, sum_slopes, aggregate.points, aggregate.radii)
        if isinstance(aggregate, Tuples):
            return self._over_centers(aggregate)
        if isinstance(aggregate, OfEachRow):
            return self._map(add_up, aggregate)[0]
        raise TypeError("rows of numbers have no such aggregate")

    def _cell_counts(self, cells: TreeCells, levels_below: int = 0) -> IntArray:
        """Return exact counts of tree cells by one pass over the rows; a backend may know a faster way, or look ahead."""
        last = int(cells.depths.max(initial=1))
        codes = np.ascontiguousarray(cells.codes[:, : -(-last // WORD)])
        (counts,) = self._map(count_cells, cells.splits.route.until(last), codes, cells.depths)
        return counts

    def _over_centers(self, tuples: Tuples) -> Backend:
        """Return a backend over the centers of blocks; equal disjoint blocks are made once."""
        if self._over is None or self._over[0] != tuples or tuples.sampling != "disjoint":
            self._over = tuples, self._blocks_over(tuples)
        return self._over[1]

    def _blocks_over(self, tuples: Tuples) -> Backend:
        """Return a backend over the centers of blocks of rows; a backend that cannot distinguish rows by a secret has none."""
        raise TypeError("these rows make no blocks")

    def _one_each(self) -> Backend:
        """Return a backend over one row of each group, drawn by the secret that draws those that count."""
        raise TypeError("these rows have no persons")

    @property
    def _one_row(self) -> Unit:
        """The unit with one row that counts."""
        return Unit(Adjacency.REPLACE if self._door.nan_to_center else Adjacency.ADD_REMOVE, 1)

    def _drawn_secret(self) -> bytes:
        """Return the secret that says which row is in which block: the secret of the groups, or one drawn now and kept."""
        if self._secret is None:
            if self._key is None:
                raise TypeError("these rows make no blocks")
            self._secret = self._key()
        return self._secret


class Batched(NumberBackend):
    """Rows that come batch by batch to where the fit runs; of steady batches the labels of the last centers are kept."""

    @abstractmethod
    def _each_batch(self, task: Callable[..., Any]) -> Iterator[Any]:
        """Yield ``task(rows, mask, start)`` of all batches, in their order; a batch starts at this row."""

    @property
    @abstractmethod
    def _n_steady(self) -> int:
        """How many rows come in the same batches in every pass, the first ones."""

    @property
    def _n_exact(self) -> int:
        """How many batches add up in 64 bits before they go into integers of any size."""
        return 1

    def _forget(self) -> None:
        super()._forget()
        #: The last centers asked about, and the index of the nearest for each row of those batches of which they are kept.
        self._labels: tuple[FloatArray, dict[int, NDArray[Any]]] = np.empty((0, 0)), {}

    def _map(self, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        return self._summed(lambda rows, mask, start: kernel(rows, mask, self._door, *arguments))

    def _map_nearest(self, centers: FloatArray, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        if not np.array_equal(self._labels[0], centers):
            self._labels = centers.copy(), {}
        found, scaled = self._labels[1], scale_centers(centers)
        kind = np.min_scalar_type(-max(len(centers), 1))  # as few bytes as hold all centers, and -1

        def once(rows: NDArray[Any], mask: NDArray[np.uint8], start: int) -> Any:
            labels = found.get(start)
            if labels is not None and len(labels) == len(rows):
                return kernel(rows, mask, self._door, labels.astype(np.int32), *arguments)
            near = Near(scaled, np.empty(len(rows), dtype=np.int32))
            part = kernel(rows, mask, self._door, near, *arguments)
            if len(rows) and start + len(rows) <= self._n_steady:
                found[start] = near.labels.astype(kind)
            return part

        return self._summed(once)

    def _summed(self, once: Callable[..., Any]) -> list[NDArray[Any]]:
        """Add up what each batch gives, in integers of any size."""

        def parts(*batch: Any) -> tuple[NDArray[Any], ...]:
            part = once(*batch)
            return part if isinstance(part, tuple) else (part,)

        # A batch without rows gives the shapes.
        sums = list(parts(as_floats(np.empty((0, self._door.n_columns))), np.empty(0, np.uint8), 0))
        totals = [part.astype(object) for part in sums]
        for i, more in enumerate(self._each_batch(parts), start=1):
            sums = [total + part for total, part in zip(sums, more, strict=True)]
            if i % self._n_exact == 0:
                totals = [total + part for total, part in zip(totals, sums, strict=True)]
                sums = [np.zeros_like(part) for part in sums]
        return [total + part for total, part in zip(totals, sums, strict=True)]
