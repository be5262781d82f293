"""Files to begin with: a template of a public schema, and the made-up tables that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spinney.cli.files import check_suffix, is_standard_output, write_whole, written_whole
from spinney.cli.options import FILE, OUT, csv_options
from spinney.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from spinney.tables.records import Csv

KINDS = (".json", ".toml")


def made_folder(path: Path) -> None:
    """Make a folder, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise DataError(f"{path} cannot be made a folder.", "--out names a folder that may be written to.") from None


@click.command()
@click.argument("table", type=FILE)
@click.option("--out", type=OUT, default=None, help="Where to write it: .json or .toml; else TOML here.")
@click.option("--check", "line", default=None, help="A made-up line of cells: show how TABLE, a filled-in schema, reads it.")
@csv_options
def schema(table: Path, out: Path | None, line: str | None, written: Csv) -> None:
    """Write a public schema to fill in, made of the names of a table's columns alone: no row is read.

    Filled in from public knowledge, it is what 'spinney fit --schema' takes; with --check it is tried on a line that you make up.
    """
    from spinney.cli.fitting import OWNER
    from spinney.tables.schema_files import read_schema, schema_template, table_columns

    if line is not None:
        from spinney.tables.line import line_as_read

        click.echo("\n".join(line_as_read(read_schema(table), line, written, OWNER)))
        return
    if out is None or is_standard_output(out):
        click.echo(schema_template(table_columns(table, written), ".toml"), nl=False)
        return
    check_suffix(out, KINDS)
    if out.exists():
        raise ParameterError(f"{out} is there already, and may have been filled in.", "name another file, or delete it.")
    write_whole(out, schema_template(table_columns(table, written), out.suffix.lower()))
    click.echo(f"Wrote {out}. Fill in what is public about each column, and delete those that are not to be used.")


@click.command()
@click.option("--out", type=FILE, default=Path(), show_default="this folder", help="Folder for the files.")
def example(out: Path) -> None:
    """Write the made-up patients of the guide, patients.csv, and a public schema of them, patients.toml, to try things on."""
    from spinney.datasets import patients, patients_schema

    files = {out / path.name: path for path in (patients(), patients_schema())}
    for path in files:
        if path.exists():
            raise ParameterError(f"{path} is there already, and may have been changed.", "--out names another folder.")
    made_folder(out)
    for path, source in files.items():
        with written_whole(path) as part:
            part.write_bytes(source.read_bytes())
    click.echo(f"Wrote {' and '.join(map(str, files))}. Nobody is in them: they are made up, bad cells too.")
