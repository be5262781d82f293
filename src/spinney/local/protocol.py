"""What a protocol of the local model is: questions one after another, each made from the tallies before it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from fractions import Fraction
from typing import ClassVar

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.problem import Charges, PointProblem
from spinney.algorithms.result import Result
from spinney.curators.purse import Purse
from spinney.local.limits import Scope, check_limits
from spinney.local.tallies import ReportTally
from spinney.privacy.charges import Charge
from spinney.privacy.composition import Part

__all__ = ["Protocol", "Talk", "salt_of"]

#: Yields the name of a charge and a question, is sent the tally of its reports, and returns what may be released.
Talk = Generator[tuple[str, str], ReportTally, Result]


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
        from spinney.local.reporting import Reporting

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
