"""The gate: the one place where exact numbers about private rows become private answers.

A curator holds a backend, which answers exact aggregates, the ledger of the fit and the source of noise. `ask` refuses what is
not on the lists of questions, makes a question of its own from the fields of the one that it was given, checks its public
arguments, charges the ledger, and only then lets it answer. Nothing else leads to the rows: an algorithm that only asks is
private by construction.

Proofs: ``proofs/questions.md`` and the pages that `spinney.questions.catalog` names.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, TypeVar

from spinney.curators.backend import Backend
from spinney.curators.copying import rebuilt
from spinney.curators.telling import tell
from spinney.exceptions import BudgetError, DataError
from spinney.mechanisms import NoiseSource, Watched
from spinney.privacy import Charge, FitLedger, Held, Unit, sealed
from spinney.questions.arrays import require
from spinney.questions.catalog import EVERY, EXPERIMENTAL
from spinney.questions.ground import Ground
from spinney.questions.question import Kind, Question
from spinney.spaces import Domain, FiniteMetric, FloatArray, IntArray

#: What a question is answered with.
A = TypeVar("A")
_QUESTIONS = {entry.question: name for name, entry in EVERY.items()}


def name_of(question: Any) -> str:
    """Return the name of a question, as charges have it; raise if it is not on the list."""
    name = next((name for kind, name in _QUESTIONS.items() if type(question) is kind), None)
    if name is None:
        raise TypeError("Only the questions of spinney.questions.catalog can be asked.")
    return name


class Turn:
    """Lets one question be answered at a time, whatever threads ask, and none within another."""

    def __init__(self) -> None:
        self._lock, self._owner = threading.Lock(), 0

    def __enter__(self) -> None:
        if self._owner == threading.get_ident():
            raise RuntimeError("A question is being answered: the next one can be asked after it.")
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, *error: object) -> None:
        self._owner = 0
        self._lock.release()


class Paid(Held):
    """Whatever is asked questions that a ledger is charged for: whom it protects and what it charges cannot be set."""

    def __init__(self, unit: Unit, ledger: FitLedger) -> None:
        self._unit = Unit(unit.adjacency, unit.max_rows)
        self._ledger = ledger

    @property
    def unit(self) -> Unit:
        """Who is protected; a copy."""
        return Unit(self._unit.adjacency, self._unit.max_rows)

    @property
    def ledger(self) -> FitLedger:
        """What was planned, and what was spent of it."""
        return self._ledger


class Curator(Paid):
    """Answers noisy questions about private rows, each paid for by a planned charge.

    Privacy
    -------
    Neighbors: as `unit` says. Each question is private at its charge; the ledger refuses a charge that the plan does not hold.
    Time and memory use are outside the promise.

    A turn is held while a question is answered: what a backend remembers of rows is for one question at a time. Views share it.
    """

    def __init__(self, nonprivate_rows: Backend, unit: Unit, ledger: FitLedger, source: NoiseSource, turn: Any = None) -> None:
        self._rows = nonprivate_rows
        self._source = source
        self._turn = Turn() if turn is None else turn
        super().__init__(unit, ledger)

    @property
    def ground(self) -> Ground:
        """The public ground that rows lie on; a copy."""
        return self._rows.ground.shown

    def ask(self, question: Question[A], charge: Charge) -> A:
        """Answer a question of the list, after its charge is spent: one of the plan that is not spent yet."""
        name = name_of(question)
        if type(charge) is not Charge:  # another class could say that it equals the planned one
            raise TypeError("Only a planned charge pays for a question.")
        charge, ground = Charge.copy_of(charge), self._rows.ground
        question = rebuilt(question, ground)
        question.check(ground)
        require(self._rows.in_memory or not question.in_memory, f"only rows in memory answer the question {name!r}")
        if name in EXPERIMENTAL and all(planned.question != name for planned in self._ledger.planned):
            raise BudgetError(f"The plan does not name the question {name!r}, which is experimental.")
        with self._turn:
            record = question.kind(ground).record(charge, self._unit) | {"family": question.family}
            self._ledger.spend(charge, name, record)
            tell(f"asking {name}: {charge.name}")
            try:
                answer: A = self._answer(name, question, charge)
                return answer
            except DataError as error:
                spent, budget = float(self._ledger.epsilon), float(self._ledger.budget.epsilon)
                error.add_note(
                    f"The fit ends at its question {charge.name!r}; charged so far: epsilon {spent:.6g} of {budget:g}."
                )
                raise

    def _answer(self, name: str, question: Question[A], charge: Charge) -> A:
        """Answer a question that is paid for."""
        rows, ground, unit, source = self._rows, self._rows.ground, self._unit, self._source
        with sealed():
            if type(source) is not Watched:
                return question.answer(rows, ground, charge, unit, source)
            watched = source.ask(name, question, ground, charge, unit)
            answer = question.answer(rows, ground, charge, unit, watched)
            watched.end(answer)
            return answer

    def preview(self, kind: Kind, charge: Charge) -> Any:
        """Return the noise that a charge buys for a question of this kind; nothing is asked or spent."""
        return kind.noise(charge, self.unit)  # a copy: a kind may be anyone's

    def pool(self, charges: Sequence[Charge], question: str) -> Charge:
        """Return one charge for one question of this name, pooled from charges of the plan that are not spent yet."""
        return self._ledger.pool(charges, question)

    def within(self, domain: Domain) -> Curator:
        """Return a curator over the same rows, ledger and noise that clips rows to another public domain."""
        return self._over(self._rows.within(domain))

    def projected(self, directions: FloatArray, domain: Domain) -> Curator:
        """Return a curator over the same rows, ledger and noise that sees each row in the columns of a projection.

        A row becomes its products with the directions, which are public or released before, from the middle of the domain it lay
        in, clipped to another one.
        """
        return self._over(self._rows.projected(directions, domain))

    def near(self, centers: FloatArray, kept: IntArray) -> Curator:
        """Return a curator over the same ledger and noise, and over those rows whose nearest center is one of the kept ones.

        Centers are public or released before; kept ones are given by their places.
        """
        return self._over(self._rows.near(centers, kept))

    def at(self, space: FiniteMetric) -> Curator:
        """Return a curator over the same rows, ledger and noise that sees each row as the nearest of public points.

        Questions about points can then be asked of rows of numbers. Nothing is read before the first of them is charged.
        """
        return self._over(self._rows.at(space))

    def _over(self, nonprivate_rows: Backend) -> Curator:
        return Curator(nonprivate_rows, self._unit, self._ledger, self._source, self._turn)
