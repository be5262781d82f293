"""The estimator and the model in a pipeline of Spark ML."""

import numpy as np
import pandas as pd
import pytest

from spark.conftest import plain, rows_of
from spinney import ParameterError, PrivateKMeans

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


def test_bounds_by_name_choose_the_columns_and_are_saved(frame_of, tmp_path):
    from spinney.estimators.spark import SparkPrivateKMeans

    rows = rows_of(3, 300)
    frame = frame_of(rows, 2, ["x", "y", "z"])
    bounds = {"z": (-1, 1), "x": (-1, 2)}
    estimator = SparkPrivateKMeans(**SETTINGS | {"bounds": bounds})
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    model = SparkPrivateKMeans.load(str(tmp_path / "estimator")).fit(frame)
    here = PrivateKMeans(**SETTINGS | {"bounds": bounds}).fit(pd.DataFrame(rows, columns=["x", "y", "z"]))
    assert plain(model.release) == plain(here.release_)
    assert model.getInputCols() == ["z", "x"]
    assert model.transform(frame).columns == ["x", "y", "z", "prediction"]
    with pytest.raises(ParameterError, match="two finite numbers"):
        SparkPrivateKMeans(bounds={"x": (3, 1)})
