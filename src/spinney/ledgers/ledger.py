"""The ledger of many fits: a file that adds up releases over days and refuses the one that would exceed its ceiling.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from spinney.constraints import check
from spinney.exceptions import DataError, ParameterError
from spinney.ledgers.book import Book
from spinney.ledgers.entries import (
    UNIT,
    Entry,
    check_again,
    header_of,
    promise_of,
    read_charges,
    table_lines,
    unit_text,
    with_ways,
    wrong,
)  # fmt: skip
from spinney.ledgers.filter import ABOVE, refusal
from spinney.ledgers.journal import OpenJournal
from spinney.naming import is_path
from spinney.privacy import Budget, Charge, round_up
from spinney.verification.ledger_lines import is_digest

#: Releases that a printed ledger shows.
SHOWN = 20


class Ledger(Book):
    """A file that adds up releases and refuses the one that would exceed its ceiling.

    Privacy
    -------
    Neighbors: collections of tables that differ in one unit, which changes each table by one row (or one group, of which at most
    `max_rows_per_group` rows count) or not at all. Statement: all releases charged to a ledger are together (epsilon,
    delta)-differentially private, also if each was chosen after seeing the ones before. Proof: ``proofs/ledger.md``. Outside the
    promise: releases that were not charged, and a file that was put back to an older copy.

    Parameters
    ----------
    path : str or Path
        Several processes may use it at once. The file holds public facts only.
    epsilon : float, optional
        The ceiling. Needed for a new ledger; it cannot be changed later.
    delta : float, optional
        0, the default of a new ledger, refuses Gaussian noise. Take it about ten times as large as the delta of its releases.
    adjacency : {"add-remove", "replace"}, optional
        The first for a new ledger, if it is left out.
    max_rows_per_group : int, optional
        For a new ledger: protect groups; the most rows of one that count in any release. Left out: rows.

    Examples
    --------
    >>> import tempfile
    >>> from spinney import Ledger, PrivateKMeans
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/ledger", epsilon=1.0)
    >>> model = PrivateKMeans(2, epsilon=0.25, bounds=(0, 1)).fit([[0.1], [0.9]], ledger=ledger)
    >>> ledger.spent, ledger.remaining
    (0.25, 0.75)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        epsilon: float | None = None,
        delta: float | None = None,
        *,
        adjacency: str | None = None,
        max_rows_per_group: int | None = None,
    ) -> None:
        if not is_path(path):
            raise wrong("path", "a path", path, "Ledger('ledger.jsonl', epsilon=3).")
        asked = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "max_rows_per_group": max_rows_per_group}
        header = header_of(**{**asked, "epsilon": 1.0 if epsilon is None else epsilon})
        super().__init__(Path(path))
        with self._journal.open(write=epsilon is not None, create=epsilon is not None) as file:
            self._absorb(file)
            if not self._head and epsilon is not None:
                file.append(json.dumps(with_ways(header)))
                self._absorb(file)
        if not self._head:
            raise DataError(f"{self.path} is not opened yet: its first line was cut short.", "open it again, with its epsilon.")
        for name, value in asked.items():
            if value is not None and header[name] != self._head[name]:
                stored = float(Fraction(self._head[name])) if name in ("epsilon", "delta") else self._head[name]
                raise wrong(name, f"{stored!r}, as {self.path} was opened with", value, "leave it out, or open another ledger.")

    def __reduce__(self) -> tuple[type[Ledger], tuple[str]]:
        return Ledger, (str(self.path),)

    @property
    def path(self) -> Path:
        """The file, symbolic links followed."""
        return self._journal.path

    @property
    def unit(self) -> str:
        """What neighbors differ by, in words."""
        return unit_text(self._head["adjacency"], self._head["max_rows_per_group"])

    @property
    def ceiling(self) -> Budget:
        """What all releases together may spend."""
        return self._filter.ceiling

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All releases charged so far, by any process, in order."""
        self._refresh()
        return tuple(self._entries.values())

    @property
    def spent(self) -> float:
        """The least epsilon, at the ledger's delta, that can be proved for the releases charged so far."""
        self._refresh()
        least, ceiling = min(self._filter.tally.epsilon(self.ceiling.delta), self._filter.total), self.ceiling.epsilon
        return min(round_up(least), float(ceiling)) if least <= ceiling else round_up(least)

    @property
    def remaining(self) -> float:
        """The largest epsilon that one more release is sure to get, if all its noise is pure."""
        self._refresh()
        left = self.ceiling.epsilon - self._filter.total
        rounded = -round_up(-left)
        return max(0.0, rounded)  # in this order nothing left is 0, not -0

    def spend(
        self,
        charges: Iterable[Charge],
        *,
        adjacency: str = "add-remove",
        max_rows_per_group: int | None = None,
        promised: Budget | None = None,
        objective: str = "",
        algorithm: str = "",
        note: str = "",
        entry_id: str | None = None,
        job: str = "",
    ) -> str:
        """Charge one release, before any of its questions is asked, and return the id of its entry.

        When this returns, the charge is safe on disk. It is never given back, not even for questions that are not asked.

        Parameters
        ----------
        charges : iterable of Charge
            All that the release may spend.
        adjacency, max_rows_per_group
            The unit that the charges are for: the unit of the ledger, with a cap that is not larger.
        promised : Budget, optional
            What the release promises by itself, for the record.
        objective, algorithm, note : str
            What it is for, for the record.
        entry_id : str, optional
            An id of your own, so that after a crash it can be seen whether the charge was made. One that is in the ledger already
            is refused: another release draws other noise, and must be charged too.
        job : str, optional
            The digest of all that a job was asked for, as `Release.digest` is written. A charge under the same id with the same
            digest is found again, until `begin` marks it.

        Raises
        ------
        BudgetError
            If the ledger would exceed its ceiling. Nothing is charged then.
        ParameterError
            If the id is in the ledger. Its charge is safe on disk then, and nothing is charged a second time.
        UnfinishedError
            If the job's charge is marked.
        """
        charges = read_charges(charges)
        self._check_unit(adjacency, max_rows_per_group)
        for name, text in (("objective", objective), ("algorithm", algorithm), ("note", note)):
            if not isinstance(text, str):
                raise wrong(name, "a text", text, "it is written into the file.")
        if not (promised is None or type(promised) is Budget):
            raise wrong("promised", "a Budget or None", promised, "Budget.of(1.0).")
        if not (entry_id is None or (isinstance(entry_id, str) and entry_id.strip())):
            raise wrong("entry_id", "a text", entry_id, "leave it out for a new one.")
        if not (isinstance(job, str) and (job == "" or (entry_id is not None and is_digest(job)))):
            raise wrong("job", "a digest, with an entry_id", job, "'sha256:' and 64 digits.")
        with self._mutex, self._journal.open(write=True) as file:
            self._absorb(file)
            if entry_id is not None and entry_id in self._entries:
                file.sync()  # whoever wrote it may have died before that
                if job and self._entries[entry_id].job:
                    check_again(self._entries[entry_id], (charges, max_rows_per_group, job), self._notes["began"])
                    return entry_id
                raise wrong(
                    "entry_id", "one that is not in the ledger yet", entry_id,
                    "it is charged already, see ledger.entries; a release made now needs a charge and an id of its own.",
                )  # fmt: skip
            after = self._filter.accept(charges)
            if not after.fits:
                raise refusal(self._filter, after)
            way = "open" if after.lock is None or after.lock is self._filter.lock else after.lock.text
            alone = promised or promise_of(charges, after.ceiling.delta)
            entry = Entry(
                id=entry_id or uuid.uuid4().hex,
                when=datetime.now(UTC).isoformat(timespec="seconds"),
                objective=objective,
                algorithm=algorithm,
                note=note,
                epsilon=round_up(alone.epsilon),
                delta=float(alone.delta),
                charges=charges,
                max_rows_per_group=None if max_rows_per_group is None else int(max_rows_per_group),
                way=way,
                job=job,
            )
            file.append(json.dumps(entry.to_dict(), allow_nan=False))
            self._absorb(file)
            return entry.id

    @property
    def digests(self) -> dict[str, str]:
        """The digests of releases by their entries; one that was charged and never made, or by an earlier version, has none."""
        self._refresh()
        return dict(self._notes["digest"])

    @property
    def began(self) -> frozenset[str]:
        """The entries whose questions began, of jobs that may be started again (`begin`)."""
        self._refresh()
        return frozenset(self._notes["began"])

    def begin(self, entry_id: str) -> None:
        """Mark that the questions of a job's entry begin, before the first of them; entries of no job need no mark.

        When this returns, the mark is safe on disk. It is set once: two never take one charge, nor one where answers may have
        been seen.

        Raises
        ------
        UnfinishedError
            If it is marked.
        """
        with self._noting(entry_id) as file:
            entry = self._entries[entry_id]
            if entry.job:
                check_again(entry, (entry.charges, entry.max_rows_per_group, entry.job), self._notes["began"])
                file.append(json.dumps({"entry": entry_id, "began": True}))
                self._absorb(file)

    def keep_digest(self, entry_id: str, digest: str) -> None:
        """Keep the digest of the release that an entry paid for, so that an edited copy of it is noticed (`spinney.verify`).

        When this returns, it is safe on disk. An entry has one digest, for good.

        Parameters
        ----------
        entry_id : str
            Of an entry in the ledger.
        digest : str
            `Release.digest`.
        """
        if not is_digest(digest):
            raise wrong("digest", "a digest of a release", digest, "release.digest.")
        with self._noting(entry_id) as file:
            if self._notes["digest"].get(entry_id) == digest:
                file.sync()
                return
            if entry_id in self._notes["digest"]:
                raise wrong("entry_id", "one that has no digest yet", entry_id, "an entry pays for one release.")
            file.append(json.dumps({"entry": entry_id, "digest": digest}))
            self._absorb(file)

    @contextmanager
    def _noting(self, entry_id: str) -> Iterator[OpenJournal]:
        """Open the file to add a line about an entry."""
        with self._mutex, self._journal.open(write=True) as file:
            self._absorb(file)
            if not (isinstance(entry_id, str) and entry_id in self._entries):
                raise wrong("entry_id", "the id of an entry of the ledger", entry_id, "see ledger.entries.")
            yield file

    def left_after(
        self, charges: Iterable[Charge], *, adjacency: str = "add-remove", max_rows_per_group: int | None = None
    ) -> float:
        """Return what would remain after a release with these charges; raise as `spend` would. Nothing is charged."""
        charges = read_charges(charges)
        self._check_unit(adjacency, max_rows_per_group)
        self._refresh()
        after = self._filter.accept(charges)
        if not after.fits:
            raise refusal(self._filter, after)
        return max(0.0, -round_up(after.total - after.ceiling.epsilon))

    def _check_unit(self, adjacency: str, cap: int | None) -> None:
        check("Ledger", {"adjacency": adjacency, "max_rows_per_group": cap}, UNIT)
        head = self._head
        own = head["max_rows_per_group"]
        if adjacency != head["adjacency"] or (cap is None) != (own is None) or (cap is not None and cap > own):
            raise ParameterError(
                f"The ledger {self.path} is about {self.unit}, and this release about {unit_text(adjacency, cap)}.",
                "one ledger has one unit; a cap may be smaller than the ledger's.",
            )

    def __repr__(self) -> str:
        budget = f"epsilon={float(self.ceiling.epsilon)!r}, delta={float(self.ceiling.delta)!r}"
        return f"Ledger({str(self.path)!r}, {budget}; {len(self.entries)} releases, epsilon {self.spent:.6g} spent)"

    def __str__(self) -> str:
        return self.table(SHOWN)

    def table(self, last: int) -> str:
        """Return the last entries as a table with the running total, and what is left."""
        entries, ceiling = self.entries, self.ceiling
        head = f"Ceiling: epsilon {float(ceiling.epsilon):.6g}, delta {float(ceiling.delta):.6g}; {self.unit}"
        left = f"Spent: epsilon {self.spent:.6g}; left: epsilon {self.remaining:.6g}"
        above = [] if self._filter.fits else [f"This is above the ceiling. {ABOVE}"]
        return "\n".join([head, "", *table_lines(entries, ceiling.delta, last), left, *above])
