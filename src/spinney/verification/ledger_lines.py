"""Reading a ledger's file without its code: lines, the chain of their checks, entries and digests."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spinney.exceptions import DataError, check_path

__all__ = ["LedgerFile", "read_ledger"]


@dataclass(frozen=True)
class LedgerFile:
    """The entries and digests of a ledger, by the ids of entries."""

    entries: dict[str, dict[str, Any]]
    digests: dict[str, str]


def read_ledger(path: str | Path) -> LedgerFile:
    """Return what a ledger holds; raise a DataError unless every line checks. A last line that was cut short does not count."""
    check_path(path, "verify", "ledger")
    content = Path(path).read_bytes()
    if not content.startswith((b'{"format": "spinney-ledger/1"', b'{"format": "spinney-ledger/2"')):
        raise DataError(f"{path} is not a ledger.\nHint: name the file of 'spinney ledger open'.")
    check, found = "", LedgerFile({}, {})
    for i, line in enumerate(content.split(b"\n")[:-1]):
        text, _, stated = line.decode("utf-8", errors="replace").rpartition(" ")
        check = hashlib.sha256(f"{check}\n{text}".encode()).hexdigest()[:32]
        record: Any = None
        if check == stated:
            try:
                record = json.loads(text)
            except ValueError:
                record = None
        if not isinstance(record, dict):
            raise DataError(f"{path} is damaged: line {i + 1} does not check.\nHint: restore it from a copy.")
        if isinstance(record.get("digest"), str):
            found.digests[str(record.get("entry"))] = record["digest"]
        elif isinstance(record.get("id"), str):
            found.entries[record["id"]] = record
    return found
