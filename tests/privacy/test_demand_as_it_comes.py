"""Positions that are moved to the nearest public point, and rows that count by their weight: one row moves what is paid for."""

import itertools
import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import FiniteMetric, Ledger, ParameterError, PrivateKMedoids, verify
from spinney.audit import NoiselessSource, replay
from spinney.curators.demand import DemandBackend, DemandRows, Weighed
from spinney.privacy import Adjacency, Unit
from spinney.questions.ground import Ground
from spinney.questions.partitions import Labels
from spinney.tables.positions import Weights, demand_places, read_positions

GRID = [[x, y] for x in range(5) for y in range(5)]
PLANE = FiniteMetric.from_points(GRID)
GLOBE = FiniteMetric.from_points(np.array(GRID) / 100 + [8.2, 53.1], "haversine")
EACH = Labels(np.arange(25), 25)
BROKEN = [(math.nan, 1.0), (math.inf, 0.0), (-math.inf, math.nan), (1e308, 1e308), (8.2, 91.0), (8.2, -1e9)]


def counts(rows, unit, groups=None, weighed=None):
    with DemandRows(np.asarray(rows), groups, weighed).opened(Ground(None, 25, PLANE), unit, lambda: bytes(16)) as backend:
        assert type(backend) is DemandBackend
        return backend.exact(EACH)


@given(rows=st.lists(st.tuples(st.integers(-1, 25), st.integers(0, 4)), max_size=8), adjacency=st.sampled_from(list(Adjacency)))
def test_a_weighed_row_is_that_many_rows(rows, adjacency):
    places, times = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)) if rows else (np.empty(0),) * 2
    unit = Unit(adjacency, 4)
    found = counts(places, unit, weighed=Weighed(times.astype(np.int64), 4))
    np.testing.assert_array_equal(found, counts(np.repeat(places, times.astype(int)), unit))


@given(
    rows=st.lists(st.tuples(st.sampled_from([-1, 0, 3, 30]), st.integers(0, 4), st.sampled_from("ab")), max_size=9),
    cap=st.integers(1, 3),
    adjacency=st.sampled_from(list(Adjacency)),
    draw=st.randoms(use_true_random=False),
)
def test_the_order_of_weighed_rows_of_persons_is_of_no_account(rows, cap, adjacency, draw):
    def found(rows):
        places, times, names = zip(*rows, strict=True) if rows else ((), (), ())
        weighed = Weighed(np.array(times, dtype=np.int64), 4)
        return counts(np.array(places, dtype=float), Unit(adjacency, 4 * cap), list(names), weighed).tolist()

    assert found(rows) == found(draw.sample(rows, len(rows)))


#: Largest weight 2.5 in steps of 1: a row counts 0, 1 or 2 times.
WEIGHTS = (math.nan, -1.0, 0.0, 0.99, 1.0, 2.0, 2.9, 1e300, math.inf)


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("grouped", [False, True])
def test_no_row_and_no_person_moves_counts_by_more_than_is_paid_for(adjacency, grouped):
    """All neighbors of a table of two others: one row of any weight, or one person of two rows that count once."""
    weights, cap = Weights(2.5, 1.0), 1 if grouped else None
    unit = Unit(adjacency, weights.most * (cap or 1))
    others, names = [(0, 1.0), (3, 2.0)], ["b", "c"]
    one = [(place, weight) for place in (0, 3, 30) for weight in WEIGHTS]
    theirs = [*itertools.product(one, repeat=2)] if grouped else [(row,) for row in one]
    tables = [()] if adjacency is Adjacency.ADD_REMOVE else []
    found = []
    for rows in tables + (theirs if not grouped else theirs[::7]):
        places, given = zip(*others, *rows, strict=True)
        weighed = Weighed(weights.times(np.array(given)), weights.most)
        found.append(counts(places, unit, names + ["a"] * len(rows) if grouped else None, weighed))
    base = found[:1] if adjacency is Adjacency.ADD_REMOVE else found
    moved = {int(np.abs(first - second).sum()) for first in base for second in found}
    assert max(moved) == unit.moved_rows


def test_no_row_counts_more_often_than_its_unit_pays_for_whatever_is_said():
    assert counts([3], Unit(max_rows=2), weighed=Weighed(np.array([99]), 2)).max() == 2
    with pytest.raises(ValueError, match="must hold all times"):
        counts([3], Unit(max_rows=3), weighed=Weighed(np.array([1]), 2))


