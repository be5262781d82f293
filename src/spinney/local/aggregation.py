"""The server's side: reports are checked, counted once and added up. Nothing that anyone sends raises, and no row is seen.

From the sums counts, means and costs are estimated.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError
from spinney.local.device import WORDS, Refusal, digest_of, is_asked, read_question, slots_of
from spinney.spaces import FloatArray, IntArray


def columns_of(asked: dict[str, Any]) -> int:
    """Return about how many columns a question's reports may be: one each of offsets, and of anything else one for all."""
    return len(asked["domain"]["steps"]) + (asked["kernel"] == "median") if asked["kind"] == "offsets" else 1


@dataclass(frozen=True, eq=False)
class ReportTally:
    """Sums of the reports to one question.

    Parameters
    ----------
    asked : dict
        The question.
    users : array of shape (columns,)
        Numbers of reports about each column.
    totals : array of shape (columns, slots)
        How often each slot was set; of `sums`, the sum of each number.
    left_out : dict
        Numbers of messages that do not count, by reason.
    """

    asked: dict[str, Any]
    users: IntArray
    totals: IntArray
    left_out: dict[str, int] = field(default_factory=dict)

    @classmethod
    def empty(cls, asked: dict[str, Any]) -> ReportTally:
        """Return the tally of no reports."""
        columns = columns_of(asked)
        return cls(asked, np.zeros(columns, dtype=np.int64), np.zeros((columns, slots_of(asked)), dtype=np.int64))

    @property
    def chance(self) -> float:
        """How likely a slot is set that is not the user's own, or the bit of a cost is turned."""
        return float(self.asked["noise"]["threshold"] / WORDS)

    @property
    def total_users(self) -> int:
        """The number of reports that count."""
        return int(self.users.sum())

    @property
    def report_bound(self) -> float:
        """How far one report moves each estimated number at most, and m reports m times as far."""
        if self.asked["kind"] == "sums":
            return float(largest_value(self.asked) / self.asked["resolution"])
        span = 1 - 2 * self.chance if self.asked["kind"] == "cost" else 0.5 - self.chance
        return (1 - self.chance) / span

    @property
    def counts(self) -> FloatArray:
        """Estimated numbers of users in each slot, column by column; without bias."""
        return np.asarray((self.totals - self.users[:, None] * self.chance) / (0.5 - self.chance))

    @property
    def count_std(self) -> FloatArray:
        """Standard deviation of the noise in the count of a slot that few users are in, for each column."""
        chance = self.chance
        return np.asarray(np.sqrt(self.users * chance * (1 - chance)) / (0.5 - chance))

    @property
    def cost_difference(self) -> float:
        """Estimated mean of what the first centers cost a user more than the second, in steps of the grid to its power."""
        n, chance = max(self.total_users, 1), self.chance
        share = (float(self.totals[0, 0]) / n - chance) / (1 - 2 * chance)  # of users that say more
        return (2 * share - 1) * float(self.asked["range"])

    @property
    def vectors(self) -> FloatArray:
        """Estimated sums of offsets in each region, in reaches."""
        return np.asarray(self.totals[0].reshape(len(self.asked["centers"]), -1) / self.asked["resolution"])


def largest_value(asked: dict[str, Any]) -> int:
    """Return the largest number that counts in a report of `sums`: noise passes it less than once in 10^60 draws."""
    return int(asked["resolution"] + 17 * math.isqrt(asked["noise"]["variance"]) + 17)


#: Why a message does not count, in the order of looking.
REASONS = ("malformed", "refused", "other question", "stranger", "outside group", "out of range", "repeated")
#: Reports that are unpacked together.
BATCH = 4096
#: Characters of a message.
LONGEST = 10_000_000


class _Left(Exception):  # noqa: N818  (leads a message out; it never leaves the module)
    """A message does not count; its text is one of the reasons."""


def _leave_unless(holds: bool, reason: str) -> None:
    if not holds:
        raise _Left(reason)


def _read(message: Any) -> dict[str, Any]:
    """Return a message that is a report."""
    report: Any = None
    with suppress(ValueError, RecursionError):
        report = json.loads(message) if isinstance(message, str) and len(message) <= LONGEST else None
    _leave_unless(type(report) is dict, "malformed")
    _leave_unless(report.get("format") != "spinney-refusal/1", "refused")
    names = {"format", "question", "token"}
    texts = all(type(report.get(name)) is str and re.fullmatch(r"[ -~]{1,200}", report[name]) is not None for name in names)
    _leave_unless(texts and report["format"] == "spinney-report/1", "malformed")
    return dict(report)


