"""The ledger of one fit: what was planned, and what was spent."""

from __future__ import annotations

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
        Their total may not exceed the budget.
    """

    def __init__(self, budget: Budget, planned: tuple[Charge, ...]) -> None:
        if len({charge.name for charge in planned}) != len(planned):
            raise BudgetError("The plan names two charges alike.")
        if total_epsilon(planned, budget.delta) > budget.epsilon:
            raise BudgetError("The plan spends more than its budget.")
        self.budget = budget
        self._open = {charge.name: charge for charge in planned}
        self._entries: list[Charge] = []

    @property
    def entries(self) -> tuple[Charge, ...]:
        """Charges spent so far, in order."""
        return tuple(self._entries)

    @property
    def epsilon(self) -> Amount:
        """The epsilon spent so far, at the budget's delta."""
        return total_epsilon(self._entries, self.budget.delta)

    def spend(self, charge: Charge, question: str) -> None:
        """Record a charge before its question is answered."""
        if charge.question != question or self._open.pop(charge.name, None) != charge:
            raise BudgetError(f"The question {question!r} has no open charge named {charge.name!r} in the plan.")
        self._entries.append(charge)
