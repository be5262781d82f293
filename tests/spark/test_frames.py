"""What a Spark DataFrame may hold, and what is refused: by its schema alone."""

import numpy as np
import pandas as pd
import pytest

from spinney import Ledger, ParameterError, PrivateKMeans

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


def test_a_fitted_estimator_predicts_rows_in_memory_only(spark, frame_of):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).fit(frame_of(np.zeros((50, 1)), 1, ["x"]))
    assert model.predict(pd.DataFrame({"x": [0.5]})).shape == (1,)
    for method in (model.predict, model.transform, model.score, MODEL.fit_predict):
        with pytest.raises(ParameterError, match="Only fit takes a Spark DataFrame"):
            method(spark.createDataFrame([], "x double"))
    assert not hasattr(MODEL, "release_")


def test_a_table_that_spark_cannot_resolve_is_refused_in_our_own_words(remote):
    frame = remote.createDataFrame([(0.5,)], "x double").where("SECRET > 0.7")  # found out when its schema is needed
    with pytest.raises(ParameterError, match="cannot say which columns") as refused:
        MODEL.fit(frame)
    assert refused.value.__context__ is None
