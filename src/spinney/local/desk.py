"""The desk: where simulated users are asked, and what their reports are added up to.

It does for users what the gate does for rows: a question is read as a device reads it, its charge is spent, and only then the
users answer. One charge pays for several questions if each asks other users, for every user then answers one of them.

Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.gate import Paid
from spinney.curators.memory import ArrayRows
from spinney.curators.rows import Rows
from spinney.curators.telling import tell
from spinney.exceptions import BudgetError, ParameterError
from spinney.local.aggregation import ReportTally
from spinney.local.device import WORDS, Refusal, read_amount, read_question
from spinney.local.users import Users
from spinney.mechanisms import Draw, NoiseSource, Responses, Watched
from spinney.mechanisms.additive import SATURATION
from spinney.privacy import Charge, FitLedger, Measure, Unit, root_up, round_up, sealed
from spinney.questions.ground import Ground
from spinney.spaces import IntArray

#: What a release says of who was trusted.
SIMULATED = (
    "local, simulated: the party that ran the fit held the rows, played the devices of all users and {added}, so it was "
    "trusted; where devices answer, each user trusts the own device alone. The number of users is public"
)
#: What mechanisms are called in releases, by what users are asked.
MECHANISMS = {"cost": "randomized response", "sums": "discrete gaussian"}


@dataclass(frozen=True)
class Reports:
    """What is asked, for who watches."""

    text: str


@dataclass(frozen=True, repr=False)
class UserTotals:
    """What is answered, for who watches."""

    users: IntArray
    totals: IntArray


def record_of_reports(asked: dict[str, Any], charge: Charge) -> dict[str, Any]:
    """Return what a release stores of the noise in reports: public, exact, and checked by `spinney.verification`."""
    head = {"name": charge.name, "question": charge.question, "measure": charge.measure.value, "norm": "replaced value"}
    head["family"] = "none"
    head["mechanism"] = MECHANISMS.get(asked["kind"], "unary encoding")
    if asked["kind"] == "sums":
        return {**head, "resolution": str(asked["resolution"]), "variance": str(asked["noise"]["variance"])}
    return {**head, "threshold": str(asked["noise"]["threshold"])}


class Till:
    """Lets a charge pay for questions to different users, of one kind of noise, and for nothing else."""

    def __init__(self, ledger: FitLedger) -> None:
        self._ledger = ledger
        self._asked: dict[str, list[dict[str, Any]]] = {}

    def paid(self, text: str, charge: Charge) -> dict[str, Any]:
        """Return a question after its charge is spent."""
        try:
            asked = read_question(text)
        except Refusal as refusal:
            raise BudgetError(f"No device would answer this question: {refusal}.") from None
        same = (read_amount(asked["epsilon"]), read_amount(asked["delta"])) == (charge.amount, charge.delta)
        if not same or charge.measure is not Measure.PURE:
            raise BudgetError(f"The question is not what the charge {charge.name!r} pays for.")
        self._ledger.check_process()  # a charge is spent once, and pays for several questions
        before, group = self._asked.setdefault(charge.name, []), asked["group"]
        for other in before:
            apart = group["last"] <= other["group"]["first"] or other["group"]["last"] <= group["first"]
            dealt = all(group[name] == other["group"][name] for name in ("salt", "parts"))
            alike = record_of_reports(asked, charge) == record_of_reports(other, charge)
            if not (apart and dealt and alike):
                raise BudgetError(f"The charge {charge.name!r} has paid for a question to these users before.")
        if not before:
            self._ledger.spend(charge, "reports", record_of_reports(asked, charge))
        before.append(deepcopy(asked))  # an answer hands out the other one
        return asked


class Desk(Paid):
    """Asks simulated users, each question paid for by a planned charge.

    Privacy
    -------
    Neighbors: one user's row is replaced. Each report is private at the question's epsilon and delta by itself; a user answers
    at most one question of a charge.
    """

    def __init__(self, users: Users, unit: Unit, ledger: FitLedger, source: NoiseSource) -> None:
        if not unit.replaces or unit.max_rows != 1:
            raise BudgetError("A user's report protects what the user says: neighbors replace one row.")
        self._users, self._source, self._till = users, source, Till(ledger)
        super().__init__(unit, ledger)

    def ask(self, text: str, charge: Charge) -> ReportTally:
        """Ask the users of a question's group, and return what their reports add up to; one charge asks a user once."""
        charge = Charge.copy_of(charge)
        asked = self._till.paid(text, charge)
        tell(f"asking users: {charge.name}")
        with sealed():
            source: Any = self._source
            if type(source) is Watched:
                source = source.ask("reports", Reports(text), self._users.ground, charge, self._unit)
            users, exact = self._users.exact(asked)
            tally = ReportTally(asked, users, self._answered(asked, users, exact, source))
            if type(source) is Watched:
                source.end(UserTotals(users, tally.totals))
            return tally

    @staticmethod
    def _answered(asked: dict[str, Any], users: IntArray, exact: IntArray, source: NoiseSource) -> IntArray:
        """Return the sums of all reports."""
        if asked["kind"] == "sums":
            scale = root_up(max(int(users[0]), 1) * asked["noise"]["variance"])
            draw = Draw("gaussian", scale, "squared l2", 4 * asked["resolution"] ** 2, "sums")
            values = np.clip(exact.ravel(), -SATURATION, SATURATION)
        else:
            threshold = asked["noise"]["threshold"]
            own = WORDS - threshold if asked["kind"] == "cost" else WORDS // 2
            rule = Responses(tuple(np.repeat(users, exact.shape[1]).tolist()), own, threshold)
            draw = Draw("responses", round_up(1 / Fraction(asked["epsilon"])), "users", 1, rule=rule)
            values = exact.ravel()
        return np.asarray(source.draw(values, draw).reshape(exact.shape))


def users_of(rows: Rows) -> LocalRows:
    """Return rows that play users; they must be in memory."""
    if type(rows) is not ArrayRows:
        raise ParameterError(
            "Users are simulated from a table in memory.", "give fewer rows, as an array or a frame; spinney.local asks devices."
        )
    return LocalRows(rows.nonprivate_array, rows.columns)


@dataclass(frozen=True, eq=False, repr=False)
class LocalRows(Rows):
    """Rows of a table in memory, each of which plays a user."""

    nonprivate_rows: NDArray[Any]
    columns: tuple[str, ...] | None = None

    place = "users"
    model = SIMULATED
    gate = Desk

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return int(self.nonprivate_rows.shape[1])

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> Iterator[Any]:
        yield Users(self.nonprivate_rows, ground, key())
