"""Notes on standard error in place of Python's warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

from spinney.cli.wording import with_options
from spinney.exceptions import LoosePromiseWarning, UncountedFitsWarning
from spinney.fits.fit import Fit

__all__ = ["noted"]


@contextmanager
def noted(fit: Fit) -> Iterator[None]:
    """Say what is to be said of a promise; the fit inside does not warn of it again, nor that a command charges no ledger."""
    told = fit.problem.budget.loose
    if told is not None:
        click.echo("note: " + " ".join(with_options(told).split()), err=True)
    with warnings.catch_warnings():
        for kind in (LoosePromiseWarning, UncountedFitsWarning):
            warnings.simplefilter("ignore", kind)
        yield
