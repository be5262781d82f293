"""Where the machine code of kernels is kept.

Machine code is cached by numba: beside the package or, where that may not be written to, in the user's own cache folder. Code
beside the package is read even there: an image whose maker ran ``spinney warm`` is quick for every user. Where nothing may be
written, each process compiles once. No folder that others may write to is ever used: cache files are code.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

from numba.core import caching
from numba.core.runtime.nrt import rtsys

__all__ = ["KernelCache"]


def _reading_cache(locator: str) -> Any:
    """Return a kind of numba's cache that reads from one of numba's places and needs no leave to write to it."""
    place: Any = getattr(caching, locator, None) or getattr(caching, f"_{locator}")  # the names once began with an underscore
    reading = type(locator, (place,), {"ensure_cache_path": lambda self: None})
    files = type("Files", (caching.CompileResultCacheImpl,), {"_locator_classes": [reading]})
    return type("ReadingCache", (caching.FunctionCache,), {"_impl_class": files})


_READING = [_reading_cache(locator) for locator in ("UserProvidedCacheLocator", "InTreeCacheLocator")]


class KernelCache:
    """What numba's dispatcher asks for machine code: several caches to read from, of which the first may be written to.

    A cache that cannot be read or written, now or any more, is as good as none: a full disk does not end a fit.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _writes(self) -> list[Any]:
        with suppress(RuntimeError):  # numba knows no place
            return [caching.FunctionCache(self._function)]
        return []

    @cached_property
    def _reads(self) -> list[Any]:
        caches = [*self._writes]
        for kind in _READING:
            with suppress(RuntimeError, OSError):  # there is no such place
                cache = kind(self._function)
                if cache.cache_path not in [other.cache_path for other in caches]:
                    caches.append(cache)
        return caches

    @property
    def cache_path(self) -> str | None:
        """The folder that is written to, if there is one."""
        return self._writes[0].cache_path if self._writes else None

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return what was compiled for a signature on this kind of machine, or None.

        numba's own function first loads all that a compilation might need, which takes longer than all kernels together;
        machine code needs no more than numba's runtime.
        """
        for cache in self._reads:
            with suppress(Exception):  # whatever is wrong with a file, the kernel can be compiled again
                rtsys.initialize(target)
                found = cache._load_overload(signature, target)
                if found is not None:
                    return found
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, if there is a place."""
        for cache in self._writes:
            try:
                cache.save_overload(signature, result)
            except OSError:  # no longer a place, or a full one
                continue
            except Exception:  # what is there is broken
                with suppress(OSError):
                    cache.flush()
                    cache.save_overload(signature, result)

    def enable(self) -> None:
        """Use the caches; they always are."""

    def disable(self) -> None:
        """Use no cache any more."""
        self._reads, self._writes = [], []

    def flush(self) -> None:
        """Forget what is kept."""
        for cache in self._writes:
            cache.flush()
