"""Which rows of a group are drawn: a function of the group's name, the values of its rows and a secret key, never of their order.

Every row gets a mark, a keyed hash of its group's name and its values. Equal rows of a group have equal marks and differ
by a number, 0, 1, 2 and so on, whichever has which: to keep one is to keep any other. A mark and a number make a draw, and a
group keeps the rows with the least draws, so that every row of a group, equal to others or not, is as likely to be kept.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A 128-bit hash per row, as two words.
Marks = NDArray[np.uint64]
#: Rows that are hashed at a time: few enough for a processor's cache.
BLOCK = 2**14
#: Where SipHash starts, and what it adds to the first word when it makes 128 bits.
START = (0x736F6D6570736575, 0x646F72616E646F6D ^ 0xEE, 0x6C7967656E657261, 0x7465646279746573)
#: Rounds of SipHash after every word, and at the end of either half.
ROUNDS, LAST_ROUNDS = 1, 3


def _mix(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words one to one (the finalizer of splitmix64)."""
    x = seeds.copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))


class _Sip:
    """The state of SipHash-1-3 with 128 bits, of many messages at once."""

    def __init__(self, key: bytes, size: int) -> None:
        halves = np.frombuffer(key, dtype="<u8").astype(np.uint64)
        self._state = [np.full(size, np.uint64(word) ^ halves[i % 2]) for i, word in enumerate(START)]
        self._spare = np.empty(size, dtype=np.uint64)
        self._length = 0

    def _turn(self, word: NDArray[np.uint64], left: int) -> None:
        np.left_shift(word, np.uint64(left), out=self._spare)
        np.right_shift(word, np.uint64(64 - left), out=word)
        np.bitwise_or(word, self._spare, out=word)

    def _round(self) -> None:
        v0, v1, v2, v3 = self._state
        for one, other, third, fourth, first, second in ((v0, v1, v2, v3, 13, 16), (v2, v1, v0, v3, 17, 21)):
            np.add(one, other, out=one)
            np.add(third, fourth, out=third)
            self._turn(other, first)
            self._turn(fourth, second)
            np.bitwise_xor(other, one, out=other)
            np.bitwise_xor(fourth, third, out=fourth)
            self._turn(one, 32)

    def take(self, word: NDArray[np.uint64]) -> None:
        """Take one more word of every message."""
        self._state[3] ^= word
        for _ in range(ROUNDS):
            self._round()
        self._state[0] ^= word
        self._length += 8

    def finish(self) -> Marks:
        """Return the hashes."""
        v0, v1, v2, v3 = self._state
        self.take(np.full(1, (self._length & 0xFF) << 56, dtype=np.uint64))
        halves = []
        for word, change in ((v2, 0xEE), (v1, 0xDD)):
            word ^= np.uint64(change)
            for _ in range(LAST_ROUNDS):
                self._round()
            halves.append(v0 ^ v1 ^ v2 ^ v3)
        return np.stack(halves, axis=1)


def mark_rows(seeds: NDArray[np.uint64], rows: NDArray[Any], key: bytes) -> tuple[Marks, NDArray[np.bool_]]:
    """Return the mark of each row, and whether it is complete.

    The marks are SipHash-1-3-128 of the seed and the row's values as the kernels read them, in 64 bits: minus zero is zero, and
    all rows with a value that is not finite are alike. A row's seed is a keyed hash of the name of its group.
    """
    marks = np.empty((len(rows), 2), dtype=np.uint64)
    complete = np.empty(len(rows), dtype=np.bool_)
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        with np.errstate(all="ignore"):  # a value too large for a float becomes infinite, and so missing, in silence
            values = np.array(rows[part].T, dtype=np.float64, order="C")
            values += 0.0
        complete[part] = np.isfinite(values).all(axis=0)
        values[:, ~complete[part]] = np.nan
        sip = _Sip(key, values.shape[1])
        sip.take(seeds[part])
        for column in values.view(np.uint64):
            sip.take(column)
        marks[part] = sip.finish()
    return marks, complete


def run_places(is_first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the place of each item in its run: 0, 1, 2 ... from each first one on."""
    starts = np.flatnonzero(is_first)
    return np.arange(is_first.size) - np.repeat(starts, np.diff(starts, append=is_first.size))


def is_new(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether an item differs from the one before it."""
    found = np.ones(columns[0].size, dtype=np.bool_)
    found[1:] = False
    for column in columns:
        found[1:] |= column[1:] != column[:-1]
    return found


def number_copies(codes: NDArray[np.int64], marks: Marks) -> NDArray[np.int64]:
    """Return a number for each row that distinguishes it from the equal rows of its group: 0, 1, 2 and so on."""
    copies = np.zeros(codes.size, dtype=np.int64)
    order = np.argsort(marks[:, 0])
    is_shared = ~is_new(marks[order, 0])
    is_shared[:-1] |= is_shared[1:].copy()
    rows = order[is_shared]  # mostly none
    rows = rows[np.lexsort((marks[rows, 1], marks[rows, 0], codes[rows]))]
    if rows.size:
        copies[rows] = run_places(is_new(codes[rows], marks[rows, 0], marks[rows, 1]))
    return copies


def draw_rows(marks: Marks, copies: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the draw of each row; equal rows of a group draw differently, because they have different numbers."""
    return _mix(marks[:, 0] + _mix(marks[:, 1] + copies.astype(np.uint64)))


def least_draws(codes: NDArray[np.int64], marks: Marks, draws: NDArray[np.uint64], most: int) -> NDArray[np.bool_]:
    """Return which rows have one of the `most` least draws of their group; marks decide between equal draws."""
    both = (codes.astype(np.uint64) << np.uint64(32)) | (draws >> np.uint64(32))
    order = np.argsort(both)
    if codes.size > 2**32 or not is_new(both[order]).all():  # half of a draw does not distinguish all rows
        order = np.lexsort((marks[:, 1], marks[:, 0], draws, codes))
    kept = np.zeros(codes.size, dtype=np.bool_)
    kept[order] = run_places(is_new(codes[order])) < most
    return kept
