"""Rows in an array in memory: threads over chunks.

Between questions it keeps, per row, a sorted path code, the label of the last centers asked about, and its leaf of the last tree
of planes. All stay inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.groups import kept_rows
from spinney.curators.kernels import count_between
from spinney.curators.numbers import Batched
from spinney.curators.paths import masks
from spinney.curators.row_blocks import Batch, block_centers, only_disjoint, sample_centers
from spinney.curators.rows import Rows
from spinney.curators.views import drops_rows
from spinney.curators.walks import walk_codes
from spinney.privacy import Adjacency, Unit, sealed
from spinney.questions import PlaneCells
from spinney.questions.blocks import Tuples
from spinney.questions.ground import Ground
from spinney.spaces import FloatArray, IntArray
from spinney.spaces.described import Encoding
from spinney.tables.files import Table
from spinney.threads import each, n_threads
from spinney.trees.quadtree import WORD, CodeArray, Route, Splits, TreeCells

#: Rows per chunk.
CHUNK = 2**16


class MemoryBackend(Batched):
    """Rows held in memory, of any real type and memory layout; they are not copied.

    The key draws the secret that decides which rows of a group count. Rows that were not given in memory, but read from a small
    file, answer what those of larger files do, and no more.
    """

    def __init__(
        self,
        nonprivate_rows: NDArray[Any],
        ground: Ground,
        unit: Unit,
        key: Callable[[], bytes],
        groups: Any = None,
        in_memory: bool = True,
    ) -> None:
        super().__init__(ground, unit.replaces)
        self.in_memory = in_memory
        self._rows, self._groups, self._key = nonprivate_rows, groups, key
        self._mask = np.empty(0, np.uint8)
        if groups is not None:
            self._secret = key()
            self._mask = kept_rows(groups, lambda: [nonprivate_rows], unit, self._secret)

    def _forget(self) -> None:
        super()._forget()
        self._walked: tuple[PlaneCells, NDArray[np.int32]] | None = None
        self._sorted: tuple[Route, list[CodeArray]] | None = None
        self._deep: tuple[Route, CodeArray, CodeArray] | None = None

    def _chunk(self, start: int) -> Batch:
        """Return a chunk of rows, its mask and its start."""
        return self._rows[start : start + CHUNK], self._mask[start : start + CHUNK], start

    def _each_batch(self, task: Callable[..., Any]) -> Iterator[Any]:
        return each(lambda start: task(*self._chunk(start)), range(0, len(self._rows), CHUNK))

    @property
    def _n_steady(self) -> int:
        return len(self._rows)

    def _map_leaves(self, kernel: Callable[..., Any], cells: PlaneCells, *arguments: Any) -> list[NDArray[Any]]:
        nodes = np.zeros(len(self._rows), dtype=np.int32)
        if self._walked is not None and cells.grows_from(self._walked[0]):
            nodes = self._walked[1]
        self._walked = cells, nodes  # before rows walk on: where a walk is broken off, each row is still at a node of this tree

        def once(rows: NDArray[Any], mask: NDArray[np.uint8], start: int) -> Any:
            return kernel(rows, mask, self._door, cells, nodes[start : start + len(rows)], *arguments)

        return self._summed(once)

    def _blocks_over(self, tuples: Tuples) -> MemoryBackend:
        if self._groups is not None or self._key is None or not self.in_memory or drops_rows(self._door):
            only_disjoint(tuples)  # samples are of a number of rows that no neighbor changes
        elif tuples.sampling == "replacement":
            return over_centers(sample_centers(self._rows, self._door, tuples, self.domain, self._key()), self.ground)
        chunks = map(self._chunk, range(0, len(self._rows), CHUNK))
        centers = block_centers(tuples, self.domain, self._door, chunks, self._drawn_secret(), self._groups)
        return over_centers(centers, self.ground)

    def _one_each(self) -> MemoryBackend:
        if self._groups is None:
            return self
        return MemoryBackend(self._rows, self.ground, self._one_row, self._drawn_secret, self._groups)

    def _cell_counts(self, cells: TreeCells, levels_below: int = 0) -> IntArray:
        """Count by binary search in sorted path codes, first word first."""
        deep = cells.depths > WORD
        counts = np.empty(len(cells), dtype=np.int64)
        first = cells.codes[~deep, 0]
        last = first | ~masks(cells.depths[~deep], 1)[:, 0]
        pieces = self._sorted_codes(cells.splits)
        counts[~deep] = sum(each(lambda codes: np.searchsorted(codes, last, "right") - np.searchsorted(codes, first), pieces))
        if deep.any():
            counts[deep] = self._deep_counts(TreeCells(cells.splits, cells.codes[deep], cells.depths[deep]))
        return counts

    def _sorted_codes(self, splits: Splits) -> list[CodeArray]:
        """Return the first words of all codes, in sorted pieces: one for each thread, which sorts it."""
        if self._sorted is None or not splits.route.equals(self._sorted[0]):
            parts = list(self._path_codes(splits, 1))
            size = max(-(-len(parts) // n_threads()), 1)
            pieces = each(_sorted, [parts[start : start + size] for start in range(0, len(parts), size)])
            self._sorted = splits.route.copied(), list(pieces)
        return self._sorted[1]

    def _path_codes(self, splits: Splits, words: int, inside: CodeArray | None = None) -> Iterator[CodeArray]:
        """Yield the codes of all rows that count, or of those whose first word is among `inside`, chunk by chunk."""

        def once(rows: NDArray[Any], mask: NDArray[np.uint8], start: int) -> CodeArray:
            codes = np.empty((len(rows), words), dtype=np.uint64)
            kept = walk_codes(rows, mask, self._door, splits.route, words, codes)
            codes = codes[:kept]
            return codes if inside is None else codes[np.isin(codes[:, 0], inside)]

        return self._each_batch(once)

    def _deep_counts(self, cells: TreeCells) -> IntArray:
        """Count cells below the first word, among the rows whose first word belongs to one of them."""
        needed = np.unique(cells.codes[:, 0])
        route = cells.splits.route
        if self._deep is None or not route.equals(self._deep[0]) or not np.isin(needed, self._deep[1]).all():
            words = cells.splits.words
            codes = np.concatenate([np.empty((0, words), np.uint64), *self._path_codes(cells.splits, words, needed)])
            self._deep = route.copied(), needed, codes[np.lexsort(codes.T[::-1])]
        last = cells.codes | ~masks(cells.depths, cells.splits.words)  # the largest code of each cell
        return count_between(self._deep[2], cells.codes, last)


def _sorted(parts: list[CodeArray]) -> CodeArray:
    """Return the first words of parts of the codes, sorted."""
    codes = np.concatenate([part[:, 0] for part in parts])
    codes.sort()
    return codes


def over_centers(nonprivate_centers: FloatArray, ground: Ground) -> MemoryBackend:
    """Return a backend over the centers of blocks, which are replaced together."""
    assert ground.domain is not None
    rows = nonprivate_centers.reshape(-1, ground.domain.n_features)
    return MemoryBackend(rows, ground, Unit(Adjacency.REPLACE), bytes)


@dataclass(frozen=True, eq=False, repr=False)
class ArrayRows(Rows):
    """Rows of numbers in an array, whom each row belongs to, and the names of their columns.

    Those of a path are of the same kind as if they had stayed on disk: whether they do depends on their number.
    """

    nonprivate_array: NDArray[Any]
    nonprivate_groups: Any = None
    columns: tuple[str, ...] | None = None
    place: str = "memory"

    @classmethod
    def of(cls, table: Table) -> ArrayRows:
        """Return the rows of a table that was read from a path."""
        return cls(table.nonprivate_rows, table.nonprivate_groups, table.columns, "parquet")

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_features", self.nonprivate_array.shape[1])
        object.__setattr__(self, "has_groups", self.nonprivate_groups is not None)

    def encoded(self, schema: Encoding) -> ArrayRows:
        with sealed():
            return replace(self, nonprivate_array=schema.encode(self.nonprivate_array), columns=schema.titles or self.columns)

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> Iterator[MemoryBackend]:
        yield MemoryBackend(self.nonprivate_array, ground, unit, key, self.nonprivate_groups, self.place == "memory")
