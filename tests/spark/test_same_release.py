"""The same release, bit for bit, as from rows in memory, however the rows are spread."""

import decimal
from itertools import cycle, product

import numpy as np
import pandas as pd
import pytest

from spark import faulty
from spark.conftest import plain, rows_of
from spinney import Ball, PrivateKMeans, PrivateKMedian
from spinney.algorithms import HST
from spinney.curators import lookahead
from spinney.curators.spark import backend

KINDS = ("spark", "remote")
LIMITS = [(lookahead, "MOST_CELLS", 2**22), (backend, "MOST_ASKED", 50)]
SETTINGS = {"epsilon": 1.0, "bounds": (-1, 1), "random_state": 0, "noise_seed": 1}


def same(estimator, table, frame):
    here, there = estimator.fit(table).release_, estimator.fit(frame).release_
    assert plain(there) == plain(here)
    assert there.model != here.model
    assert "trusted" in there.model
    return there


CASES = [
    (PrivateKMedian, 3, {"adjacency": "replace"}),
    (PrivateKMeans, 12, {"delta": 1e-6}),
    (PrivateKMeans, 5, {"algorithm": "tree", "delta": 1e-6, "adjacency": "replace"}),
    (PrivateKMedian, 2, {"algorithm": "hst", "adjacency": "replace"}),
    (PrivateKMedian, 4, {"algorithm": HST(projection=2)}),
    (PrivateKMeans, 3, {"algorithm": HST(projection=2, repairs=2, slack=1.0), "adjacency": "replace"}),
    (PrivateKMedian, 2, {"algorithm": "lloyd", "bounds": Ball(1.5, [0, 0])}),
    (PrivateKMeans, 3, {"algorithm": "lsh"}),
    (PrivateKMedian, 3, {"algorithm": "balcan"}),
    (PrivateKMeans, 3, {"algorithm": "coverage", "delta": 1e-6}),
    (PrivateKMeans, 3, {"algorithm": "k-variates"}),
    (PrivateKMeans, 3, {"algorithm": "pe-means"}),
    (PrivateKMeans, 3, {"algorithm": "stable"}),
    (PrivateKMeans, 3, {"tighten": True, "bounds": (-30, 30)}),
    (PrivateKMeans, 3, {"algorithm": "sample-aggregate"}),
    (PrivateKMeans, 2, {"bounds": ([-1, -3], [1, 4]), "scale": "bounds"}),
    (PrivateKMedian, 2, {"algorithm": "sample-aggregate", "adjacency": "replace", "bounds": Ball(1.5, [0, 0])}),
]
#: Sessions, numbers of partitions and limits of an action take turns; the first case meets them all.
TURNS = [*product(CASES[:1], KINDS, (1, 9), LIMITS), *zip(CASES[1:], cycle(KINDS), cycle((1, 2, 9)), cycle([None, *LIMITS]))]


@pytest.mark.parametrize(("case", "kind", "partitions", "limit"), TURNS)
@pytest.mark.matrix
def test_every_algorithm_gives_the_same_however_rows_are_spread(case, kind, partitions, limit, request, frame_of, monkeypatch):
    estimator, d, asked = case
    if limit is not None:
        monkeypatch.setattr(*limit)
    rows = pd.DataFrame(rows_of(d), columns=[*"abcdefghijkl"[: d - 1], "a.b"])
    frame = frame_of(rows, partitions, list(rows), request.getfixturevalue(kind))
    release = same(estimator(4, **(SETTINGS | asked)), rows, frame)
    assert release.feature_names == tuple(rows)


def numbers_of_all_types(spark):
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame({
        "whole": pd.array(rng.integers(-(2**62), 2**62, n), dtype="Int64"),
        "short": rng.integers(-3, 4, n).astype(np.int16),
        "single": rng.normal(0, 1, n).astype(np.float32),
        "money": [decimal.Decimal(int(i)).scaleb(-3) for i in rng.integers(-(10**17), 10**17, n)],
        "flag": rng.integers(0, 2, n).astype(bool),
    })  # fmt: skip
    table.loc[::5, "whole"] = pd.NA
    types = "whole long, short short, single float, money decimal(38,3), flag boolean"
    cells = ([None if cell is pd.NA else getattr(cell, "item", lambda c=cell: c)() for cell in row] for row in table.values)
    return (
        table,
        spark.createDataFrame([*cells], types).repartition(3),
        ([-(2.0**62), -4, -4, -1e14, 0], [2.0**62, 4, 4, 1e14, 1]),
    )


def bad_numbers(spark):
    rows = pd.DataFrame(rows_of(2, 600), columns=["x", "y"])
    rows.loc[::7, "x"], rows.loc[::11, "y"], rows.loc[::13, "y"], rows.loc[::17, "x"] = np.nan, np.inf, 1e300, -5.0
    return rows, spark.createDataFrame(rows).repartition(2), (-1, 1)


NOBODY = pd.DataFrame({"x": np.empty(0), "y": np.empty(0)})
TABLES = {
    "numbers of all types": numbers_of_all_types,
    "missing, infinite and far": bad_numbers,
    "no rows": lambda spark: (NOBODY, spark.createDataFrame([], "x double, y double"), (-1, 1)),
    "no partitions": lambda spark: (NOBODY, spark.createDataFrame(spark.sparkContext.emptyRDD(), "x double, y double"), (-1, 1)),
}


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.matrix
def test_every_table_is_read_alike(name, adjacency, spark):
    table, frame, bounds = TABLES[name](spark)
    release = same(PrivateKMeans(3, **(SETTINGS | {"bounds": bounds, "scale": 1}), adjacency=adjacency), table, frame)
    assert release.feature_names == tuple(table)


@pytest.mark.parametrize("way", ["kept", "refused", "NONE"])
@pytest.mark.matrix
def test_a_table_is_read_once_or_if_it_cannot_be_kept_for_each_question(either, frame_of, tmp_path, monkeypatch, way):
    in_memory = PrivateKMeans(4, **SETTINGS).fit(pd.DataFrame(rows_of(3), columns=["x", "y", "a.b"])).release_
    frame = frame_of(rows_of(3), 2, ["x", "y", "z"], either)
    frame = frame.mapInArrow(faulty.Noted(str(tmp_path / "notes")), frame.schema).toDF("x", "y", "a.b")

    def refuse(frame, level):
        raise RuntimeError("PERSIST TABLE is not supported on serverless compute")

    if way == "refused":
        monkeypatch.setattr(type(frame), "persist", refuse)
        monkeypatch.setattr(type(frame), "unpersist", None)
    if way == "NONE":
        either.conf.set("spark.spinney.storageLevel", way)
    try:
        release = PrivateKMeans(4, **SETTINGS).fit(frame).release_
    finally:
        either.conf.unset("spark.spinney.storageLevel")
    assert plain(release) == plain(in_memory)
    reads = len((tmp_path / "notes").read_text())
    assert reads == 2 if way == "kept" else reads > 6


def test_a_root_of_partitions_that_spark_wrote_is_read_alike(spark, tmp_path):
    table = pd.DataFrame(rows_of(2, 400), columns=["x", "y"]).assign(year=np.arange(400) % 3, kind="a b")
    root = str(tmp_path / "root")
    spark.createDataFrame(table).write.partitionBy("year", "kind").parquet(root)
    model = PrivateKMeans(3, epsilon=1.0, bounds={"x": (-1, 1), "y": (-1, 1)}, random_state=0, noise_seed=1)
    here = model.fit(table).release_
    assert plain(model.fit(root).release_) == plain(here)
    assert plain(model.fit(spark.read.parquet(root)).release_) == plain(here)
