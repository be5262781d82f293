"""What a release stores of a question's noise: public facts, exact, so that a reader can check them alone.

Numbers are texts of exact fractions. `docs/release-format.md` says what each means; `spinney.verification` checks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from spinney.mechanisms.additive import SHAPED, Noise, Sensitivity
from spinney.privacy.budget import Amount
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.pricing import Unit

__all__ = ["Answer", "additive_record", "exact_text", "record_of"]

#: How releases name what `Noise` names.
MECHANISMS = {
    "laplace": "discrete laplace",
    "gaussian": "discrete gaussian",
    "cube": "discrete cube",
    "ball": "rounded ball",
    "none": "none",
}
#: The norm that a mechanism's sensitivities are in.
NORMS = {Measure.PURE: "l1", Measure.ZCDP: "squared l2"}


def exact_text(number: Amount | int) -> str:
    """Return a number as the text of an exact fraction; infinity as ``inf``."""
    return "inf" if number == float("inf") else str(Fraction(number))


def record_of(charge: Charge, mechanism: str, norm: str, **facts: Any) -> dict[str, Any]:
    """Return the record of one question: what every one has, and facts of its own.

    Parameters
    ----------
    charge : Charge
    mechanism, norm : str
        Which noise, and what sensitivities are measured in.
    facts
        JSON-ready.
    """
    head = {"name": charge.name, "question": charge.question, "measure": charge.measure.value}
    return {**head, "mechanism": mechanism, "norm": norm, **facts}


@dataclass(frozen=True)
class Answer:
    """One array of whole numbers that gets noise.

    Parameters
    ----------
    of : str
        What is in it.
    steps : int
        How many of its steps one row, one clipping radius or one range is.
    sensitivity : Sensitivity
        Of one row.
    price : Charge
        Of one row.
    noise : Noise
    """

    of: str
    steps: int
    sensitivity: Sensitivity
    price: Charge
    noise: Noise

    def row(self, measure: Measure) -> int:
        """Return how far one row moves it, in the norm of a measure."""
        if measure is Measure.ZCDP:
            return self.sensitivity.l2_squared
        shaped = (one for one in (self.sensitivity.largest, self.sensitivity.length) if one is not None)
        return next(shaped, self.sensitivity.l1)


def additive_record(
    charge: Charge,
    unit: Unit,
    answers: Sequence[Answer],
    replaced: Sequence[Sequence[int]] = ((2,),),
    repeats: int = 1,
    **facts: Any,
) -> dict[str, Any]:
    """Return the record of answers with additive noise.

    Parameters
    ----------
    charge : Charge
    unit : Unit
    answers : sequence of Answer
        All of one question, at once.
    replaced : sequence of sequences of int
        The worst cases of one replaced row under zCDP: in each case, how many times its `row` each answer moves by.
    repeats : int
        How many times such answers are given, of one charge.
    facts
        Of this question alone.
    """
    m, measure = unit.max_rows, charge.measure
    if not unit.replaces:
        cases: Sequence[Sequence[int]] = ((1,) * len(answers),)
    else:
        cases = ((2,) * len(answers),) if measure is Measure.PURE else replaced
    power = 1 if measure is Measure.PURE else 2
    return record_of(
        charge, MECHANISMS[answers[0].noise.distribution], SHAPED.get(answers[0].noise.distribution, NORMS[measure]),
        answers=[
            {
                "of": answer.of,
                "steps": str(answer.steps),
                "row_sensitivity": str(answer.row(measure)),
                "price": exact_text(answer.price.amount),
                "scale": exact_text(answer.noise.scale),
            }
            for answer in answers
        ],
        unit_sensitivity=[
            [str(times * answer.row(measure) * m**power) for times, answer in zip(case, answers, strict=True)] for case in cases
        ],
        repeats=repeats,
        **facts,
    )  # fmt: skip
