"""Descriptions on Spark: what rows in memory give, with groups and without, and nothing said about cells."""

import numpy as np
import pandas as pd
import pytest

from spark.conftest import plain
from spinney import DataError, ParameterError, PrivateKMeans, describe
from spinney.audit import compare, record
from spinney.estimators.description_model import DescriptionModel

BOUNDS = {
    "income": (0, 100_000),
    "region": ["north", "south", "1"],
    "smoker": bool,
    "day": {"dates": ["2024-01-01", "2024-12-31"], "fill": "2024-07-01"},
}


def table_of(n=900):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.uniform(0, 110, n),
            "income": rng.normal(40_000, 30_000, n),
            "region": rng.choice(["north", " south ", "1.0", "elsewhere", "North"], n),
            "smoker": rng.random(n) < 0.4,
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(-9, 400, n), unit="D"),
            "person": [f"p{i}" for i in rng.integers(0, 200, n)],
        }
    )
    table.loc[::7, "income"] = np.nan
    table.loc[::50, "age"] = np.nan
    table.loc[::9, "region"] = None
    return table


def put(spark, table, partitions=3):
    import pyarrow as pa

    return spark.createDataFrame(pa.Table.from_pandas(table, preserve_index=False)).repartition(partitions)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.matrix
def test_spark_describes_as_memory_does(either, grouped):
    table = table_of()
    cap, groups = (2, "person") if grouped else (None, None)
    model = PrivateKMeans(2, epsilon=2.0, bounds={"age": (0, 110)}, max_rows_per_group=cap).fit(table, groups=groups)
    options = {"bounds": BOUNDS, "epsilon": 1.0, "noise_seed": 1, "groups": groups}
    here = describe(model.release_, table, **options)
    there = describe(model.release_, put(either, table), **options)
    assert plain(there) == plain(here)
    assert (there.persons is not None) is grouped


def test_types_that_hold_no_names_are_refused_before_anything_is_charged(spark):
    table = table_of(20)
    release = PrivateKMeans(2, epsilon=2.0, bounds={"age": (0, 110)}).fit(table).release_
    frame = put(spark, table).selectExpr("age", "array(region) as region")
    with pytest.raises((DataError, ParameterError), match="does not hold names"):
        describe(release, frame, ["region"], bounds=BOUNDS, epsilon=1.0)
    with pytest.raises(ParameterError, match="no column 'income'"):
        describe(release, frame, ["income"], bounds=BOUNDS, epsilon=1.0)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.matrix
def test_what_is_asked_and_seen_follows_the_rows_on_spark_through_answers_alone(spark, grouped):
    table = table_of(300)
    cap, groups = (2, "person") if grouped else (None, None)
    release = PrivateKMeans(2, epsilon=2.0, bounds={"age": (0, 110)}, max_rows_per_group=cap).fit(table, groups=groups).release_
    model = DescriptionModel(release, None, BOUNDS, epsilon=1.0)
    first = record(model, put(spark, table), groups=groups)
    assert first.seen["error"] is None
    neighbor = table[table["person"] != "p7"] if grouped else table[:-1]
    for other in (neighbor, table[:1]):
        source = first.frozen()
        found = compare(first, record(model, put(spark, other, 2), groups=groups, source=source))
        assert source.left == 0
        assert found.visible == ()
        assert other is not neighbor or found.faults == ()
