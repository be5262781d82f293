"""One planned or spent piece of a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from spinney.privacy.budget import Amount

__all__ = ["Charge", "Measure"]


class Measure(StrEnum):
    """The unit a charge is counted in."""

    PURE = "epsilon"
    ZCDP = "rho"


@dataclass(frozen=True)
class Charge:
    """A named share of the budget, for one question.

    Parameters
    ----------
    name : str
        What the answer is for, such as ``"leaf counts"``. Unique within a plan.
    question : str
        The curator question that spends it.
    measure : Measure
        Pure epsilon, or rho of zero-concentrated differential privacy (zCDP).
    amount : Fraction or math.inf
    delta : Fraction
        With pure epsilon only: the part of the budget's delta that this charge spends besides, as an approximate promise of
        its own.
    """

    name: str
    question: str
    measure: Measure
    amount: Amount
    delta: Fraction = Fraction(0)

    def part(self, share: Fraction) -> Charge:
        """Return the given share of this charge, under the same name."""
        return Charge(self.name, self.question, self.measure, self.amount * share, self.delta * share)

    def to_dict(self) -> dict[str, str]:
        """Return the charge as JSON-ready text; amounts are exact fractions."""
        amount = "inf" if self.amount == math.inf else str(self.amount)
        record = {"name": self.name, "question": self.question, "measure": self.measure.value, "amount": amount}
        return record | ({"delta": str(self.delta)} if self.delta else {})

    @classmethod
    def from_dict(cls, record: dict[str, str]) -> Charge:
        """Read what `to_dict` wrote."""
        amount: Amount = math.inf if record["amount"] == "inf" else Fraction(record["amount"])
        delta = Fraction(record.get("delta", 0))
        return cls(record["name"], record["question"], Measure(record["measure"]), amount, delta)
