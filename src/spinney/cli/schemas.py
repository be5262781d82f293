"""Writing a template of a public schema."""

from __future__ import annotations

from pathlib import Path

import click

from spinney.cli.errors import one_line_errors
from spinney.cli.files import is_standard_output, written_whole
from spinney.cli.options import FILE, OUT
from spinney.exceptions import ParameterError

__all__ = ["schema"]

KINDS = (".json", ".toml")


@click.command()
@click.argument("table", type=FILE)
@click.option("--out", type=OUT, default=None, help="Where to write it: .json or .toml; else TOML here.")
def schema(table: Path, out: Path | None) -> None:
    """Write a public schema to fill in, made of the names of a table's columns alone: no row is read.

    Filled in from public knowledge, it is what 'spinney fit --schema' takes.
    """
    with one_line_errors():
        from spinney.tables.schema_files import schema_template, table_columns

        if out is None or is_standard_output(out):
            click.echo(schema_template(table_columns(table), ".toml"), nl=False)
            return
        if out.suffix.lower() not in KINDS:
            raise ParameterError(f"{out} is of a kind that cannot be written.", f"--out FILE with {' or '.join(KINDS)}.")
        if out.exists():
            raise ParameterError(f"{out} is there already, and may have been filled in.", "name another file, or delete it.")
        with written_whole(out) as part:
            part.write_text(schema_template(table_columns(table), out.suffix.lower()), encoding="utf-8")
        click.echo(f"Wrote {out}. Fill in what is public about each column, and delete those that are not to be used.")
