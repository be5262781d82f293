"""The estimator and the model in a pipeline of Spark ML."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from spark.conftest import plain, rows_of
from spark.test_describe import put, table_of
from spinney import DataError, Ledger, ParameterError, PrivateKMeans

SETTINGS = {"n_clusters": 3, "epsilon": 1.0, "bounds": (-1, 1), "random_state": 0, "noise_seed": 1}


def test_a_pipeline_fits_saves_loads_and_predicts(frame_of, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel

    from spinney.estimators.spark import SparkPrivateKMeans

    settings = SETTINGS | {"bounds": [(-1, 1), (-1, 2)]}  # saved in JSON, which has no tuples
    rows = rows_of(3, 500)
    rows[0, 1] = np.nan
    frame = frame_of(rows, 2, ["x", "y", "skipped"])
    pipeline = Pipeline(stages=[SparkPrivateKMeans(**settings, inputCols=["x", "y"], predictionCol="cluster")])
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    fitted.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    (stage,) = again.stages

    here = PrivateKMeans(**settings).fit(pd.DataFrame(rows[:, :2], columns=["x", "y"]))
    assert plain(stage.release) == plain(here.release_)
    assert np.array_equal(stage.clusterCenters(), here.cluster_centers_)
    predicted = again.transform(frame)
    assert predicted.columns == ["x", "y", "skipped", "cluster"]
    there = pd.DataFrame(predicted.collect(), columns=predicted.columns)
    assert there["cluster"].tolist() == here.predict(there[["x", "y"]]).tolist()


@pytest.mark.parametrize("kind", ["spark", "remote"])
def test_a_schema_groups_and_a_ledger_serve_a_pipeline(kind, request, tmp_path, monkeypatch):
    from spinney.estimators.spark import SparkClusterModel, SparkPrivateKMeans

    session = request.getfixturevalue(kind)
    if kind == "remote":  # how PySpark says that a process speaks to a server
        monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    table = table_of(400)
    frame = put(session, table)
    bounds = {
        "age": (0, 110),
        "region": ["north", "south"],
        "smoker": bool,
        "day": {"dates": (date(2024, 1, 1), date(2024, 12, 31)), "fill": np.datetime64("2024-07-01")},
    }
    asked = {"epsilon": 1.0, "bounds": bounds, "scale": "bounds", "noise_seed": 1, "random_state": 0, "max_rows_per_group": 2}
    ledger = Ledger(tmp_path / "ledger", epsilon=2.0, max_rows_per_group=2)
    with pytest.raises(ParameterError, match="no place in a ledger"):
        SparkPrivateKMeans(n_clusters=3, **asked, groupsCol="person", ledger=ledger).fit(frame)
    charged = {name: given for name, given in asked.items() if name != "noise_seed"}
    SparkPrivateKMeans(n_clusters=3, **charged, groupsCol="person", ledger=ledger).fit(frame)
    assert Ledger(ledger.path).spent == 1.0
    given = SparkPrivateKMeans(n_clusters=3, **asked, groupsCol="person")
    given.write().session(session).save(str(tmp_path / "estimator"))
    model = SparkPrivateKMeans.read().session(session).load(str(tmp_path / "estimator")).fit(frame)
    here = PrivateKMeans(3, **asked).fit(table, groups="person")
    assert plain(model.release) == plain(here.release_)
    model.write().session(session).save(str(tmp_path / "model"))
    again = SparkClusterModel.read().session(session).load(str(tmp_path / "model"))
    found = again.transform(frame)
    assert found.columns == [*table, "prediction"]
    there = found.toArrow().to_pandas()
    assert there["prediction"].tolist() == here.predict(there[[*bounds]]).tolist()
    with pytest.raises(ParameterError, match="not clustered"):
        SparkPrivateKMeans(**asked | {"bounds": (0, 1), "scale": None}, groupsCol="person", inputCols=["age", "person"]).fit(
            frame
        )
    with pytest.raises(ParameterError, match="4 columns"):
        SparkClusterModel(model.release, ["age"]).transform(frame)
    with pytest.raises(DataError, match="does not hold dates"):
        again.transform(frame.selectExpr("age", "age as region", "smoker", "array(day) as day"))
    assert SparkPrivateKMeans(ledger=str(tmp_path / "none"), epsilon=1.0, bounds=(0, 1)).getOrDefault("ledger")
    with pytest.raises(ParameterError, match="the file of a ledger"):
        SparkPrivateKMeans(ledger=table)