def test_weights_are_cut_to_whole_steps():
    assert Weights(0.3, 0.1).times([0.3, 0.1, 0.29, 9, "x", None, -0.1]).tolist() == [3, 1, 2, 3, 0, 0, 0]
    for wrong in (
        {"max_row_weight": 0.5},
        {"max_row_weight": math.inf},
        {"max_row_weight": 5, "row_weight_step": 0},
        {"max_row_weight": 1e9},
    ):
        with pytest.raises(ParameterError, match="weight"):
            PrivateKMedoids(1, epsilon=1.0, space=PLANE, **wrong).plan()


@pytest.mark.parametrize("cap", [None, 2])
@pytest.mark.parametrize("most", [None, 1, 5])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_weights_change_noise_and_never_who_is_protected(cap, most, adjacency, tmp_path):
    """A row that counts five times is no group of rows: a ledger, a policy and readers of groups rely on persons."""
    model = PrivateKMedoids(
        2, epsilon=1.0, space=PLANE, max_rows_per_group=cap, max_row_weight=most, adjacency=adjacency.value, random_state=0
    )
    places = np.arange(40) % 25
    given = {"groups": None if cap is None else places, "row_weights": None if most is None else np.ones(40)}
    path = tmp_path / "release.json"
    for own in (None, 10):
        ledger = Ledger(tmp_path / f"{own}.ledger", epsilon=1.0, adjacency=adjacency.value, max_rows_per_group=own)
        if (own is None) == (cap is None):
            release = model.fit(places, **given, ledger=ledger).release_
            assert ledger.entries[0].max_rows_per_group == release.max_rows_per_group == cap
            release.to_json(path)
            assert verify(path, ledger=ledger.path).holds
        else:
            with pytest.raises(ParameterError, match="one ledger has one unit"):
                model.fit(places, **given, ledger=ledger)
            assert ledger.entries == ()
    unit = "row" if cap is None else "group of at most 2 counted rows"
    assert release.statement.endswith(f"one {unit}")
    assert model.plan().promise.endswith(f"one {unit}")
    assert ("group" in release.preprocessing) == (cap is not None)
    assert ("weight" in release.preprocessing) == ("weight" in str(model.plan())) == (most is not None)
    record = json.loads(path.read_text())
    for wrong in {1, 2, 5} - {most or 1}:  # noise is for as many times
        path.write_text(json.dumps({**record, "row_times": wrong}))
        assert not verify(path).holds


def test_the_noise_of_weighed_rows_is_for_as_many_rows():
    model = PrivateKMedoids(1, epsilon=3.0, space=PLANE, max_row_weight=5.0, row_weight_step=0.5, noise_seed=0)
    plain = PrivateKMedoids(1, epsilon=3.0, space=PLANE, max_rows_per_group=10, noise_seed=0)
    assert model.plan().rows == plain.plan().rows
    places, weights = np.repeat([3, 12], 60), np.tile([0.5, 4.9, 77.0], 40)
    assert model.fit(places, row_weights=weights).release_.row_times == 10
    copies = Weights(5.0, 0.5).times(weights)
    exact = [one.set_params(epsilon=math.inf, random_state=0, noise_seed=None) for one in (model, plain)]
    weighed = exact[0].fit(places, row_weights=weights).release_
    repeated = exact[1].fit(np.repeat(places, copies), groups=np.repeat(np.arange(120), copies)).release_
    assert weighed.sizes.tolist() == repeated.sizes.tolist() == [40 * (1 + 9 + 10)]
    assert weighed.medoids.tolist() == repeated.medoids.tolist()
    for wrong in ({}, {"row_weights": weights[1:]}):
        with pytest.raises(ParameterError, match="weights"):
            model.fit(places, **wrong)
    with pytest.raises(ParameterError, match="row_weights and max_row_weight"):
        plain.set_params(max_rows_per_group=None, epsilon=1.0).fit(places, row_weights=weights)


class Weighted:
    """A model for audits whose tables hold a place and a weight in each row."""

    def __init__(self, model):
        self.model = model

    def prepare(self, data, groups=None):
        return self.model.prepare(data[:, 0], groups, data[:, 1])


@pytest.mark.parametrize("algorithm", ["auto", "coverage", "hst", "local-search"])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_replay_of_weighed_demand_finds_nothing(algorithm, adjacency):
    model = PrivateKMedoids(2, epsilon=4.0, delta=1e-6, space=PLANE, algorithm=algorithm, adjacency=adjacency, max_row_weight=3.0)
    rows = np.random.default_rng(0).uniform(0, 25, (60, 2)).round(1)
    rows[:, 0] = np.floor(rows[:, 0])
    other = np.vstack([rows[1:], [[7.0, 1e9]]]) if adjacency == "replace" else rows[1:]
    rows[0] = (3.0, 99.0)
    found = replay(Weighted(model), rows, other)
    assert found.faults == ()
    assert found.bound <= 4.0 * (1 + 1e-9)
    assert replay(Weighted(model), rows, other, factor=0.3).bound > 4.0 or algorithm != "auto"


