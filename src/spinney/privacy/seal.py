"""What ends work on rows leaves as one constant text: errors of libraries, lack of memory included, quote cells and counts."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType

from spinney.exceptions import CuratorError, SpinneyError

#: Spinney's own errors are written without rows, and who interrupts the work says nothing about them.
PASSING = (SpinneyError, KeyboardInterrupt, SystemExit, GeneratorExit)


class sealed(ContextDecorator):  # noqa: N801  (reads as what it does, in a `with` or above a function)
    """Let nothing of an error of the work inside get out: neither its text, nor its kind, nor itself as another's context."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            return
        if isinstance(error, PASSING):
            error.__cause__ = error.__context__ = None
            return
        del error, trace  # frames keep what they name
        failure = CuratorError()
        try:
            raise failure
        finally:
            failure.__context__ = None  # the error inside, which Python has put there
