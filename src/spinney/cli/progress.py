"""What is said on standard error while a fit runs: a note, and a bar that moves with each question; questions are public."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from spinney.cli.errors import with_options
from spinney.curators.telling import listening
from spinney.exceptions import LoosePromiseWarning, UncountedFitsWarning


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


@contextmanager
def reading(path: Any) -> Iterator[None]:
    """Show that a file is read."""
    with progress(1) as step:
        step(f"reading {path.name}")
        yield


@contextmanager
def asking(fit: Any) -> Iterator[None]:
    """Show a bar of a fit's questions, and notes in place of Python's warnings; not of a missing ledger."""
    told = fit.problem.budget.loose
    if told is not None:
        click.echo("note: " + " ".join(with_options(told).split()), err=True)
    with warnings.catch_warnings():
        for kind in (LoosePromiseWarning, UncountedFitsWarning):
            warnings.simplefilter("ignore", kind)
        with progress(len(fit.plan().charges)):
            yield
