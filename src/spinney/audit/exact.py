"""Exact: the law of all answers of a fit, for all small data sets in a tiny space at once.

An algorithm runs with made-up draws until it asks for one that has none. The law of that draw is computed for every data set, by
real curators over it, every outcome is tried, and the algorithm runs again. Additive noise is cut off: what is cut off has an
infinite privacy loss here. So no estimate and no sampling is left, but the number of transcripts explodes: at most three rows,
four points and a few slots.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.problem import planned
from spinney.audit.findings import Finding, words_of
from spinney.audit.laws import draw_law
from spinney.audit.tiny import data_sets, demand_curators, neighbors
from spinney.curators.gate import Curator
from spinney.curators.purse import Purse
from spinney.exceptions import SpinneyError
from spinney.mechanisms.drawing import Draw, Watched
from spinney.privacy.charges import Charge
from spinney.questions.form import form
from spinney.spaces.box import IntArray

FloatArray = NDArray[np.float64]

#: Outcomes of all draws so far.
Outcomes = tuple[Any, ...]
#: Losses of floats are compared up to this.
ROUNDING = 1e-9
#: What this method would not notice.
CANNOT_SEE = (
    "larger spaces and data sets than were enumerated",
    "whether a source draws from the distribution that it names",
    "running time and memory use",
)


class _OpenError(SpinneyError):
    """A draw that has no outcome yet."""

    def __init__(self, draw: Draw, values: IntArray) -> None:
        super().__init__("open")
        self.draw, self.values = draw, np.array(values)


class _Script:
    """Gives the outcomes of a list, then stops the fit at the next draw."""

    statement = "audited: not private"

    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = list(outcomes)

    def draw(self, values: IntArray, draw: Draw) -> Any:
        if not self._outcomes:
            raise _OpenError(draw, values)
        return self._outcomes.pop(0)

    def key(self) -> bytes:
        """Return 16 bytes, always the same."""
        return b"sixteen  letters"


@dataclass(frozen=True, eq=False)
class LossLaw:
    """The distribution of the privacy loss under the first of two data sets: its values, and their probabilities."""

    values: FloatArray
    masses: FloatArray

    @classmethod
    def merged(cls, values: FloatArray, masses: FloatArray) -> LossLaw:
        """Put equal losses together; the last value is infinity."""
        finite = np.isfinite(values)
        unique, place = np.unique(np.round(values[finite], 11), return_inverse=True)
        sums = np.bincount(place, masses[finite], minlength=len(unique)) if len(unique) else np.empty(0)
        return cls(np.append(unique, np.inf), np.append(sums, masses[~finite].sum()))

    def delta(self, epsilon: float) -> float:
        """Return the least delta at this epsilon."""
        with np.errstate(over="ignore"):
            return float(self.masses @ np.maximum(0, -np.expm1(epsilon - self.values)))

    @property
    def largest(self) -> float:
        """The largest finite loss: epsilon at delta 0, if nothing is cut off."""
        return float(self.values[:-1][self.masses[:-1] > 0].max(initial=-np.inf))

    @property
    def cut_off(self) -> float:
        """The probability of what was cut off."""
        return float(self.masses[-1])


#: The loss of each pair of neighbors.
LossTable = dict[tuple[int, int], LossLaw]


class _UnansweredError(SpinneyError):
    """An algorithm asks something that has no answer yet."""

    def __init__(self, question: Any, charge: Charge) -> None:
        super().__init__("unanswered")
        self.question, self.charge = question, charge

    @property
    def key(self) -> Hashable:
        """What is asked, to compare."""
        return repr((form(self.question), form(self.charge)))


class _Answered(Curator):
    """Gives the answers of a list, and then says what is asked next."""

    def __init__(self, nobody: Curator, answers: Outcomes) -> None:
        super().__init__(nobody._rows, nobody.unit, nobody.ledger, nobody._source)
        self._answers = list(answers)

    def ask(self, question: Any, charge: Charge) -> Any:
        question.check(self.ground)
        if not self._answers:
            raise _UnansweredError(question, charge)
        return self._answers.pop(0)


def _opened(question: Any, charge: Charge, curator: Callable[[Any], Curator], outcomes: Outcomes) -> Any:
    """Return the draw that comes next after these outcomes, or the answer."""
    try:
        return curator(Watched(_Script(outcomes), lambda event: None)).ask(question, charge)
    except _OpenError as ask:
        return ask


def _first_draw(
    question: Any, charge: Charge, curators: Sequence[Callable[[Any], Curator]], outcomes: Outcomes, reach: float
) -> tuple[Any, Any]:
    """Return what the next draw may give, and the law of it; or the answer, and None."""
    first = _opened(question, charge, curators[0], outcomes)
    if not isinstance(first, _OpenError):  # the others end here too: replay compares what comes after the same outcomes
        return first, None
    asks = [first, *(_opened(question, charge, curator, outcomes) for curator in curators[1:])]
    if any(not isinstance(ask, _OpenError) or ask.draw != first.draw for ask in asks):
        raise AssertionError("Data sets with the same outcomes are asked for other draws: the rows decide it.")
    return draw_law(first.draw, np.array([ask.values for ask in asks], dtype=np.int64), reach)


def question_law(
    question: Any, charge: Charge, curators: Sequence[Callable[[Any], Curator]], reach: float
) -> tuple[list[Any], FloatArray]:
    """Return all answers to a question, and the probability of each for each data set.

    Every draw of the question is followed with every outcome, so this serves processes such as `grow` and `cover` too. There is
    a callable for each data set: it returns a curator over it, with a ledger that takes every charge, for a source of noise.
    Additive noise is cut off at `reach` of its scales.
    """
    answers: list[Any] = []
    rows: list[FloatArray] = []

    def follow(outcomes: Outcomes, chance: FloatArray) -> None:
        values, law = _first_draw(question, charge, curators, outcomes, reach)
        if law is None:
            answers.append(values)
            rows.append(chance)
            return
        for value, more in zip(values, law, strict=True):
            follow((*outcomes, value), chance * more)

    follow((), np.ones(len(curators)))
    return answers, np.array(rows)


class Explorer:
    """Walks through all transcripts of one algorithm.

    Parameters
    ----------
    run : callable
        Takes a curator; asks it everything.
    curators : sequence of callables
        As in `question_law`.
    pairs : list of pairs of places
        Which data sets are neighbors.
    reach : float
        Noise is cut off at this many of its scales.
    forgets : set of str
        The names of charges after which an algorithm depends on earlier answers through its next question alone.
    last : str
        The name of a charge after which nothing is asked, for a question of a single draw: its answers are not made up.
    """

    def __init__(
        self,
        run: Callable[[Curator], Any],
        curators: Sequence[Callable[[Any], Curator]],
        pairs: Sequence[tuple[int, int]],
        reach: float,
        forgets: Collection[str] = (),
        last: str = "sizes",
    ) -> None:
        self._run, self._curators, self._pairs = run, curators, pairs
        self._reach, self._forgets, self._last = reach, forgets, last
        self._seen: dict[Hashable, LossTable] = {}
        self._laws: dict[Hashable, tuple[list[Any], FloatArray]] = {}
        self._nobody = curators[0](_Script(()))
        #: How many times the algorithm ran.
        self.runs = 0

    def losses(self) -> LossTable:
        """Return the distribution of the loss of each pair."""
        return self._follow(self._question(()), ())

    def _question(self, answers: Outcomes) -> _UnansweredError | None:
        """Return what is asked after these answers, or None."""
        self.runs += 1
        try:
            self._run(_Answered(self._nobody, answers))
        except _UnansweredError as ask:
            return ask
        return None

    def _follow(self, ask: _UnansweredError | None, answers: Outcomes) -> LossTable:
        if ask is None:
            return {pair: LossLaw(np.array([0.0, np.inf]), np.array([1.0, 0.0])) for pair in self._pairs}
        if ask.charge.name == self._last:
            law = _first_draw(ask.question, ask.charge, self._curators, (), self._reach)[1]
            return self._joined(law, [self._follow(None, ())], np.zeros(len(law), dtype=np.int64))
        if ask.key not in self._laws:  # whatever was answered before: a law follows from the question alone
            self._laws[ask.key] = question_law(ask.question, ask.charge, self._curators, self._reach)
        replies, law = self._laws[ask.key]
        children: dict[Hashable, int] = {}
        places, tables = np.empty(len(replies), dtype=np.int64), list[LossTable]()
        for row, reply in enumerate(replies):
            after = (*answers, reply)
            question = self._question(after)
            forgets = ask.charge.name in self._forgets or (question is not None and question.charge.name == self._last)
            key: Hashable = question.key if forgets and question is not None else row
            if key not in children:
                children[key] = len(tables)
                if not forgets or key not in self._seen:
                    self._seen[key] = self._follow(question, after)
                tables.append(self._seen[key])
            places[row] = children[key]
        return self._joined(law, tables, places)

    def _joined(self, law: FloatArray, tables: list[LossTable], places: IntArray) -> LossTable:
        """Put the losses of one question and of all that follows together."""
        joined = {}
        members = [np.flatnonzero(places == child) for child in range(len(tables))]
        with np.errstate(divide="ignore"):
            logs = np.log(law)
        for pair in self._pairs:
            one, other = pair
            values, masses = [np.array([np.inf])], [np.array([max(0.0, 1 - law[:, one].sum())])]
            gap = logs[:, one] - logs[:, other]
            for rows, table in zip(members, tables, strict=True):
                if rows.size == 1 and np.isfinite(gap[rows[0]]):  # nothing to merge
                    values.append(gap[rows[0]] + table[pair].values)
                    masses.append(law[rows[0], one] * table[pair].masses)
                    continue
                mine = LossLaw.merged(gap[rows], law[rows, one])
                values.append(np.add.outer(mine.values, table[pair].values).ravel())
                masses.append(np.outer(mine.masses, table[pair].masses).ravel())
            joined[pair] = LossLaw.merged(np.concatenate(values), np.concatenate(masses))
        return joined


def exact(model: Any, *, most_rows: int = 3, reach: float = 0.4, random_state: int = 0, forgets: Collection[str] = ()) -> Finding:
    """Enumerate all answers of a fit over a tiny space, for all data sets of few rows; return the worst privacy loss.

    Parameters
    ----------
    model : PrivateKMedoids, or anything with `prepare` whose rows name points
        In a space of about four points, with few questions and slots.
    most_rows : int
        The largest data set.
    reach : float
        Additive noise is cut off at this many scales. With Laplace noise the loss is constant beyond all exact counts, so a
        small reach shows the worst one; with Gaussian noise what is cut off counts as lost, so take 3 or more.
    random_state : int
        Seeds public randomness.
    forgets : collection of str
        As in `Explorer`.
    """
    fit, _ = model.prepare(np.empty(0))
    problem, algorithm = fit.problem, fit.algorithm

    def run(curator: Curator) -> Any:
        return algorithm.run(Purse(curator), problem, np.random.default_rng(random_state))

    data = data_sets(problem.ground.n_points, most_rows)
    pairs = neighbors(data, problem.unit.adjacency, problem.unit.max_rows)
    curators = demand_curators(data, problem.ground, problem.unit, planned(algorithm, problem))
    explorer = Explorer(run, curators, pairs, reach, forgets)
    losses = explorer.losses()
    epsilon, delta = float(problem.budget.epsilon), float(problem.budget.delta)
    worst, faults = max(loss.largest for loss in losses.values()), list[str]()
    if delta > 0:
        spent = max(loss.delta(epsilon) for loss in losses.values())
        worst = min(worst, epsilon) if spent <= delta else worst
        faults += ["the loss passes epsilon with a probability above delta"] if spent > delta else []
    bound = min(worst, epsilon) if worst <= epsilon + ROUNDING else worst
    tried = {"data sets": len(data), "pairs": len(pairs), "runs": explorer.runs}
    return Finding("exact", words_of(fit), epsilon, delta, bound, tried=tried, faults=tuple(faults), cannot_see=CANNOT_SEE)
