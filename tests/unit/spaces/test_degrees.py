"""Degrees of longitude and latitude are no plane: whatever measures one refuses columns that are called so."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from spinney import FiniteMetric, ParameterError, PrivateKMeans, one_cluster, scan
from spinney.spaces.degrees import are_degrees

DEGREES = pd.DataFrame({"pickup_lon": [13.1, 13.4], "pickup_lat": [52.3, 52.6]})
BOX = [(13, 14), (52, 53)]
NAMED = dict(zip(DEGREES, BOX, strict=True))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["lon", "lat"], True), (["Latitude", "age", "LONGITUDE"], True), (["start_lng", "end.lat"], True),
        (["Long", "Lat"], True), (["homeLongitude", "homeLatitude"], True), (["x", "y"], False), (["lat"], False),
        (["lon", "long"], False), (["plate", "salon"], False), (["late", "longer"], False),
        ([0, 1], False), (None, False), ([], False),
    ],
)  # fmt: skip
def test_names_tell_degrees_if_one_says_longitude_and_another_latitude(names, told):
    assert are_degrees(names) is told


def fits(tmp_path):
    DEGREES.to_parquet(tmp_path / "rows.parquet")
    model = PrivateKMeans(1, epsilon=1.0, bounds=BOX)
    yield lambda: PrivateKMeans(1, epsilon=1.0, bounds=NAMED).plan()
    yield lambda: PrivateKMeans(1, epsilon=1.0, bounds={**NAMED, "smoker": bool}).plan()
    for table in (DEGREES, pl.DataFrame(DEGREES), pa.table(DEGREES), tmp_path / "rows.parquet", scan(tmp_path / "rows.parquet")):
        yield lambda table=table: model.fit(table)
    for table in (DEGREES, pl.DataFrame(DEGREES), pa.table(DEGREES)):
        yield lambda table=table: FiniteMetric.from_points(table)
    yield lambda: one_cluster(DEGREES, 1, epsilon=1.0, bounds=BOX)


def test_every_door_refuses_degrees(tmp_path):
    for fit in fits(tmp_path):
        with pytest.raises(ParameterError, match=r"names say longitude and latitude\.\nHint: .* Project them to meters"):
            fit()


@pytest.mark.parametrize("scale", [1, "bounds", {"pickup_lon": 0.014, "pickup_lat": 0.009}])
def test_degrees_with_units_are_clustered(scale):
    PrivateKMeans(1, epsilon=1.0, bounds=NAMED, scale=scale).plan()
    stated = {name: {"bounds": pair, "unit": 0.01} for name, pair in NAMED.items()}
    PrivateKMeans(1, epsilon=1.0, bounds=stated).plan()
    assert FiniteMetric.from_points(np.asarray(DEGREES)).n_points == 2  # without names nobody can tell
