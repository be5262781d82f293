"""A ledger's file as it was read so far: its first line, the entries, and what is noted of them.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from spinney._shown import Showable
from spinney.exceptions import DataError
from spinney.ledgers.entries import FIRST, Entry, check_charges, keep_once, opened_filter
from spinney.ledgers.filter import Filter
from spinney.ledgers.journal import Journal, OpenJournal
from spinney.privacy import Charge


class Book(Showable):
    """What a file of charges holds, taken in line by line; one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path, FIRST)
        self._mutex = threading.RLock()
        self._entries: dict[str, Entry] = {}
        self._notes: dict[str, dict[str, Any]] = {"digest": {}, "began": {}}
        self._head: dict[str, Any] = {}
        self._filter: Filter

    def _refresh(self) -> None:
        with self._mutex, self._journal.open(write=False) as file:
            self._absorb(file)

    def _absorb(self, file: OpenJournal) -> None:
        """Take in the lines that were added since the last look."""
        before = self._journal.at
        try:
            records = [json.loads(text) for text in file.read()]
            if records and not self._head:
                header = records.pop(0)
                self._filter, self._head = opened_filter(header), header
            if records:
                self._enter(records)
        except BaseException as error:
            self._journal.at = before  # what was not taken in whole is read again
            wrong_line = KeyError | TypeError | ValueError | ArithmeticError | AttributeError | RecursionError
            if isinstance(error, wrong_line) and not isinstance(error, DataError):
                raise self._journal.damaged("a line holds no entry") from error
            raise

    def _enter(self, records: list[dict[str, Any]]) -> None:
        """Add entries and notes that are in the file; entries that lock nothing are added up together."""
        added, known, together = self._filter, dict(self._entries), list[Sequence[Charge]]()
        notes = {kind: dict(kept) for kind, kept in self._notes.items()}
        for record in records:
            if "entry" in record:
                keep_once(notes, record, known)
                continue
            entry = Entry.from_dict(record)
            check_charges(entry.charges)
            if entry.id in known:
                raise ValueError("an entry is there twice")
            known[entry.id] = entry
            if entry.way == "open":
                together.append(entry.charges)
            else:
                order = None if entry.way in ("pure", "gaussian") else Fraction(float(entry.way))
                added, together = added.plus(*together).locked(entry.charges, order, entry.way == "gaussian"), []
        self._filter, self._entries, self._notes = added.plus(*together) if together else added, known, notes
