"""Tables that are no files here: standard input, and files in a store. They are kept in a folder until they were used."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from spinney.cli.files import STANDARD_OUTPUT
from spinney.exceptions import DataError, ParameterError


@contextmanager
def given(table: tuple[Path | str, ...], spool: Path | None) -> Iterator[tuple[Path, ...]]:
    """Yield the files of a table; what is no file here is kept where only its owner may read, until it was used.

    What a store says is withheld: its words may hold names of files, or a secret of the address.
    """
    is_piped = STANDARD_OUTPUT in map(str, table)
    if not is_piped and not any(isinstance(one, str) for one in table):
        yield tuple(map(Path, table))
        return
    if spool is None or (is_piped and len(table) > 1):
        raise ParameterError(
            "Standard input can be read once only, and is a table of its own."
            if is_piped
            else "A table in a store is copied before it is read.",
            f"--spool FOLDER keeps it there{' as a CSV file' * is_piped} that only you may read, until the command ends.",
        )
    with TemporaryDirectory(prefix="spinney-", dir=spool) as home:
        if is_piped:
            file = Path(home) / "standard-input.csv"
            with file.open("wb") as kept:
                shutil.copyfileobj(sys.stdin.buffer, kept)
            yield (file,)
            return
        files: list[Path] = []
        for number, one in enumerate(table):
            files += _fetched(one, Path(home) / str(number)) if isinstance(one, str) else [one]
        yield tuple(files)


def _fetched(address: str, folder: Path) -> list[Path]:
    """Copy a file from a store that pyarrow knows, or all files of a folder, in the order of their names."""
    from spinney.tables.schema import shielded

    def fetch() -> list[Path]:
        from pyarrow import fs

        store, path = fs.FileSystem.from_uri(address)
        found = store.get_file_info(path)
        if not found.is_file:
            inside = store.get_file_info(fs.FileSelector(path, recursive=True))
            names = sorted(one.path for one in inside if one.is_file and one.base_name[0] not in "._")
        else:
            names = [path]
        folder.mkdir()
        files = [folder / f"{i:06}-{Path(name).name}" for i, name in enumerate(names)]
        for name, file in zip(names, files, strict=True):
            fs.copy_files(name, str(file), source_filesystem=store, destination_filesystem=fs.LocalFileSystem())
        return [files[0], *files[1:]]  # there is one

    said = "The table cannot be fetched from its store. Nothing was charged."
    return shielded(fetch, DataError(said, "check its address, your access, and the room in the folder of --spool."))
