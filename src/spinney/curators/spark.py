"""Rows on a Spark cluster: executors add up exact integers, the driver adds the noise.

A question is one Spark job. Every task applies the question's kernel to its blocks of rows and sends one message, an array of
exact sums; executors add up messages group by group until one is left, and the driver gets that one. Its size follows from the
question's public arguments. No row, label or path code leaves a task.

The driver and the executors are one trusted side: what travels between them is exact and private. Noise is added once, on the
driver, by the questions; only what they answer may leave.
"""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.backend import Backend
from spinney.curators.frame_blocks import FAN_IN as JOINED
from spinney.curators.frame_blocks import BlockTask, Joiner, read_centers
from spinney.curators.kernels import find_nearest
from spinney.curators.lookahead import LookAhead
from spinney.curators.memory import over_centers
from spinney.curators.row_blocks import only_disjoint
from spinney.exceptions import DataError
from spinney.privacy.pricing import Unit
from spinney.questions.blocks import Tuples
from spinney.questions.ground import Ground
from spinney.spaces.box import FloatArray, IntArray
from spinney.spaces.grid import Door, as_floats
from spinney.spaces.nearest import ScaledCenters, scale_centers

#: Most tasks whose messages go straight to the driver; of more tasks, this many at a time are added up on the cluster first.
FEW_TASKS, FAN_IN = 4, 64
#: Sums are split into words of this many bits: 2**31 messages add up in 64 bits before words are carried.
HALF = 32
#: A message starts with its kind: all numbers, or the numbers that are not zero and their places.
DENSE, SPARSE = b"d", b"s"
NO_MASK = np.empty(0, np.uint8)
#: What is said of a job that failed: its own error may quote rows.
FAILURE = "A Spark job failed.", "Spark's log says why. Another fit spends its own budget, on top of this."
#: Loggers of PySpark that write to the driver what an expression said about a cell.
LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


@contextmanager
def muted_loggers() -> Iterator[None]:
    """Keep cells that a failed job quotes out of the driver's output: PySpark's loggers say nothing about this thread's jobs."""
    from pyspark.logger import PySparkLogger

    here = threading.get_ident()

    def is_elsewhere(record: Any) -> bool:
        return bool(record.thread != here)

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]  # made by PySpark, which gives them more than names
    for logger in loggers:
        logger.addFilter(is_elsewhere)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_elsewhere)


@dataclass(frozen=True, repr=False)
class Task:
    """The public arguments of a question, broadcast to the executors. The kernel goes by its name, so that caches are found.

    ``size`` is the length of the totals that a `_tally` kernel adds to; 0 for kernels that return their sums.
    """

    module: str
    kernel: str
    n_features: int
    door: Door
    scaled: ScaledCenters | None
    size: int
    arguments: tuple[Any, ...]

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
        return [part.shape for part in self.apply(as_floats(np.empty((0, self.n_features))))]

    @property
    def length(self) -> int:
        """The number of words of a message."""
        return self.size or 2 * sum(math.prod(shape) for shape in self.shapes)


def split(sums: IntArray) -> IntArray:
    """Return 64-bit numbers as two words each: first all upper halves, which have the sign, then all lower halves."""
    return np.concatenate([sums >> HALF, sums & (2**HALF - 1)])


def carry(words: IntArray) -> IntArray:
    """Move what exceeds the lower halves to the upper ones."""
    upper, lower = np.split(words, 2)
    return np.concatenate([upper + (lower >> HALF), lower & (2**HALF - 1)])


def join(words: IntArray) -> NDArray[Any]:
    """Return numbers given as two words each as integers of any size."""
    upper, lower = np.split(words, 2)
    joined: NDArray[Any] = upper.astype(object) * 2**HALF + lower
    return joined


def write_message(totals: IntArray, is_last: bool) -> bytes:
    """Return totals as bytes: without the zeros if that is shorter, but in full on the way to the driver."""
    places = np.empty(0, np.int64) if is_last else np.flatnonzero(totals)
    if is_last or 12 * places.size >= 8 * totals.size:
        return DENSE + totals.astype("<i8").tobytes()
    return SPARSE + totals[places].astype("<i8").tobytes() + places.astype("<u4").tobytes()


def add_message(totals: IntArray, message: bytes) -> None:
    """Add what `write_message` wrote to totals of the same length."""
    if message[:1] == DENSE:
        totals += np.frombuffer(message, "<i8", offset=1)
        return
    count = (len(message) - 1) // 12
    totals[np.frombuffer(message, "<u4", offset=1 + 8 * count)] += np.frombuffer(message, "<i8", count, offset=1)


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


