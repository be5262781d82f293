"""One planned or spent piece of a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from spinney.exceptions import ParameterError
from spinney.privacy.budget import Amount, read_amount, read_exact


class Measure(StrEnum):
    """The unit a charge is counted in."""

    PURE = "epsilon"
    ZCDP = "rho"


@dataclass(frozen=True)
class Charge:
    """A named share of the budget, for one question.

    The name says what the answer is for and is unique within a plan. The amount is pure epsilon, or rho of zero-concentrated
    differential privacy (zCDP). With pure epsilon only, `delta` is the part of the budget's delta that is spent besides.
    """

    name: str
    question: str
    measure: Measure
    amount: Amount
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name, value in (("name", self.name), ("question", self.question)):
            if type(value) is not str:
                raise ParameterError.wrong(name, "Charge", "a text", value, "as the charges of a plan have it.")
        if type(self.measure) is not Measure:
            raise ParameterError.wrong("measure", "Charge", "a Measure", self.measure, "Measure.PURE is epsilon.")
        object.__setattr__(self, "amount", read_amount("amount", "Charge", self.amount))
        delta: Amount = read_amount("delta", "Charge", self.delta)
        object.__setattr__(self, "delta", delta)
        if isinstance(delta, float):  # which only infinity is
            raise ParameterError.wrong("delta", "Charge", "a finite Fraction of at least 0", self.delta, "0 for a pure promise.")

    def part(self, share: Fraction) -> Charge:
        """Return the given share of this charge, which is positive, under the same name."""
        amount: Amount = read_amount("share", "Charge.part", share)
        if not amount or isinstance(amount, float):  # which only infinity is
            raise ParameterError.wrong("share", "Charge.part", "a positive Fraction", share, "for example Fraction(1, 2).")
        return Charge(self.name, self.question, self.measure, self.amount * share, self.delta * share)

    @classmethod
    def copy_of(cls, charge: Charge) -> Charge:
        """Return a checked copy, which what is done to the other one later does not change; raise if it is no charge."""
        if type(charge) is not Charge:
            raise ParameterError.wrong("charge", "a question", "a Charge of the plan", charge, "one for each question.")
        return cls(charge.name, charge.question, charge.measure, charge.amount, charge.delta)

    def to_dict(self) -> dict[str, str]:
        """Return the charge as JSON-ready text; amounts are exact fractions."""
        amount = "inf" if self.amount == math.inf else str(self.amount)
        record = {"name": self.name, "question": self.question, "measure": self.measure.value, "amount": amount}
        return record | ({"delta": str(self.delta)} if self.delta else {})

    @classmethod
    def from_dict(cls, record: dict[str, str]) -> Charge:
        """Read what `to_dict` wrote."""
        amount: Amount = math.inf if record["amount"] == "inf" else read_exact(record["amount"])
        delta = read_exact(record.get("delta", "0"))
        return cls(record["name"], record["question"], Measure(record["measure"]), amount, delta)
