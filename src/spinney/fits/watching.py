"""A progress bar for a fit in a notebook. The room `report` draws it; elsewhere there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from spinney._shown import offered

__all__ = ["watched"]


def watched(count: Callable[[], int]) -> AbstractContextManager[Any]:
    """Return what shows a bar of questions, if this is a notebook, where `count` counts them; nothing is imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None:  # a kernel draws for a notebook; a terminal has none
        return nullcontext()
    bar: AbstractContextManager[Any] = offered("bar")(count())
    return bar
