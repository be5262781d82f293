"""What every estimator does with a fit: plan it, run it, keep its release."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

from spinney.algorithms.plan import Plan
from spinney.curators.rows import Rows
from spinney.estimators.display import Discreet
from spinney.exceptions import FewRowsWarning
from spinney.fits.fit import Fit
from spinney.fits.parameters import check_number
from spinney.fits.run import run
from spinney.ledgers.ledger import Ledger

__all__ = ["PrivateEstimator"]


class PrivateEstimator(Discreet):
    """Prepares a fit of private rows, runs it, and holds nothing but its release."""

    release_: Any

    @abstractmethod
    def prepare(self, X: Any, groups: Any = None) -> tuple[Fit, Rows]:
        """Return what `fit` would run, and where the rows are."""

    @abstractmethod
    def _store(self, release: Any) -> None:
        """Keep a release, and what follows from it."""

    def _planned(self, fit: Fit, n_guess: int | None) -> Plan:
        """Return the plan of a fit, with the errors that a guess of the number of rows lets expect."""
        if n_guess is not None:
            check_number("n_guess", f"{type(self).__name__}.plan", n_guess)
        return fit.plan(n_guess)

    def _run(self, X: Any, groups: Any, ledger: Ledger | None) -> Self:
        """Fit the rows, keep the release, and warn the caller of `fit` if it looks like that of no rows."""
        fit, rows = self.prepare(X, groups)
        self._store(run(fit, rows, ledger))
        if self.release_.looks_empty:
            warnings.warn(self.release_.faint, FewRowsWarning, stacklevel=3)
        return self
