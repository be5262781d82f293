"""The ledger of one fit: what was planned, and what was spent."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from copy import deepcopy
from fractions import Fraction
from typing import Any

from spinney.exceptions import BudgetError
from spinney.privacy.budget import Amount, Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.composition import is_gaussian, total_epsilon
from spinney.privacy.held import Held


class FitLedger(Held):
    """Accept each planned charge once, alone or pooled with others, and nothing else.

    An algorithm's own plan need not come from `compose`, so all is checked here, and copies are kept.
    """

    #: Nothing else can be set on a ledger, so nothing stands in for its methods.
    __slots__ = ("_budget", "_entries", "_open", "_planned", "_process", "_records")

    def __init__(self, budget: Budget, planned: tuple[Charge, ...]) -> None:
        budget = Budget(budget.epsilon, budget.delta)
        planned = tuple(Charge.copy_of(charge) for charge in planned)
        if any(charge.amount == 0 for charge in planned):
            raise BudgetError("The plan has a charge of nothing: every question must be paid for.")
        if not budget.is_infinite and any(charge.amount == math.inf for charge in planned):
            raise BudgetError("The plan spends more than its budget.")
        if len({charge.name for charge in planned}) != len(planned):
            raise BudgetError("The plan names two charges alike.")
        if total_epsilon(planned, budget.delta) > budget.epsilon:
            raise BudgetError("The plan spends more than its budget.")
        self._budget, self._planned = budget, planned
        self._open = {charge.name: Charge.copy_of(charge) for charge in planned}  # those handed out may be changed
        self._entries: list[Charge] = []
        self._process = os.getpid()
        self._records: list[dict[str, Any]] = []

    @property
    def budget(self) -> Budget:
        """What may be spent; a copy."""
        return Budget(self._budget.epsilon, self._budget.delta)

    @property
    def planned(self) -> tuple[Charge, ...]:
        """The plan; copies, because what is handed out may be changed."""
        return tuple(map(Charge.copy_of, self._planned))

    @property
    def entries(self) -> tuple[Charge, ...]:
        """Charges spent so far, in order; copies."""
        return tuple(map(Charge.copy_of, self._entries))

    @property
    def records(self) -> tuple[dict[str, Any], ...]:
        """The records of the noise of each charge spent, in order; copies."""
        return tuple(deepcopy(self._records))

    @property
    def epsilon(self) -> Amount:
        """The epsilon spent so far, at the budget's delta."""
        return total_epsilon(self._entries, self._budget.delta)

    def pool(self, charges: Sequence[Charge], question: str) -> Charge:
        """Pool planned charges that are still open: one question gets their whole amount.

        They must be counted in one measure, and have no delta of their own: only then do their amounts add up as before. What
        was planned as the price of Gaussian noise buys nothing else.
        """
        charges = [Charge.copy_of(charge) for charge in charges]
        known = len({charge.name for charge in charges}) == len(charges) and all(self._open.get(c.name) == c for c in charges)
        if not charges or not known:
            raise BudgetError("Only open charges of the plan can be pooled, each once.")
        if len({charge.measure for charge in charges}) > 1 or any(charge.delta for charge in charges):
            raise BudgetError("Only charges of one measure, without a delta of their own, can be pooled.")
        if charges[0].measure is Measure.ZCDP and is_gaussian(c.question for c in charges) and not is_gaussian([question]):
            raise BudgetError("Charges for Gaussian noise can be pooled for a question with Gaussian noise alone.")
        amount = sum((charge.amount for charge in charges), start=Fraction(0))
        whole = Charge(" + ".join(charge.name for charge in charges), question, charges[0].measure, amount)
        taken = {charge.name for charge in (*self._planned, *self._entries)} | self._open.keys()
        if len(charges) > 1 and whole.name in taken:
            raise BudgetError("The plan names two charges alike.")
        for charge in charges:
            del self._open[charge.name]
        self._open[whole.name] = whole
        return Charge.copy_of(whole)

    def check_process(self) -> None:
        """Raise in a copy of the process: each copy would spend the same charges."""
        if os.getpid() != self._process:
            raise BudgetError("This process is a copy of the one that holds the ledger: each would spend the same charge.")

    def spend(self, charge: Charge, question: str, record: dict[str, Any] | None = None) -> None:
        """Record a charge before its question is answered, and the public facts about its noise, for the release."""
        charge = Charge.copy_of(charge)
        self.check_process()
        if charge.question != question or self._open.pop(charge.name, None) != charge:
            raise BudgetError(f"The question {question!r} has no open charge named {charge.name!r} in the plan.")
        self._entries.append(charge)
        self._records.append(record or {})
