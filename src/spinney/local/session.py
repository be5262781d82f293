"""A protocol over messages: the next question from the tallies so far, and in the end a release: the server's whole memory."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from spinney.algorithms.problem import Result, planned
from spinney.exceptions import DataError, ParameterError
from spinney.fits.charging import today
from spinney.fits.fit import Fit
from spinney.fits.parameters import check_points
from spinney.fits.record import promise_fields, repeat_fields
from spinney.local.aggregation import aggregate
from spinney.local.desk import Till
from spinney.local.device import KINDS, WIDEST, Refusal, read_question
from spinney.local.grid import Grid
from spinney.local.tallies import ReportTally
from spinney.mechanisms.source import SecureSource
from spinney.privacy.ledger import FitLedger
from spinney.releases.centers import Release

__all__ = ["Session", "policy_of"]

#: What a release says of who was trusted.
DEVICES = (
    "local: the device of each user held its row and added the noise before anything left it; the server saw reports alone. "
    "The number of users is public"
)
FORMAT = "spinney-session/1"
OWNER = "spinney.local.Session"


@dataclass(frozen=True)
class Session:
    """One run of a protocol with real devices.

    Privacy
    -------
    Holds reports' sums, which are as private as reports: free. What devices promise is `spinney.local.device.respond`'s.

    Parameters
    ----------
    parameters : dict
        As `PrivateKMeans` takes them: ``n_clusters``, ``epsilon``, ``bounds``, and if wanted ``delta`` and ``algorithm``.
    n_features : int
        The number of columns.
    random_state : int
        Seeds public randomness: how users are dealt into groups.
    objective : {"kmeans", "kmedian"}
    tallies : tuple of ReportTally
        Of the questions so far, in their order.

    Examples
    --------
    >>> from spinney.local import Session, policy_of, respond
    >>> session = Session({"n_clusters": 2, "epsilon": 1.0, "bounds": (0, 1)}, n_features=1, random_state=1)
    >>> policy, states = policy_of(session), [{} for _ in range(100)]
    >>> while session.question is not None:
    ...     reports = [respond([0.25 + 0.5 * (i % 2)], session.question, policy, state) for i, state in enumerate(states)]
    ...     session = session.heard(reports)
    >>> session.release.centers.shape
    (2, 1)
    """

    parameters: dict[str, Any]
    n_features: int
    random_state: int
    objective: str = "kmeans"
    tallies: tuple[ReportTally, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if type(self.random_state) is not int:  # users are dealt by it anew at every question: it must be the same one
            raise ParameterError.wrong("random_state", OWNER, "an int", self.random_state, "random_state=1.")

    @cached_property
    def fit(self) -> Fit:
        """What is wanted, checked."""
        fixed = {"model": "local", "adjacency": "replace", "tighten": False, "max_rows_per_group": None}
        typed = {"delta": 0.0, "algorithm": "auto", "n_clusters": None, "epsilon": None, "bounds": None} | self.parameters | fixed
        facts = check_points(typed, self.objective, OWNER, False)
        if facts.typed["scale"] is not None or facts.schema is not None:
            raise ParameterError("Devices send numbers as they are.\nHint: bounds of numbers, without units or categories.")
        return facts.planned(self.n_features)

    @cached_property
    def _talk(self) -> tuple[tuple[tuple[str, str], ...], Result | None]:
        """The questions so far with the names of their charges, the open one last; and what may be released, at the end."""
        problem, algorithm = self.fit.problem, self.fit.algorithm
        charges = {charge.name: charge for charge in planned(algorithm, problem)}
        talk, asked = algorithm.talk(problem, charges, np.random.default_rng(self.random_state)), []
        try:
            asked.append(next(talk))
            for tally in self.tallies:
                asked.append(talk.send(tally))
        except StopIteration as end:
            return tuple(asked), end.value
        return tuple(asked), None

    @property
    def question(self) -> str | None:
        """The open question, to be sent to devices; None at the end."""
        asked, result = self._talk
        return asked[-1][1] if result is None else None

    def heard(self, messages: Iterable[Any], roster: Collection[str] | None = None) -> Session:
        """Return the session after the messages that answer the open question; parameters are those of `aggregate`."""
        if self.question is None:
            raise ParameterError("This session has ended: nothing is asked.\nHint: its release has the centers.")
        tally = aggregate(self.question, messages, roster)
        return Session(self.parameters, self.n_features, self.random_state, self.objective, (*self.tallies, tally))

    @property
    def release(self) -> Release:
        """What may be published, after the last question."""
        asked, result = self._talk
        if result is None:
            raise ParameterError(
                "This session is not at its end.\nHint: send its question to devices, and give it their reports."
            )
        problem, algorithm = self.fit.problem, self.fit.algorithm
        ledger = FitLedger(problem.budget, planned(algorithm, problem))
        till, charges = Till(ledger), {charge.name: charge for charge in ledger.planned}
        for name, text in asked:
            till.paid(text, charges[name])
        promise = promise_fields(problem, ledger, SecureSource(), False, DEVICES)
        made: dict[str, str | None] = {"date": today(), "ledger": None, "entry": None}
        promise |= repeat_fields(algorithm, self.random_state, None, made)
        release: Release = problem.release(result, algorithm.name, None, promise)
        return release

    def to_json(self) -> str:
        """Return the session as JSON."""
        tallies = [
            {"users": tally.users.tolist(), "totals": tally.totals.tolist(), "left_out": tally.left_out} for tally in self.tallies
        ]
        facts = {"parameters": self.parameters, "n_features": self.n_features, "random_state": self.random_state}
        return json.dumps({"format": FORMAT, "objective": self.objective, "tallies": tallies, **facts}, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        try:
            record = json.loads(text)
            facts = {name: record[name] for name in ("parameters", "n_features", "random_state", "objective")}
            session = cls(**facts)
            for one in record["tallies"]:
                asked = read_question(session.question)
                users, totals = (np.asarray(one[name], dtype=np.int64) for name in ("users", "totals"))
                if (users.shape, totals.shape) != (ReportTally.empty(asked).users.shape, ReportTally.empty(asked).totals.shape):
                    raise ValueError
                session = cls(**facts, tallies=(*session.tallies, ReportTally(asked, users, totals, dict(one["left_out"]))))
            if record["format"] == FORMAT:
                return session
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, Refusal):
            pass
        raise DataError("This is no whole session.\nHint: keep the file that 'spinney local question' wrote.")


def policy_of(session: Session) -> dict[str, Any]:
    """Return a policy that allows a session's questions and no more epsilon: for users, or who speaks for them, to judge."""
    problem: Any = session.fit.problem
    charges = planned(session.fit.algorithm, problem)
    delta = max(charge.delta for charge in charges)
    return {
        "format": "spinney-policy/1",
        "domain": Grid.of(problem.ground.domain).record,
        "kinds": sorted(KINDS),
        "epsilon": str(sum((Fraction(charge.amount) for charge in charges), start=Fraction(0))),
        "delta": str(delta),
        "question_epsilon": str(max(Fraction(charge.amount) for charge in charges)),
        "question_delta": str(delta),
        "most_slots": 4096,
        "widest_radius": WIDEST,
        "most_questions": len(charges),
    }
