"""The one run: from a problem and rows to a release. Every estimator, the command line and Spark end here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from spinney.algorithms.problem import planned
from spinney.curators.purse import Purse
from spinney.curators.rows import Rows
from spinney.exceptions import ParameterError
from spinney.fits.cautions import caution
from spinney.fits.charging import charged
from spinney.fits.fit import Fit
from spinney.fits.record import promise_fields, repeat_fields
from spinney.fits.watching import watched
from spinney.ledgers.ledger import Ledger
from spinney.mechanisms.source import NoiseSource, noise_source
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.seal import sealed

__all__ = ["generator", "run", "run_with"]


def generator(random_state: Any, noise_seed: int | None = None) -> np.random.Generator:
    """Return the generator of public randomness; a legacy RandomState gives it a seed.

    Without a state, a seed of the noise makes this one repeatable too, as a stream of its own.
    """
    if random_state is None and noise_seed is not None:
        return np.random.default_rng([int(noise_seed), 1])
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def run(fit: Fit, rows: Rows, ledger: Ledger | None = None) -> Any:
    """Charge the plan, let the algorithm ask, and return what may be published.

    Privacy
    -------
    Neighbors, statement and proof depend on the algorithm that runs.

    Parameters
    ----------
    fit : Fit
    rows : Rows
        Private.
    ledger : Ledger, optional
        Charged for the whole plan before anything is asked.
    """
    budget = fit.problem.budget
    caution(budget.loose, is_uncounted=ledger is None and fit.noise_seed is None and not budget.is_infinite)
    with watched(lambda: len(planned(fit.algorithm, fit.problem))):
        return run_with(lambda: noise_source(fit.noise_seed), fit, rows, ledger)


def run_with(make_source: Callable[[], NoiseSource], fit: Fit, rows: Rows, ledger: Ledger | None = None) -> Any:
    """Do what `run` does with another source of noise: for audits, on made-up rows. Their releases say that they are not private.

    Parameters
    ----------
    make_source : callable
    fit, rows, ledger
        As in `run`.
    """
    problem, algorithm, seed = fit.problem, fit.algorithm, fit.noise_seed
    if rows.place not in algorithm.backends:
        raise ParameterError(
            f"The algorithm {algorithm.name!r} does not run on rows of the kind {rows.place!r}.",
            f"it runs on {', '.join(map(repr, algorithm.backends))}. Arrays and frames are in memory; a path of any size is not.",
        )
    spent = FitLedger(problem.budget, planned(algorithm, problem))
    rng = generator(fit.random_state, seed)
    with charged(ledger, spent.planned, fit) as made:
        source = make_source()
        with ExitStack() as stack:
            with sealed():
                backend = stack.enter_context(rows.opened(problem.ground, problem.unit, source.key))
            curator = rows.gate(backend, problem.unit, spent, source)
            result = algorithm.run(Purse(curator), problem.shown, rng)
        promise = promise_fields(problem, spent, source, fit.grouped, rows.model)
        promise |= repeat_fields(algorithm, fit.random_state, seed, made)
        release = problem.release(result, algorithm.name, rows.columns, promise)
        if ledger is not None and made["entry"] is not None:
            ledger.keep_digest(made["entry"], release.digest)
        return release
