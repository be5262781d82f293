"""Writing the made-up tables that come with the package."""

from __future__ import annotations

from pathlib import Path

import click

from spinney.cli.errors import one_line_errors
from spinney.cli.files import written_whole
from spinney.cli.options import FILE
from spinney.exceptions import DataError, ParameterError

__all__ = ["example"]


@click.command()
@click.option("--out", type=FILE, default=Path(), show_default="this folder", help="Folder for the files.")
def example(out: Path) -> None:
    """Write the made-up patients of the guide, patients.csv, and a public schema of them, patients.toml, to try things on."""
    with one_line_errors():
        from spinney.datasets import patients, patients_schema

        files = {out / path.name: path for path in (patients(), patients_schema())}
        for path in files:
            if path.exists():
                raise ParameterError(f"{path} is there already, and may have been changed.", "--out names another folder.")
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise DataError(f"{out} cannot be made a folder.", "--out names a folder that may be written to.") from None
        for path, source in files.items():
            with written_whole(path) as part:
                part.write_bytes(source.read_bytes())
        click.echo(f"Wrote {' and '.join(map(str, files))}. Nobody is in them: they are made up, bad cells too.")
