"""``--run-id``: a job that is safe to start again. It is charged once, and its release, once it is there, is returned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from spinney.cli.files import is_standard_output
from spinney.cli.options import RUN_NOTED
from spinney.exceptions import ParameterError, SpinneyError
from spinney.ledgers.entries import check_again, unfinished
from spinney.ledgers.ledger import Ledger
from spinney.naming import LONGEST_NAME
from spinney.privacy import Charge
from spinney.releases.reading import read_release
from spinney.tables.networks import SUFFIXES

#: What does not belong to a job: it may change from one start to the next.
_FREE = ("force", "spool")
#: Files whose content is public, and belongs to a job; and options that take names, or a file of names.
_FILES = ("release", "schema", "bounds_file", "graph", "points", "coordinates", "weights")
_NAMES = ("candidates", "existing")


def _public_files(typed: dict[str, Any]) -> Iterator[Path]:
    for name, value in typed.items():
        if name in _FILES and value is not None:
            yield from filter(Path.is_file, value.rglob("*")) if value.is_dir() else (value,)
        elif name in _NAMES:
            yield from (Path(one) for one in value if one.lower().endswith(SUFFIXES))


def _job(command: str | None, typed: dict[str, Any]) -> str:
    """Return a digest of a command with its options as they were typed, and of what is in its public files."""
    read = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in _public_files(typed)}
    kept = {name: value for name, value in typed.items() if name not in _FREE}
    text = json.dumps([command, kept, read], default=str, sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


class Run(Ledger):
    """A ledger as a job sees it that may be started many times.

    Privacy
    -------
    As of `Ledger`. What an earlier start was charged is taken again only if none of its questions began, and by one process.
    """

    def __init__(self, path: Path, name: str, job: str, again: bool) -> None:
        super().__init__(path)
        known, self._job, self._charged = {entry.id: entry for entry in self.entries}, job, list[str]()
        while (entry := known.get(self._next(name))) is not None:
            check_again(entry, (entry.charges, entry.max_rows_per_group, job), ())
            self._charged.append(entry.id)
        is_new = not self._charged or (again and self._charged[-1] in self.began)
        self._entry = self._next(name) if is_new else self._charged[-1]

    def _next(self, name: str) -> str:
        """Return the id of the next entry: the name of the job, or the name and how many were charged for it."""
        return f"{name} ({len(self._charged) + 1})" if self._charged else name

    def release(self, out: Path) -> Any:
        """Return the release that is in a file if an earlier start made it, None if one may be made; else raise."""
        with suppress(OSError, SpinneyError):
            found: Any = read_release(out)
            plain = replace(found, audit="none", signature=None)  # which may be added later
            entry = found.made.get("entry")  # releases of the first format do not say
            if entry in self._charged and self.digests.get(entry) == plain.digest:
                return found
        if self._entry in self.began:
            raise unfinished(self._entry)
        return None

    def spend(self, charges: Iterable[Charge], **facts: Any) -> str:
        """Charge one release, or take the charge of an earlier start that asked nothing; return the id of its entry."""
        return super().spend(charges, **facts, entry_id=self._entry, job=self._job)


def opened(path: Path | None, out: Path) -> Ledger | None:
    """Return the ledger to charge: as the job that runs sees it, if it has an id."""
    context = click.get_current_context()
    noted = context.meta.get(RUN_NOTED, {})
    name, again = noted.get("run_id"), bool(noted.get("charge_again"))
    if name is None:
        if again:
            raise ParameterError("--charge-again needs --run-id.", "leave --charge-again out.")
        return None if path is None else Ledger(path)
    if path is None or is_standard_output(out) or (out.exists() and not out.is_file()):
        raise ParameterError(
            "--run-id needs a ledger, and a file for the release, where the next start finds it.", "--ledger FILE --out FILE."
        )
    if not (name.strip() and name.isprintable() and len(name) <= LONGEST_NAME):
        raise ParameterError(f"--run-id must be a name of at most {LONGEST_NAME} letters.", "--run-id stays-2026-11.")
    return Run(path, name, _job(context.info_name, context.params), again)
