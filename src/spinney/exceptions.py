"""Every error and warning that Spinney raises.

::

    Exception
    └── SpinneyError
        ├── ParameterError (also ValueError)   a parameter is missing or wrong; raised before any row is read
        ├── BudgetError                        a question would spend more than its plan allows, or a release more than its ledger
        ├── DataError (also ValueError)        a file of rows or bounds, or a ledger, cannot be read or written
        └── ReleaseError (also ValueError)     a release file cannot be read
    UserWarning
    ├── FewRowsWarning                         the released sizes together look like no rows at all
    └── SeededNoiseWarning                     the noise is reproducible, so the result is not private

No message ever contains a value, a count or an index taken from the rows.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "DataError",
    "FewRowsWarning",
    "ParameterError",
    "ReleaseError",
    "SeededNoiseWarning",
    "SpinneyError",
]


class SpinneyError(Exception):
    """Base of all Spinney errors."""


class ParameterError(SpinneyError, ValueError):
    """A parameter is missing or wrong. Raised before any row is read."""

    @classmethod
    def wrong(cls, name: str, owner: str, expected: str, got: object, hint: str) -> ParameterError:
        """Build the one message formula: what must be, what was, what to type."""
        return cls(f"The {name!r} parameter of {owner} must be {expected}. Got {got!r} instead.\nHint: {hint}")


class BudgetError(SpinneyError):
    """A question would spend what the plan does not hold, or a release what its ledger does not."""


class DataError(SpinneyError, ValueError):
    """A file of rows or bounds, or a ledger, cannot be read or written."""


class ReleaseError(SpinneyError, ValueError):
    """A release file cannot be read."""


class FewRowsWarning(UserWarning):
    """The released noisy sizes together look like no rows at all. It follows from these sizes alone."""


class SeededNoiseWarning(UserWarning):
    """The privacy noise is reproducible, so the result is not private."""
