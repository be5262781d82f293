"""Tables with categories, truth values and dates: one release wherever they are, in the user's own units, silent about rows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spinney.tables.files
from spinney import DataError, Ledger, ParameterError, PrivateKMeans, one_cluster, scan

BOUNDS = {
    "age": {"bounds": (0, 110), "source": "life tables"},
    "region": ["north", "south", "west"],
    "admitted": {"dates": ["2020-01-01", "2024-12-31"]},
    "smoker": {"boolean": True, "weight": 0.5},
}
SEEDS = {"noise_seed": 5, "random_state": 3}


@pytest.fixture(scope="module")
def frame():
    """Return patients of two kinds; some cells are none of the public ones."""
    rng = np.random.default_rng(1)
    kind = rng.random(3_000) < 0.5
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.where(kind, 300, 1500) + rng.integers(0, 60, 3_000), "D")
    table = pd.DataFrame(
        {
            "age": np.where(kind, 30, 70) + rng.normal(0, 3, 3_000),
            "region": np.where(kind, "north", np.where(rng.random(3_000) < 0.8, "south", "west")),
            "admitted": days.strftime("%Y-%m-%d"),
            "smoker": np.where(kind, "true", "false"),
            "name": "Zoe",
        }
    )
    table.loc[::50, "region"] = "canary"
    table.loc[::75, "admitted"] = "someday"
    table.loc[::80, "age"] = np.nan
    return table


@pytest.fixture(autouse=True)
def _seeded():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def test_one_release_wherever_the_table_is(frame, tmp_path, monkeypatch):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    pl.from_pandas(frame).with_columns(pl.col("admitted").str.to_date(strict=False)).write_parquet(tmp_path / "rows.parquet")
    model = PrivateKMeans(2, bounds=BOUNDS, scale="bounds", epsilon=2.0, **SEEDS)
    expected = model.fit(frame).release_.to_dict() | {"made": None}
    for X in (pl.from_pandas(frame), pl.from_pandas(frame).to_arrow(), tmp_path / "rows.csv", tmp_path / "rows.parquet"):
        assert model.fit(X).release_.to_dict() | {"made": None} == expected
    assert model.fit(scan(tmp_path / "rows.csv")).release_.to_dict() | {"made": None} == expected
    monkeypatch.setattr(spinney.tables.files, "LARGE_SHARE", 0.0)  # now tables stay on disk
    for X in (tmp_path / "rows.csv", tmp_path / "rows.parquet"):
        assert model.fit(X).release_.to_dict() | {"made": None} == expected


def test_an_unknown_category_is_missing_as_a_number_may_be(frame):
    clean = frame.copy()
    clean.loc[::50, "region"] = None
    clean.loc[::75, "admitted"] = None
    model = PrivateKMeans(2, bounds=BOUNDS, scale="bounds", epsilon=2.0, **SEEDS)
    assert np.array_equal(model.fit(frame).cluster_centers_, model.fit(clean).cluster_centers_)
    gone = frame[(frame["region"] != "canary") & (frame["admitted"] != "someday") & frame["age"].notna()]
    assert np.array_equal(model.fit(frame).cluster_centers_, model.fit(gone).cluster_centers_)


def test_what_cannot_be_done_is_refused_before_anything_is_charged(frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    ledger = Ledger(tmp_path / "ledger", epsilon=5)
    model = PrivateKMeans(2, bounds=BOUNDS, scale="bounds", epsilon=1.0)
    tries = [
        (lambda: model.fit(frame.drop(columns="region"), ledger=ledger), "no column 'region'"),
        (lambda: model.fit(frame.to_numpy(), ledger=ledger), "no names of columns"),
        (lambda: one_cluster(frame, 5, bounds=BOUNDS, epsilon=1.0, ledger=ledger), "A ball is round"),
    ]
    for fit, message in tries:
        with pytest.raises((ParameterError, DataError), match=message):
            fit()
    with pytest.raises(DataError, match="has no column 'where'"):
        PrivateKMeans(2, bounds={"where": ["a", "b"]}, epsilon=1.0).fit(tmp_path / "rows.csv", ledger=ledger)
    assert ledger.spent == 0
