"""Rule 10: a fitted object holds releases only, and so do its pickle, its repr and the log."""

import dataclasses
import json
import logging
import pickle
import re
import struct

import numpy as np
import pytest
from cases import ASKED, DEMAND, ESTIMATORS, SITES, SPACE

from covering import covering
from spinney import PrivateKMedoids, read_release
from spinney.audit import observe, record

N = 1009
MARK = 0.12345678901234567
RNG = np.random.default_rng(1)
ROWS = RNG.normal(0, 0.4, (N, 3))
ROWS[::10] = MARK
EACH = covering("case, estimator", ASKED | SITES, ESTIMATORS, indirect=["case"])


def rows_of(case):
    return ROWS if case.n_features else DEMAND


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


@EACH
@pytest.mark.matrix
def test_no_array_as_long_as_the_table_is_on_the_fitted_object(estimator, case):
    model, rows = case.model(estimator, 4, noise_seed=1), rows_of(case)
    parameters = set(vars(model))
    fitted = {name: value for name, value in vars(model.fit(rows)).items() if name not in parameters}
    for path, value in everything_in(fitted):
        size = value.size if isinstance(value, np.ndarray) else len(value) if hasattr(value, "__len__") else 0
        assert size == 0 or size % len(rows), path
        assert not (isinstance(value, int) and value == len(rows)), path
        if case.n_features:
            assert not (isinstance(value, np.ndarray) and np.isin(value, ROWS).any()), path
        else:
            assert not (isinstance(value, np.ndarray) and size == SPACE.n_points), path


def numbers_in(record):
    """Yield all numbers of a JSON record, also those written as text."""
    for _, value in everything_in(record):
        if isinstance(value, int | float):
            yield value
        elif isinstance(value, str):
            yield from (float(digits) for digits in re.findall(r"\d+(?:\.\d+)?", value))


@covering("case, estimator", ASKED, ESTIMATORS, indirect=["case"])
@pytest.mark.matrix
def test_pickle_json_repr_and_log_hold_no_row(estimator, case, caplog):
    with caplog.at_level(logging.DEBUG, logger="spinney"):
        model = case.model(estimator, 4).fit(ROWS)
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


@covering("case, estimator, adjacency", ASKED | SITES, ESTIMATORS, ["add-remove", "replace"], indirect=["case"])
@pytest.mark.matrix
def test_pickles_of_neighbors_are_the_same_bytes_when_the_noise_is_frozen(estimator, case, adjacency):
    rows = rows_of(case)
    model = case.model(estimator, 4, adjacency=adjacency)
    first, pickles = record(model, rows), []
    bad = [[9.0, np.nan, -1.0]] if case.n_features else [np.nan]
    for table in (rows, rows[1:] if adjacency == "add-remove" else np.concatenate([rows[1:], bad])):
        pickles.append(pickle.dumps(observe(model, table, lambda event: None, source=first.frozen())))
    assert pickles[0] == pickles[1]


@EACH
@pytest.mark.matrix
def test_labels_and_exact_costs_are_returned_and_not_stored(estimator, case):
    rows = rows_of(case)
    model = case.model(estimator, 4, noise_seed=2).fit(rows)
    before = pickle.dumps(model)
    assert not {"labels_", "inertia_"} & set(vars(model))
    for method in {"predict", "transform", "score"} & set(dir(model)):
        getattr(model, method)(rows)
    assert model.fit_predict(rows).shape == (len(rows),)
    assert pickle.dumps(model) == before
    for method in {"fit_predict", "score"} & set(dir(model)):
        assert getattr(model, method).__doc__.startswith("NOT PRIVATE")


@covering("case, estimator", ASKED | SITES, ESTIMATORS[:1], indirect=["case"])
@pytest.mark.matrix
def test_everything_on_a_fitted_object_comes_from_its_release(case, estimator, tmp_path):
    model = case.model(estimator, 4).fit(rows_of(case))
    model.release_.to_json(tmp_path / "release.json")
    release = read_release(tmp_path / "release.json")
    twin = PrivateKMedoids.from_release(release, SPACE) if not case.n_features else estimator.from_release(release)
    parameters = set(model.get_params())
    fitted, again = ({name: value for name, value in vars(one).items() if name not in parameters} for one in (model, twin))
    assert twin.release_.to_json() == model.release_.to_json()
    assert fitted.keys() == again.keys()
    for name in fitted.keys() - {"release_"}:
        np.testing.assert_array_equal(fitted[name], again[name])
