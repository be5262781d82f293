"""Rows chunk by chunk on a device: those that lie there, and those that are sent.

Rows in host memory, in files and streams are sent behind the kernels. As many of the first chunks as fit a share of the device's
memory stay there until the fit ends, so that they are sent once: only time and memory depend on how many do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.gpu.device import Device
from spinney.tables.streams import Batches, batch_rows

#: Most rows of a chunk, and most numbers: a function of the number of columns alone.
MOST_ROWS, LEAST_ROWS, MOST_NUMBERS = 2**20, 2**10, 2**27
#: The share of the device's memory that rows may take which are sent there.
SHARE = 1 / 2
#: Bytes that a chunk takes for each of its numbers: as it is and as it comes in, one behind the other, and 32-bit.
BYTES = 8 + 8 + 8 + 4
#: Bytes for counters and whatever else does not grow with a chunk.
FIXED = 2**28


def chunk_rows(n_features: int) -> int:
    """Return how many rows a chunk has."""
    return max(min(MOST_ROWS, 1 << (MOST_NUMBERS // n_features or 1).bit_length() - 1), LEAST_ROWS)


def chunk_bytes(n_features: int) -> int:
    """Return how many bytes of the device's memory work on rows takes, beside the rows: from public facts alone."""
    return BYTES * (n_features + 2) * chunk_rows(n_features) + FIXED


class HostBatches(Batches):
    """Rows of an array, in host memory or on a device, batch by batch in host memory."""

    columns = None

    def __init__(self, nonprivate_array: Any, nonprivate_groups: Any = None) -> None:
        self.nonprivate_array, self._groups = nonprivate_array, nonprivate_groups
        self.n_features, self.has_groups = nonprivate_array.shape[1], nonprivate_groups is not None

    def read(self) -> Iterator[NDArray[Any]]:
        size = batch_rows(self.n_features)
        for start in range(0, len(self.nonprivate_array), size):
            part = self.nonprivate_array[start : start + size]
            yield part if isinstance(part, np.ndarray) else np.asarray(part.get())

    def read_groups(self) -> Any:
        return self._groups


class Resident:
    """Chunks of rows that lie on the device: they are not copied."""

    def __init__(self, device: Device, nonprivate_array: Any) -> None:
        self._device, self._array, self._size = device, nonprivate_array, chunk_rows(nonprivate_array.shape[1])

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Yield the place of each chunk's first row, and the chunk."""
        for start in range(0, len(self._array), self._size):
            yield start, self._device.floats(self._array[start : start + self._size])

    def drop(self) -> None:
        """Hold nothing: nothing was kept."""


class Sent:
    """Chunks of rows that are sent, the first of which stay on the device as far as there is room."""

    def __init__(self, device: Device, nonprivate_batches: Batches, most: int) -> None:
        self._device, self._batches, self._room = device, nonprivate_batches, most
        self._size = chunk_rows(nonprivate_batches.n_features)
        self._kept: list[Any] = []
        self._is_whole = False
        self._lane: Any = None
        self._buffers: list[Any] = []

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Yield the place of each chunk's first row, and the chunk, which may be written over when the next but one is asked."""
        place = 0
        for chunk in self._kept:
            yield place, self._device.floats(chunk)
            place += len(chunk)
        if not self._is_whole:
            yield from self._sent(place)

    def _sent(self, place: int) -> Iterator[tuple[int, Any]]:
        self._lane = self._lane or self._device.lane()
        marks = cycle([[self._device.mark()], [self._device.mark()]])  # behind what a buffer was used for
        for parts in self._gathered(place):
            count, dtype, mark = sum(map(len, parts)), _kind(parts), next(marks)
            n_bytes = count * self._batches.n_features * dtype.itemsize
            self._room -= n_bytes
            stays, is_new = self._room >= 0, self._room >= 0 or len(self._buffers) < 2
            chunk = (self._device.empty(n_bytes, np.uint8) if stays else self._buffer())[:n_bytes].view(dtype).reshape(count, -1)
            self._lane.begin(self._device.mark() if is_new else mark[0])  # new memory may have been used until now
            start = 0
            for part in parts:
                self._lane.send(part, chunk[start : start + len(part)])
                start += len(part)
            self._lane.end()
            if stays:
                self._kept.append(chunk)
            yield place, self._device.floats(chunk)
            mark[0] = self._device.mark()
            place += count
        self._is_whole = self._room >= 0

    def _gathered(self, place: int) -> Iterator[list[NDArray[Any]]]:
        """Yield batches from a row on, gathered to chunks; rows of an array are cut into chunks as they are."""
        if isinstance(self._batches, HostBatches):
            array = self._batches.nonprivate_array
            yield from ([array[start : start + self._size]] for start in range(place, len(array), self._size))
            return
        parts: list[NDArray[Any]] = []
        for batch in self._batches.read_from(place):
            if sum(map(len, parts)) + len(batch) > self._size:
                yield parts
                parts = []
            parts.append(batch)
        if parts:
            yield parts

    def _buffer(self) -> Any:
        """Return the buffer whose turn it is."""
        if len(self._buffers) < 2:
            self._buffers.append(self._device.empty(self._size * self._batches.n_features * 8, np.uint8))
        else:
            self._buffers.reverse()
        return self._buffers[-1]

    def drop(self) -> None:
        """Drop what is kept, and keep nothing any more."""
        self._room, self._is_whole, self._lane = -1, False, None
        self._kept.clear()
        self._buffers.clear()
        self._batches.drop()


def _kind(parts: list[NDArray[Any]]) -> np.dtype[Any]:
    """Return the type of number in which batches are sent: their own, if it is a float of at most 64 bits."""
    kinds = {part.dtype for part in parts}
    known = kinds <= {np.dtype(kind) for kind in (np.float16, np.float32, np.float64)}
    return np.result_type(*kinds) if known else np.dtype(np.float64)
