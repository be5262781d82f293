"""Rows of Ray and Dask: too heavy for every set-up. `make engines` makes an environment of its own and runs this."""

import os

import numpy as np
import polars as pl
import pytest

from spinney import DataError, PrivateKMeans, describe, stream

pytestmark = pytest.mark.filterwarnings("ignore")  # of the engines
RNG = np.random.default_rng(0)
N = 3000
FRAME = pl.DataFrame(
    {
        "age": RNG.normal(50, 20, N),
        "who": [f"p{i % 700}" if i % 11 else None for i in range(N)],
        "size": RNG.integers(100, 200, N),
        "kind": RNG.choice(["low", "high", "other"], N),
    }
).with_columns(pl.when(pl.col("age") > 20).then("age"))
BOUNDS = {"size": (100, 200), "age": (0, 110), "kind": ["low", "high"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return what makes a data set of each engine, in several parts."""
    started = []

    def of_dask(frame):
        return pytest.importorskip("dask.dataframe").from_pandas(frame.to_pandas(), npartitions=4)

    def of_ray(frame):
        ray = pytest.importorskip("ray")
        if not started:
            folder = str(tmp_path_factory.mktemp("ray"))
            ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=2**28, _temp_dir=folder)
            started.append(ray)
        return ray.data.from_arrow([frame[part::3].to_arrow() for part in range(3)])

    yield {"dask": of_dask, "ray": of_ray}
    for ray in started:
        ray.shutdown()


def model(groups=None):
    return PrivateKMeans(
        3, epsilon=2.0, bounds=BOUNDS, scale="bounds", max_rows_per_group=2 if groups else None, random_state=0, noise_seed=1
    )


@pytest.mark.parametrize("engine", ["dask", "ray"])
@pytest.mark.parametrize("groups", [None, "who"])
def test_the_release_is_that_of_memory(engine, groups, made, tmp_path):
    rows = made[engine](FRAME)
    expected = model(groups).fit(FRAME, groups=groups).release_
    assert model(groups).fit(rows, groups=groups).release_.to_json() == expected.to_json()
    for spool in (None, tmp_path):
        assert model(groups).fit(stream(rows, groups=groups, spool=spool)).release_.to_json() == expected.to_json()
    assert os.listdir(tmp_path) == []
    asked = {"release": expected, "columns": ["kind", "age"], "epsilon": 1.0, "noise_seed": 3, "groups": groups}
    assert describe(table=rows, **asked).to_json() == describe(table=FRAME, **asked).to_json()


def test_columns_of_objects_are_refused_whatever_they_hold(made):
    rows = made["dask"](FRAME)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(pytest.importorskip("dask").config.config, "dataframe", {"convert-string": False})
        rows = rows.assign(kind=rows["kind"].astype(object))
        with pytest.raises(DataError, match="The stream cannot be read"):
            model().fit(rows)