@pytest.mark.parametrize("space", [PLANE, GLOBE], ids=["plane", "globe"])
@pytest.mark.parametrize("algorithm", ["auto", "hst"])
@pytest.mark.parametrize("lost", [(2.2, 3.1), (1e6, 1e6), (math.nan, 0.0)])
def test_replay_of_moved_demand_finds_nothing(space, algorithm, lost):
    model = PrivateKMedoids(2, epsilon=2.0, space=space, algorithm=algorithm, snap_limit=0.6 if space is PLANE else 700.0)
    rows = np.random.default_rng(1).uniform(-1, 5, (80, 2))
    rows = rows if space is PLANE else rows / 100 + [8.2, 53.1]
    found = replay(model, np.vstack([rows, [lost]]), rows)
    assert found.faults == ()
    assert found.bound <= 2.0 * (1 + 1e-9)


@pytest.mark.parametrize("space", [PLANE, GLOBE], ids=["plane", "globe"])
def test_every_row_is_moved_alike_beside_any_others_and_none_raises(space):
    rng = np.random.default_rng(2)
    rows = np.vstack([rng.integers(-2, 12, (300, 2)) / 2, BROKEN * 10])
    rows = rows if space is PLANE else rows / 100 + [8.2, 53.1]
    together = demand_places(rows, space, None)
    for size in [*range(40), 299, 360]:
        np.testing.assert_array_equal(demand_places(rows[:size], space, None), together[:size])
    turned = rng.permutation(len(rows))
    np.testing.assert_array_equal(demand_places(rows[turned], space, None), together[turned])


LINES = [FiniteMetric.from_points([[5.0, 0.0], [5.0, far]]) for far in (1e-300, 1.0, 9e99)]


@given(st.sampled_from([PLANE, GLOBE, *LINES]), st.lists(st.integers(0, 2**64 - 1), max_size=6), st.integers(-5000, 4900))
def test_no_bits_of_a_position_or_a_weight_warn_or_raise(space, bits, power):
    """Signaling NaNs, numbers that are too large for their type, and positions far from all points, in every float type."""
    doubles = np.array([*bits, 0x7FF0000000000001, 0x41D2A05F20000000, 0], dtype=np.uint64).view(np.float64)
    with np.errstate(all="ignore"):
        wide = doubles.astype(np.longdouble) * np.longdouble(10) ** power
    given = [doubles, doubles.view(np.float32), doubles.view(np.float16), wide]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for numbers in given:
            rows = np.stack([numbers, numbers[::-1]], axis=1)
            together, times = demand_places(rows, space, None), Weights(2.5, 1.0).times(numbers)
            for i in range(len(rows)):
                assert demand_places(rows[i : i + 1], space, None)[0] == together[i]
                assert Weights(2.5, 1.0).times(numbers[i : i + 1])[0] == times[i]


@pytest.mark.parametrize("space", [PLANE, GLOBE], ids=["plane", "globe"])
def test_no_class_of_the_caller_sees_a_position(space):
    seen = []

    class Spy(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            seen.append(inputs)
            plain = [one.view(np.ndarray) if isinstance(one, Spy) else one for one in inputs]
            return getattr(ufunc, method)(*plain, **options).view(Spy)

    spied = replace(space, coordinates=space.coordinates.view(Spy))
    demand_places(np.full((3, 2), 8.25), spied, 5.0)
    assert not any(np.any(np.asarray(one) == 8.25) for inputs in seen for one in inputs)


@pytest.mark.parametrize("size", [*range(8), 33])
def test_any_number_of_positions_is_fitted_alike(size):
    model = PrivateKMedoids(2, epsilon=1.0, space=GLOBE, noise_seed=3, snap_limit=500.0)
    rows = np.tile([[8.2, 53.1], *BROKEN], (5, 1))[:size]
    assert len(model.fit(rows).release_.medoids) == 2


def test_positions_in_every_container_are_moved_alike(tmp_path):
    rows = np.random.default_rng(4).uniform(-0.5, 4.5, (50, 2)) / 100 + [8.2, 53.1]
    rows[7] = math.nan
    turned = {"lat": rows[:, 1], "lon": rows[:, 0]}
    table = pl.DataFrame(turned)
    expected = demand_places(rows, GLOBE, 400.0)
    assert len(set(expected.tolist())) > 10
    for form in (pd.DataFrame(turned), table, table.to_arrow(), table.lazy(), rows.astype(object), pd.DataFrame(rows)):
        np.testing.assert_array_equal(demand_places(form, GLOBE, 400.0), expected)
    table.write_csv(tmp_path / "trips.csv")
    table.write_parquet(tmp_path / "trips.parquet")
    points = [
        {"type": "Feature", "properties": {"card": i}, "geometry": {"type": "Point", "coordinates": row.tolist()}}
        for i, row in enumerate(rows)
    ]
    (tmp_path / "trips.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": points}))
    for name in ("trips.csv", "trips.parquet", "trips.geojson"):
        read = read_positions(tmp_path / name, ["lat", "lon"])
        np.testing.assert_array_equal(demand_places(read.nonprivate_rows, GLOBE, 400.0), expected)


