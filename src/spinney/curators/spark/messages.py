"""Messages between executors, and the last ones to the driver: exact sums, in chunks that different executors add up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import IntArray

#: A frame of messages, each with the place of the executor that it goes to.
MESSAGES = "place int, message binary"
#: One executor adds up this many sums of all tasks, the next one the next.
CHUNK = 2**20
#: Sums are split into words of this many bits: 2**31 messages add up in 64 bits.
HALF = 32
#: A message starts with its kind: all numbers, or the numbers that are not zero and their places.
DENSE, SPARSE = b"d", b"s"


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


def add_message(totals: IntArray, message: Any) -> None:
    """Add what `write_message` wrote, bytes or a buffer, to totals of the same length."""
    size = len(memoryview(message)) - 1
    if bytes(message[:1]) == DENSE:
        totals += np.frombuffer(message, "<i8", offset=1)
        return
    count = size // 12
    totals[np.frombuffer(message, "<u4", offset=1 + 8 * count)] += np.frombuffer(message, "<i8", count, offset=1)


def sent(parts: Iterable[tuple[int, bytes]]) -> Iterator[Any]:
    """Yield messages and their places as Arrow batches, one each."""
    import pyarrow as pa

    for place, message in parts:
        columns = [pa.array([place], pa.int32()), pa.array([message], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["place", "message"])


def received(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the messages of Arrow batches with their places."""
    for batch in batches:
        for place, message in zip(batch.column(0), batch.column(1), strict=True):
            yield place.as_py(), message.as_buffer()


def chunks(totals: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Yield the chunks of totals with their places."""
    for place, start in enumerate(range(0, totals.size, CHUNK)):
        yield place, totals[start : start + CHUNK]


@dataclass(frozen=True)
class Merger:
    """What an executor does with messages of one chunk, or of several: one message with the sum of each, in full."""

    length: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the sums."""
        found: dict[int, IntArray] = {}
        for place, message in received(batches):
            if place not in found:
                found[place] = np.zeros(min(self.length - place * CHUNK, CHUNK), dtype=np.int64)
            add_message(found[place], message)
        return sent((place, write_message(totals, True)) for place, totals in found.items())


def merged(messages: Any, length: int) -> Any:
    """Return a frame of sums in chunks, each added up by one executor."""
    return messages.repartitionById(-(-length // CHUNK), "place").mapInArrow(Merger(length), MESSAGES)


def total(batches: Iterable[Any], length: int) -> IntArray:
    """Return the sums that the driver gets."""
    totals = np.zeros(length, dtype=np.int64)
    for place, message in received(batches):
        add_message(totals[place * CHUNK : (place + 1) * CHUNK], message)
    return totals
