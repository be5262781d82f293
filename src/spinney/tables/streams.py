"""Rows that can be read again and again, in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.spaces.described import Encoding
from spinney.spaces.schema import Schema

__all__ = ["Batches", "EncodedBatches", "batch_rows", "chosen_batches", "without_first"]

#: Most rows of a batch, which bounds partial sums, and most cells, which bounds memory.
MOST_ROWS, MOST_VALUES = 2**16, 2**20


def batch_rows(n_features: int) -> int:
    """Return how many rows a batch may have."""
    return max(min(MOST_ROWS, MOST_VALUES // n_features), 1)


def without_first(batches: Iterable[NDArray[Any]], count: int) -> Iterator[NDArray[Any]]:
    """Yield batches without their first rows."""
    for batch in batches:
        if count < len(batch):
            yield batch[count:]
        count = max(count - len(batch), 0)


class Batches(ABC):
    """Rows that can be read again and again, always in the same order.

    Attributes
    ----------
    n_features : int
    columns : tuple of str or None
        Their names; public.
    has_groups : bool
        Whether rows have groups.
    n_steady : int
        How many of the first rows are always read in the same batches, at little cost; private.
    """

    n_features: int
    columns: tuple[str, ...] | None
    has_groups: bool
    n_steady: int = 0

    @abstractmethod
    def read(self) -> Iterator[NDArray[Any]]:
        """Yield all rows as arrays of real numbers, at most ``batch_rows(n_features)`` rows each; F-ordered ones are fastest."""

    def read_from(self, start: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from one on. Here they are all read; tables that can skip rows do."""
        return without_first(self.read(), start)

    def is_finite(self, start: int, count: int) -> bool:
        """Whether all values of the rows of a batch are known to be finite."""
        return False

    @abstractmethod
    def read_groups(self) -> Any:
        """Return the names of the groups of all rows."""

    def drop(self) -> None:  # noqa: B027  (most hold nothing)
        """Drop what is held for one fit, which has ended."""

    def declared(self, columns: Sequence[str], schema: Schema) -> Batches:
        """Return these columns, cells read as a schema says; files can be opened again for that."""
        raise ParameterError(
            "These rows are numbers already, and the bounds say how categories, truth values, dates or texts are read.",
            "give fit the path, or what scan(path) returns.",
        )


def chosen_batches(batches: Batches, columns: tuple[str, ...], schema: Schema | None = None) -> Batches:
    """Return the columns of these names, which are public, in this order; they have been opened as numbers."""
    if schema is not None and any(column.is_coded for column in schema.columns):
        return batches.declared(columns, schema)
    if batches.columns == columns:
        return batches
    if batches.columns is None:
        raise ParameterError("Bounds name columns, and X has no names of columns.", "give bounds=(lower, upper) instead.")
    missing = [name for name in columns if name not in batches.columns]
    if missing:
        raise ParameterError(f"Bounds name a column that X does not have: {missing[0]!r}.", "leave it out, or open it too.")
    return _Chosen(batches, columns)


class _View(Batches):
    """Other batches, each seen in another way."""

    def __init__(self, batches: Batches, columns: tuple[str, ...] | None, n_features: int) -> None:
        self._batches, self.columns, self.n_features, self.has_groups = batches, columns, n_features, batches.has_groups

    @abstractmethod
    def _seen(self, batch: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yield what is seen of a batch, F-ordered."""

    def read(self) -> Iterator[NDArray[Any]]:
        return self.read_from(0)

    def read_from(self, start: int) -> Iterator[NDArray[Any]]:
        for batch in self._batches.read_from(start):
            yield from self._seen(batch)

    def read_groups(self) -> Any:
        return self._batches.read_groups()

    def drop(self) -> None:
        self._batches.drop()


class EncodedBatches(_View):
    """Other batches in scaled numbers, as a public schema says; at most as many rows at a time as these columns allow."""

    def __init__(self, batches: Batches, schema: Encoding) -> None:
        super().__init__(batches, schema.titles or batches.columns, schema.width)
        self._schema = schema

    def _seen(self, batch: NDArray[Any]) -> Iterator[NDArray[Any]]:
        size = batch_rows(self.n_features)
        for first in range(0, len(batch), size):
            yield self._schema.encode(batch[first : first + size])


class _Chosen(_View):
    """Some columns of other batches."""

    def __init__(self, batches: Batches, columns: tuple[str, ...]) -> None:
        super().__init__(batches, columns, len(columns))
        self._places = [(batches.columns or ()).index(name) for name in columns]

    def _seen(self, batch: NDArray[Any]) -> Iterator[NDArray[Any]]:
        yield batch.T[self._places].T