def test_broken_features_are_missing(tmp_path):
    texts = ["7", "null", "{}", '{"geometry": {"type": "Point", "coordinates": [1]}}', '{"geometry": 3}']
    texts += ['{"geometry": {"type": "Point", "coordinates": ["8.2", 53.1]}}', '{"geometry": {"type": "LineString"}}']
    texts += [f'{{"geometry": {{"type": "Point", "coordinates": [{"9" * 5000}, 53.1]}}, "properties": {{"card": {"1" * 5000}}}}}']
    texts += ['{"geometry": {"type": "Point", "coordinates": [8.2, 53.1, 4]}, "properties": {"card": "x", "n": 2}}']
    path = tmp_path / "demand.geojson"
    path.write_text('{"features": [' + ",".join(texts) + "]}")
    read = read_positions(path, (), "card", "n")
    assert np.isfinite(read.nonprivate_rows).all(axis=1).tolist() == [False] * 8 + [True]
    assert read.nonprivate_weights[-1] == 2
    assert read.nonprivate_groups[-1] == "x"


NESTS = [(b"[", b"]"), (b'{"a":', b"}"), (rb'[{"]{\"}":', b"}]")]


@given(st.binary(max_size=30), st.sampled_from([0, 1, 40, 60, 900, 50_000]), st.sampled_from(NESTS))
def test_no_feature_decides_how_others_are_read(tmp_path_factory, said, depth, nest):
    path = tmp_path_factory.mktemp("demand") / "demand.geojson"
    said = said.translate(None, b'"\\')
    deep = nest[0] * depth + b"0" + nest[1] * depth
    feature = b'{"geometry": {"type": "Point", "coordinates": [%d, 53.1]}, "properties": {"card": %b, "n": 2}}'
    cells = [b'"a"', b'"' + said + b'"', deep, b'"z"']
    path.write_bytes(b'{"features": [%b]}' % b",".join(feature % (i, cell) for i, cell in enumerate(cells)))
    read = read_positions(path, (), "card", "n")
    assert read.nonprivate_rows.tolist() == [[i, 53.1] for i in range(4)]
    assert (read.nonprivate_groups[0], read.nonprivate_groups[3]) == ("a", "z")
    assert read.nonprivate_groups[1] == said.decode(errors="replace")
    assert read.nonprivate_weights.tolist() == [2] * 4


def test_positions_need_a_space_that_has_them():
    degrees = pd.DataFrame({"lon": [1.0], "lat": [1.0]})
    with pytest.raises(ParameterError, match="in longitude and latitude, and the space is not"):
        PrivateKMedoids(1, epsilon=1.0, space=PLANE).fit(degrees)
    with pytest.raises(ParameterError, match="needs a space with two coordinates"):
        PrivateKMedoids(1, epsilon=1.0, space=FiniteMetric.from_matrix(np.zeros((2, 2)))).fit(np.zeros((3, 2)))
    with pytest.raises(ParameterError, match="snap_limit"):
        PrivateKMedoids(1, epsilon=1.0, space=PLANE, snap_limit=-1.0).fit(np.zeros((3, 2)))


def test_noise_is_asked_for_alike_with_and_without_weights():
    """The source sees the same draws for any weights."""
    model = PrivateKMedoids(1, epsilon=1.0, space=PLANE, max_row_weight=4.0)
    scales = []
    for weights in ([1.0, 2.0], [99.0, math.nan]):
        source = NoiselessSource()
        fit, rows = model.prepare([3, 4], row_weights=weights)
        with rows.opened(fit.problem.ground, fit.problem.unit, source.key) as backend:
            assert backend.exact(EACH).sum() <= 8
        scales.append([charge.amount for charge in fit.plan().charges])
    assert scales[0] == scales[1]
