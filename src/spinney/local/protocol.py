"""What a protocol of the local model is: questions one after another, each made from the tallies before it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.algorithms.problem import Charges
from spinney.curators.purse import Purse
from spinney.exceptions import ParameterError
from spinney.local.aggregation import ReportTally
from spinney.local.asking import Reporting, Unlawful
from spinney.local.device import LONGEST, MOST_COLUMNS, Refusal, read_amount
from spinney.privacy import Charge, Part

#: Yields the name of a charge and a question, is sent the tally of its reports, and returns what may be released.
Talk = Generator[tuple[str, str], ReportTally, Result]
#: Characters of a question beside its points, and for each column and point, at most: texts of bounds, radii, brackets.
HEAD, OF_COLUMN, OF_NUMBER, OF_POINT = 2_000, 60, 8, 22


@dataclass(frozen=True)
class Scope:
    """What a protocol asks at most: kinds of questions, slots of a report, points of a question, and a radius in steps."""

    kinds: tuple[str, ...]
    slots: int
    points: int
    widest: int

    def characters(self, n_features: int) -> int:
        """Return how long a question may get."""
        return HEAD + OF_COLUMN * n_features + self.points * (OF_NUMBER * n_features + OF_POINT)


def check_limits(owner: str, problem: PointProblem, charges: tuple[Charge, ...], scope: Scope) -> None:
    """Raise a ParameterError, which names what was typed, unless devices can answer all questions of a plan."""
    d, k, budget = problem.n_features, problem.k, problem.budget
    if d > MOST_COLUMNS:
        hint = "choose fewer columns: each costs users."
        raise ParameterError.wrong("n_features", owner, f"at most {MOST_COLUMNS}, the columns that devices know", d, hint)
    if scope.characters(d) > LONGEST:
        hint = "ask for fewer clusters, or choose fewer columns."
        raise ParameterError.wrong("n_clusters", owner, f"fewer: with {d} columns no device reads so long a question", k, hint)
    for charge in charges:
        for name, amount in (("epsilon", Fraction(charge.amount)), ("delta", charge.delta)):
            if not _is_written(amount):
                hint = "epsilon=1.0 and delta=1e-6 are common."
                expected = "a number that devices read: at least 1e-30, with few digits"
                raise ParameterError.wrong(name, owner, expected, float(getattr(budget, name)), hint)
        try:
            Reporting().noise(charge, problem.unit)
            wrong = None
        except Unlawful as found:
            wrong = found
        if wrong is not None:
            typed = float(getattr(budget, wrong.name))
            raise ParameterError.wrong(wrong.name, owner, wrong.expected(charge.amount, budget.epsilon), typed, wrong.hint)


def _is_written(amount: Fraction) -> bool:
    """Whether devices read an amount as it is written."""
    try:
        return read_amount(str(amount)) == amount
    except Refusal:
        return False


class Protocol(Algorithm):
    """An algorithm that asks users instead of a curator."""

    solves: ClassVar[str] = "users"
    backends: ClassVar[tuple[str, ...]] = ("users",)

    @abstractmethod
    def talk(self, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Talk:
        """Ask, and return what may be released. Everything but the tallies is public."""

    @abstractmethod
    def shares(self, problem: PointProblem) -> tuple[Charge, ...]:
        """Return every charge: what each user loses."""

    @abstractmethod
    def scope(self, problem: PointProblem) -> Scope:
        """Return what is asked at most."""

    def plan(self, problem: PointProblem) -> tuple[Charge, ...]:
        """Return every charge, after a check that devices can answer: nothing is charged for what they would refuse."""
        charges = self.shares(problem)
        check_limits(f"the {self.name} protocol", problem, charges, self.scope(problem))
        return charges

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        """Return the charges as shares of epsilon, for plans."""
        charges = self.plan(problem)
        total = sum((Fraction(charge.amount) for charge in charges), start=Fraction(0))
        return tuple(Part(c.name, c.question, Fraction(c.amount) / total, kind=Reporting()) for c in charges)

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        """Ask simulated users at their desk, where one charge pays for questions to different users."""
        desk, charges = purse.curator, purse.charges
        talk = self.talk(problem, charges, rng)
        try:
            name, question = next(talk)
            while True:
                name, question = talk.send(desk.ask(question, charges[name]))
        except StopIteration as end:
            result: Result = end.value
            return result


def salt_of(rng: np.random.Generator) -> str:
    """Return a public salt that deals users into groups."""
    return rng.bytes(12).hex()
