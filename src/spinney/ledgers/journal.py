"""An append-only file of checked lines that several processes share and that a crash cannot spoil.

A line is text, a blank and a check, which covers all lines before it as well. A line is appended under an exclusive lock of the
file by one write that ends in a newline, and counts once it is safe on disk. Whatever a crash leaves behind the last newline was
never acknowledged, and the next writer cuts it off. Anything else that does not check is damage, and is refused.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from spinney.exceptions import DataError

try:
    import fcntl
except ImportError:  # not a Unix system
    fcntl = None  # type: ignore[assignment]

#: A file that was made and never written may read as this many zeros.
BLOCK = 4096
#: Letters of the check at the end of a line.
CHECK = 32


def has_locks() -> bool:
    """Whether this system has file locks."""
    return fcntl is not None


def open_locked(path: Path, *, write: bool, create: bool = False) -> int:
    """Open a file and wait for its lock: for one writer alone, or for readers. The file is the one that has this name then."""
    flags = (os.O_RDWR if write else os.O_RDONLY) | (os.O_CREAT if create else 0) | os.O_CLOEXEC
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # another file took its place meanwhile


def close_locked(descriptor: int) -> None:
    """Give the lock of a file back."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    with suppress(OSError):
        os.close(descriptor)


def take_lock(descriptor: int) -> bool:
    """Take the lock of an open file, if nobody has it and the system has such locks; return whether it was taken."""
    with suppress(OSError, AttributeError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def remove_unlocked(path: Path) -> None:
    """Remove a file that no living process holds locked."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
        try:
            if take_lock(descriptor):
                path.unlink()
        finally:
            os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Return when the names of files in a folder are safe on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check(before: str, text: str) -> str:
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()[:CHECK]


@dataclass(frozen=True)
class Position:
    """How far a journal was read."""

    size: int = 0
    lines: int = 0
    check: str = ""


class Journal:
    """The path of a journal, links followed once, and how far it was read; `first` begins the first line of every such file."""

    def __init__(self, path: Path, first: str) -> None:
        self.path = Path(os.path.realpath(path))
        self.first = first.encode()
        self.at = Position()
        self.folder_is_safe = False

    def damaged(self, what: str) -> DataError:
        """Return the error that refuses the file."""
        return DataError(
            f"{self.path} is damaged: {what}.", "restore it from a copy. What was spent is not known, so nothing is charged."
        )

    @contextmanager
    def open(self, *, write: bool, create: bool = False) -> Iterator[OpenJournal]:
        """Open and lock the file: for one writer alone, or for readers."""
        if not has_locks():
            raise DataError(
                "This system has no file locks (fcntl), so it cannot keep a ledger. Nothing was written or charged.",
                "keep the ledger on Linux, macOS or in WSL. Fits without a ledger work here; add up their epsilons by hand.",
            )
        descriptor = -1
        try:
            with self.usable("opened"):
                descriptor = open_locked(self.path, write=write, create=create)
            yield OpenJournal(self, descriptor, write)
        finally:
            if descriptor >= 0:
                close_locked(descriptor)  # all that matters is on disk by now

    @contextmanager
    def usable(self, what: str) -> Iterator[None]:
        """Refuse the file if the system does not let it be used."""
        try:
            yield
        except OSError as error:
            hint = "the path names a file in a folder that exists and may be written to."
            if error.errno == errno.ENOENT and self.path.parent.is_dir():
                hint = "'spinney ledger open' makes one, and so does spinney.Ledger with an epsilon."
            raise DataError(f"The ledger {self.path} cannot be {what}: {error.strerror or error}.", hint) from error


class OpenJournal:
    """A locked journal."""

    def __init__(self, journal: Journal, descriptor: int, write: bool) -> None:
        self._journal = journal
        self._file = descriptor
        self._may_write = write
        self._torn = False

    def read(self) -> list[str]:
        """Return the lines that were not read before, all checked; what a crash cut short is left out.

        A last line that lacks its end alone is whole: a writer adds the end.
        """
        journal, at = self._journal, self._journal.at
        with journal.usable("read"):
            content = self._bytes_from(at.size)
        whole = content.rfind(b"\n") + 1
        self._torn = whole < len(content)
        if at.size + whole == 0 and len(content) <= BLOCK:
            content = content.rstrip(b"\0")[: len(journal.first)]  # blocks that were never written read as zeros
        if at.size == 0 and not (content.startswith(journal.first) or (whole == 0 and journal.first.startswith(content))):
            raise DataError(f"{journal.path} is not a ledger.", "name another file; this one was left as it is.")
        texts, check = [], at.check
        for i, line in enumerate(content[:whole].split(b"\n")[:-1], start=at.lines + 1):
            try:
                text, _, stated = line.decode().rpartition(" ")
            except UnicodeDecodeError:
                raise journal.damaged(f"line {i} is not text") from None
            check = _check(check, text)
            if stated != check:
                raise journal.damaged(f"line {i} does not check")
            texts.append(text)
        last = content[whole:].decode(errors="replace").rpartition(" ")
        if self._may_write and last[2] == _check(check, last[0]):
            self._end_line(at.size + len(content))
            texts.append(last[0])
            check, whole = last[2], len(content) + 1
        journal.at = Position(at.size + whole, at.lines + len(texts), check)
        return texts

    def _end_line(self, size: int) -> None:
        with self._journal.usable("written"):
            os.pwrite(self._file, b"\n", size)
            self._sync()
        self._torn = False

    def _bytes_from(self, start: int) -> bytes:
        size = os.fstat(self._file).st_size
        if size < start:
            raise self._journal.damaged("lines that were there are gone")
        pieces = []
        while piece := os.pread(self._file, 2**24, start):
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)

    def append(self, text: str) -> None:
        """Add a line after all others, which must have been read, and return when it is safe on disk; it is yet to be read.

        After an error the line is taken back, if that can be done; it may stand if it cannot.
        """
        journal, at = self._journal, self._journal.at
        line = f"{text} {_check(at.check, text)}\n".encode()
        with journal.usable("written"):
            if self._torn:
                os.ftruncate(self._file, at.size)
                os.fsync(self._file)
                self._torn = False
            if os.fstat(self._file).st_size != at.size:
                raise journal.damaged("lines were added that were not read")
            try:
                written = 0
                while written < len(line):
                    written += os.pwrite(self._file, line[written:], at.size + written)
                self._sync()
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(self._file, at.size)
                    os.fsync(self._file)
                raise

    def sync(self) -> None:
        """Return when all lines are safe on disk, of other processes too."""
        with self._journal.usable("written"):
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._file)
        if self._journal.folder_is_safe:
            return
        sync_folder(self._journal.path.parent)
        self._journal.folder_is_safe = True
