"""One reading of a ledger's file: whatever is done to its bytes, the ledger and `verify` both take it or both refuse it."""

import copy
import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nested import edited, places, value_at
from spinney import DataError, Ledger
from spinney.ledgers.entries import MOST_BITS
from spinney.privacy.charges import Charge, Measure
from spinney.verification.ledger_lines import FORMATS, read_ledger

STORED = Path(__file__).parents[2] / "stored"


def charge(name, measure, amount, delta=0):
    return Charge(name, "counts", measure, Fraction(amount), Fraction(delta))


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """The bytes of ledgers of every kind: open, locked, with digests and with charges that have a delta of their own."""
    folder = tmp_path_factory.mktemp("ledgers")
    found = {}
    for name, delta, parts in (
        ("pure", 0.0, [(Measure.PURE, "1/10", 0), (Measure.PURE, "1/3", 0)]),
        ("mixed", 1e-5, [(Measure.ZCDP, "1/1000", 0), (Measure.PURE, "1/10", "1/10000000")]),
        ("locked", 1e-5, [(Measure.ZCDP, "9/500", 0)]),
    ):
        ledger = Ledger(folder / name, epsilon=1.0, delta=delta, adjacency="replace", max_rows_per_group=3)
        unit = {"adjacency": "replace", "max_rows_per_group": 2}
        for i, (measure, amount, own) in enumerate(parts):
            entry = ledger.spend([charge("a", measure, amount, own)], **unit, note="x", entry_id=f"id {i}")
        ledger.keep_digest(entry, f"sha256:{'0' * 64}")
        if name == "pure":
            ledger.begin(ledger.spend([charge("a", measure, amount, own)], **unit, entry_id="job", job=f"sha256:{'0' * 64}"))
        found[name] = ledger.path.read_bytes()
    return found | {path.name: path.read_bytes() for path in STORED.glob("*/*.ledger")}


def records_of(content):
    return [json.loads(line.rpartition(b" ")[0]) for line in content.split(b"\n")[:-1]]


def chained(records):
    """The bytes of a ledger with these lines, each with its check."""
    check, lines = "", []
    for record in records:
        text = json.dumps(record)
        check = hashlib.sha256(f"{check}\n{text}".encode()).hexdigest()[:32]
        lines.append(f"{text} {check}\n")
    return "".join(lines).encode()


def takes(read, path):
    """Whether a file is taken; it is refused with a DataError or not at all."""
    try:
        read(path)
    except DataError:
        return False
    return True


def both_take(content, folder):
    path = folder / f"one-{os.getpid()}.ledger"
    path.write_bytes(content)
    taken = takes(Ledger, path)
    assert takes(read_ledger, path) is taken, content
    return taken


@settings(max_examples=150, deadline=None, database=None)
@given(data=st.data())
def test_any_change_of_bytes_is_taken_by_both_or_by_neither(data, books, tmp_path_factory):
    content = books[data.draw(st.sampled_from(sorted(books)))]
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(content)))
        end = min(at + data.draw(st.integers(0, 3) | st.integers(0, len(content))), len(content))
        content = content[:at] + data.draw(st.binary(max_size=3) | st.just(content[at:end] * 2)) + content[end:]
    both_take(content, tmp_path_factory.getbasetemp())


#: What may stand in a field: near to what is lawful, and far from it.
VALUES = st.sampled_from(
    [
        None, True, 0, 1, -1, 2.5, float("nan"), float("inf"), 10**400, "", " ", "x", "open", "pure", "gaussian", "5.5", "0.5",
        "5.50", "nan", "inf", "1e400", "1e1000000000", "-1", "0", "1/0", "1/3", "1" * 3000, "\u0663", "1_0", [], {},
        [["5.5", "1/3"]], [["5.5", "1/9999999"]], [["0.5", "1/9999999"]], [["5.5"]], [{}], ["x"], "add-remove", "epsilon", "rho",
        f"sha256:{'1' * 64}",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None, database=None)
@given(data=st.data())
def test_any_change_of_a_field_with_its_checks_made_anew_is_taken_by_both_or_by_neither(data, books, tmp_path_factory):
    records = copy.deepcopy(records_of(books[data.draw(st.sampled_from(sorted(books)))]))
    at = data.draw(st.integers(0, len(records) - 1))
    what = data.draw(st.sampled_from(["set", "drop", "add", "line dropped", "line repeated", "line moved", "locked"]))
    if what == "line dropped":
        del records[at]
    elif what == "line repeated":
        records.append(copy.deepcopy(records[at]))
    elif what == "line moved":
        records.insert(0, records.pop(at))
    elif what == "locked":
        records[at]["way"] = data.draw(st.sampled_from(["open", "pure", "gaussian", "5.5", "1.0", "inf"]))
    else:
        way = data.draw(st.sampled_from([one for one in places(records[at]) if one != ("format",)]))
        if what == "add":
            place = value_at(records[at], way[:-1])
            (place if isinstance(place, dict) else records[at])["more"] = data.draw(VALUES)
        else:
            records[at] = edited(records[at], way, *[data.draw(VALUES)] * (what == "set"))
    both_take(chained(records), tmp_path_factory.getbasetemp())


def test_every_ledger_that_was_written_is_taken_by_both(books, tmp_path):
    assert all(both_take(content, tmp_path) and both_take(chained(records_of(content)), tmp_path) for content in books.values())


def test_verify_reads_both_formats_and_no_other(books, tmp_path):
    header, *others = records_of(books["mixed"])
    path = tmp_path / "ledger"
    for name in (*FORMATS, "spinney-ledger/0", "spinney-ledger/3", "spinney-ledger/", 1):
        path.write_bytes(chained([{**header, "format": name}, *others]))
        assert takes(read_ledger, path) is (name in FORMATS)


def test_a_charge_that_a_file_cannot_hold_is_refused_before_it_is_written(tmp_path):
    ledger = Ledger(tmp_path / "ledger", epsilon=1.0)
    long = Fraction(1, 2**MOST_BITS)
    for amount, delta in ((long, 0), (0, long)):
        with pytest.raises(ValueError, match="digits"):
            ledger.spend([charge("a", Measure.PURE, amount, delta)])
    ledger.spend([charge("a", Measure.PURE, Fraction(2, 2 ** (MOST_BITS - 4) - 1))])
    assert len(Ledger(ledger.path).entries) == 1
