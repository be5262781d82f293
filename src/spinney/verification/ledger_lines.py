"""What a ledger's file says, read without its code: lines, the chain of their checks, entries and digests.

The ledger itself and `spinney.verify` refuse whatever does not fit. The first line is what the ledger was opened with; each other
one is an entry, which was charged, the mark that its questions began, if a job may come again, or the digest of its release.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from spinney.exceptions import DataError, check_path
from spinney.verification.amounts import fraction_of

#: Formats that are read: in the first, ledgers of earlier versions.
FORMATS = ("spinney-ledger/1", "spinney-ledger/2")
#: What a digest looks like.
_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_HEADER = {"format", "epsilon", "delta", "adjacency", "max_rows_per_group", "ways"}
_TEXTS = {"id", "when", "objective", "algorithm", "note", "way"}
_ENTRY = _TEXTS | {"epsilon", "delta", "charges", "max_rows_per_group"}
_CHARGE = {"name", "question", "measure", "amount"}


def require(holds: bool, what: str) -> None:
    """Raise a ValueError unless something holds."""
    if not holds:
        raise ValueError(what)


def _is_cap(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 1)


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= sys.float_info.max


def _is_order(text: Any) -> bool:
    """Whether a text is a Renyi order, written as Python prints it."""
    with suppress(ValueError):
        return type(text) is str and repr(float(text)) == text and 1 < float(text) < math.inf
    return False


def check_header(record: Any) -> None:
    """Raise a ValueError unless a record is the first line of a ledger."""
    require(isinstance(record, dict) and record.keys() == _HEADER and record["format"] in FORMATS, "it opens no ledger")
    epsilon, delta, ways = fraction_of(record["epsilon"]), fraction_of(record["delta"]), record["ways"]
    require(bool(epsilon) and delta is not None and delta < 1, "its ceiling is none")
    require(record["adjacency"] in ("add-remove", "replace") and _is_cap(record["max_rows_per_group"]), "its unit is none")
    pairs = isinstance(ways, list) and all(isinstance(way, list) and len(way) == 2 and _is_order(way[0]) for way in ways)
    shares = [fraction_of(way[1]) for way in ways] if pairs else [None]
    known = [share for share in shares if share]
    require(len(known) == len(shares) and 2 * sum(known, Fraction(0)) <= (delta or 0), "the ways use too much of delta")


def check_entry(record: Any) -> None:
    """Raise a ValueError unless a record is an entry of a ledger."""
    require(isinstance(record, dict) and record.keys() - {"job"} == _ENTRY, "it is no entry")
    require("job" not in record or is_digest(record["job"]), "its job is none")
    require(all(type(record[name]) is str for name in _TEXTS) and record["id"].strip() != "", "a text is none")
    require(_is_amount(record["epsilon"]) and _is_amount(record["delta"]) and _is_cap(record["max_rows_per_group"]), "a number")
    require(record["way"] in ("open", "pure", "gaussian") or _is_order(record["way"]), "its way is none")
    charges = record["charges"]
    require(isinstance(charges, list) and charges != [] and all(map(_is_charge, charges)), "its charges are none")


def _is_charge(record: Any) -> bool:
    if not (isinstance(record, dict) and record.keys() - {"delta"} == _CHARGE and set(map(type, record.values())) == {str}):
        return False
    amounts = (fraction_of(record["amount"]), fraction_of(record.get("delta", "0")))
    return record["measure"] in ("epsilon", "rho") and None not in amounts


def is_digest(value: Any) -> bool:
    """Whether this is a digest."""
    return type(value) is str and _DIGEST.fullmatch(value) is not None


def check_note(record: Any) -> None:
    """Raise a ValueError unless a record is the digest of an entry's release, or the mark that its questions began."""
    require(isinstance(record, dict) and type(record.get("entry")) is str, "it is about no entry")
    is_mark = record.keys() == {"entry", "began"} and record["began"] is True
    require(is_mark or (record.keys() == {"entry", "digest"} and is_digest(record["digest"])), "it is no digest and no mark")


_FIRST = b'{"format": "spinney-ledger/'


@dataclass
class LedgerFile:
    """The first line, the entries and the digests of a ledger, the last two by the ids of entries, and which of these began."""

    header: dict[str, Any]
    entries: dict[str, dict[str, Any]]
    digests: dict[str, str]
    began: dict[str, str]

    def add(self, record: Any) -> None:
        """Add a line, or raise a ValueError if it cannot follow those before it."""
        if not self.header:
            check_header(record)
            self.header = record
        elif isinstance(record, dict) and "entry" in record:
            check_note(record)
            entry, kept = record["entry"], self.began if "began" in record else self.digests
            require(entry in self.entries and entry not in kept, "a note of no entry, or a second one")
            kept[entry] = record.get("digest", "")
        else:
            check_entry(record)
            require(record["id"] not in self.entries, "an entry is there twice")
            require(record["way"] == "open" or not self.entries, "only the first release may lock a ledger")
            self.entries[record["id"]] = record


def read_ledger(path: str | Path) -> LedgerFile:
    """Return what a ledger holds; raise a DataError unless every line checks. A last line that was cut short does not count."""
    check_path(path, "verify", "ledger")
    content = Path(path).read_bytes()
    if not content.startswith(_FIRST):
        raise DataError(f"{path} is not a ledger.", "name the file of 'spinney ledger open'.")
    check, found, is_whole = "", LedgerFile({}, {}, {}, {}), False
    for i, line in enumerate(content.split(b"\n")[:-1]):
        is_whole = False
        with suppress(ValueError, RecursionError):  # no UTF-8, no JSON, too deep, or what a line of a ledger does not say
            text, _, stated = line.decode("utf-8").rpartition(" ")
            check = hashlib.sha256(f"{check}\n{text}".encode()).hexdigest()[:32]
            if check == stated:
                found.add(json.loads(text))
                is_whole = True
        if not is_whole:
            raise DataError(f"{path} is damaged: line {i + 1} does not check.", "restore it from a copy.")
    if not is_whole:
        raise DataError(f"{path} is not opened yet: its first line was cut short.", "open it again, with its epsilon.")
    return found
