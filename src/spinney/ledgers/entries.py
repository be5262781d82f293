"""The lines of a ledger: what it was opened with and the ways in which it adds up, and then the releases that were charged."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from spinney.constraints import Constraint, check, is_integer, is_real, real
from spinney.exceptions import ParameterError, UnfinishedError
from spinney.ledgers.filter import Filter, Tally, Way, fixed_ways
from spinney.privacy import Adjacency, Amount, Budget, Charge, read_exact, round_up
from spinney.verification.ledger_lines import check_entry, check_header, check_note

#: Both parts of an amount together have no more: texts of 2,000 letters, which files hold, are some 6,640.
MOST_BITS = 6600
#: What is written. Code that knows format 1 alone counts the pure charges of a release one by one, and must not add to this one.
FORMAT = "spinney-ledger/2"
#: How the first line of every ledger begins.
FIRST = '{"format": "spinney-ledger/'
#: The least delta above 0 of a ledger, and the largest.
LEAST_DELTA, LARGEST_DELTA = 1e-100, 0.5
#: The unit of a ledger, and of what is charged to it; and all that a ledger is opened with.
UNIT = {
    "adjacency": Constraint(
        lambda value: isinstance(value, str) and value in tuple(Adjacency), "'add-remove' or 'replace'",
        "as all releases of the ledger have it.",
    ),
    "max_rows_per_group": Constraint(
        lambda cap: cap is None or (is_integer(cap) and cap >= 1), "an int in [1, inf), or left out",
        "left out, single rows are protected.",
    ),
}  # fmt: skip
HEADER = {
    "epsilon": real(lambda value: 0 < value < math.inf, "(0, inf)", "epsilon=3 lets all releases together spend so much."),
    "delta": Constraint(
        lambda value: is_real(value) and (value == 0 or LEAST_DELTA <= value <= LARGEST_DELTA),
        f"0 or a float in [{LEAST_DELTA}, {LARGEST_DELTA}]", "delta=1e-5 allows Gaussian noise.",
    ),
    **UNIT,
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One release that was charged, under a unique id.

    Entries are in the order of charging; nothing depends on `when`, the time of the machine's clock in UTC. `epsilon` and `delta`
    are what the release promises by itself. `way` is "open", or what it locked the ledger to: one order, "pure", or "gaussian".
    `job` is the digest of what the job was asked for, if it may be started again.
    """

    id: str
    when: str
    objective: str
    algorithm: str
    note: str
    epsilon: float
    delta: float
    charges: tuple[Charge, ...]
    max_rows_per_group: int | None
    way: str
    job: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        record = {**vars(self), "charges": [charge.to_dict() for charge in self.charges]}
        return {name: value for name, value in record.items() if name != "job" or value}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Entry:
        """Read what `to_dict` wrote, or raise a ValueError."""
        check_entry(record)
        return cls(**{**record, "charges": tuple(_charge(*charge.items()) for charge in record["charges"])})

    @property
    def what(self) -> str:
        """What was released, in a few words."""
        return ", ".join(text for text in (self.objective, self.algorithm, self.note) if text)


@lru_cache(2**14)
def _charge(*items: tuple[str, str]) -> Charge:
    """Read a charge; releases of one kind have the same ones."""
    return Charge.from_dict(dict(items))


def unit_text(adjacency: str, cap: int | None) -> str:
    """Return what neighbors differ by."""
    unit = "row" if cap is None else f"group of at most {cap} counted rows"
    return f"{'adding or removing' if adjacency == Adjacency.ADD_REMOVE else 'replacing'} one {unit}"


def keep_once(notes: dict[str, dict[str, Any]], record: dict[str, Any], known: Container[str]) -> None:
    """Add a digest or a mark that is in a file; raise a ValueError unless it is the only one of an entry before it."""
    check_note(record)
    entry, kind = record["entry"], "began" if "began" in record else "digest"
    if entry not in known or entry in notes[kind]:
        raise ValueError("a note of no entry, or a second one")
    notes[kind][entry] = record[kind]


def unfinished(entry_id: str) -> UnfinishedError:
    """Return the error about an entry whose questions began."""
    return UnfinishedError(
        f"Questions under the id {entry_id!r} began already: a process is at them, or it ended without a release.",
        "charge_again=True pays for another release; what was charged stays charged.",
    )


