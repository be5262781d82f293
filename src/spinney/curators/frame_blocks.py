"""Blocks of rows of a Spark DataFrame, gathered on its executors: only the centers of the blocks reach the driver.

Every task gathers the rows that may count of its partition, as `Gathering` does, and sends them on as one message; executors join
messages group by group, and the one that joins the last clusters the blocks.

Proof: ``proofs/blocks.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.curators.frame_groups import HEAD, Capper
from spinney.curators.frames import read_columns
from spinney.curators.groups import hash_names
from spinney.curators.row_blocks import Entries, Gathering, entries_of
from spinney.questions.blocks import Tuples
from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import Door, as_floats

#: Messages that are joined at a time: each holds rows.
FAN_IN = 8
NO_MASK = np.empty(0, np.uint8)


@dataclass(frozen=True, repr=False)
class BlockTask:
    """What an executor does with a partition's blocks of packed rows: one message with those that may count."""

    tuples: Tuples
    domain: Domain
    door: Door
    dtype: str
    key: bytes = field(repr=False)

    def __call__(self, index: int, blocks: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
        """Yield the partition's index and its message."""
        gathering = Gathering(self.tuples, self.domain, together=False)
        for (block,) in blocks:
            rows = as_floats(np.frombuffer(block, self.dtype).reshape(self.door.n_columns, -1).T)
            gathering.add(entries_of(rows, NO_MASK, self.door, self.tuples.n_blocks, self.key))
        yield index, gathering.entries().to_bytes()


@dataclass(frozen=True, repr=False)
class Placer(Capper):
    """As `Capper`; the rows of a group that count go together to the block of its name, and come out as one message."""

    task: BlockTask

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the message as an Arrow batch of one binary cell."""
        import pyarrow

        task = self.task
        gathering = Gathering(task.tuples, task.domain, together=True)
        for batch in self._capped(batches):
            seeds = hash_names(batch.column(0).to_pylist(), task.key)
            rows = read_columns(batch.columns[len(HEAD) :], self.dtype)
            gathering.add(entries_of(rows, NO_MASK, task.door, task.tuples.n_blocks, task.key, seeds))
        message = pyarrow.array([gathering.entries().to_bytes()], pyarrow.binary())
        yield pyarrow.RecordBatch.from_pydict({"block": message})

    def _numbers(self, table: Any, kept: Any) -> Iterator[Any]:
        import pyarrow

        yield from table.filter(pyarrow.array(kept)).combine_chunks().to_batches()


@dataclass(frozen=True, repr=False)
class Joiner:
    """What an executor does with several messages: one message with all of their rows, or at last the centers."""

    tuples: Tuples
    domain: Domain
    together: bool
    is_last: bool

    def __call__(self, index: int, messages: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Yield the group's index, and its message or the centers."""
        gathering = Gathering(self.tuples, self.domain, self.together)
        for _, message in messages:
            gathering.add(Entries.from_bytes(message, self.domain.n_features))
        yield index, gathering.centers().astype("<f8").tobytes() if self.is_last else gathering.entries().to_bytes()


def read_centers(message: bytes, tuples: Tuples) -> FloatArray:
    """Return the centers that the last joiner wrote."""
    return np.frombuffer(message, "<f8").reshape(tuples.n_blocks, tuples.k, -1).astype(np.float64)
