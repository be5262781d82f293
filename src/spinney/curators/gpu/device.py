"""A device: its arrays, its kernels, and copies to it that go on beside them. CuPy is imported when the first one is opened."""

from __future__ import annotations

from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.threads import each

SOURCE = Path(__file__).with_name("kernels.cu")
#: No fused multiply-add: it would round once where the CPU rounds twice.
OPTIONS = ("--std=c++14", "--fmad=false")
#: Threads of a block, and most blocks of a launch: loops run over what is left.
THREADS, MOST_BLOCKS = 256, 2**14
#: Bytes that are on their way to the device at a time, in each of two buffers, and rows that a thread copies there at a time.
SENT, PART = 2**26, 2**12


def write(rows: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy rows of any real type and layout, with several threads; one that is too large for its type becomes infinite."""

    def copy(start: int) -> None:
        with np.errstate(all="ignore"):  # a warning must not reveal a value
            target[start : start + PART] = rows[start : start + PART]

    for _ in each(copy, range(0, len(rows), PART)):
        pass


class Lane:
    """Copies from host memory beside the kernels: one buffer is filled while the other is on its way."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._sides = [(self._pinned(), cupy.cuda.Event(disable_timing=True)) for _ in range(2)]

    def _pinned(self) -> NDArray[np.uint8]:
        return np.frombuffer(self._cupy.cuda.alloc_pinned_memory(SENT), np.uint8, SENT)

    def send(self, rows: NDArray[Any], target: Any) -> None:
        """Copy rows to a contiguous array of the device."""
        size = max(SENT // (target.dtype.itemsize * target.shape[1]), 1)
        for start in range(0, len(rows), size):
            part, there = rows[start : start + size], target[start : start + size]
            buffer, sent = self._sides[0]
            self._sides.reverse()
            sent.synchronize()
            staged = buffer[: there.nbytes].view(there.dtype).reshape(there.shape)
            write(part, staged)
            there.set(staged, stream=self._stream)
            sent.record(self._stream)

    def begin(self, mark: Any) -> None:
        """Let copies wait for the kernels that were launched before a mark."""
        self._stream.wait_event(mark)

    def end(self) -> None:
        """Let kernels that are launched from now on wait for the copies before."""
        self._cupy.cuda.get_current_stream().wait_event(self._stream.record())


class Device:
    """The device that CuPy uses now."""

    def __init__(self) -> None:
        import cupy

        self._cupy: Any = cupy
        self.memory = int(cupy.cuda.Device().mem_info[1])

    @cached_property
    def _module(self) -> Any:
        return self._cupy.RawModule(code=SOURCE.read_text(encoding="utf-8"), options=OPTIONS)

    def launch(self, name: str, rows: int, *arguments: Any, columns: int = 1) -> None:
        """Launch a kernel over rows, and over columns if blocks share these out too."""
        blocks = min(max(-(-rows // THREADS), 1), MOST_BLOCKS)
        self._module.get_function(name)((blocks, columns), (THREADS,), arguments)

    def empty(self, shape: Any, dtype: Any) -> Any:
        """Return an array on the device, whatever it holds."""
        return self._cupy.empty(shape, dtype)

    def zeros(self, shape: Any) -> Any:
        """Return counters."""
        return self._cupy.zeros(shape, np.int64)

    def put(self, array: NDArray[Any]) -> Any:
        """Return a small array on the device."""
        return self._cupy.asarray(np.ascontiguousarray(array))

    def get(self, array: Any) -> NDArray[Any]:
        """Return an array of the device in host memory."""
        return np.asarray(array.get())

    def floats(self, rows: Any) -> Any:
        """Return rows of the device as 32- or 64-bit floats, one behind the other: as they are, if that is what they are."""
        dtype = rows.dtype if rows.dtype in (np.float32, np.float64) else np.float32 if rows.dtype == np.float16 else np.float64
        return self._cupy.ascontiguousarray(rows, dtype=dtype)

    def mark(self) -> Any:
        """Return a mark behind all kernels that were launched so far."""
        return self._cupy.cuda.get_current_stream().record()

    def lane(self) -> Lane:
        """Return a lane to the device."""
        return Lane(self._cupy)

    def free(self) -> None:
        """Give back memory that nothing uses."""
        self._cupy.get_default_memory_pool().free_all_blocks()
        self._cupy.get_default_pinned_memory_pool().free_all_blocks()


@lru_cache(maxsize=1)
def _opened(number: int) -> Device:
    return Device()


def opened_device() -> Device:
    """Return the device, or raise an error that says what is missing."""
    if find_spec("cupy") is None:
        raise ParameterError(
            "Rows on a device need CuPy, which is not installed.", "pip install 'spinney-dp[cuda]', or leave device out."
        )
    try:
        import cupy

        return _opened(int(cupy.cuda.Device().id))
    except Exception as error:  # whatever a broken driver raises; no row has been seen
        raise ParameterError(
            f"There is no device that CuPy can use ({type(error).__name__}).", "see cupy.show_config(), or leave device out."
        ) from None
