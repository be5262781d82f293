"""The one run: from a problem and rows to a release. Every estimator, the command line and Spark end here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.algorithms.plan import Plan, planned
from spinney.algorithms.problem import Problem
from spinney.curators.gate import Curator
from spinney.curators.rows import Rows
from spinney.exceptions import ParameterError
from spinney.fits.charging import charged
from spinney.fits.record import promise_fields, repeat_fields
from spinney.mechanisms.source import noise_source
from spinney.ledgers.ledger import Ledger
from spinney.privacy.ledger import FitLedger

__all__ = ["Fit", "generator", "run"]


@dataclass(frozen=True)
class Fit:
    """What is wanted and how: checked, and from public facts alone.

    Parameters
    ----------
    problem : Problem
    algorithm : Algorithm
        Of the problem's kind.
    grouped : bool
        Whether the unit is a group of rows.
    random_state, noise_seed
        As they were given.
    """

    problem: Problem
    algorithm: Any
    grouped: bool = False
    random_state: Any = None
    noise_seed: int | None = None

    def plan(self, n_guess: int | None = None) -> Plan:
        """Return every question with its charge and noise."""
        return Plan(self.algorithm, self.problem, n_guess, self.grouped)


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
    Neighbors, statement and proof are those of the algorithm that runs.

    Parameters
    ----------
    fit : Fit
    rows : Rows
        Private.
    ledger : Ledger, optional
        Charged for the whole plan before anything is asked.
    """
    problem, algorithm, seed = fit.problem, fit.algorithm, fit.noise_seed
    backends = getattr(algorithm, "backends", ("memory",))
    if rows.place not in backends:
        raise ParameterError(
            f"The algorithm {algorithm.name!r} does not run on rows of the kind {rows.place!r}.\n"
            f"Hint: it runs on {', '.join(map(repr, backends))}."
        )
    charges = planned(algorithm, problem)
    rng = generator(fit.random_state, seed)
    spent = FitLedger(problem.budget, charges)
    with charged(ledger, charges, fit) as made:
        source = noise_source(seed)
        with rows.opened(problem.ground, problem.unit, source.key) as backend:
            curator = Curator(backend, problem.unit, spent, source)
            result = algorithm.run(curator, problem, {charge.name: charge for charge in charges}, rng)
    common = promise_fields(problem, charges, spent, source, fit.grouped, rows.model)
    common |= repeat_fields(algorithm, fit.random_state, seed, made)
    return problem.release(result, algorithm.name, rows.columns, common)
