"""A protocol over messages: the next question from the tallies so far, and in the end a release: the server's whole memory."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from spinney.algorithms import Result
from spinney.algorithms.problem import planned
from spinney.constraints import check, instance, one_of
from spinney.exceptions import DataError, ParameterError
from spinney.fits.charging import today
from spinney.fits.fit import Fit
from spinney.fits.parameters import check_points
from spinney.fits.record import algorithm_of, plain_parameters, promise_fields, repeat_fields
from spinney.local.aggregation import ReportTally, aggregate
from spinney.local.cells import Grid
from spinney.local.desk import Till
from spinney.local.device import Refusal, read_question
from spinney.local.protocol import Protocol
from spinney.mechanisms import SecureSource
from spinney.privacy import FitLedger
from spinney.releases.centers import Release
from spinney.releases.objectives import POWERS
from spinney.spaces import Ball

#: What a release says of who was trusted.
DEVICES = (
    "local: the device of each user held its row and {added} before anything left it; the server saw reports alone. The number "
    "of users is public"
)
FORMAT = "spinney-session/1"
OWNER = "spinney.local.Session"
#: What can be asked for.
NAMES = ("n_clusters", "epsilon", "delta", "bounds", "algorithm")


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
        given = self.parameters
        if type(given) is not dict or not all(type(name) is str and name in NAMES for name in given):
            expected, hint = (
                f"a dict of some of {', '.join(map(repr, NAMES))}",
                "the rest is fixed: replaced rows, the local model.",
            )
            raise ParameterError.wrong("parameters", OWNER, expected, given, hint)
        if isinstance(given.get("bounds"), Ball):
            hint = "bounds=Box(-1, 1): devices move values to bounds column by column."
            raise ParameterError.wrong(
                "bounds", OWNER, "a tuple (lower, upper), a list of pairs, a Box, or a dict by column", given["bounds"], hint
            )
        check(OWNER, {"objective": self.objective}, {"objective": one_of(POWERS, "objective='kmeans'.")})
        if type(self.random_state) is not int:  # users are dealt by it anew at every question: it must be the same one
            raise ParameterError.wrong("random_state", OWNER, "an int", self.random_state, "random_state=1.")
        if type(self.tallies) is not tuple or not all(type(tally) is ReportTally for tally in self.tallies):
            hint = "leave it out: heard() adds them."
            raise ParameterError.wrong("tallies", OWNER, "a tuple of ReportTally", self.tallies, hint)

    @cached_property
    def fit(self) -> Fit:
        """What is wanted, checked."""
        fixed = {"model": "local", "adjacency": "replace", "tighten": False, "max_rows_per_group": None}
        typed = {"delta": 0.0, "algorithm": "auto", "n_clusters": None, "epsilon": None, "bounds": None} | self.parameters | fixed
        facts = check_points(typed, self.objective, OWNER, False)
        if facts.typed["scale"] is not None or facts.schema is not None:
            raise ParameterError("Devices send numbers as they are.", "bounds of numbers, without units or categories.")
        return facts.planned(self.n_features)

    @property
    def protocol(self) -> Protocol:
        """The algorithm, which asks users."""
        found: Any = self.fit.algorithm
        check(OWNER, {"algorithm": found}, {"algorithm": instance(Protocol, "leave it out for the default.")})
        protocol: Protocol = found
        return protocol

    @cached_property
    def _talk(self) -> tuple[tuple[tuple[str, str], ...], Result | None]:
        """The questions so far with the names of their charges, the open one last; and what may be released, at the end."""
        problem: Any = self.fit.problem
        charges = {charge.name: charge for charge in planned(self.protocol, problem)}
        talk, asked = self.protocol.talk(problem, charges, np.random.default_rng(self.random_state)), []
        foreign = DataError("A tally is not of the question that this session asks.", "add reports with heard(messages).")
        result = None
        try:
            asked.append(next(talk))
            for tally in self.tallies:
                if tally.asked != read_question(asked[-1][1]):
                    raise foreign
                asked.append(talk.send(tally))
        except StopIteration as end:
            result = end.value
        if len(asked) < len(self.tallies):
            raise foreign
        return tuple(asked), result

    @property
    def question(self) -> str | None:
        """The open question, to be sent to devices; None at the end."""
        asked, result = self._talk
        return asked[-1][1] if result is None else None

    def heard(self, messages: Iterable[Any], roster: Collection[str] | None = None) -> Session:
        """Return the session after the messages that answer the open question; parameters as for `aggregate`."""
        if self.question is None:
            raise ParameterError("This session has ended: nothing is asked.", "its release has the centers.")
        tally = aggregate(self.question, messages, roster)
        return replace(self, tallies=(*self.tallies, tally))

    @property
    def release(self) -> Release:
        """What may be published, after the last question."""
        asked, result = self._talk
        if result is None:
            raise ParameterError("This session is not at its end.", "send its question to devices, and give it their reports.")
        problem: Any = self.fit.problem
        algorithm = self.fit.algorithm
        ledger = FitLedger(problem.budget, planned(algorithm, problem))
        till, charges = Till(ledger), {charge.name: charge for charge in ledger.planned}
        for name, text in asked:
            till.paid(text, charges[name])
        promise = promise_fields(problem, ledger, SecureSource(), None, DEVICES)
        made: dict[str, str | None] = {"date": today(), "ledger": None, "entry": None}
        promise |= repeat_fields(algorithm, self.random_state, None, made)
        release: Release = problem.release(result, algorithm.name, problem.names, promise)
        return release

    def to_json(self) -> str:
        """Return the session as JSON."""
        tallies = [
            {"users": tally.users.tolist(), "totals": tally.totals.tolist(), "left_out": tally.left_out} for tally in self.tallies
        ]
        problem: Any = self.fit.problem
        algorithm = self.fit.algorithm
        ends = zip(problem.domain.lower.tolist(), problem.domain.upper.tolist(), strict=True)
        written = {
            "n_clusters": problem.k,
            "epsilon": float(problem.budget.epsilon),
            "delta": float(problem.budget.delta),
            "bounds": list(zip(*ends, strict=True)) if problem.names is None else dict(zip(problem.names, ends, strict=True)),
            "algorithm": algorithm.name,
        }
        facts = {"parameters": written, "n_features": problem.n_features, "random_state": self.random_state}
        facts |= {"format": FORMAT, "objective": self.objective, "protocol": plain_parameters(algorithm), "tallies": tallies}
        return json.dumps(facts, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        try:
            record = json.loads(text)
            typed, own, tallies = (record.pop(name) for name in ("parameters", "protocol", "tallies"))
            whole = record.pop("format") == FORMAT and set(record) == {"n_features", "random_state", "objective"}
            if not whole or set(typed) != set(NAMES):
                raise ValueError
            typed["algorithm"] = algorithm_of(typed["algorithm"], own, "users")
            if type(typed["bounds"]) is list:  # JSON has no tuples
                typed["bounds"] = tuple(typed["bounds"])
            session = cls(typed, **record)
            if plain_parameters(session.fit.algorithm) != own:
                raise ValueError
            for one in tallies:
                session = replace(session, tallies=(*session.tallies, _tally(one, session.question)))
            return session
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, Refusal):
            pass
        raise DataError("This is no whole session.", "keep the file that 'spinney local question' wrote.")


def _tally(record: Any, question: str | None) -> ReportTally:
    """Return what a session's file has of the reports to a question; raise a ValueError unless it fits."""
    asked = read_question(question)
    users, totals = (np.asarray(record[name], dtype=np.int64) for name in ("users", "totals"))
    empty, left = ReportTally.empty(asked), record["left_out"]
    fits = (users.shape, totals.shape) == (empty.users.shape, empty.totals.shape) and (users >= 0).all()
    if not fits or set(record) != {"users", "totals", "left_out"} or not all(type(count) is int for count in left.values()):
        raise ValueError
    return ReportTally(asked, users, totals, {str(reason): count for reason, count in left.items()})


def policy_of(session: Session) -> dict[str, Any]:
    """Return a policy that allows a session's questions and nothing else: for users, or who speaks for them, to judge."""
    check("policy_of", {"session": session}, {"session": instance(Session, "policy_of(session).")})
    problem: Any = session.fit.problem
    charges, scope = planned(session.fit.algorithm, problem), session.protocol.scope(problem)
    delta = max(charge.delta for charge in charges)
    return {
        "format": "spinney-policy/1",
        "domain": Grid.of(problem.ground.domain).record,
        "kinds": sorted(scope.kinds),
        "epsilon": str(sum((Fraction(charge.amount) for charge in charges), start=Fraction(0))),
        "delta": str(delta),
        "question_epsilon": str(max(Fraction(charge.amount) for charge in charges)),
        "question_delta": str(delta),
        "most_slots": scope.slots,
        "widest_radius": scope.widest,
        "most_questions": len(charges),
    }
