"""What a release holds lies where it may: a number that is moved out of its bounds is refused, and none that a fit made is."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nested import edited, leaves
from spinney import Ball, PrivateKMeans, PrivateKMedian, ReleaseError, verify
from spinney.datasets import patients, patients_schema
from spinney.tables.schema_files import read_schema
from spinney.verification.contents import check_contents

from .conftest import ROWS, cover, description, points, sites

STAYS = PrivateKMeans(3, epsilon=1.0, bounds=read_schema(patients_schema()), max_rows_per_group=2)
MAKERS = {
    "box": points(PrivateKMeans, ROWS),
    "ball": points(PrivateKMedian, ROWS, bounds=Ball(2.0, [1.0, -1.0]), algorithm="lloyd"),
    "tightened": points(PrivateKMeans, ROWS, bounds=(-20, 20), tighten=True),
    "schema": lambda: STAYS.fit(patients(), groups="person").release_,
    "sites": sites(),
    "cover": cover(),
    "description": description(),
}


@pytest.fixture(scope="module")
def made():
    return {name: json.loads(make().to_json()) for name, make in MAKERS.items()}


def holds(record, folder):
    path = folder / "release.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    try:
        return verify(path).holds
    except ReleaseError:
        return False


def test_what_was_made_lies_in_its_bounds(made, tmp_path):
    assert [name for name, record in made.items() if not holds(record, tmp_path)] == []


#: Fields of numbers that must lie somewhere.
PLACED = {
    "centers", "summary_points", "sizes", "medoids", "existing_sites", "chosen", "means", "quantiles", "quantiles_lower",
    "quantiles_upper", "tightened",
}  # fmt: skip


@settings(max_examples=200, deadline=None, database=None)
@given(data=st.data())
def test_any_number_that_is_moved_out_of_its_bounds_is_refused(data, made):
    record = made[data.draw(st.sampled_from(sorted(made)))]
    numbers = [(place, one) for place, one in leaves(record) if place[0] in PLACED and isinstance(one, int | float)]
    place, number = data.draw(st.sampled_from(numbers))
    beyond = [-1e-3, -1e6] if place[0] == "sizes" else [-1e6, 1e6, 1e300]
    record = edited(record, place, data.draw(st.sampled_from([10**6, 10**9] if isinstance(number, int) else beyond)))
    assert not all(check.holds for check in check_contents(record)), place


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 400])
def test_a_number_that_is_not_finite_is_refused(made, tmp_path, number):
    text = json.dumps(made["box"] | {"sizes_margin": "here"}).replace('"here"', number)
    (tmp_path / "release.json").write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError):
        verify(tmp_path / "release.json")


@pytest.mark.parametrize("beyond", [1.001, 1.5])
def test_a_center_in_the_box_around_a_ball_and_not_in_the_ball_is_refused(made, tmp_path, beyond):
    record = copy.deepcopy(made["ball"])
    side = beyond * record["domain"]["radius"] / 2**0.5
    record["centers"][0] = [1.0 + side, -1.0 + side]
    assert not holds(record, tmp_path)


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_bounds_that_are_not_those_of_the_schema_are_refused(made, tmp_path, end):
    for place in range(len(made["schema"]["domain"][end])):
        record = copy.deepcopy(made["schema"])
        record["domain"][end][place] += -1e4 if end == "lower" else 1e4
        assert not holds(record, tmp_path)


@settings(max_examples=25, deadline=None)
@given(
    places=st.floats(-1e9, 1e9),
    width=st.floats(-6, 9).map(lambda power: 10.0**power),
    is_ball=st.booleans(),
    unit=st.none() | st.floats(1e-3, 1e3),
)
def test_no_fit_is_refused_for_rounding(places, width, is_ball, unit, tmp_path_factory):
    low = places * width
    bounds = Ball(width / 2, [low, -low]) if is_ball else ([low, -low], [low + width, -low + width])
    rows = np.random.default_rng(0).uniform(-2, 2, (60, 2)) * width + [low, -low]
    asked = {} if is_ball or unit is None else {"scale": unit * width}
    model = PrivateKMeans(3, epsilon=1.0, bounds=bounds, algorithm="lloyd", **asked).fit(rows)
    assert holds(json.loads(model.release_.to_json()), tmp_path_factory.getbasetemp())
