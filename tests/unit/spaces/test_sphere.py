"""Points by longitude and latitude, and the nearest of them."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import FiniteMetric, ParameterError, PrivateKMedoids
from spinney.spaces.snapping import nearest_points
from spinney.spaces.sphere import RADIUS

CITIES = {"Oldenburg": (8.2146, 53.1435), "Bremen": (8.8017, 53.0793), "Sydney": (151.2093, -33.8688)}


def haversine(one, other):
    (a, b), (c, d) = np.radians(one), np.radians(other)
    inner = math.sin((d - b) / 2) ** 2 + math.cos(b) * math.cos(d) * math.sin((c - a) / 2) ** 2
    return 2 * RADIUS * math.asin(math.sqrt(min(1.0, inner)))


@given(st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=2, max_size=6))
def test_great_circles_are_measured_in_meters(places):
    space = FiniteMetric.from_points(places, "haversine")
    exact = [[haversine(one, other) for other in places] for one in places]
    np.testing.assert_allclose(space.distances(np.arange(len(places))), exact, rtol=1e-9, atol=0.5)
    assert np.max(exact) <= space.diameter + 0.5


def test_columns_are_read_by_their_names():
    table = pd.DataFrame({"lat": [y for _, y in CITIES.values()], "lon": [x for x, _ in CITIES.values()]})
    space = FiniteMetric.from_points(table, "haversine", names=list(CITIES))
    assert space.degrees
    assert space.coordinates.tolist() == [list(place) for place in CITIES.values()]
    assert space.distances([0])[0, 1] == pytest.approx(39_820, rel=1e-3)
    assert FiniteMetric.from_points(pl.from_pandas(table), "haversine").coordinates.tolist() == space.coordinates.tolist()
    edges = [("Oldenburg", "Bremen", 1.0), ("Bremen", "Sydney", 1.0)]
    assert FiniteMetric.from_graph(edges, coordinates=table).degrees
    assert not FiniteMetric.from_graph(edges, coordinates=table.to_numpy()).degrees
    with pytest.raises(ParameterError, match="metric='haversine'"):
        FiniteMetric.from_points(table)
    for wrong in ([[0.0, 91.0]], [[400.0, 0.0]], [[1.0, 2.0, 3.0]]):
        with pytest.raises(ParameterError, match="longitudes and latitudes"):
            FiniteMetric.from_points(wrong, "haversine")


@pytest.mark.parametrize("algorithm", ["auto", "hst", "coverage", "local-search"])
def test_every_algorithm_runs_on_the_globe(algorithm):
    rng = np.random.default_rng(0)
    space = FiniteMetric.from_points(rng.normal([8.2, 53.1], 0.05, (60, 2)), "haversine")
    model = PrivateKMedoids(2, epsilon=5.0, delta=1e-6, space=space, algorithm=algorithm, noise_seed=1).fit(
        rng.integers(0, 60, 900)
    )
    assert model.release_.space["kind"] == "points"
    assert len(model.medoid_indices_) == 2


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), degrees=st.booleans(), side=st.integers(1, 8), far=st.floats(0, 3))
def test_the_nearest_point_is_found_and_ties_go_to_the_lowest(seed, n, degrees, side, far):
    """Points and positions on a grid of halves: ties between many, and points at one place."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, side, (n, 2)).astype(float)
    rows = rng.integers(0, 2 * side, (40, 2)) / 2
    limit = far * (111_000 if degrees else 1)
    found = nearest_points(points, degrees, rows, limit)
    if degrees:
        gaps = np.array([[haversine(row, point) for point in points] for row in rows])
    else:
        gaps = np.hypot(*(rows[:, None] - points).transpose(2, 0, 1))
    best = gaps.min(axis=1)
    same = gaps <= best[:, None] * (1 + 1e-12) + 1e-7
    for row, place in enumerate(found):
        if place < 0:
            assert best[row] >= limit * (1 - 1e-9) - 1e-6
        else:
            assert best[row] <= limit * (1 + 1e-9) + 1e-6
            assert same[row, place] if degrees else place == np.flatnonzero(gaps[row] == best[row])[0]


def test_a_row_is_found_alike_whatever_the_others_are():
    rng = np.random.default_rng(3)
    points, rows = rng.integers(0, 6, (50, 2)).astype(float), rng.integers(0, 12, (500, 2)) / 2
    rows[::7] = np.nan
    rows[3], rows[4] = (np.inf, 0), (1e200, 0)
    together = nearest_points(points, False, rows)
    alone = [int(nearest_points(points, False, rows[i : i + 1])[0]) for i in range(len(rows))]
    assert together.tolist() == alone
    assert (together[::7] == -1).all()
    assert together[3] == together[4] == -1


def test_points_by_position():
    space = FiniteMetric.from_points(list(CITIES.values()), "haversine", names=list(CITIES))
    assert space.nearest([[8.21, 53.14], [151.0, -33.0], [math.nan, 0.0], [0.0, 0.0]], limit=200_000).tolist() == [0, 2, -1, -1]
    assert space.nearest(pd.DataFrame({"latitude": [53.0], "longitude": [8.8]})).tolist() == [1]
    with pytest.raises(ParameterError, match="coordinates"):
        FiniteMetric.from_matrix(np.zeros((2, 2))).nearest([[0.0, 0.0]])
    with pytest.raises(ParameterError, match="longitude before latitude"):
        FiniteMetric.from_points([[0.0, 1.0]]).nearest(pd.DataFrame({"lat": [1.0], "lon": [1.0]}))
