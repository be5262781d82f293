"""Blocks of rows of a Spark DataFrame, gathered on its executors: only the centers of the blocks reach the driver.

Every task gathers the rows that may count of its partition, as `Gathering` does, and sends them on; a few executors join what
they get, and one joins the last and clusters the blocks.

Proof: ``proofs/blocks.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.curators.groups import hash_names
from spinney.curators.row_blocks import Entries, Gathering, entries_of
from spinney.curators.spark.groups import HEAD, Capper
from spinney.curators.spark.messages import MESSAGES, received, sent
from spinney.curators.spark.packing import MOST_VALUES, read_rows, unpacked
from spinney.questions.blocks import Tuples
from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import Door

#: Executors that join what tasks gathered.
JOINERS = 8
NO_MASK = np.empty(0, np.uint8)


def written(gathering: Gathering) -> Iterator[Any]:
    """Yield the rows that may count as messages, none very long, to any of the executors that join them."""
    entries = gathering.entries()
    most = max(MOST_VALUES // (4 + entries.rows.shape[1]), 1)
    parts = (entries.take(slice(start, start + most)) for start in range(0, len(entries.rows), most))
    return sent((int(part.marks[0, 0] % np.uint64(JOINERS)), part.to_bytes()) for part in parts)


@dataclass(frozen=True, repr=False)
class BlockTask:
    """What an executor does with a partition's blocks of packed rows: messages with those that may count."""

    tuples: Tuples
    domain: Domain
    door: Door
    dtype: str
    key: bytes = field(repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield messages."""
        gathering = Gathering(self.tuples, self.domain, together=False)
        for rows in unpacked(batches, self.door.n_columns, self.dtype):
            gathering.add(entries_of(rows, NO_MASK, self.door, self.tuples.n_blocks, self.key))
        return written(gathering)


@dataclass(frozen=True, repr=False)
class Placer(Capper):
    """As `Capper`; the rows of a group that count go together to the block of its name, and on as messages."""

    task: BlockTask

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield messages."""
        task = self.task
        gathering = Gathering(task.tuples, task.domain, together=True)
        for batch in self.capped(batches):
            seeds = hash_names(batch.column(0).to_pylist(), task.key)
            rows = read_rows(batch.column(len(HEAD)), self.width)
            gathering.add(entries_of(rows, NO_MASK, task.door, task.tuples.n_blocks, task.key, seeds))
        return written(gathering)


@dataclass(frozen=True, repr=False)
class Joiner:
    """What an executor does with several messages: messages with all of their rows, or at last one with the centers."""

    tuples: Tuples
    domain: Domain
    together: bool
    is_last: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield messages."""
        gathering = Gathering(self.tuples, self.domain, self.together)
        for _, message in received(batches):
            gathering.add(Entries.from_bytes(message, self.domain.n_features))
        return sent([(0, gathering.centers().astype("<f8").tobytes())]) if self.is_last else written(gathering)


def block_centers(messages: Any, task: BlockTask, together: bool) -> FloatArray:
    """Run the action of Spark that clusters blocks of rows and return their centers."""
    for count, is_last in ((JOINERS, False), (1, True)):
        joiner = Joiner(task.tuples, task.domain, together, is_last)
        messages = messages.repartitionById(count, "place").mapInArrow(joiner, MESSAGES)
    ((_, message),) = received(messages.toArrow().to_batches())
    return np.frombuffer(message, "<f8").reshape(task.tuples.n_blocks, task.tuples.k, -1).astype(np.float64)
