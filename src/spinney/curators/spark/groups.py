"""Which rows of a Spark DataFrame count when they have groups, decided on its executors.

Executors mark every row by a keyed hash of its group's name and its values, Spark brings the rows of a group together and sorts
them by their marks, and executors keep the rows with the least draws of each group as they stream by. A group may be far larger
than the memory of an executor: no more of its rows than the cap are held. What is kept is what rows in memory would keep.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.draws import draw_rows, least_draws, mark_rows, run_places
from spinney.curators.groups import name_groups
from spinney.curators.spark.packing import NUMBERS, PACKED, Reader, packed, read_rows
from spinney.exceptions import ParameterError
from spinney.privacy.pricing import Unit

#: Spark types of columns that can name groups.
NAMES = {"string", "char", "varchar", "byte", "short", "integer", "long", "float", "double", "decimal", "boolean", "binary"}
#: Makes the order of 64-bit words, read as signed numbers, the order of the words themselves.
SIGN = np.uint64(2**63)
#: Columns of marked rows before that of their numbers.
HEAD = ("name", "first", "second")


def name_column(frame: Any, names: Sequence[str], groups: Any) -> Any:
    """Return the column that names groups, found by its name; types are schema and so public."""
    if not isinstance(groups, str) or list(names).count(groups) != 1:
        raise ParameterError(
            "The 'groups' argument of fit must be the name of one column of the Spark DataFrame.",
            "fit(frame, groups='person'); this column is not clustered.",
        )
    place = list(names).index(groups)
    kind = frame.schema.fields[place].dataType.typeName()
    if kind not in NAMES | {"void"}:
        raise ParameterError(
            f"The column of groups must hold names. Got a column of Spark type {kind!r} instead.",
            "name a column of texts or whole numbers.",
        )
    column = frame[frame.columns[place]]
    return column.cast("string") if kind == "void" else column


def _cells(column: Any) -> list[Any]:
    """Return the cells of an Arrow column; bytes of a text that are no UTF-8 are replaced, in each cell alike."""
    if str(column.type) not in ("string", "large_string", "string_view"):
        return list(column.to_pylist())
    return [None if cell is None else cell.decode("utf-8", "replace") for cell in column.cast("large_binary").to_pylist()]


@dataclass(frozen=True, repr=False)
class Marker:
    """What an executor does first: it drops rows that do not count whatever the draws, and marks the others."""

    key: bytes = field(repr=False)
    read: Reader
    replaces: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches of names, marks and numbers."""
        import pyarrow as pa

        for batch in batches:
            names = name_groups(_cells(batch.column(0)), self.key)
            rows = self.read(batch.columns[1:])
            marks, complete = mark_rows(names.seeds(names.are_there)[names.codes], rows, self.key)
            kept = np.flatnonzero(names.are_there[names.codes] & (complete | self.replaces))
            texts = pa.array([text.encode(errors="surrogatepass") for text in names.texts], pa.binary())
            words = (marks[kept] ^ SIGN).view(np.int64)
            columns = [texts.take(pa.array(names.codes[kept])), pa.array(words[:, 0]), pa.array(words[:, 1])]
            width = rows.shape[1]
            ends = np.arange(0, (len(kept) + 1) * width, width, dtype=np.int32)
            columns.append(pa.ListArray.from_arrays(ends, np.ascontiguousarray(rows[kept]).reshape(-1)))
            yield pa.RecordBatch.from_arrays(columns, [*HEAD, "row"])


@dataclass(frozen=True, repr=False)
class Capper:
    """What an executor does with marked rows sorted by name and mark: it keeps the least draws of each group, packed."""

    most: int
    width: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield packed rows."""
        return packed((read_rows(batch.column(len(HEAD)), self.width) for batch in self.capped(batches)), self.width)

    def capped(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows that count, still marked; of a group that may go on, the least draws so far are held back."""
        import pyarrow as pa

        stream = _Stream()
        held: tuple[Any, ...] = ()
        for batch in batches:
            if not batch.num_rows:
                continue
            codes, marks, draws = stream.take(batch)
            table = pa.Table.from_batches([batch])
            if held:
                table = pa.concat_tables([held[0], table])
                codes = np.concatenate([np.zeros(len(held[1]), dtype=np.int64), codes])
                marks, draws = np.concatenate([held[1], marks]), np.concatenate([held[2], draws])
            kept = least_draws(codes, marks, draws, self.most)
            is_open = codes == codes[-1]
            yield from table.filter(pa.array(kept & ~is_open)).to_batches()
            held = table.filter(pa.array(kept & is_open)).combine_chunks(), marks[kept & is_open], draws[kept & is_open]
        if held:
            yield from held[0].to_batches()


class _Stream:
    """Numbers the groups of sorted rows, and the equal rows of a group, across batches."""

    def __init__(self) -> None:
        self._name: Any = None
        self._mark = np.zeros(2, dtype=np.uint64)
        self._copy = -1

    def take(self, batch: Any) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the code of each row's group, 0 for the one that was open, the marks and the draws."""
        import pyarrow.compute as pc

        names, size = batch.column(0), batch.num_rows
        marks = np.stack([batch.column(i).to_numpy().view(np.uint64) ^ SIGN for i in (1, 2)], axis=1)
        is_new = np.ones(size, dtype=np.bool_)
        is_new[0] = names[0].as_py() != self._name
        is_new[1:] = pc.not_equal(names.slice(1), names.slice(0, size - 1)).to_numpy(zero_copy_only=False)
        codes = np.cumsum(is_new, dtype=np.int64)
        is_first = is_new | (marks != np.concatenate([self._mark[None], marks[:-1]])).any(axis=1)
        goes_on = not is_first[0]
        is_first[0] = True
        copies = run_places(is_first)
        if goes_on:
            copies[np.cumsum(is_first) == 1] += self._copy + 1
        self._name, self._mark, self._copy = names[size - 1].as_py(), marks[-1], int(copies[-1])
        return codes, marks, draw_rows(marks, copies)


def counted(frame: Any, read: Reader, unit: Unit, key: bytes, keep: Capper, kind: str = PACKED) -> Any:
    """Return a frame of what `keep` makes, in columns of this `kind`, of the rows that count, as the unit says of missing values.

    The private frame has names of groups, and behind them the columns of the table, which `read` reads. The key is secret.
    """
    schema = f"name binary, first long, second long, row array<{NUMBERS[read.dtype]}>"
    marked = frame.mapInArrow(Marker(key, read, unit.replaces), schema)
    return marked.repartition("name").sortWithinPartitions(*HEAD).mapInArrow(keep, kind)
