"""Sources of Arrow batches for tests: those that the suite installs, each over the rows of one frame."""

import weakref

import pyarrow.dataset
import pytest

from spinney import stream

duckdb = pytest.importorskip("duckdb", reason="needs the extra 'duckdb'")
dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi", reason="needs the extra 'adbc'")


def relation(frame, folder, **options):
    connection = duckdb.connect()
    connection.register("given", frame.to_arrow())
    connection.execute("create table held as select * from given")  # with row groups and types of its own
    return stream(connection.sql("select * from held"), **options)


def duckdb_query(frame, folder, **options):
    connection = duckdb.connect()
    connection.register("given", frame.to_arrow())
    return stream(connection, "select * from given", **options)


def adbc_query(frame, folder, **options):
    connection = dbapi.connect()
    with connection.cursor() as cursor:
        cursor.adbc_ingest("given", frame.to_arrow())
    rows = stream(connection, "select * from given", **options)
    weakref.finalize(rows, connection.close)
    return rows


def dataset(frame, folder, **options):
    for part in range(3):
        frame[part::3].write_parquet(folder / f"{part}.parquet")  # in another order
    return stream(pyarrow.dataset.dataset(sorted(folder.glob("?.parquet"))), **options)


def lazy(frame, folder, **options):
    return stream(frame.lazy(), **options)


def one_by_one(frame, folder, **options):
    return stream(lambda: frame.to_arrow().to_reader(max_chunksize=1), **options)


def a_relation_each_time(frame, folder, **options):
    connection = duckdb.connect()
    connection.register("given", frame.to_arrow())
    return stream(lambda: connection.table("given"), **options)


def whole_frame(frame, folder, **options):
    return stream(frame, **options)


SOURCES = (relation, duckdb_query, adbc_query, dataset, lazy, one_by_one, a_relation_each_time, whole_frame)
