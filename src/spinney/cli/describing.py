"""Describing the clusters of a release file by columns of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spinney.cli.fetching import given
from spinney.cli.options import AGAIN, FILE, FORCE, OUT, RUN_ID, SPOOL, TABLE, csv_options
from spinney.cli.publishing import publish
from spinney.cli.results import JSON
from spinney.exceptions import ParameterError, ReleaseError

if TYPE_CHECKING:
    from spinney.tables.records import Csv


@click.command()
@click.argument("release", type=FILE)
@click.argument("table", type=TABLE, nargs=-1, required=True)
@click.option("--schema", type=FILE, default=None, help="Public facts of the columns to describe: JSON or TOML.")
@click.option("--columns", default=None, help="Columns to describe, by commas; else all of the schema that were not clustered.")
@click.option("--epsilon", type=float, required=True, help="Privacy budget of the description, on top of the release's own.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="0 for pure privacy; 1e-6 allows Gaussian noise.")
@click.option("--bins", type=int, default=16, show_default=True, help="Equal parts of the bounds that numbers are counted in.")
@click.option("--adjacency", default=None, help="add-remove, or replace; as the release has it by default.")
@click.option("--groups", default=None, help="Column that names the person of each row.")
@click.option("--max-rows-per-group", type=int, default=None, help="Rows of a person that count; as in the release by default.")
@click.option("--out", type=OUT, default=None, help="Where to write the description (JSON); - for standard output.")
@FORCE
@click.option("--ledger", type=FILE, default=None, help="Charge it to this ledger; refuse it if too little is left.")
@RUN_ID
@AGAIN
@csv_options
@click.option("--dry-run", is_flag=True, help="Show every question and its charge instead; no row is read.")
@click.option("--n-guess", type=int, default=None, help="With --dry-run: a public guess of the number of rows.")
@SPOOL
@JSON
def describe(release: Path, dry_run: bool, **options: Any) -> None:
    """Describe the clusters of a release by columns of the private table, and write a release of its own.

    For each cluster: noisy numbers of rows and persons, means and quantiles of numbers, shares of categories, all with margins,
    and the columns that distinguish it most. 'spinney show' and 'spinney report' print what was written.
    """
    from spinney.cli.fitting import OWNER
    from spinney.fits.description_facts import check_description
    from spinney.releases.centers import Release
    from spinney.releases.reading import read_release
    from spinney.tables.schema_files import read_schema

    loaded = read_release(release)
    if not isinstance(loaded, Release):
        raise ReleaseError(f"{release} is no release of centers.", "name a file that 'spinney fit' wrote.")
    columns, schema, groups = options.pop("columns"), options.pop("schema"), options.pop("groups")
    typed = {name: options.pop(name) for name in ("epsilon", "delta", "bins", "adjacency", "max_rows_per_group")}
    typed |= {"release": loaded, "bounds": None if schema is None else read_schema(schema), "noise_seed": None}
    typed["columns"] = None if columns is None else [name.strip() for name in columns.split(",")]
    facts = check_description(typed, OWNER, groups is not None)
    charged = loaded.made.get("ledger") if loaded.made.get("entry") else None
    (_show_plan if dry_run else _write)(facts, groups=groups, charged=charged, **options)


def _show_plan(facts: Any, ledger: Path | None, n_guess: int | None, **unused: Any) -> None:
    from spinney.cli.fitting import declared, told_plan

    click.echo(told_plan(facts.fit, n_guess, ledger, declared(facts.cells)))


def _write(
    facts: Any,
    table: tuple[Path, ...],
    groups: str | None,
    out: Path | None,
    force: bool,
    ledger: Path | None,
    n_guess: int | None,
    charged: str | None,
    written: Csv,
    spool: Path | None,
) -> None:
    """Ask, and write what may be published."""
    from spinney.cli.fitting import declared
    from spinney.cli.progress import asking
    from spinney.fits.run import opened_rows, run
    from spinney.tables.files import open_table
    from spinney.tables.schema import table_files

    if out is None or n_guess is not None:
        raise ParameterError("A description is written to a file, and a guess is for its plan.", "--out FILE, or --dry-run.")

    def made(opened: Any) -> Any:
        with given(table, spool) as files:
            table_files(files)  # a missing one is reported first
            found = open_table(files, list(facts.described.table), groups, facts.cells, written=written)
            click.echo(declared(facts.cells), err=True)
            with asking(facts.fit):
                return run(facts.fit, opened_rows(found).encoded(facts.described), opened)

    description = publish(made, out, force, ledger)
    if ledger is None and charged is not None:
        told = f"The release that is described was charged to {charged}, and this description to no ledger: both epsilons add up."
        click.echo(f"{told} Hint: --ledger names it.", err=True)
    for line in description.silent:
        click.echo(line, err=True)
