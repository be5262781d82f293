"""Opening and showing ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spinney.cli.options import FILE
from spinney.cli.results import JSON, as_json, wants_json


@click.group()
def ledger() -> None:
    """Add up releases under a ceiling.

    Open a ledger, charge releases to it with 'spinney fit --ledger', and show it.
    """


@ledger.command("open")
@click.argument("path", type=FILE)
@click.option("--epsilon", type=float, required=True, help="Epsilon that all releases together may spend.")
@click.option("--delta", type=float, default=None, help="0 by default: pure noise only. About ten times the delta of a release.")
@click.option("--adjacency", default=None, help="add-remove (default), or replace, for all releases of the ledger.")
@click.option("--max-rows-per-group", type=int, default=None, help="Protect groups; the most rows of one that count.")
@JSON
def open_ledger(path: Path, epsilon: float, delta: float | None, adjacency: str | None, max_rows_per_group: int | None) -> None:
    """Make a new ledger; one that is there with the same ceiling is left as it is."""
    from spinney.ledgers.ledger import Ledger

    _show(Ledger(path, epsilon, delta, adjacency=adjacency, max_rows_per_group=max_rows_per_group), 0)


@ledger.command()
@click.argument("path", type=FILE)
@click.option("--last", type=click.IntRange(0), default=20, show_default=True, help="Number of releases to show, the last ones.")
@JSON
def show(path: Path, last: int) -> None:
    """Print the releases of a ledger, their total, and what is left."""
    from spinney.ledgers.ledger import Ledger

    _show(Ledger(path), last)


def _show(ledger: Any, last: int) -> None:
    """Print a ledger with the last of its entries, and the jobs that began and have no release."""
    entries, ceiling, began, digests = ledger.entries, ledger.ceiling, ledger.began, ledger.digests
    unfinished = [entry.id for entry in entries if entry.id in began and entry.id not in digests]
    if not wants_json():
        click.echo(ledger.table(last))
        if unfinished:
            click.echo(f"Began to ask, and no release is known: {', '.join(unfinished)}.")
        return
    facts = {"path": str(ledger.path), "epsilon": float(ceiling.epsilon), "delta": float(ceiling.delta), "unit": ledger.unit}
    facts |= {"spent": ledger.spent, "remaining": ledger.remaining, "n_entries": len(entries), "unfinished": unfinished}
    click.echo(as_json({**facts, "entries": [entry.to_dict() for entry in entries[max(len(entries) - last, 0) :]]}))