@dataclass(frozen=True, repr=False)
class Mapper:
    """What an executor does with a partition's blocks of rows: one message with its sums."""

    task: Any  # a broadcast Task
    dtype: str
    is_last: bool

    def __call__(self, index: int, blocks: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
        """Yield the partition's index and its message."""
        task: Task = self.task.value
        rows = (as_floats(np.frombuffer(block, self.dtype).reshape(task.n_features, -1).T) for (block,) in blocks)
        message = write_message(task.total(rows), self.is_last)
        settle(task.module, task.kernel)
        yield index, message


@dataclass(frozen=True, repr=False)
class Merger:
    """What an executor does with several messages: one message with their sum."""

    length: int
    is_wide: bool
    is_last: bool

    def __call__(self, index: int, messages: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Yield the group's index and its message."""
        totals = np.zeros(self.length, dtype=np.int64)
        for _, message in messages:
            add_message(totals, message)
        yield index, write_message(carry(totals) if self.is_wide else totals, self.is_last)


class SparkBackend(LookAhead):
    """Rows on a Spark cluster.

    Parameters
    ----------
    nonprivate_blocks : RDD
        Rows packed in blocks: each element holds one item, the bytes of an F-ordered array.
    dtype : {"<f4", "<f8"}
        The type of the blocks' numbers.
    ground, unit
        As for rows in memory.
    key : callable, optional
        Draws a secret; without one rows make no blocks.
    place : callable, optional
        If rows have groups: their secret, and what gives messages of a `BlockTask` for rows with their groups, as an RDD.
    one_each : callable, optional
        If rows have groups: gives one row of each as an RDD of packed blocks.
    """

    def __init__(
        self,
        nonprivate_blocks: Any,
        dtype: str,
        ground: Ground,
        unit: Unit,
        key: Callable[[], bytes] | None = None,
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
        return Task(kernel.__module__, kernel.__name__, self._door.n_columns, self._door, scaled, size, arguments)

    def _sum(self, task: Task) -> list[NDArray[Any]]:
        """Return the sums of a kernel's results in integers of any size."""
        ends = np.cumsum([math.prod(shape) for shape in task.shapes])
        sums = np.split(join(self._run(task)), ends[:-1])
        return [part.reshape(shape) for part, shape in zip(sums, task.shapes, strict=True)]

    def _run(self, task: Task) -> IntArray:
        """Run one Spark job and return the sum of its messages."""
        totals = np.zeros(task.length, dtype=np.int64)
        shared = self._blocks.context.broadcast(task)

        def plan() -> Any:
            count = self._blocks.getNumPartitions()
            is_last = count <= FEW_TASKS
            messages = self._blocks.mapPartitionsWithIndex(Mapper(shared, self._dtype, is_last))
            while not is_last:
                count = -(-count // FAN_IN)
                is_last = count == 1
                merger = Merger(totals.size, not task.size, is_last)
                messages = messages.partitionBy(count, int).mapPartitionsWithIndex(merger)
            return messages

        try:
            for _, message in _collected(plan):
                add_message(totals, message)
        finally:
            shared.destroy()
        return totals

    def _one_each(self) -> SparkBackend:
        return self if self._drawn is None else SparkBackend(self._drawn(), self._dtype, self.ground, self._one_row)

    def _blocks_over(self, tuples: Tuples) -> Backend:
        only_disjoint(tuples)
        task = BlockTask(tuples, self.domain, self._door, self._dtype, self._drawn_secret())

        def plan() -> Any:
            if self._place is None:
                messages = self._blocks.mapPartitionsWithIndex(task)
            else:
                messages = self._place(task).mapPartitionsWithIndex(_numbered)
            count = messages.getNumPartitions()
            while True:
                count = max(-(-count // JOINED), 1)
                joiner = Joiner(tuples, self.domain, self._place is not None, count == 1)
                messages = messages.partitionBy(count, int).mapPartitionsWithIndex(joiner)
                if count == 1:
                    return messages

        ((_, message),) = _collected(plan)
        return over_centers(read_centers(message, tuples), self.ground)


def _numbered(index: int, cells: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Yield messages with the index of their partition."""
    return ((index, message) for (message,) in cells)


def _collected(plan: Callable[[], Any]) -> list[Any]:
    """Run the Spark job of an RDD and return its elements, or raise an error that reveals nothing about rows."""
    found: list[Any] | None = None
    try:
        with muted_loggers():
            found = plan().collect()
    except Exception:
        pass  # Spark's own message may quote what a user's function said about a row, so it stays in Spark's log
    if found is None:
        raise DataError(*FAILURE)  # not above, where Spark's error would become its context
    return found
