"""Writing files whole or not at all, and holding those that are read, changed and written back."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from spinney.exceptions import DataError, ParameterError

#: What is typed for standard output in place of a file.
STANDARD_OUTPUT = "-"

#: Suffixes of files that are not JSON.
OTHERS = (".csv", ".geojson", ".html", ".md", ".npy", ".parquet", ".pdf", ".png", ".svg", ".toml", ".txt", ".xlsx")
#: Of systems that have them: a name that is a link is refused, and no child process gets the file.
_GUARDED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def is_standard_output(out: Path | None) -> bool:
    """Whether a text goes to standard output, where nothing else may go then."""
    return str(out) == STANDARD_OUTPUT


def tell_written(text: str, *outs: Path | None) -> None:
    """Say what was done: on standard error, if one of the outputs went to standard output."""
    from spinney.cli.results import is_quiet

    if not is_quiet():
        click.echo(text, err=any(map(is_standard_output, outs)))


def check_out(out: Path, force: bool) -> None:
    """Raise unless a release may be written to this file, before anything is charged: to make it again costs as much again."""
    if out.suffix.lower() in OTHERS:
        raise ParameterError(
            f"{out} would hold JSON, and its name says something else.",
            "--out FILE.json; 'spinney show' and 'spinney report' make pages of it.",
        )
    if out.is_file() and not force and not is_standard_output(out):
        raise ParameterError(
            f"{out} is there already, and another release costs its epsilon again.",
            "name another file, or --force to replace it.",
        )


def check_suffix(out: Path, kinds: tuple[str, ...]) -> None:
    """Raise unless the name of a file ends in one of these."""
    if out.suffix.lower() not in kinds:
        raise ParameterError(f"{out} is of a kind that cannot be written.", f"--out FILE with {' or '.join(kinds)}.")


def _unwritable(path: Path) -> DataError:
    return DataError(f"{path} cannot be written.", "name a file in a folder that exists and may be written to.")


def _start(path: Path) -> str:
    """Return how the names of files begin that are to take the place of this one."""
    return f".{hashlib.sha256(path.name.encode()).hexdigest()[:16]}-"


def remove_left(path: Path) -> None:
    """Remove what killed processes left that were writing this file."""
    from spinney.ledgers.journal import remove_unlocked

    with suppress(OSError):
        for left in path.parent.iterdir():
            if left.name.startswith(_start(path)):
                remove_unlocked(left)


@contextmanager
def _beside(path: Path, mode: int) -> Iterator[Path]:
    """Yield a new, empty file beside `path`, under a name that nobody can guess; nothing is left of it in the end.

    Its lock is held meanwhile: so what a killed process left is known, and removed by the next that writes this file.
    """
    from spinney.ledgers.journal import close_locked, take_lock

    part = path.with_name(f"{_start(path)}{os.urandom(16).hex()}{path.suffix}")
    remove_left(path)
    try:
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _GUARDED, mode)
    except OSError:
        raise _unwritable(path) from None
    try:
        take_lock(descriptor)
        yield part
    finally:
        part.unlink(missing_ok=True)
        close_locked(descriptor)


def _safe(file: Path) -> None:
    """Return when what a file holds is on the disk."""
    descriptor = os.open(file, os.O_RDWR | _GUARDED)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _safe_name(path: Path) -> None:
    """Return when the name of a file is on the disk."""
    from spinney.ledgers.journal import sync_folder

    if hasattr(os, "O_DIRECTORY"):  # other systems do not open folders
        sync_folder(path.parent)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside `path`, which takes its place and its mode in the end; after an error nothing is left of it.

    When this returns, the file is safe on disk. Whether it can be written is found out at the start. A link is followed, and a
    pipe or a device is written directly; what goes to standard output is whole too.
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
    if path.is_dir():
        raise _unwritable(path)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    with _beside(path, 0o666 if mode is None else (mode & 0o777) | 0o600) as part:
        yield part
        _safe(part)
        if mode is not None:
            part.chmod(mode)
        os.replace(part, path)
        _safe_name(path)


def made_once(path: Path, text: str) -> bool:
    """Make a file that does not exist yet, whole and safe on disk; return whether this call made it."""
    path = path.resolve()
    with _beside(path, 0o666) as part:
        part.write_text(text, encoding="utf-8")
        _safe(part)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        except OSError:
            raise _unwritable(path) from None
    _safe_name(path)
    return True


def write_whole(path: Path, text: str) -> None:
    """Write a text, whole and safe on disk, or not at all."""
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def held(path: Path, first: Callable[[], str]) -> Iterator[None]:
    """Hold a file for this process alone, from before it is read until what it became is safe on disk (`written_whole`).

    A file that is not there is made with what `first` returns.
    """
    from spinney.ledgers.journal import close_locked, has_locks, open_locked

    path = path.resolve()
    if not has_locks():
        raise DataError(f"This system has no file locks (fcntl), so {path} cannot be held.", "Linux, macOS and WSL have them.")
    if not path.exists():
        made_once(path, first())
    if not path.is_file():
        raise DataError(f"{path} is no file.", "name a file: it is read, changed and written back.")
    try:
        descriptor = open_locked(path, write=True)
    except OSError:
        raise _unwritable(path) from None
    try:
        yield
    finally:
        close_locked(descriptor)
