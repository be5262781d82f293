"""A bar on a terminal that moves with each question; questions are public."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from spinney.curators.telling import listening

__all__ = ["progress"]


@contextmanager
def progress(steps: int) -> Iterator[Callable[[str], None]]:
    """Show a bar of `steps` steps if standard error is a terminal.

    Every question is a step. What is yielded takes further steps, each with what is being done.
    """
    if not sys.stderr.isatty():
        yield lambda label: None
        return
    with click.progressbar(length=steps, file=sys.stderr, show_eta=False) as bar:

        def step(label: str) -> None:
            bar.label = f"{label:30}"
            bar.update(1)

        with listening(step):
            yield step
        bar.update(max(steps - bar.pos, 0))  # a released answer may have made steps unnecessary
