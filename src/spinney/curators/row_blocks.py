"""Rows in random blocks, and the centers of each: what the question `blocks` is about. All of it stays inside.

A row goes to the block that a keyed hash of its values names; of equal rows the next one goes to the next block, and so on. With
groups a keyed hash of the name decides, and all rows of a group are together. Of a block with more rows than a public cap those
with the least hashes count. So a block is a function of its own rows and the key, whatever the other rows are, their order and
where they are; and as many rows are held as the caps allow, however many there are.

Proof: ``proofs/blocks.md``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.draws import Marks, is_new, mark_rows, run_places
from spinney.curators.entrance import CLIPPED, enter
from spinney.curators.groups import row_seeds
from spinney.exceptions import ParameterError
from spinney.questions.blocks import Tuples
from spinney.solvers.small_sets import ATTEMPTS, RESTARTS, cluster_blocks
from spinney.spaces import Domain, Door, FloatArray, as_floats

#: Most rows of all blocks together, and most rows times centers times columns, if each block keeps some rows a center.
MOST_ROWS, MOST_WORK, LEAST_ROWS = 2**20, 2**28, 8
#: Copies of rows that are put into blocks at a time, and samples that are drawn at a time.
SLICE = 2**22
#: A step toward medians treats distances below this share of the domain's half diagonal as equal.
FLOOR = 1e-4


#: Rows, which of them count, and the place of the first.
Batch = tuple[NDArray[Any], NDArray[np.uint8], int]


def only_disjoint(tuples: Tuples) -> None:
    """Raise if blocks are samples with replacement."""
    if tuples.sampling != "disjoint":
        raise ParameterError(
            "Blocks are sampled with replacement only from an array or a frame without groups.", "sampling='disjoint'."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Entries:
    """Different rows: a mark, the block of the first copy, the number of copies, and the values, clipped to the domain."""

    marks: Marks
    homes: NDArray[np.int64]
    counts: NDArray[np.int64]
    rows: FloatArray

    @classmethod
    def none(cls, n_features: int) -> Entries:
        """Return no entries."""
        whole = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, 2), dtype=np.uint64), whole, whole, np.empty((0, n_features)))

    def take(self, places: Any) -> Entries:
        """Return some of them."""
        return Entries(self.marks[places], self.homes[places], self.counts[places], self.rows[places])

    @classmethod
    def joined(cls, parts: list[Entries]) -> Entries:
        """Put entries together, sorted by their marks, equal ones as one."""
        marks, homes = np.concatenate([part.marks for part in parts]), np.concatenate([part.homes for part in parts])
        counts, rows = np.concatenate([part.counts for part in parts]), np.concatenate([part.rows for part in parts])
        whole = cls(marks, homes, counts, rows)
        order = np.argsort(marks[:, 0])
        if marks.shape[0] and (np.diff(marks[order, 0]) == 0).any():  # equal rows, or halves of marks
            order = np.lexsort((*rows.T, homes, marks[:, 1], marks[:, 0]))
        whole = whole.take(order)
        first = np.flatnonzero(is_new(*whole.marks.T, whole.homes, *whole.rows.T))
        sums = np.add.reduceat(whole.counts, first) if first.size else whole.counts
        kept = whole.take(first)
        return cls(kept.marks, kept.homes, sums, kept.rows)

    def to_bytes(self) -> bytes:
        """Return a message."""
        columns = [self.marks.view(np.int64), self.homes[:, None], self.counts[:, None], self.rows.view(np.int64)]
        return np.concatenate(columns, axis=1).astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, message: bytes, n_features: int) -> Entries:
        """Read what `to_bytes` wrote."""
        table = np.frombuffer(message, "<i8").reshape(-1, 4 + n_features).astype(np.int64)
        marks, rows = np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 4:])
        return cls(marks.view(np.uint64), table[:, 2], table[:, 3], rows.view(np.float64))


def _entered(rows: NDArray[Any], mask: NDArray[np.uint8], door: Door) -> Iterator[tuple[slice, FloatArray, NDArray[np.bool_]]]:
    """Yield stretches of rows as they come in, clipped, and which of them count."""
    for part in enter(as_floats(rows), mask, door, CLIPPED):
        yield part.here, part.rows.copy(), part.alive


def entries_of(
    rows: NDArray[Any], mask: NDArray[np.uint8], door: Door, n_blocks: int, key: bytes, seeds: NDArray[np.uint64] | None = None
) -> Entries:
    """Return the rows of a batch that count, each with its block; seeds are keyed hashes of the names of groups, if any."""
    parts = [Entries.none(door.lower.size)]
    for here, values, alive in _entered(rows, mask, door):
        own = np.zeros(len(values), dtype=np.uint64) if seeds is None else seeds[here]
        marks, _ = mark_rows(own, values, key)  # of what was read: a broken row is a row in the middle here, too
        homes = ((marks[:, 1] if seeds is None else own) % np.uint64(n_blocks)).astype(np.int64)
        parts.append(Entries(marks, homes, np.ones(len(values), dtype=np.int64), values + 0.0).take(alive))
    return Entries.joined(parts)


@dataclass(eq=False, repr=False)
class Gathering:
    """Gathers rows of blocks batch by batch, and holds no more of them than may count."""

    tuples: Tuples
    domain: Domain
    #: Whether equal rows stay in one block, because they are of one group.
    together: bool

    def __post_init__(self) -> None:
        self._parts = [Entries.none(self.domain.n_features)]
        self._size = self._held = 0

    @cached_property
    def most(self) -> int:
        """How many different rows of a block count, at most: public."""
        k, n_blocks = self.tuples.k, self.tuples.n_blocks
        room = min(MOST_ROWS, MOST_WORK // (k * self.domain.n_features))
        return max(room // n_blocks, LEAST_ROWS * k)

    def add(self, part: Entries) -> None:
        """Take more rows."""
        self._parts.append(part)
        self._size += part.counts.size
        if self._size > 2 * self._held + self.most * self.tuples.n_blocks:
            self.entries()

    def entries(self) -> Entries:
        """Return the rows that may count: those before the last one that fills a block of first copies."""
        whole = Entries.joined(self._parts)
        order = np.argsort(whole.homes, kind="stable")
        places = run_places(is_new(whole.homes[order]))
        full = order[places == self.most - 1]
        if full.size == self.tuples.n_blocks:
            whole = whole.take(slice(0, int(full.max()) + 1))
        self._parts, self._size, self._held = [whole], whole.counts.size, whole.counts.size
        return whole

    def _copies(self, entries: Entries, first: int, last: int) -> tuple[NDArray[np.int64], ...]:
        """Return the copies of some entries, one for each block: their entry, block and weight."""
        counts, blocks = entries.counts[first:last], self.tuples.n_blocks
        spread = np.ones_like(counts) if self.together else np.minimum(counts, blocks)
        owner = np.repeat(np.arange(first, last), spread)
        place = run_places(is_new(owner))
        count = entries.counts[owner]
        weight = count if self.together else count // blocks + (place < count % blocks)
        return owner, (entries.homes[owner] + place) % blocks, weight

    def centers(self) -> FloatArray:
        """Return the centers of every block."""
        entries, blocks = self.entries(), self.tuples.n_blocks
        room = np.full(blocks, self.most, dtype=np.int64)
        parts = [np.empty((3, 0), dtype=np.int64)]
        slice_size = max(SLICE // blocks, 1)
        for first in range(0, entries.counts.size, slice_size):
            owner, block, weight = self._copies(entries, first, min(first + slice_size, entries.counts.size))
            order = np.argsort(block, kind="stable")
            there = block[order]
            kept = order[run_places(is_new(there)) < room[there]]
            parts.append(np.stack([owner[kept], block[kept], weight[kept]]))
            room -= np.bincount(block[kept], minlength=blocks)
            if not room.any():
                break
        owner, block, weight = np.concatenate(parts, axis=1)
        order = np.argsort(block, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=blocks))])
        return _clustered(entries.rows[owner[order]], weight[order], starts, self.tuples, self.domain)


def block_centers(tuples: Tuples, domain: Domain, door: Door, batches: Iterable[Batch], secret: bytes, groups: Any) -> FloatArray:
    """Return the centers of disjoint blocks of rows that come in batches."""
    gathering = Gathering(tuples, domain, groups is not None)
    seeds = None if groups is None else row_seeds(groups, secret)
    for rows, mask, start in batches:
        own = None if seeds is None else seeds[start : start + len(rows)]
        gathering.add(entries_of(rows, mask, door, tuples.n_blocks, secret, own))
    return gathering.centers()


def _clustered(
    points: FloatArray, weights: NDArray[Any], starts: NDArray[np.int64], tuples: Tuples, domain: Domain
) -> FloatArray:
    """Return the centers of blocks, inside the domain."""
    rng = np.random.default_rng(tuples.seed)
    uniforms = rng.random((RESTARTS, tuples.k, ATTEMPTS))
    fillers = domain.sample(tuples.n_blocks * tuples.k, rng).reshape(tuples.n_blocks, tuples.k, -1)
    floor = FLOOR * domain.half_diagonal
    return domain.clip(cluster_blocks(points, weights, starts, tuples.power, floor, uniforms, fillers))


def sample_centers(rows: NDArray[Any], door: Door, tuples: Tuples, domain: Domain, key: bytes) -> FloatArray:
    """Return the centers of blocks that are samples of all rows with replacement, n / (2 n_blocks) each.

    All rows count: n is the same for all neighbors. The key is used for these samples alone: they are as random as SHAKE-256
    of it.
    """
    size = len(rows) // (2 * tuples.n_blocks)
    draws = size * tuples.n_blocks
    parts = [hashlib.shake_256(key + start.to_bytes(8)).digest(8 * min(SLICE, draws - start)) for start in range(0, draws, SLICE)]
    words = np.frombuffer(b"".join(parts), "<u8")
    drawn = rows[(words % np.uint64(max(len(rows), 1))).astype(np.int64)]
    values = [part for _, part, _ in _entered(drawn, np.empty(0, np.uint8), door)]
    points = np.concatenate([np.empty((0, door.lower.size)), *values])
    starts = np.arange(tuples.n_blocks + 1, dtype=np.int64) * size
    return _clustered(points, np.ones(len(points)), starts, tuples, domain)
