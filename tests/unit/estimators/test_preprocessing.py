"""Transformers that learn nothing: pipelines keep their promise, and say in the user's units what they found."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from spinney import Ball, ParameterError, PrivateKMeans, PublicEncoder, PublicScaler

SCHEMA = {"age": (0, 110), "region": ["north", "south"], "smoker": bool, "day": {"dates": ["2020-01-01", "2020-12-31"]}}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "more": "Zoe",
            "age": rng.uniform(0, 110, 200),
            "region": rng.choice(["north", "south", "canary"], 200),
            "smoker": rng.random(200) < 0.5,
            "day": "2020-03-01",
        }
    )


def test_a_pipeline_is_the_fit_with_a_schema(frame):
    """Of numbers and dates; of categories and truth values an estimator that knows their schema makes more."""
    seeds = {"epsilon": 4.0, "noise_seed": 3}
    for schema in ({name: SCHEMA[name] for name in ("age", "day")}, SCHEMA):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = PrivateKMeans(2, bounds=schema, scale="bounds", **seeds).fit(frame)
            encoder = PublicEncoder(schema)
            pipeline = make_pipeline(encoder, PrivateKMeans(2, bounds=encoder.scaled_bounds, **seeds)).fit(frame)
        assert pipeline[0].get_feature_names_out().tolist() == list(whole.release_.feature_names)
        shares = [i for i, name in enumerate(whole.release_.feature_names) if name.startswith("region")]
        if not shares:
            assert np.array_equal(pipeline[0].inverse_transform(pipeline[-1].cluster_centers_), whole.cluster_centers_)
            assert np.array_equal(pipeline.predict(frame), whole.predict(frame))
        else:
            np.testing.assert_allclose(whole.cluster_centers_[:, shares].sum(axis=1), 1.0)


def test_fitting_reads_names_alone(frame):
    names = frame.iloc[:0]
    one, other = PublicEncoder(SCHEMA).fit(frame), PublicEncoder(SCHEMA).fit(names)
    assert {name: str(value) for name, value in vars(one).items()} == {name: str(value) for name, value in vars(other).items()}
    assert PublicEncoder(SCHEMA).fit(pl.from_pandas(frame).lazy()).n_features_in_ == 4
    with pytest.raises(ParameterError, match="no column 'region'"):
        PublicEncoder(SCHEMA).fit(frame.drop(columns="region"))


@pytest.mark.parametrize("scale", ["bounds", None, 2.0])
def test_a_scaler_divides_and_multiplies(scale):
    rows = np.array([[11.0, 100.0], [np.nan, 1.0]])
    unit = {"bounds": [110, 200], None: [1, 1], 2.0: [2, 2]}[scale]
    scaler = PublicScaler(([0, 0], [110, 200]), scale=scale).fit(rows)
    assert np.array_equal(scaler.transform(rows), rows / unit, equal_nan=True)
    assert np.allclose(scaler.inverse_transform(rows / unit), rows, equal_nan=True)
    assert scaler.scaled_bounds.upper == tuple(np.array([110, 200]) / unit)
    named = PublicScaler({"a": (0, 110), "b": (0, 200)}, scale=scale).set_output(transform="pandas")
    table = pd.DataFrame(rows, columns=["a", "b"]).assign(c="Zoe")
    assert np.array_equal(named.fit_transform(table).to_numpy(), rows / unit, equal_nan=True)
    assert clone(named).get_params() == named.get_params()


def test_what_cannot_be_scaled_is_refused():
    for bounds, message in ((SCHEMA, "PublicEncoder"), (Ball(1.0), "bounds of columns"), (None, "Hint")):
        with pytest.raises(ParameterError, match=message):
            PublicScaler(bounds).fit(np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="one number or 3 numbers"):
        PublicScaler(([0, 0], [1, 1])).transform(np.zeros((3, 3)))
