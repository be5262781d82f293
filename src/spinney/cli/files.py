"""Writing files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from spinney.exceptions import DataError, ParameterError

__all__ = ["STANDARD_OUTPUT", "check_out", "is_standard_output", "tell_written", "written_whole"]

#: What is typed for standard output in place of a file.
STANDARD_OUTPUT = "-"

#: How files end that are none of JSON.
OTHERS = (".csv", ".html", ".md", ".npy", ".parquet", ".pdf", ".png", ".toml", ".txt", ".xlsx")


def is_standard_output(out: Path | None) -> bool:
    """Whether a text goes to standard output, where nothing else may go then."""
    return str(out) == STANDARD_OUTPUT


def tell_written(text: str, *outs: Path | None) -> None:
    """Say what was done: on standard error, if one of the outputs went to standard output."""
    click.echo(text, err=any(map(is_standard_output, outs)))


def check_out(out: Path, force: bool) -> None:
    """Raise unless a release may be written to this file, before anything is charged: to make it again costs as much again."""
    if out.suffix.lower() in OTHERS:
        raise ParameterError(
            f"{out} would hold JSON, and its name says something else.\n"
            "Hint: --out FILE.json; 'spinney show' and 'spinney report' make pages of it."
        )
    if out.is_file() and not force and not is_standard_output(out):
        raise ParameterError(
            f"{out} is there already, and another release costs its epsilon again.\n"
            "Hint: name another file, or --force to replace it."
        )


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside `path`, which takes its place in the end; after an error nothing is left of it.

    Whether the file can be written is found out at the start. A pipe or a device is written directly; what goes to standard
    output is whole too.
    """
    if is_standard_output(path):
        with TemporaryDirectory() as folder:
            yield (part := Path(folder) / "out")
            click.echo(part.read_bytes(), nl=False)
        return
    path = path.resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    part = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        if path.is_dir():
            raise IsADirectoryError
        part.touch()
    except OSError:
        raise DataError(f"{path} cannot be written.\nHint: name a file in a folder that exists and may be written to.") from None
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
