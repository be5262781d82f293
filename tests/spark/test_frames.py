"""What a Spark DataFrame may hold, and what is refused: by its schema alone."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from spark.conftest import plain, rows_of
from spinney import Ledger, ParameterError, PrivateKMeans
from spinney.tables.sources import is_spark_frame

MODEL = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1))


NO_NUMBERS = (
    "string", "date", "timestamp", "timestamp_ntz", "interval day to second", "interval year to month",
    "array<double>", "map<string,double>", "struct<a:double>", "binary",
)  # fmt: skip


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.matrix
def test_types_without_numbers_are_refused_by_name_before_a_charge(spark, kind, tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    frame = spark.createDataFrame([], f"x double, y {kind}")
    with pytest.raises(ParameterError, match=r"must hold numbers\. Column 'y' is of type .*\nHint: leave it out"):
        MODEL.fit(frame, ledger=ledger)
    assert ledger.spent == 0


def test_bounds_by_name_leave_other_columns_out(spark, frame_of):
    from pyspark.sql.functions import lit

    rows = rows_of(3, 300)
    frame = frame_of(rows, 2, ["x", "y", "z"]).withColumn("name", lit("SECRET"))
    model = PrivateKMeans(2, epsilon=1.0, bounds={"z": (-1, 1), "x": (-1, 2)}, random_state=0, noise_seed=1)
    there = model.fit(frame).release_
    assert plain(there) == plain(model.fit(pd.DataFrame(rows, columns=["x", "y", "z"])).release_)
    assert there.feature_names == ("z", "x")
    with pytest.raises(ParameterError, match="X has no column 'z'"):
        model.fit(frame.drop("z"))


def test_a_fit_does_not_warn_about_pandas(frame_of):
    frame = frame_of(rows_of(2, 300), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivateKMeans(2, epsilon=10.0, bounds=(-1, 1)).fit(frame)


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
