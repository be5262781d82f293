"""Replay: whether anything but a curator's answers decides what an algorithm asks and returns.

Every question of a run is recorded with its answer. The neighbor is then given the same answers: it must ask the same questions,
with the same public arguments, in the same order, and return the same result. What differs can only come from the rows.
The audit reads exact rows: give it made-up ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from spinney.algorithms.problem import planned
from spinney.curators.gate import Curator
from spinney.curators.rows import Rows
from spinney.fits.fit import Fit
from spinney.fits.run import generator
from spinney.mechanisms.source import SecureSource
from spinney.privacy.charges import Charge
from spinney.privacy.ledger import FitLedger
from spinney.questions.question import Question

__all__ = ["canonical", "replay"]


def canonical(value: Any) -> Any:
    """Return something that compares bit for bit; arrays and dataclasses are looked into."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        return array.dtype.str, array.shape, array.tobytes()
    if isinstance(value, float):
        return value.hex()
    if dataclasses.is_dataclass(value):
        fields = (canonical(getattr(value, field.name)) for field in dataclasses.fields(value))
        return type(value).__name__, *fields
    if isinstance(value, tuple | list):
        return type(value).__name__, *map(canonical, value)
    return value


class _Recorder(Curator):
    """Answers as a curator does, and remembers; or gives remembered answers again."""

    def __init__(self, *arguments: Any, frozen: list[Any] | None = None) -> None:
        super().__init__(*arguments)
        self.asked: list[Any] = []
        self.answers: list[Any] = []
        self._frozen = frozen

    def ask(self, question: Question, charge: Charge) -> Any:
        """Answer, or repeat an answer, and remember what was asked."""
        self.asked.append((type(question).__name__, canonical(self.ground), canonical(question), canonical(charge)))
        if self._frozen is None:
            self.answers.append(deepcopy(super().ask(question, charge)))  # type: ignore[call-overload]
            return deepcopy(self.answers[-1])
        question.check(self.ground)
        self.ledger.spend(charge, charge.question)
        if not self._frozen:
            raise AssertionError("More is asked about the neighbor than about the first table.")
        return deepcopy(self._frozen.pop(0))

    def within(self, domain: Any) -> _Recorder:
        """Return a view whose questions are remembered here."""
        inner = _Recorder(self._rows.within(domain), self.unit, self.ledger, self._source, frozen=self._frozen)
        inner.asked, inner.answers = self.asked, self.answers
        return inner


@contextmanager
def _recorder(fit: Fit, rows: Rows, frozen: list[Any] | None) -> Iterator[_Recorder]:
    source, problem = SecureSource(), fit.problem
    with rows.opened(problem.ground, problem.unit, source.key) as backend:
        spent = FitLedger(problem.budget, planned(fit.algorithm, problem))
        yield _Recorder(backend, problem.unit, spent, source, frozen=frozen)


def replay(model: Any, first: Any, second: Any, random_state: int = 0) -> int:
    """Run on one table, then on its neighbor with the same answers; raise an AssertionError if anything differs.

    Parameters
    ----------
    model : estimator
        With the algorithm to try; it is not fitted.
    first, second
        Neighboring tables, made up, as `fit` takes them.
    random_state : int
        Seeds the public randomness of both runs.

    Returns
    -------
    int
        The number of questions that were asked.
    """

    def charges(curator: Curator) -> dict[str, Charge]:
        return {charge.name: charge for charge in curator.ledger.planned}

    (fit, rows), (_, neighbor) = model.prepare(first), model.prepare(second)
    with _recorder(fit, rows, None) as one:
        result = fit.algorithm.run(one, fit.problem, charges(one), generator(random_state))
    with _recorder(fit, neighbor, list(one.answers)) as other:
        again = fit.algorithm.run(other, fit.problem, charges(other), generator(random_state))
    if one.asked != other.asked:
        raise AssertionError("The neighbor is asked something else: the rows decide it beside the answers.")
    if canonical(result) != canonical(again):
        raise AssertionError("The same answers give another result: it depends on the rows beside them.")
    return len(one.asked)
