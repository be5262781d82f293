"""Reading a ledger's file without its code: lines, the chain of their checks, entries and digests."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spinney.exceptions import DataError, check_path
from spinney.verification.ledger_records import check_digest, check_entry, check_header, require

_FIRST = b'{"format": "spinney-ledger/'


@dataclass
class LedgerFile:
    """The first line, the entries and the digests of a ledger, the last two by the ids of entries."""

    header: dict[str, Any]
    entries: dict[str, dict[str, Any]]
    digests: dict[str, str]

    def add(self, record: Any) -> None:
        """Add a line, or raise a ValueError if it cannot follow those before it."""
        if not self.header:
            check_header(record)
            self.header = record
        elif isinstance(record, dict) and "digest" in record:
            check_digest(record)
            entry = record["entry"]
            require(entry in self.entries and entry not in self.digests, "a digest of no entry, or a second one")
            self.digests[entry] = record["digest"]
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
    check, found, is_whole = "", LedgerFile({}, {}, {}), False
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
