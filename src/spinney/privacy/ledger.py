"""The ledger of one fit: what was planned, and what was spent."""

from __future__ import annotations

import math
from typing import Any

from spinney.exceptions import BudgetError
from spinney.privacy.budget import Amount, Budget
from spinney.privacy.charges import Charge
from spinney.privacy.composition import total_epsilon

__all__ = ["FitLedger"]


class FitLedger:
    """Accept each planned charge once, and nothing else.

    Parameters
    ----------
    budget : Budget
    planned : tuple of Charge
        Each positive, and together not above the budget. An algorithm's own plan need not come from `compose`, so all is checked
        here, and copies are kept.
    """

    def __init__(self, budget: Budget, planned: tuple[Charge, ...]) -> None:
        planned = tuple(Charge.copy_of(charge) for charge in planned)
        if any(charge.amount == 0 for charge in planned):
            raise BudgetError("The plan has a charge of nothing: every question must be paid for.")
        if not budget.is_infinite and any(charge.amount == math.inf for charge in planned):
            raise BudgetError("The plan spends more than its budget.")
        if len({charge.name for charge in planned}) != len(planned):
            raise BudgetError("The plan names two charges alike.")
        if total_epsilon(planned, budget.delta) > budget.epsilon:
            raise BudgetError("The plan spends more than its budget.")
        self.budget, self.planned = budget, planned
        self._open = {charge.name: Charge.copy_of(charge) for charge in planned}  # those handed out may be changed
        self._entries: list[Charge] = []
        self._records: list[dict[str, Any]] = []

    @property
    def entries(self) -> tuple[Charge, ...]:
        """Charges spent so far, in order."""
        return tuple(self._entries)

    @property
    def records(self) -> tuple[dict[str, Any], ...]:
        """What was told of the noise of each charge spent, in order."""
        return tuple(self._records)

    def keep(self, record: dict[str, Any]) -> None:
        """Keep the public facts about the noise of the charge spent last, for the release."""
        self._records.append(record)

    @property
    def epsilon(self) -> Amount:
        """The epsilon spent so far, at the budget's delta."""
        return total_epsilon(self._entries, self.budget.delta)

    def spend(self, charge: Charge, question: str) -> None:
        """Record a charge before its question is answered."""
        if charge.question != question or self._open.pop(charge.name, None) != charge:
            raise BudgetError(f"The question {question!r} has no open charge named {charge.name!r} in the plan.")
        self._entries.append(charge)
