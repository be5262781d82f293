"""Charging a fit to a ledger before it asks anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from spinney.exceptions import ParameterError
from spinney.fits.fit import Fit
from spinney.ledgers.filter import Tally
from spinney.ledgers.ledger import Ledger
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge

#: What an error after the charge says, with a ledger and without.
CHARGED = "The ledger was charged for this release and keeps the charge."
UNCOUNTED = "No ledger counts this fit: answers may have been computed, so take its epsilon as spent."


def today() -> str:
    """Return the day, UTC. A finer date would reveal, from one release to the next, how long a fit took."""
    return datetime.now(UTC).date().isoformat()


@contextmanager
def charged(ledger: Ledger | None, charges: tuple[Charge, ...], fit: Fit) -> Iterator[dict[str, str | None]]:
    """Charge the whole plan to the ledger, if there is one, and then let the fit ask; yield what a release says of it.

    The charge stays whatever happens, because an answer may have been seen; an error says so. A ledger refuses a fit without
    noise, or with noise that can be repeated.
    """
    budget, unit = fit.problem.budget, fit.problem.unit
    made: dict[str, str | None] = {"date": today(), "ledger": None, "entry": None}
    if ledger is None:
        with charge_stays(None):
            yield made
        return
    if not isinstance(ledger, Ledger):
        raise ParameterError.wrong("ledger", "fit", "a Ledger or None", ledger, "ledger=spinney.Ledger('ledger.jsonl').")
    if budget.is_infinite or fit.noise_seed is not None:
        raise ParameterError(
            "A release that is not private has no place in a ledger.", "give a finite epsilon, and no seed of the noise."
        )
    try:
        entry = ledger.spend(
            charges,
            adjacency=unit.adjacency.value,
            max_rows_per_group=fit.cap,
            promised=Budget(budget.epsilon, budget.delta * (not Tally([charges]).is_pure)),
            objective=fit.problem.objective,
            algorithm=fit.algorithm.name,
        )
    except (KeyboardInterrupt, SystemExit) as error:
        error.add_note("The ledger may have been charged for this release: it shows whether it was.")
        raise
    with charge_stays(ledger):
        yield {**made, "ledger": ledger.path.name, "entry": entry}


@contextmanager
def charge_stays(ledger: Ledger | None) -> Iterator[None]:
    """Let whatever ends a fit after its charge, an interrupt included, say that the charge stays; once, if this is nested."""
    try:
        yield
    except BaseException as error:
        note = UNCOUNTED if ledger is None else CHARGED
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise
