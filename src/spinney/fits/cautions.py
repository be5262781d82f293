"""Warnings to the caller of a fit, from public facts alone: a very weak promise, and fits that no ledger adds up."""

from __future__ import annotations

import itertools
import warnings

from spinney.exceptions import LoosePromiseWarning, UncountedFitsWarning

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


def caution(loose: str | None, is_uncounted: bool) -> None:
    """Warn the caller of what called `run`: each time of a loose promise, once in a process of private fits without a ledger."""
    warn_if_loose(loose, 5)
    if is_uncounted and next(_fits) == UNCOUNTED:
        warnings.warn(UNCOUNTED_TEXT, UncountedFitsWarning, stacklevel=4)


def warn_if_loose(loose: str | None, stacklevel: int) -> None:
    """Warn of what `Budget.loose` says."""
    if loose is not None:
        warnings.warn(loose, LoosePromiseWarning, stacklevel=stacklevel)
