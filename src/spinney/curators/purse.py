"""The purse: all that an algorithm holds of its budget and of the rows.

It knows by name which charges of the plan are open, and which one pays for what is asked in the place of another. It answers
nothing and adds nothing up that is spent: whatever is asked goes through the curator, whose ledger alone says what may be paid.

Proof: ``proofs/questions.md``, "The gate".
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar, cast

from spinney.curators.gate import name_of
from spinney.exceptions import BudgetError
from spinney.privacy import Charge, Held, Measure, Unit, is_gaussian
from spinney.questions.ground import Ground
from spinney.questions.question import Kind, Question
from spinney.spaces import Domain, FiniteMetric, FloatArray, IntArray

#: What a question is answered with.
A = TypeVar("A")


class _Pockets(Held):
    """What the views of one purse share: open charges, by the stage that they would pay for, and by place in the plan."""

    __slots__ = ("lock", "open", "places")

    def __init__(self, curator: Any) -> None:
        self.lock = threading.Lock()
        self.open = {charge.name: {place: charge} for place, charge in enumerate(curator.ledger.planned)}
        self.places = {name: place for place, name in enumerate(self.open)}


class Purse(Held):
    """What an algorithm asks, by the names of its plan.

    Privacy
    -------
    As for the curator, which is asked: a purse can do nothing that who holds its curator and its charges could not.
    """

    #: Nothing else can be set on a purse, so nothing stands in for its methods.
    __slots__ = ("_curator", "_pockets")

    def __init__(self, curator: Any, pockets: _Pockets | None = None) -> None:
        self._curator = curator
        self._pockets = _Pockets(curator) if pockets is None else pockets

    @property
    def curator(self) -> Any:
        """Who is asked: for algorithms that hand charges on themselves. What they spend so is not taken off `names`."""
        return self._curator

    @property
    def charges(self) -> dict[str, Charge]:
        """The plan by its names; copies."""
        return {charge.name: charge for charge in self._curator.ledger.planned}

    @property
    def unit(self) -> Unit:
        """Who is protected; a copy."""
        return cast(Unit, self._curator.unit)

    @property
    def ground(self) -> Ground:
        """The public ground that rows lie on; a copy."""
        return cast(Ground, self._curator.ground)

    @property
    def names(self) -> tuple[str, ...]:
        """The stages that were neither asked nor passed on, in the order of the plan."""
        return tuple(name for name in self._pockets.places if name in self._pockets.open)

    def __contains__(self, name: object) -> bool:
        return type(name) is str and name in self._pockets.open

    def measure(self, name: str) -> Measure:
        """Return what the planned charge of this name is counted in."""
        if type(name) is not str or name not in self._pockets.places:
            raise BudgetError("The plan has no charge of this name.")
        return self.charges[name].measure

    def ask(self, name: str, question: Question[A]) -> A:
        """Ask the curator, paid by the charge of this name and by all that was passed on to it and may pay for the question.

        The question is of the kind that was planned, or of another one that the charge may pay for. One that is refused before it
        is charged leaves the name open.
        """
        asked = name_of(question)
        with self._pockets.lock:
            paying, place = self._paying((name,), asked), self._pockets.places[name]
            pocket = self._pockets.open.pop(name)
        charge = pocket[place]
        try:
            if len(paying) > 1 or charge.question != asked:
                charge = self._curator.pool(paying, asked)
                pocket = {at: one for at, one in pocket.items() if one not in paying} | {place: charge}
            answer: A = self._curator.ask(question, charge)
            return answer
        except BaseException:
            if charge not in self._curator.ledger.entries:
                self._pockets.open[name] = pocket
            raise

    def preview(self, kind: Kind, *names: str) -> Any:
        """Return the noise that a question of this kind would have if these charges paid for it together; nothing is spent.

        Names are open stages, with what was passed on to them. What could not be passed on to the last one does not count.
        """
        question = kind.question
        if type(question) is not str:  # a kind may be anyone's
            raise TypeError("The kind of a question names it by a text.")
        with self._pockets.lock:
            paying = self._paying(names, question)
        amount = sum((one.amount for one in paying), start=Fraction(0))
        name, delta = " + ".join(one.name for one in paying), paying[0].delta  # which only one that pays alone has
        charge = Charge(name, question, paying[0].measure, amount, delta)
        return self._curator.preview(kind, charge)

    def pass_on(self, name: str, to: str) -> None:
        """Leave a stage out: what would have paid for it pays for another one, which is asked later.

        Pure charges pay for what is charged in epsilon, rho of Gaussian noise for questions with Gaussian noise, and a charge
        with a delta of its own for nothing else. What cannot pay stays unspent.
        """
        with self._pockets.lock:
            self._check_open(name, to)
            self._pockets.open[to] = self._pockets.open[to] | self._pockets.open.pop(name)

    def _check_open(self, *names: str) -> None:
        """Raise unless these are stages, each once, that were neither asked nor passed on."""
        if not names or not all(name in self for name in names) or len(set(names)) < len(names):
            raise BudgetError("Only charges of the plan that were neither spent nor passed on can pay, each once.")

    def _paying(self, names: Sequence[str], question: str) -> list[Charge]:
        """Return which charges would pay for a question to the last of these stages, in the order of the plan."""
        self._check_open(*names)
        together = {place: charge for name in names for place, charge in self._pockets.open[name].items()}
        own = together[self._pockets.places[names[-1]]]
        takes_all = own.measure is Measure.PURE or is_gaussian([question])
        paying = [
            together[place]
            for place in sorted(together)
            if together[place] is own or (together[place].measure is own.measure and not together[place].delta and not own.delta)
            if takes_all or not is_gaussian([together[place].question])
        ]
        if own not in paying:
            raise BudgetError("A charge for Gaussian noise pays for a question with Gaussian noise alone.")
        return paying

    def within(self, domain: Domain) -> Purse:
        """Return a purse over the same charges that asks `Curator.within`."""
        return Purse(self._curator.within(domain), self._pockets)

    def projected(self, directions: FloatArray, domain: Domain) -> Purse:
        """Return a purse over the same charges that asks `Curator.projected`."""
        return Purse(self._curator.projected(directions, domain), self._pockets)

    def near(self, centers: FloatArray, kept: IntArray) -> Purse:
        """Return a purse over the same charges that asks `Curator.near`."""
        return Purse(self._curator.near(centers, kept), self._pockets)

    def at(self, space: FiniteMetric) -> Purse:
        """Return a purse over the same charges that asks `Curator.at`."""
        return Purse(self._curator.at(space), self._pockets)
