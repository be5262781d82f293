"""Rule 10: a fitted object holds releases only, and so do its pickle, its repr and the log."""

import dataclasses
import json
import logging
import pickle
import re
import struct

import numpy as np
import pytest
from cases import ASKED

from covering import covering
from spinney import PrivateKMeans, PrivateKMedian, Release
from spinney.audit import observe, record

N = 1009
MARK = 0.12345678901234567
RNG = np.random.default_rng(1)
ROWS = RNG.normal(0, 0.4, (N, 3))
ROWS[::10] = MARK
BOTH = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])


def model_of(estimator, asked, **more):
    return estimator(4, epsilon=1.0, bounds=(-1, 1), random_state=0, **asked, **more)


def everything_in(thing, path="model"):
    """Walk all values reachable from an object."""
    yield path, thing
    if isinstance(thing, str):
        return
    if isinstance(thing, dict):
        items = thing.items()
    elif isinstance(thing, list | tuple | set | frozenset):
        items = enumerate(thing)
    elif dataclasses.is_dataclass(thing) or hasattr(thing, "__dict__"):
        items = vars(thing).items()
    else:
        return
    for name, value in items:
        yield from everything_in(value, f"{path}.{name}")


@BOTH
def test_no_array_as_long_as_the_table_is_on_the_fitted_object(estimator, asked):
    model = model_of(estimator, asked, noise_seed=1).fit(ROWS)
    seen = list(everything_in(model))
    assert any(path == "model.release_.centers" for path, _ in seen)
    for path, value in seen:
        size = value.size if isinstance(value, np.ndarray) else len(value) if hasattr(value, "__len__") else 0
        assert size == 0 or size % N, path
        assert not (isinstance(value, int) and value == N), path
        assert not (isinstance(value, np.ndarray) and np.isin(value, ROWS).any()), path


def numbers_in(record):
    """Yield all numbers of a JSON record, also those written as text."""
    for _, value in everything_in(record):
        if isinstance(value, int | float):
            yield value
        elif isinstance(value, str):
            yield from (float(digits) for digits in re.findall(r"\d+(?:\.\d+)?", value))


@BOTH
def test_pickle_json_repr_and_log_hold_no_row(estimator, asked, caplog):
    with caplog.at_level(logging.DEBUG, logger="spinney"):
        model = model_of(estimator, asked).fit(ROWS)
    for order in "<>":
        assert struct.pack(f"{order}d", MARK) not in pickle.dumps(model)
    for text in (repr(model), repr(model.release_), str(model.release_), caplog.text):
        assert repr(MARK)[:6] not in text
        assert str(N) not in text
    # The file is full of noisy digits, so its numbers are compared, and not its text. Noisy counts may be any whole number;
    # that they come from answers alone is what the next test shows.
    record = json.loads(model.release_.to_json())
    assert MARK not in set(numbers_in(record))
    noisy = [record.pop(name) for name in ("sizes", "summary_weights")]
    assert N not in set(numbers_in(record))
    assert all(len(values) != N for values in noisy)


@covering("asked, estimator, adjacency", ASKED, [PrivateKMeans, PrivateKMedian], ["add-remove", "replace"], indirect=["asked"])
@pytest.mark.matrix
def test_pickles_of_neighbors_are_the_same_bytes_when_the_noise_is_frozen(estimator, asked, adjacency):
    first = record(model_of(estimator, asked, adjacency=adjacency), ROWS)
    pickles = []
    for rows in (ROWS, ROWS[1:] if adjacency == "add-remove" else np.concatenate([ROWS[1:], [[9.0, np.nan, -1.0]]])):
        model = model_of(estimator, asked, adjacency=adjacency)
        pickles.append(pickle.dumps(observe(model, rows, lambda event: None, source=first.frozen())))
    assert pickles[0] == pickles[1]


@BOTH
@pytest.mark.matrix
def test_labels_and_exact_costs_are_returned_and_not_stored(estimator, asked):
    model = model_of(estimator, asked, noise_seed=2).fit(ROWS)
    before = pickle.dumps(model)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "inertia_")
    model.predict(ROWS)
    model.transform(ROWS)
    model.score(ROWS)
    assert pickle.dumps(model) == before
    assert model.fit_predict(ROWS).shape == (N,)
    assert pickle.dumps(model) == before
    for method in (estimator.fit_predict, estimator.score):
        assert method.__doc__.startswith("NOT PRIVATE")


def test_everything_on_a_fitted_object_comes_from_its_release(asked, tmp_path):
    model = model_of(PrivateKMeans, asked).fit(ROWS)
    path = tmp_path / "release.json"
    model.release_.to_json(path)
    twin = PrivateKMeans.from_release(Release.from_json(path))
    parameters = set(model.get_params())
    fitted = {name: value for name, value in vars(model).items() if name not in parameters}
    assert fitted.keys() == {name for name in vars(twin) if name not in parameters}
    assert twin.release_.to_json() == model.release_.to_json()
    assert np.array_equal(twin.cluster_centers_, model.cluster_centers_)
    assert np.array_equal(twin.cluster_sizes_, model.cluster_sizes_)
