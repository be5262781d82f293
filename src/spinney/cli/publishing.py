"""Making a release and writing it, with what is charged for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from spinney.cli.errors import with_options
from spinney.cli.files import check_out, is_standard_output, remove_left, tell_written, written_whole
from spinney.cli.results import as_json, wants_json


def publish(
    make: Callable[[Any], Any],
    out: Path,
    force: bool,
    ledger: Path | None,
    also: Mapping[Path, Callable[[Any, Path], None]] = MappingProxyType({}),
) -> Any:
    """Write the release that `make` returns of the ledger to charge, and further files of it, and say what was done."""
    from spinney.cli.runs import Run, opened
    from spinney.fits.charging import charge_stays

    for path in (out, *also):
        remove_left(path.resolve())
    charged = opened(ledger, out)
    release = charged.release(out) if isinstance(charged, Run) else None
    if release is not None:
        _tell(release, f"{out} is there already: {release.statement}.", [], ledger, charged)
        return release
    check_out(out, force)
    with ExitStack() as stack:
        parts = {path: stack.enter_context(written_whole(path)) for path in (out, *also)}
        release = make(charged)
        with charge_stays(charged):
            release.to_json(parts[out])
            for path, write in also.items():
                write(release, parts[path])
            stack.close()
    _tell(release, f"Wrote {', '.join(map(str, parts))}: {release.statement}.", list(parts), ledger, charged)
    return release


def _tell(release: Any, words: str, written: list[Path], path: Path | None, ledger: Any) -> None:
    """Say what was written, or was there already, and what is left in the ledger."""
    if wants_json():
        facts: dict[str, Any] = {"written": list(map(str, written)), "statement": release.statement, "digest": release.digest}
        facts["ledger"] = None if ledger is None else {"path": str(path), "spent": ledger.spent, "remaining": ledger.remaining}
        facts["doubts"] = list(map(with_options, release.doubts.values()))
        click.echo(as_json(facts), err=any(map(is_standard_output, written)))
        return
    tell_written(words, *written)
    if ledger is not None:
        tell_written(f"Charged to {path}: epsilon {ledger.spent:.6g} is spent and {ledger.remaining:.6g} left.", *written)
    for doubt in release.doubts.values():
        click.echo(with_options(doubt), err=True)
