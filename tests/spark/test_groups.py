"""Groups on Spark: the rows that count are those that count in memory, however the rows are spread."""

import decimal
from itertools import cycle, product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spark.conftest import plain, rows_of
from spinney import ParameterError, PrivateKMeans, PrivateKMedian, scan
from spinney.curators.spark.groups import Capper, Marker
from spinney.curators.spark.packing import Reader, unpacked

KINDS = ("spark", "remote")
SETTINGS = {"epsilon": 2.0, "bounds": (-1, 1), "random_state": 0, "noise_seed": 1}


def table_of(d=2, n=1500, dtype=np.float64):
    """Rows that are equal, missing, infinite and far, of people with one row, with many, and without a name."""
    rng = np.random.default_rng(8)
    rows = rows_of(d, n)
    rows[::6], rows[::11, 0], rows[5::40, -1], rows[7::60, 0] = rows[0], np.nan, np.inf, 40.0
    people = rng.integers(0, 200, n)
    people[: n // 3] = 0  # one of them has very many
    names = np.array([f"p{person}" for person in people], dtype=object)
    names[::13] = None
    table = pd.DataFrame(rows.astype(dtype), columns=[f"x{i}" for i in range(d)])
    table.insert(1, "who.ever", pd.Series(names, dtype=object))
    return table


def put(spark, table, partitions, kind="string"):
    """Return a frame of the table, in another order and number of partitions."""
    import pyarrow as pa

    table = table.sample(frac=1, random_state=partitions)
    arrays = [pa.array(table[name].tolist() if name == "who.ever" else table[name].to_numpy()) for name in table]
    frame = spark.createDataFrame(pa.table(arrays, names=list(table)))
    return frame.withColumn("who.ever", frame["`who.ever`"].cast(kind)).repartition(partitions)


def same(model, table, frame):
    here = model.fit(table.drop(columns="who.ever"), groups=table["who.ever"]).release_
    there = model.fit(frame, groups="who.ever").release_
    assert plain(there) == plain(here)
    return there


CASES = [
    (PrivateKMeans, 2, {"max_rows_per_group": 3}),
    (PrivateKMedian, 3, {"adjacency": "replace", "max_rows_per_group": 2}),
    (PrivateKMeans, 2, {"algorithm": "lloyd", "adjacency": "replace", "delta": 1e-6, "max_rows_per_group": 40}),
    (PrivateKMeans, 5, {"algorithm": "tree", "max_rows_per_group": 1}),
    (PrivateKMeans, 3, {"tighten": True, "bounds": (-30, 30), "max_rows_per_group": 1000}),
    (PrivateKMeans, 2, {"algorithm": "sample-aggregate", "max_rows_per_group": 3}),
    (PrivateKMedian, 2, {"algorithm": "sample-aggregate", "adjacency": "replace", "max_rows_per_group": 40}),
]
TURNS = [*product(CASES[:1], KINDS, (1, 16)), *zip(CASES[1:], cycle(KINDS), cycle((1, 4, 16)))]


@pytest.mark.parametrize(("case", "kind", "partitions"), TURNS)
@pytest.mark.matrix
def test_every_kind_of_fit_gives_the_same_however_rows_are_spread(case, kind, partitions, request):
    estimator, d, asked = case
    frame = put(request.getfixturevalue(kind), table_of(d), partitions)
    release = same(estimator(3, **(SETTINGS | asked)), table_of(d), frame)
    assert release.feature_names == tuple(f"x{i}" for i in range(d))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.matrix
def test_files_give_what_spark_and_memory_give(spark, tmp_path, kind):
    table = table_of(2, 500)
    model = PrivateKMeans(3, **SETTINGS, max_rows_per_group=2)
    release = plain(same(model, table, put(spark, table, 3)))
    for seed in range(3):
        moved = pl.from_pandas(table.sample(frac=1, random_state=seed))
        path = tmp_path / f"rows{seed}.{kind}"
        moved.write_csv(path) if kind == "csv" else moved.write_parquet(path, row_group_size=100)
        assert plain(model.fit(scan(path, groups="who.ever")).release_) == release


NAMES = {
    "long": [2**53, 2**53 + 1, -5, None],
    "integer": [1, 2, 3, None],
    "double": [0.5, -0.0, float("nan"), float("inf")],
    "float": [0.1, 0.5, 3.0, None],
    "decimal(20,3)": [decimal.Decimal("0.500"), decimal.Decimal("1"), decimal.Decimal("-2.125"), None],
    "boolean": [True, False, None, True],
    "binary": [b"a", b"\xff", b"", None],
    "string": ["a", "", "missing", None],
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.matrix
def test_names_of_every_type_are_those_of_memory(spark, kind):
    rng = np.random.default_rng(5)
    rows, people = rows_of(2, 120), rng.integers(0, 4, 120)
    names = [NAMES[kind][i] for i in people]
    if kind == "float":
        names = [None if name is None else float(np.float32(name)) for name in names]
    frame = spark.createDataFrame(
        [(name, *map(float, row)) for name, row in zip(names, rows, strict=True)], f"who {kind}, x double, y double"
    )
    column = np.empty(120, dtype=object)
    column[:] = names
    model = PrivateKMeans(2, **SETTINGS, algorithm="lloyd", max_rows_per_group=5)
    here = model.fit(pd.DataFrame(rows, columns=["x", "y"]), groups=column).release_
    assert plain(model.fit(frame.repartition(3), groups="who").release_) == plain(here)


@pytest.mark.parametrize("kind", ["date", "timestamp", "array<string>", "struct<a:string>", "map<string,string>"])
@pytest.mark.matrix
def test_columns_that_hold_no_names_are_refused(spark, kind):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=2)
    with pytest.raises(ParameterError, match="must hold names"):
        model.fit(spark.createDataFrame([], f"x double, who {kind}"), groups="who")


def test_groups_are_one_column_by_its_name(spark):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=2)
    frame = spark.createDataFrame([], "x double, who string")
    for wrong in ("person", ["who"], frame["who"], 1, pd.Series(["SECRET"])):
        with pytest.raises(ParameterError, match="name of one column") as refused:
            model.fit(frame, groups=wrong)
        assert "SECRET" not in str(refused.value)
    with pytest.raises(ParameterError, match="name of one column"):
        model.fit(frame.select("x", "who", "who"), groups="who")
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        model.fit(frame.select("who"), groups="who")
    with pytest.raises(ParameterError, match="max_rows_per_group"):
        PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).fit(frame, groups="who")


