"""What a Spark DataFrame may hold, and what is refused: by its schema alone."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from spinney import ParameterError, PrivateKMeans
from spinney.estimators.frames import is_spark_frame, read_columns

MODEL = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1))


def test_dates_are_refused_as_in_memory(spark):
    table = pd.DataFrame({"x": [1.0], "day": pd.to_datetime(["2020-01-01"])})
    with pytest.raises(ParameterError) as here:
        MODEL.fit(table)
    for kind in ("date", "timestamp", "timestamp_ntz", "interval day to second", "interval year to month"):
        with pytest.raises(ParameterError) as there:
            MODEL.fit(spark.createDataFrame([], f"x double, day {kind}"))
        assert str(there.value) == str(here.value)


@pytest.mark.parametrize("kind", ["array<double>", "map<string,double>", "struct<a:double>", "binary"])
def test_types_without_numbers_are_refused(spark, kind):
    with pytest.raises(ParameterError, match="must hold numbers"):
        MODEL.fit(spark.createDataFrame([], f"x double, y {kind}"))


def test_no_columns_are_refused_as_in_memory(spark):
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        MODEL.fit(spark.createDataFrame([], "x double").drop("x"))


def test_names_that_repeat_are_not_released(spark):
    from pyspark.sql.functions import lit

    frame = spark.range(200).select((lit(0.5) * 1).alias("x"), lit(0.25).alias("x"))
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).fit(frame)
    assert model.release_.feature_names is None
    assert not hasattr(model, "feature_names_in_")


def test_parameters_are_checked_first(spark):
    with pytest.raises(ParameterError, match="epsilon"):
        PrivateKMeans(2, bounds=(-1, 1)).fit(spark.createDataFrame([], "x date"))


def test_an_unknown_storage_level_is_refused(spark):
    spark.conf.set("spark.spinney.storageLevel", "CLOUD")
    try:
        with pytest.raises(ParameterError, match="storage level"):
            MODEL.fit(spark.createDataFrame([], "x double"))
    finally:
        spark.conf.unset("spark.spinney.storageLevel")


def test_a_fitted_estimator_predicts_rows_in_memory_only(spark, frame_of):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).fit(frame_of(np.zeros((50, 1)), 1, ["x"]))
    assert model.predict(pd.DataFrame({"x": [0.5]})).shape == (1,)
    for method in (model.predict, model.transform, model.score, MODEL.fit_predict):
        with pytest.raises(ParameterError, match="Only fit takes a Spark DataFrame"):
            method(spark.createDataFrame([], "x double"))
    assert not hasattr(MODEL, "release_")


def test_nothing_is_a_spark_frame_before_pyspark_is_imported():
    code = (
        "import sys, numpy as np\n"
        "from spinney import PrivateKMeans\n"
        "PrivateKMeans(1, epsilon=1.0, bounds=(-1, 1)).fit(np.zeros((10, 1)))\n"
        "assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not is_spark_frame(np.zeros((2, 2)))


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
def test_a_text_that_is_no_utf8_is_missing(kind):
    import pyarrow as pa

    binary = {"string": pa.binary(), "large_string": pa.large_binary(), "string_view": pa.binary_view()}[kind]
    array = pa.array([b"1", b"\xff", None, b" 2 ", b"3\xff"], binary)
    column = pa.Array.from_buffers(pa.type_for_alias(kind), len(array), array.buffers())
    np.testing.assert_array_equal(read_columns([column])[:, 0], [1, np.nan, np.nan, 2, np.nan])


def test_one_text_that_is_no_utf8_decides_no_error(spark, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    array = pa.array([b"0.1", b"0.2", b"\xff"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), len(array), array.buffers())
    pq.write_table(pa.table({"x": text, "y": [0.5, 0.5, 0.5]}), tmp_path / "rows.parquet")
    model = PrivateKMeans(1, epsilon=1.0, bounds=(-1, 1), random_state=0, noise_seed=1)
    expected = model.fit(np.array([[0.1, 0.5], [0.2, 0.5], [np.nan, 0.5]])).cluster_centers_
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    np.testing.assert_array_equal(model.fit(frame).cluster_centers_, expected)
