"""What every estimator does with a fit: plan it, and keep its release."""

from __future__ import annotations

import inspect
import warnings
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from spinney.algorithms.plan import Plan
from spinney.estimators.display import Discreet
from spinney.exceptions import FewRowsWarning, UnitsWarning
from spinney.fits.cautions import warn_if_loose
from spinney.fits.fit import Fit
from spinney.fits.run import run
from spinney.naming import named

#: What other estimators of clusters have and private ones do not, each with its reason and what to do instead.
ATTRIBUTES = {
    "labels_": "which cluster a private row belongs to is as private as the row, so it is stored nowhere. Hint: predict(points) "
    "labels points that are not private; fit_predict returns the labels of the rows to their holder, and they are not private.",
    "inertia_": "the exact cost of private rows is not private, so it is stored nowhere. Hint: the summary in release_ "
    "estimates it, free of charge: see docs/reading.md, and docs/sites.md for sites.",
    "n_iter_": "the plan fixes how many steps are taken: a stopping rule could reveal private data. Hint: plan() shows them.",
}
_PLANNED = "the plan fixes how many steps are taken: each costs a share of epsilon. Hint: leave it out; plan() shows them."
KEYWORDS = {
    "n_init": "restarts happen on the private summary, free of charge, and their number is chosen. Hint: leave it out; "
    "random_state repeats them.",
    "init": "first centers come from the private summary, because rows may not be shown. Hint: leave it out.",
    "max_iter": _PLANNED,
    "tol": _PLANNED,
    "sample_weight": "a weight would multiply what a row can change, and the noise with it. Hint: leave it out; rows that count "
    "several times can be repeated, with groups= and max_rows_per_group= for the promise.",
}


class Absent:
    """Stands for an attribute that is not there, and says why."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Self:
        if instance is None:
            return self
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}: {ATTRIBUTES[self._name]}", name=self._name, obj=instance
        )


def check_keywords(function: str, unknown: Iterable[str]) -> None:
    """Raise as Python does for keywords that a function does not take, with the reason for those that others take."""
    for name in sorted(unknown):
        text = f"{function}() got an unexpected keyword argument {named(name)}"
        raise TypeError(f"{text}: {KEYWORDS[name]}" if name in KEYWORDS else text)


class PrivateEstimator(Discreet):
    """Plans a fit, and holds nothing but its release."""

    labels_, inertia_, n_iter_ = Absent(), Absent(), Absent()
    #: Audits run fits of made-up rows otherwise.
    _run = staticmethod(run)

    def __init_subclass__(cls, **named: Any) -> None:
        """Say how a class is made: by its `__init__`, which some versions of Python do not look at where there is a `__new__`."""
        super().__init_subclass__(**named)
        made = inspect.signature(cls.__init__)
        cls.__signature__ = made.replace(parameters=list(made.parameters.values())[1:])  # type: ignore[attr-defined]

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        """Give the reason for parameters that others have. What `__init__` of a class takes is its signature."""
        taken = inspect.signature(cls.__init__).parameters
        if not any(one.kind is one.VAR_KEYWORD for one in taken.values()):  # one that takes all knows what to do with them
            check_keywords(cls.__name__, set(parameters) - set(taken))
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
        warn_if_loose(fit.problem.budget.loose, 4)
        return fit.plan(n_guess, f"{type(self).__name__}.plan")

    def _keep(self, release: Any) -> Self:
        """Store a new release, and warn the caller of `fit` if it looks like a release of no rows, or of too few."""
        self._store(release)
        for doubt in release.doubts.values():
            warnings.warn(doubt, UnitsWarning if doubt == release.single else FewRowsWarning, stacklevel=3)
        return self