def _bits(text: Any, slots: int) -> bytes:
    """Return packed bits; those behind the last slot are zero."""
    size = (slots + 7) // 8
    _leave_unless(type(text) is str and len(text) == 2 * size and re.fullmatch(r"[0-9a-f]*", text) is not None, "malformed")
    found = bytes.fromhex(text)
    _leave_unless(not found[-1] & ((1 << (8 * size - slots)) - 1), "out of range")
    return found


class _Adding:
    """Adds up replies to one question."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked, self.tally = asked, ReportTally.empty(asked)
        self._slots, self._columns = slots_of(asked), columns_of(asked)
        self._waiting: list[list[bytes]] = [[] for _ in range(self._columns)]

    def add(self, report: dict[str, Any]) -> None:
        """Add one reply, or leave it without having changed anything."""
        kind = self.asked["kind"]
        names = {"cost": {"bit"}, "sums": {"values"}, "offsets": {"bits", "column"}}.get(kind, {"bits"})
        _leave_unless(set(report) == {"format", "question", "token"} | names, "malformed")
        column = 0
        if kind == "cost":
            _leave_unless(type(report["bit"]) is int, "malformed")
            _leave_unless(report["bit"] in (0, 1), "out of range")
            self.tally.totals[0, 0] += report["bit"]
        elif kind == "sums":
            self._add_values(report["values"])
        else:
            column = report.get("column", 0)
            _leave_unless(type(column) is int, "malformed")
            _leave_unless(0 <= column < self._columns, "out of range")
            self._waiting[column].append(_bits(report["bits"], self._slots))
            if len(self._waiting[column]) == BATCH:
                self._unpack(column)
        self.tally.users[column] += 1

    def _add_values(self, values: Any) -> None:
        whole = type(values) is list and len(values) == self._slots and set(map(type, values)) == {int}
        _leave_unless(whole, "malformed")
        most = largest_value(self.asked)
        _leave_unless(min(values) >= -most and max(values) <= most, "out of range")
        self.tally.totals[0] += np.asarray(values, dtype=np.int64)

    def _unpack(self, column: int) -> None:
        if self._waiting[column]:
            packed = np.frombuffer(b"".join(self._waiting[column]), dtype=np.uint8).reshape(len(self._waiting[column]), -1)
            self.tally.totals[column] += np.unpackbits(packed, axis=1, count=self._slots).sum(axis=0, dtype=np.int64)
            self._waiting[column].clear()

    def finish(self, left_out: Counter[str]) -> ReportTally:
        """Return what was added up."""
        for column in range(self._columns):
            self._unpack(column)
        return ReportTally(self.asked, self.tally.users, self.tally.totals, {reason: left_out[reason] for reason in REASONS})


def aggregate(question: str, messages: Iterable[Any], roster: Collection[str] | None = None) -> ReportTally:
    """Add up the reports to one question; whatever else is among the messages is counted out by a reason.

    The first report of a token that passes all checks counts, and no other. One report moves each estimated number by at most
    `ReportTally.report_bound`, and m reports, however they were made, by m times that; one that takes the place of another, under
    its token, by at most twice as much. Nothing is promised for centers.

    Parameters
    ----------
    question : str
        As it was sent to devices.
    messages : iterable of str
        As devices sent them, in any order: reports, refusals, and anything else.
    roster : collection of str, optional
        Tokens that may answer; a report of any other is forged. Without one, whoever can send can answer.

    Returns
    -------
    ReportTally
    """
    tokens = None if roster is None else _tokens(roster)
    try:
        asked = read_question(question)
    except Refusal as refusal:
        reason = str(refusal)
    else:
        return _tallied(asked, messages, tokens)
    raise ParameterError(f"This is no question: {reason}.", "give the text that the devices were sent.")


def _tokens(roster: Any) -> frozenset[str]:
    """Return the tokens that may answer."""
    tokens: frozenset[Any] = frozenset({None})
    with suppress(Exception):  # whatever a table in its place raises
        tokens = frozenset({None} if isinstance(roster, str | bytes) else roster)
    if not all(type(token) is str for token in tokens):
        raise ParameterError.wrong("roster", "aggregate", "a collection of texts", roster, "the tokens that devices drew.")
    return tokens


def _tallied(asked: dict[str, Any], messages: Iterable[Any], roster: Collection[str] | None) -> ReportTally:
    digest, seen, left_out, adding = digest_of(asked), set[str](), Counter[str](), _Adding(asked)
    for message in messages:
        try:
            report = _read(message)
            token = report["token"]
            _leave_unless(report["question"] == digest, "other question")
            _leave_unless(roster is None or token in roster, "stranger")
            _leave_unless(is_asked(asked["group"], token), "outside group")
            if token in seen:  # its reply is looked at too, so that a broken one is never called repeated
                _Adding(asked).add(report)
                raise _Left("repeated")
            adding.add(report)
            seen.add(token)
        except _Left as reason:
            left_out[str(reason)] += 1
    return adding.finish(left_out)
