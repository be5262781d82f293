"""Rows that come as a stream of Arrow batches: of DuckDB, polars, pyarrow, ADBC, Ray, Dask, or a function that opens one.

A stream is read to its end once for each fit, before anything is charged: into memory, or into a file in a folder that was named.
All questions are then about the rows of that one reading, whatever the source would give the next time.

Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from spinney.exceptions import DataError, ParameterError
from spinney.naming import is_path
from spinney.tables.cells import chosen_places
from spinney.tables.schema import check_choice, shielded
from spinney.tables.spooled import Spooled
from spinney.tables.streams import batch_rows

__all__ = ["ArrowStream", "as_stream", "is_a", "is_class_of_streams", "stream"]

_Read = Callable[[Any, list[str]], Any]
_View = Callable[[Any], Any]
_Take = Callable[[Any, Iterator[Any], list[str], _View], Any]
#: How often a stream that broke is read again, from its start.
AGAIN = 2
OPENER = "stream(lambda: source.open()) calls a function that returns a new reader each time."


def is_a(kind: type, module: str, *names: str) -> bool:
    """Whether this is a class of a module that may not be imported."""
    return any(issubclass(kind, getattr(sys.modules.get(module), name, ())) for name in names)


class Opening(NamedTuple):
    """How the names of a source's columns are found, and how some of them are opened as Arrow batches.

    Columns of `frames` take their types from their cells, so that none is refused.
    """

    names: Callable[[Any], Sequence[str]]
    open: Callable[[Any, list[str]], Any]
    frames: bool = False


def _open_relation(X: Any, used: list[str]) -> Any:
    return _reader(X.project(", ".join('"' + name.replace('"', '""') + '"' for name in used)))


def _open_lazy(X: Any, used: list[str]) -> Any:
    import polars as pl
    import pyarrow as pa

    chosen = X.select(used)
    schema = pl.DataFrame(schema=chosen.collect_schema()).to_arrow().schema
    frames = chosen.collect_batches(maintain_order=False)
    return pa.RecordBatchReader.from_batches(schema, (batch for frame in frames for batch in frame.to_arrow().to_batches()))


def _open_ray(X: Any, used: list[str]) -> Any:
    import pyarrow as pa

    chosen = X.select_columns(used)
    schema = pa.schema([chosen.schema().base_schema.field(name) for name in used])
    tables = chosen.iter_batches(batch_size=batch_rows(len(used)), batch_format="pyarrow")
    return pa.RecordBatchReader.from_batches(schema, (batch for one in tables for batch in one.select(used).to_batches()))


def _open_dask(X: Any, used: list[str]) -> Any:
    import pyarrow as pa

    chosen = X[used]
    if len(chosen._meta.select_dtypes(object).columns):  # Arrow would guess a type from the cells
        raise TypeError
    schema = pa.Schema.from_pandas(chosen._meta, preserve_index=False)
    frames = (part.compute() for part in chosen.to_delayed())
    tables = (pa.Table.from_pandas(frame, schema=schema, preserve_index=False, safe=False) for frame in frames)
    return pa.RecordBatchReader.from_batches(schema, (batch for one in tables for batch in one.to_batches()))


def _reader(X: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(X)


#: Sources that are known by their class, and read their columns alone.
KINDS = {
    ("duckdb", "DuckDBPyRelation"): Opening(lambda X: X.columns, _open_relation),
    ("pyarrow.dataset", "Dataset"): Opening(lambda X: X.schema.names, lambda X, used: X.scanner(columns=used).to_reader()),
    ("polars", "LazyFrame"): Opening(lambda X: X.collect_schema().names(), _open_lazy, frames=True),
    ("polars", "DataFrame"): Opening(lambda X: X.columns, lambda X, used: _open_lazy(X.lazy(), used), frames=True),
    ("ray.data", "Dataset"): Opening(lambda X: X.columns(), _open_ray),
    ("dask.dataframe", "DataFrame"): Opening(lambda X: X.columns, _open_dask),
}
#: How the address of files in a store begins, such as ``s3://``.
ADDRESS = re.compile("[a-z][a-z0-9+.-]+://")
READER = Opening(lambda X: X.schema.names, lambda X, used: X)


def _kind(kind: type) -> Opening | None:
    return next((opening for (module, name), opening in KINDS.items() if is_a(kind, module, name)), None)


def _can_stream(X: Any) -> bool:
    """Whether Arrow can stream this by types that are declared: pandas makes them of the cells."""
    return hasattr(type(X), "__arrow_c_stream__") and not is_a(type(X), "pandas", "DataFrame", "Series")


def _is_address(X: Any) -> bool:
    return type(X) is str and ADDRESS.match(X) is not None


def is_class_of_streams(kind: type) -> bool:
    """Whether this is the class of streams, or of sources that `fit` takes as one; frames are taken by rules of their own."""
    opening = _kind(kind)
    return kind is ArrowStream or is_a(kind, "pyarrow", "RecordBatchReader") or (opening is not None and not opening.frames)


def stream(
    source: Any,
    query: str | None = None,
    *,
    columns: list[str] | None = None,
    groups: str | None = None,
    spool: str | Path | None = None,
) -> ArrowStream:
    """Return rows that come as a stream of Arrow batches, for ``fit``.

    Privacy
    -------
    A fit reads the stream to its end once, before its charge, and asks about the rows of that reading alone: it is as private as
    a fit of a table of these rows, whatever the source gives the next time. If a reading breaks off, what came is thrown away,
    and the stream is read again, at most twice. Words of the source are withheld. Proof: ``proofs/streams.md``. Outside the
    promise: running time, memory and disk use, and whether a source breaks.

    Parameters
    ----------
    source : object
        A DuckDB relation, a polars lazy frame, a pyarrow dataset, a Ray dataset, a Dask frame, or a function without arguments
        that returns a new stream each time: one of these, a reader of record batches, or whatever else Arrow can stream. With a
        `query`, a connection of DuckDB or ADBC. Also the address of Parquet files in a store that pyarrow knows, such as
        ``"s3://bucket/stays"``.
    query : str, optional
        What is asked of the connection.
    columns : list of str, optional
        Which columns, in this order; all but `groups` by default.
    groups : str, optional
        The column that names the group of each row; rows without a name do not count.
    spool : path, optional
        A folder with room for the used columns of all rows. They are written there, for the owner's eyes alone, until the fit
        ends, so that memory is bounded. By default they are held in memory.
    """
    check_choice(columns, groups)
    if not (spool is None or is_path(spool)):
        raise ParameterError.wrong("spool", "stream", "a folder, or None", spool, "for example spool='/scratch'.")
    if spool is not None and not Path(spool).is_dir():
        raise DataError("The folder to spool into is not there.", "make it, or name another one.")
    if query is not None:
        source = _asked(source, query)
    if _is_address(source):
        source = partial(_files_at, source)
    if _kind(type(source)) is None and not callable(source) and not _can_stream(source):
        raise ParameterError.wrong("source", "stream", "a source of Arrow batches, or a function that opens one", source, OPENER)
    if is_a(type(source), "pyarrow", "RecordBatchReader") and spool is None:
        raise ParameterError(
            "A reader of record batches can be read only once.",
            f"spool='/scratch' keeps its rows in a folder until the fit ends, X.read_all() in memory; or {OPENER}",
        )
    return ArrowStream(source, columns, groups, None if spool is None else Path(spool))


def _files_at(address: str) -> Any:
    import pyarrow.dataset

    return pyarrow.dataset.dataset(address, format="parquet")


def _asked(connection: Any, query: Any) -> Callable[[], Any]:
    """Return what opens a query anew: by a relation of DuckDB, or by a cursor of ADBC, which is closed when it is not used."""
    if not isinstance(query, str):
        raise ParameterError.wrong("query", "stream", "a text", query, "for example stream(connection, 'select age from stays').")
    if is_a(type(connection), "duckdb", "DuckDBPyConnection"):
        return lambda: connection.sql(query)
    if not hasattr(type(connection), "cursor"):
        kind = "a connection of DuckDB or ADBC, because there is a query"
        raise ParameterError.wrong("source", "stream", kind, connection, OPENER)

    def ask() -> Any:
        import pyarrow as pa

        cursor = connection.cursor()
        cursor.execute(query)
        reader = cursor.fetch_record_batch()

        def batches() -> Iterator[Any]:
            with cursor:
                yield from reader

        return pa.RecordBatchReader.from_batches(reader.schema, batches())

    return ask


def as_stream(X: Any) -> ArrowStream:
    """Return a source as a stream, or raise if it can be read once only."""
    return X if type(X) is ArrowStream else stream(X)


class ArrowStream:
    """Rows that come as a stream of Arrow batches; made by `stream`.

    Attributes
    ----------
    columns : list of str or None
        Those that were asked for.
    groups : str or None
        The column that names groups.
    spool : Path or None
        The folder that rows are kept in until a fit ends.
    """

    def __init__(self, source: Any, columns: list[str] | None, groups: str | None, spool: Path | None) -> None:
        self._source, self.columns, self.groups, self.spool = source, columns, groups, spool
        self._last: Any = None

    @property
    def has_groups(self) -> bool:
        """Whether rows have groups."""
        return self.groups is not None

    def __repr__(self) -> str:
        return "Stream of Arrow batches"

    def table(self, columns: Sequence[str] | None, groups: str | None, read: _Read) -> Any:
        """Return a table of these columns and the groups; one without rows is read first, to check the types."""
        import pyarrow as pa

        def take(schema: Any, batches: Iterator[Any], chosen: list[str], view: _View) -> Any:
            return view(pa.Table.from_batches(list(batches), schema))

        return self._read(columns, groups, read, take)

    def spooled(self, columns: Sequence[str] | None, read: _Read) -> Spooled:
        """Return the same rows as numbers in a folder, until a fit ends."""
        assert self.spool is not None
        folder = self.spool

        def take(schema: Any, batches: Iterator[Any], chosen: list[str], view: _View) -> Spooled:
            return Spooled(folder, _tables(schema, batches), lambda table: read(view(table), chosen), chosen, self.groups)

        found: Spooled = self._read(columns, self.groups, read, take)
        return found

    def _read(self, *facts: Any) -> Any:
        """Return what one whole reading gives; one that breaks is begun again, if it can be."""
        broken = DataError(
            "The stream cannot be read. Nothing was charged.",
            "read it to its end yourself: its error says why, to you alone. If its rows are spooled, the folder may be full.",
        )
        for left in range(0 if is_a(type(self._source), "pyarrow", "RecordBatchReader") else AGAIN, -1, -1):
            try:
                return self._read_once(broken, *facts)
            except DataError as error:
                if error is not broken or not left:
                    raise
        raise AssertionError  # the last turn returns or raises

    def _read_once(self, broken: DataError, columns: Sequence[str] | None, groups: str | None, read: _Read, take: _Take) -> Any:
        """Return what `take` makes of the schema, all batches and the names of the chosen columns, or raise `broken`."""
        columns = self.columns if columns is None else columns
        if self.columns is not None:
            chosen_places(self.columns, columns)  # bounds name none but these
        found = shielded(self._opened, broken)
        kind = _kind(type(found)) or READER
        names = shielded(lambda: list(kind.names(found)), broken)
        chosen = [names[place] for place in chosen_places(names, columns, groups)]
        used = chosen + ([groups] if groups is not None and groups not in chosen else [])
        chosen_places(names, used)  # each once
        reader = shielded(lambda: kind.open(found, used), broken)
        places = [reader.schema.names.index(name) for name in used]
        schema = _chosen(reader.schema, places)
        view = _as_frame if kind.frames else _as_it_is
        read(view(schema.empty_table()), chosen)
        return shielded(lambda: take(schema, (batch.select(places) for batch in reader), chosen, view), broken)

    def _opened(self) -> Any:
        """Return a source of a known kind, or a reader that nobody has begun to read."""
        source = self._source
        found = source if _kind(type(source)) is not None or _can_stream(source) else source()
        if _kind(type(found)) is not None:
            return found
        if is_a(type(found), "pyarrow", "RecordBatchReader"):
            if found is self._last:
                raise EOFError
            self._last = found
            return found  # as it is: an interrupt would not pass through another reader
        if not _can_stream(found):
            raise TypeError
        return _reader(found)


def _as_it_is(table: Any) -> Any:
    return table


def _as_frame(table: Any) -> Any:
    import polars as pl

    return pl.from_arrow(table)


def _chosen(schema: Any, places: list[int]) -> Any:
    import pyarrow as pa

    return pa.schema([schema.field(place) for place in places])


def _tables(schema: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield a table without rows, and then batches of any sizes as tables, none much smaller than a batch of ours."""
    import pyarrow as pa

    size, held, count = batch_rows(len(schema)), [], 0
    yield schema.empty_table()
    for batch in batches:
        held.append(batch)
        count += len(batch)
        if count >= size:
            yield pa.Table.from_batches(held, schema)
            held, count = [], 0
    yield pa.Table.from_batches(held, schema)