def check_again(entry: Entry, asked: tuple[Any, ...], began: Container[str]) -> None:
    """Raise unless a job that is started again may take its charge: it asks for the same, and no question began."""
    if (entry.charges, entry.max_rows_per_group, entry.job) != asked:
        raise ParameterError(
            f"{entry.id!r} was charged for a job with other parameters, or by a version with another plan.",
            "give each job an id of its own.",
        )
    if entry.id in began:
        raise unfinished(entry.id)


def promise_of(charges: tuple[Charge, ...], delta: Fraction) -> Budget:
    """Return what charges promise by themselves; `delta` is used only if they need one."""
    tally = Tally([charges])
    delta = Fraction(0) if tally.is_pure else delta
    return Budget(tally.epsilon(delta), delta)


def read_charges(charges: Iterable[Charge]) -> tuple[Charge, ...]:
    """Return copies of charges in a tuple, after `check_charges`; a table in their place is not looked into."""
    found = tuple(charges) if isinstance(charges, tuple | list | Iterator) else ()
    check_charges(found)
    return tuple(map(Charge.copy_of, found))


def _bits(amount: Amount) -> int:
    above, below = amount.as_integer_ratio()
    return above.bit_length() + below.bit_length()


def check_charges(charges: tuple[Charge, ...]) -> None:
    """Raise unless charges are finite and can be written."""
    wrong = ""
    if not charges or not all(type(charge) is Charge for charge in charges):
        wrong = "some charges, as a plan has them"
    elif not all(isinstance(charge.amount, Fraction) for charge in charges):
        wrong = "finite and exact: a release without noise has no place in a ledger"
    elif any(_bits(charge.amount) > MOST_BITS or _bits(charge.delta) > MOST_BITS for charge in charges):
        wrong = "fractions of fewer digits, which files can hold"
    if wrong:
        raise ParameterError.unlike("charges", "Ledger", f"{wrong}.", "estimator.plan(n_features=2).charges.")


def table_lines(entries: Sequence[Entry], delta: Fraction, last: int) -> list[str]:
    """Return the last entries as a table with the running total at `delta`, and an empty line after it."""
    if not entries:
        return []
    hidden = max(len(entries) - last, 0)
    tally = Tally(entry.charges for entry in entries[:hidden])
    rows = [("#", "when (UTC)", "what", "promise", "total epsilon")]
    for i, entry in enumerate(entries[hidden:], start=hidden + 1):
        tally = Tally([entry.charges], tally)
        promise = f"epsilon {entry.epsilon:.6g}" + (f", delta {entry.delta:.6g}" if entry.delta else "")
        rows.append((str(i), entry.when[:16].replace("T", " "), entry.what, promise, f"{round_up(tally.epsilon(delta)):.6g}"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*([f"({hidden} earlier releases)"] if hidden else []), *(lines if len(rows) > 1 else []), ""]


def wrong(name: str, expected: str, got: object, hint: str) -> ParameterError:
    """Return the error about a parameter of a ledger."""
    return ParameterError.wrong(name, "Ledger", expected, got, hint)


def header_of(epsilon: Any, delta: Any, adjacency: Any, max_rows_per_group: Any) -> dict[str, Any]:
    """Check what a ledger is opened with and return its first line, without the ways."""
    delta, cap = 0.0 if delta is None else delta, max_rows_per_group
    adjacency = Adjacency.ADD_REMOVE.value if adjacency is None else adjacency
    check("Ledger", {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "max_rows_per_group": cap}, HEADER)
    ceiling = Budget.of(float(epsilon), float(delta))
    return {
        "format": FORMAT,
        "epsilon": str(ceiling.epsilon),
        "delta": str(ceiling.delta),
        "adjacency": adjacency,
        "max_rows_per_group": None if cap is None else int(cap),
    }


def with_ways(header: dict[str, Any]) -> dict[str, Any]:
    """Return the whole first line of a new ledger."""
    ways = fixed_ways(Budget(read_exact(header["epsilon"]), read_exact(header["delta"])))
    return {**header, "ways": [[repr(float(way.order)), str(way.delta)] for way in ways]}


def opened_filter(header: dict[str, Any]) -> Filter:
    """Return the empty filter of a ledger with this first line, or raise a ValueError."""
    check_header(header)
    ways = tuple(Way(Fraction(float(order)), read_exact(delta)) for order, delta in header["ways"])
    return Filter.empty(Budget(read_exact(header["epsilon"]), read_exact(header["delta"])), ways)
