"""What every estimator does with a fit: plan it, and keep its release."""

from __future__ import annotations

import inspect
import warnings
from abc import abstractmethod
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from spinney.algorithms.plan import Plan
from spinney.estimators.absent import ATTRIBUTES, Absent, check_parameters
from spinney.estimators.display import Discreet
from spinney.exceptions import FewRowsWarning
from spinney.fits.cautions import warn_if_loose
from spinney.fits.fit import Fit
from spinney.fits.parameters import check_number

__all__ = ["PrivateEstimator"]


class PrivateEstimator(Discreet):
    """Plans a fit, and holds nothing but its release."""

    labels_, inertia_, n_iter_ = Absent(), Absent(), Absent()

    def __init_subclass__(cls, **named: Any) -> None:
        """Say how a class is made: by its `__init__`, which some versions of Python do not look at where there is a `__new__`."""
        super().__init_subclass__(**named)
        made = inspect.signature(cls.__init__)
        cls.__signature__ = made.replace(parameters=list(made.parameters.values())[1:])  # type: ignore[attr-defined]

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        """Give the reason for parameters that others have. What `__init__` of a class takes is its signature."""
        check_parameters(cls, list(parameters))
        return super().__new__(cls)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ATTRIBUTES]

    @abstractmethod
    def _store(self, release: Any) -> None:
        """Keep a release, and what follows from it."""

    def _check_fitted(self) -> None:
        """Raise scikit-learn's error unless there is a release."""
        check_is_fitted(self, "release_")

    def _planned(self, fit: Fit, n_guess: int | None) -> Plan:
        """Return the plan of a fit, with the errors that a guess of the number of rows lets expect."""
        if n_guess is not None:
            check_number("n_guess", f"{type(self).__name__}.plan", n_guess)
        warn_if_loose(fit.problem.budget.loose, 4)
        return fit.plan(n_guess)

    def _keep(self, release: Any) -> Self:
        """Store a new release, and warn the caller of `fit` if it looks like a release of no rows."""
        self._store(release)
        if release.looks_empty:
            warnings.warn(release.faint, FewRowsWarning, stacklevel=3)
        return self
