"""A bar for whoever waits for a fit in a notebook. The room `report` draws it; elsewhere there is none."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from spinney._lazy import above
from spinney.fits.fit import Fit

__all__ = ["watched"]


def watched(fit: Fit) -> AbstractContextManager[Any]:
    """Return what shows a bar that moves with each question, if this is a notebook; nothing is imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None:  # a kernel draws for a notebook; a terminal has none
        return nullcontext()
    bar: AbstractContextManager[Any] = above("spinney.report.progress:notebook_bar")(len(fit.plan().charges))
    return bar
