"""What a release stores of a question's noise: public facts, exact, so that a reader can check them alone.

Numbers are texts of exact fractions. `docs/release-format.md` says what each means; `spinney.verification` checks them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from spinney.mechanisms import Noise, NoiseSource, Sensitivity, calibrate, privatize
from spinney.mechanisms.drawing import NORMS
from spinney.privacy import Amount, Charge, Measure, Unit
from spinney.questions.question import Kind
from spinney.spaces import IntArray

#: How releases name what `Noise` names.
MECHANISMS = {
    "laplace": "discrete laplace",
    "gaussian": "discrete gaussian",
    "cube": "discrete cube",
    "ball": "rounded ball",
    "none": "none",
}


def exact_text(number: Amount | int) -> str:
    """Return a number as the text of an exact fraction; infinity as ``inf``."""
    return "inf" if number == float("inf") else str(Fraction(number))


def record_of(charge: Charge, mechanism: str, norm: str, **facts: Any) -> dict[str, Any]:
    """Return the record of one question: what every one has, and JSON-ready facts of its own."""
    head = {"name": charge.name, "question": charge.question, "measure": charge.measure.value}
    return {**head, "mechanism": mechanism, "norm": norm, **facts}


@dataclass(frozen=True)
class Answer:
    """One array of whole numbers that gets noise; sensitivity and price are of one row."""

    of: str
    #: How many of its steps one row, one clipping radius or one range is.
    steps: int
    sensitivity: Sensitivity
    price: Charge

    @property
    def noise(self) -> Noise:
        """What the price buys."""
        return calibrate(self.sensitivity, self.price)

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
    **facts: Any,
) -> dict[str, Any]:
    """Return the record of answers with additive noise, all of one question at once, given once for one charge.

    `replaced` are the worst cases of one replaced row under zCDP: in each case, how many times its `row` each answer moves by.
    """
    m, measure, distribution = unit.max_rows, charge.measure, answers[0].noise.distribution
    if not unit.replaces:
        cases: Sequence[Sequence[int]] = ((1,) * len(answers),)
    else:
        cases = ((2,) * len(answers),) if measure is Measure.PURE else replaced
    power, plain = (1, "l1") if measure is Measure.PURE else (2, "squared l2")
    return record_of(
        charge, MECHANISMS[distribution], NORMS.get(distribution, plain),
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
        repeats=1,
        **facts,
    )  # fmt: skip


class AdditiveKind(Kind):
    """A kind of question with one answer of whole numbers, all with noise of one scale."""

    #: What releases call the answer, how many of its steps one row, half width or range is, and the words of a plan.
    of: ClassVar[str]
    steps: ClassVar[int] = 1
    shown: ClassVar[str]
    #: Whether a replaced row moves counts of two cells, and not one sum twice as far.
    are_counts: ClassVar[bool] = True

    @property
    @abstractmethod
    def row(self) -> Sensitivity:
        """How far one row moves the answer."""

    @property
    def l1(self) -> float:
        """How far one row moves the answer, in L1, over the steps."""
        return self.row.l1 / self.steps

    @property
    def l2(self) -> float:
        return math.sqrt(self.row.l2_squared) / self.steps

    def one(self, unit: Unit) -> Unit:
        """Return the unit with those of its rows that count."""
        return unit

    def moves(self, unit: Unit) -> Sensitivity:
        """Return how far one whole unit moves the answer."""
        return self.row.of_unit(self.one(unit), self.are_counts)

    def answer_for(self, charge: Charge, unit: Unit) -> Answer:
        """Return the answer with what a charge pays for one row."""
        one = self.one(unit)
        return Answer(self.of, self.steps, self.row, one.count_price(charge) if self.are_counts else one.value_price(charge))

    def noise(self, charge: Charge, unit: Unit) -> Noise:
        return self.answer_for(charge, unit).noise

    def answered(self, exact: IntArray, charge: Charge, unit: Unit, source: NoiseSource) -> tuple[IntArray, Noise]:
        """Return exact whole numbers with noise on each, and the noise."""
        noise = self.noise(charge, unit)
        return privatize(exact, noise, source, self.moves(unit)), noise

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        return additive_record(charge, self.one(unit), [self.answer_for(charge, unit)], ((2,),) if self.are_counts else ((4,),))

    def words(self, charge: Charge, unit: Unit) -> str:
        return self.shown.format(self.noise(charge, unit).std / self.steps)