def test_the_key_is_in_no_text_of_what_executors_get():
    assert "KEY" not in repr(Marker(b"KEYKEYKEYKEYKEYK", Reader(2, 2, "<f8"), False))


@pytest.mark.parametrize("size", [1, 2, 5, 64, 1000])
@pytest.mark.matrix
def test_a_stream_of_sorted_rows_keeps_what_memory_keeps(size):
    import pyarrow as pa

    from spinney.curators.groups import kept_rows
    from spinney.privacy.pricing import Unit

    rng = np.random.default_rng(9)
    key, names = bytes(range(16)), [f"p{i}" for i in rng.integers(0, 9, 300)]
    rows = rng.integers(0, 4, (300, 2)).astype(float)
    table = pa.table({"who": names, "row": pa.array(list(rows))})
    (marked,) = Marker(key, Reader(2, 2, "<f8"), False)(iter(table.combine_chunks().to_batches()))
    ordered = pa.Table.from_batches([marked]).sort_by([(name, "ascending") for name in ("name", "first", "second")])
    batches = ordered.combine_chunks().to_batches(max_chunksize=size)
    empty = marked.slice(0, 0)
    for most in (1, 3, 20, 1000):
        kept = kept_rows(names, lambda: [rows], Unit(max_rows=most), key) == 1
        found = np.concatenate(list(unpacked(Capper(most, 2)(iter([empty, *batches, empty])), 2, "<f8")))
        assert sorted(map(tuple, found)) == sorted(map(tuple, rows[kept]))
    assert list(Capper(1, 2)(iter([empty]))) == []
