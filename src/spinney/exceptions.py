"""Every error and warning that Spinney raises.

No message ever contains a value, a count or an index taken from the rows. A table may be passed by mistake where a parameter
belongs, so a message repeats what was passed only if it is a plain number or a name, and else names its type (`spinney.naming`).
"""

from __future__ import annotations

from spinney.naming import is_path, named, without_values

__all__ = [
    "BudgetError",
    "CuratorError",
    "DataError",
    "FewRowsWarning",
    "LoosePromiseWarning",
    "ParameterError",
    "ReleaseError",
    "SeededNoiseWarning",
    "SpinneyError",
    "UncountedFitsWarning",
    "UnfinishedError",
    "UnitsWarning",
    "check_path",
]


class _Advice(Exception):  # noqa: N818  (of errors and of warnings)
    """What is wrong, and what to type. Printed for Python; the command line prints the parts in its own words (`cli.errors`)."""

    def __init__(self, said: str, hint: str = "") -> None:
        super().__init__(f"{said}\nHint: {hint}" if hint else said)
        self.said, self.hint = said, hint


class SpinneyError(_Advice):
    """Base of all Spinney errors."""


class ParameterError(SpinneyError, ValueError):
    """A parameter is missing or wrong. Raised before any row is read."""

    #: The name of the parameter, and what it must be.
    name, must = "", ""

    @classmethod
    def wrong(cls, name: str, owner: str, expected: str, got: object, hint: str) -> ParameterError:
        """Build the one message formula: what must be, what was, what to type."""
        return cls.unlike(name, owner, f"{expected}. Got {named(got)} instead.", hint)

    @classmethod
    def unlike(cls, name: str, owner: str, must: str, hint: str) -> ParameterError:
        """Build the formula where what was is not repeated, or in words of the caller."""
        made = cls(f"The {name!r} parameter of {owner} must be {must}", hint)
        made.name, made.must = name, must
        return made


def check_path(value: object, owner: str, name: str = "path") -> None:
    """Raise unless this may be a path: a text of several lines is rather a table."""
    if not is_path(value):
        raise ParameterError.wrong(name, owner, "a path", value, "give the name of a file.")


class BudgetError(SpinneyError):
    """A question would spend what the plan does not hold, or a release what its ledger does not."""


class UnfinishedError(SpinneyError):
    """Questions of a job's release began before, and were paid for; whether they were answered is not known."""


class CuratorError(SpinneyError):
    """Work on the rows failed, or ran out of memory. The text is always the same: details could reveal private data."""

    TEXT = (
        "The work on the rows failed or ran out of memory. Details are withheld because they could reveal private data.\n"
        "Hint: for a large table use a machine with more memory, or leave it on disk with spinney.scan(path); "
        "if that is not it, try made-up rows of the same kind and size."
    )

    def __init__(self, text: str = TEXT) -> None:  # an argument, so that it can be pickled
        super().__init__(text)


class DataError(SpinneyError, ValueError):
    """A file of rows or bounds, or a ledger, cannot be read or written."""

    def __init__(self, said: str, hint: str = "") -> None:
        super().__init__(without_values(said), without_values(hint))


class ReleaseError(SpinneyError, ValueError):
    """A release file cannot be read."""


class FewRowsWarning(UserWarning):
    """The released noisy sizes look like no rows, or like far fewer than were expected. It follows from these sizes alone."""


class LoosePromiseWarning(UserWarning):
    """Epsilon or delta is so large that the promise is very weak. It follows from what was typed."""


class SeededNoiseWarning(UserWarning):
    """The privacy noise is reproducible, so the result is not private."""


class UncountedFitsWarning(UserWarning):
    """Several private fits of a process were charged to no ledger. It follows from the number of calls, whatever their rows."""


class UnitsWarning(_Advice, UserWarning):
    """Units of columns may not be meant as they are.

    Public widths differ more than 20-fold, and nothing was said about units: it follows from the bounds alone. Or one cluster was
    found, where the number was to be found: it follows from the release alone.
    """
