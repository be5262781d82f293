"""A quick start and a quick end: most of a short run is imports."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["without_collection", "without_scipy"]


@contextmanager
def without_collection() -> Iterator[None]:
    """Run a command without looking for garbage, not even at the end: imports make many objects and hardly any garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def without_scipy() -> Iterator[None]:
    """Import kernels without scipy: numba loads it for kernels that multiply matrices, and there are none here."""
    modules: dict[str, Any] = sys.modules
    hides = "scipy" not in modules
    if hides:
        modules["scipy"] = None
    try:
        import numba.np.arraymath  # noqa: F401  (where numba looks for scipy)

        yield
    finally:
        if hides:
            del modules["scipy"]
