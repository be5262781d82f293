"""Rows on a Spark cluster: executors add up exact integers, the driver adds the noise.

A question is one action of Spark. Every task applies the question's kernel to its rows; executors add up what tasks
found, and the driver gets the sums. How many there are follows from the question's public arguments, which travel with the
function. No row, label or path code leaves a task.

The driver and the executors are one trusted side: what travels between them is exact and private. Noise is added once, on the
driver, by the questions; only what they answer may leave.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.backend import Backend
from spinney.curators.kernels import find_nearest
from spinney.curators.lookahead import LookAhead
from spinney.curators.memory import over_centers
from spinney.curators.row_blocks import only_disjoint
from spinney.curators.spark.blocks import BlockTask, block_centers
from spinney.curators.spark.messages import MESSAGES, carry, chunks, join, merged, sent, split, total, write_message
from spinney.curators.spark.packing import unpacked
from spinney.curators.spark.session import answered
from spinney.privacy.pricing import Unit
from spinney.questions.blocks import Tuples
from spinney.questions.ground import Ground
from spinney.spaces.box import FloatArray, IntArray
from spinney.spaces.grid import Door, as_floats
from spinney.spaces.nearest import ScaledCenters, scale_centers
from spinney.trees.quadtree import TreeCells

NO_MASK = np.empty(0, np.uint8)
#: Most cells that one action is about: what travels with the function is far below what Spark Connect takes, 128 MiB.
MOST_ASKED = 2**20


@dataclass(frozen=True, repr=False)
class Task:
    """The public arguments of a question, and what an executor does with a partition's blocks of rows of the type `dtype`.

    The kernel goes by its name, so that caches are found.
    ``size`` is the length of the totals that a `_tally` kernel adds to; 0 for kernels that return their sums.
    """

    module: str
    kernel: str
    dtype: str
    door: Door
    scaled: ScaledCenters | None
    size: int
    arguments: tuple[Any, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield sums, in messages."""
        totals = self.total(unpacked(batches, self.door.n_columns, self.dtype))
        settle(self.module, self.kernel)
        return sent((place, write_message(chunk, False)) for place, chunk in chunks(totals))

    def total(self, blocks: Iterable[NDArray[Any]]) -> IntArray:
        """Return the exact sums over blocks of rows, for kernels that return their sums as two words each."""
        if self.size:
            totals, kernel = np.zeros(self.size, dtype=np.int64), self.find_kernel()
            for rows in blocks:
                kernel(rows, NO_MASK, self.door, totals, *self.arguments)
            return totals
        words: IntArray | None = None
        for rows in blocks:
            more = split(np.concatenate([part.ravel() for part in self.apply(rows)]))
            words = more if words is None else words + more
        return np.zeros(self.length, dtype=np.int64) if words is None else carry(words)

    def find_kernel(self) -> Callable[..., Any]:
        """Return the kernel; its module is imported where it is not."""
        kernel: Callable[..., Any] = getattr(import_module(self.module), self.kernel)
        return kernel

    def apply(self, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """Return the kernel's results for one block of rows."""
        labels = () if self.scaled is None else (find_nearest(rows, NO_MASK, self.door, self.scaled),)
        part = self.find_kernel()(rows, NO_MASK, self.door, *labels, *self.arguments)
        return part if isinstance(part, tuple) else (part,)

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the kernel's results."""
        return [part.shape for part in self.apply(as_floats(np.empty((0, self.door.n_columns))))]

    @property
    def length(self) -> int:
        """The number of words of all messages together."""
        return self.size or 2 * sum(math.prod(shape) for shape in self.shapes)


_settled: set[tuple[str, str]] = set()


def settle(module: str, kernel: str) -> None:
    """Take what is loaded by now out of garbage collection, once for each kernel of this process.

    A Python worker of Spark collects garbage after every task. With the kernels and their compiler loaded that took longer than
    most tasks: nine tenths of a worker's time on small partitions.
    """
    if (module, kernel) not in _settled:
        _settled.add((module, kernel))
        gc.collect()
        gc.freeze()


class SparkBackend(LookAhead):
    """Rows on a Spark cluster, packed: each row of the frame holds the bytes of a few rows of numbers of the type `dtype`.

    If rows have groups, `place` gives messages of a `BlockTask` for rows with their groups, `one_each` a packed row of each.
    """

    def __init__(
        self,
        nonprivate_blocks: Any,
        dtype: str,
        ground: Ground,
        unit: Unit,
        key: Callable[[], bytes],
        place: Callable[[BlockTask], Any] | None = None,
        one_each: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(ground, unit.replaces)
        self._blocks, self._dtype = nonprivate_blocks, dtype
        self._key, self._place, self._drawn = key, place, one_each

    def _map(self, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        return self._sum(self._task(kernel, arguments))

    def _map_nearest(self, centers: FloatArray, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        return self._sum(self._task(kernel, arguments, scaled=scale_centers(centers)))

    def _tally(self, size: int, kernel: Callable[..., Any], *arguments: Any) -> IntArray:
        return self._run(self._task(kernel, arguments, size=size))

    def _task(self, kernel: Any, arguments: tuple[Any, ...], scaled: ScaledCenters | None = None, size: int = 0) -> Task:
        return Task(kernel.__module__, kernel.__name__, self._dtype, self._door, scaled, size, arguments)

    def _sum(self, task: Task) -> list[NDArray[Any]]:
        """Return the sums of a kernel's results in integers of any size."""
        ends = np.cumsum([math.prod(shape) for shape in task.shapes])
        sums = np.split(join(self._run(task)), ends[:-1])
        return [part.reshape(shape) for part, shape in zip(sums, task.shapes, strict=True)]

    def _run(self, task: Task) -> IntArray:
        """Run one action of Spark and return the sums."""
        batches = answered(lambda: merged(self._blocks.mapInArrow(task, MESSAGES), task.length).toArrow().to_batches())
        return total(batches, task.length)

    def _cell_counts(self, cells: TreeCells, levels_below: int = 0) -> IntArray:
        """Return exact counts of tree cells, not too many of them at a time."""
        if len(cells) <= MOST_ASKED:
            return super()._cell_counts(cells, levels_below)
        starts = np.arange(0, len(cells), MOST_ASKED)
        parts = [super(SparkBackend, self)._cell_counts(cells.take(part)) for part in np.split(np.arange(len(cells)), starts[1:])]
        return np.concatenate(parts)

    def _one_each(self) -> SparkBackend:
        if self._drawn is None:
            return self
        return SparkBackend(self._drawn(), self._dtype, self.ground, self._one_row, self._drawn_secret)

    def _blocks_over(self, tuples: Tuples) -> Backend:
        only_disjoint(tuples)
        task = BlockTask(tuples, self.domain, self._door, self._dtype, self._drawn_secret())

        def gather() -> FloatArray:
            here = self._blocks.mapInArrow(task, MESSAGES) if self._place is None else self._place(task)
            return block_centers(here, task, self._place is not None)

        return over_centers(answered(gather), self.ground)
