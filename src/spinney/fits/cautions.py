"""What the caller of a fit is warned of, from public facts alone: a promise that is hardly one, and fits that nobody adds up."""

from __future__ import annotations

import itertools
import warnings

from spinney.exceptions import LoosePromiseWarning, UncountedFitsWarning
from spinney.fits.fit import Fit
from spinney.ledgers.ledger import Ledger
from spinney.privacy.budget import Budget

__all__ = ["UNCOUNTED", "caution", "warn_if_loose"]

#: Which private fit of a process without a ledger is warned of: none before it, and none after it.
UNCOUNTED = 3
UNCOUNTED_TEXT = (
    "Several private fits of this process were charged to no ledger. If they are of the same rows, what each of them spends adds "
    "up, and the statement of none of them holds for all: so it is with a search over parameters.\n"
    "Hint: fit(X, ledger=spinney.Ledger('ledger.jsonl', epsilon=3)) adds up and refuses what would be too much; "
    "n_clusters='auto' looks for k in one fit."
)
#: Counts calls, whatever their rows.
_fits = itertools.count(1)


def caution(fit: Fit, ledger: Ledger | None) -> None:
    """Warn the caller of what called `run`: each time of a loose promise, once in a process of fits without a ledger."""
    budget = fit.problem.budget
    warn_if_loose(budget, 5)
    is_private = not budget.is_infinite and fit.noise_seed is None
    if ledger is None and is_private and next(_fits) == UNCOUNTED:
        warnings.warn(UNCOUNTED_TEXT, UncountedFitsWarning, stacklevel=4)


def warn_if_loose(budget: Budget, stacklevel: int) -> None:
    """Warn if a budget is hardly a promise."""
    if budget.loose is not None:
        warnings.warn(budget.loose, LoosePromiseWarning, stacklevel=stacklevel)
