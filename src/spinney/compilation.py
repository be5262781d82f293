"""Loops compiled by numba, which is imported when the first of them is called.

Kernels take 64-bit columns, public arrays and scratch that the caller allocates: one kind of array each, so each is compiled
once, whatever the type and layout of the rows. Those that allocate, slice or raise would take several times as long to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

__all__ = ["KERNELS", "cache_folders", "compiled"]

#: All kernels of the modules imported so far, by their full names.
KERNELS: dict[str, Any] = {}


class Kernel:
    """A function that numba compiles at its first call, on its own or from another kernel."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        update_wrapper(self, function)

    @cached_property
    def _dispatcher(self) -> Any:
        from numba import njit

        from spinney.kernel_cache import KernelCache

        dispatcher = njit(nogil=True, **self._options)(self._function)
        dispatcher._cache = KernelCache(self._function)
        return dispatcher

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)  # its type, too, by which numba knows it in other kernels


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function at its first call, and keep the machine code; options as for numba's ``njit``."""
    if function is None:
        return lambda late: compiled(late, **options)
    kernel = Kernel(function, options)
    KERNELS[f"{function.__module__}.{function.__qualname__}"] = kernel
    return kernel


def cache_folders() -> list[str]:
    """Return the folders that machine code is written to."""
    return sorted({kernel._cache.cache_path for kernel in KERNELS.values()} - {None})
