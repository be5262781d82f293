"""Bars that move with each question of a fit; questions are public, and how long each takes is outside the promise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from importlib import import_module
from typing import Any

from spinney.curators.telling import listening

__all__ = ["notebook_bar"]


def _bar(done: int, steps: int, label: str) -> str:
    told = f"{done} of {steps} questions"
    return f'<progress max="{steps}" value="{done}" aria-label="{told}"></progress> {told}; {escape(label)}'


@contextmanager
def notebook_bar(steps: int) -> Iterator[None]:
    """Show a bar of a plan's questions below the cell of a notebook; when the fit is over, it goes."""
    shown: Any = import_module("IPython.display")
    handle = shown.display(shown.HTML(_bar(0, steps, "reading")), display_id=True)
    done = 0

    def step(label: str) -> None:
        nonlocal done
        done = min(done + 1, steps)
        handle.update(shown.HTML(_bar(done, steps, label)))

    try:
        with listening(step):
            yield
    finally:
        with suppress(Exception):
            handle.update(shown.HTML(""))
