"""What devices can answer, checked from public facts before anything is charged."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from spinney.algorithms.problem import PointProblem
from spinney.exceptions import ParameterError
from spinney.local.asking import Unlawful
from spinney.local.device import LONGEST, MOST_COLUMNS, Refusal, read_amount
from spinney.local.reporting import Reporting
from spinney.privacy.charges import Charge

__all__ = ["Scope", "check_limits"]

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
