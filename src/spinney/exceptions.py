"""Every error and warning that Spinney raises.

::

    Exception
    └── SpinneyError
        ├── ParameterError (also ValueError)   a parameter is missing or wrong; raised before any row is read
        ├── BudgetError                        a question would spend more than its plan allows, or a release more than its ledger
        ├── CuratorError                       work on the rows failed, or ran out of memory; nothing about them is told
        ├── DataError (also ValueError)        a file of rows or bounds, or a ledger, cannot be read or written
        └── ReleaseError (also ValueError)     a release file cannot be read
    UserWarning
    ├── FewRowsWarning                         the released sizes together look like no rows at all
    └── SeededNoiseWarning                     the noise is reproducible, so the result is not private

No message ever contains a value, a count or an index taken from the rows. A table may be passed by mistake where a parameter
belongs, so a message repeats what was passed only if it is a plain number or a name, and else names its type alone (`named`).
"""

from __future__ import annotations

from os import PathLike

__all__ = [
    "BudgetError",
    "CuratorError",
    "DataError",
    "FewRowsWarning",
    "ParameterError",
    "ReleaseError",
    "SeededNoiseWarning",
    "SpinneyError",
    "check_path",
    "is_path",
    "named",
]

#: A longer text, or one of several lines, is no name.
LONGEST_NAME = 40
#: No file system takes longer paths.
LONGEST_PATH, LONGEST_PART = 4096, 256
#: A whole number of more bits is not printed: it is no count and no seed that someone typed.
MOST_BITS = 64


def named(value: object) -> str:
    """Return how a message speaks of something that was passed: a plain number or a short name as it is, else its type.

    Nothing of the value itself is asked unless its type is exactly that of a plain number or text, so that neither rows nor their
    number get into a message, whatever was passed.
    """
    kind = type(value)
    if kind.__module__ == "numpy" and hasattr(kind, "item"):
        import numpy as np

        if kind in set(np.sctypeDict.values()) and issubclass(kind, np.bool_ | np.integer | np.floating):
            value = value.item()  # type: ignore[attr-defined]
            kind = type(value)
    if value is None or kind in (bool, float):
        return repr(value)
    if kind is int and value.bit_length() <= MOST_BITS:  # type: ignore[attr-defined]
        return repr(value)
    if kind is str and len(value) <= LONGEST_NAME and value.isprintable():  # type: ignore[arg-type, attr-defined]
        return repr(value)
    return f"a value of type {type.__dict__['__name__'].__get__(kind)}"  # a class of classes may say anything in its place


def is_path(value: object) -> bool:
    """Whether this may be a path: a path object, or a text of one line with names that a file system takes."""
    if not isinstance(value, str):
        return isinstance(value, PathLike)
    return value.isprintable() and len(value) <= LONGEST_PATH and all(len(part) < LONGEST_PART for part in value.split("/"))


class SpinneyError(Exception):
    """Base of all Spinney errors."""


class ParameterError(SpinneyError, ValueError):
    """A parameter is missing or wrong. Raised before any row is read."""

    @classmethod
    def wrong(cls, name: str, owner: str, expected: str, got: object, hint: str) -> ParameterError:
        """Build the one message formula: what must be, what was, what to type."""
        return cls(f"The {name!r} parameter of {owner} must be {expected}. Got {named(got)} instead.\nHint: {hint}")


def check_path(value: object, owner: str, name: str = "path") -> None:
    """Raise unless this may be a path: a text of several lines is rather a table."""
    if not is_path(value):
        raise ParameterError.wrong(name, owner, "a path", value, "give the name of a file.")


class BudgetError(SpinneyError):
    """A question would spend what the plan does not hold, or a release what its ledger does not."""


class CuratorError(SpinneyError):
    """Work on the rows failed, or ran out of memory. The text is always the same: what failed could tell about rows."""

    TEXT = (
        "The work on the rows failed or ran out of memory. What failed is not told, for it could tell about rows.\n"
        "Hint: for a large table use a machine with more memory, or leave it on disk with spinney.scan(path); "
        "if that is not it, try made-up rows of the same kind and size."
    )

    def __init__(self, text: str = TEXT) -> None:  # an argument, so that it can be pickled
        super().__init__(text)


class DataError(SpinneyError, ValueError):
    """A file of rows or bounds, or a ledger, cannot be read or written."""


class ReleaseError(SpinneyError, ValueError):
    """A release file cannot be read."""


class FewRowsWarning(UserWarning):
    """The released noisy sizes together look like no rows at all. It follows from these sizes alone."""


class SeededNoiseWarning(UserWarning):
    """The privacy noise is reproducible, so the result is not private."""
