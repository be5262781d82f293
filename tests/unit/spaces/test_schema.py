"""What a public schema may say, and what is refused before anything is read."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.exceptions import ParameterError
from spinney.spaces.column_facts import column_of
from spinney.spaces.schema import Schema
from spinney.spaces.units import schema_of, uneven

EVERY_KIND = {
    "age": {"bounds": (0, 110), "unit": 10, "fill": 40, "source": "life tables"},
    "income": (0, 200_000),
    "region": ["north", "south", "west"],
    "admitted": (date(2020, 1, 1), date(2025, 12, 31)),
    "smoker": bool,
    "left": {"dates": ["2020-01-01", "2020-12-31"], "epoch": "2020-01-01", "unit": 30, "fill": "2020-02-01"},
    "ward": {"categories": [1, 2, "x"], "weight": 2.0, "fill": 2},
    "alive": {"boolean": True, "weight": 3, "fill": True},
}


def test_every_kind_of_column_has_its_place_and_its_unit():
    schema = schema_of(EVERY_KIND, None, "here")
    assert schema.names == tuple(EVERY_KIND)
    wards, regions = ("ward=1", "ward=2", "ward=x"), ("region=north", "region=south", "region=west")
    assert schema.titles == ("age", "income", *regions, "admitted", "smoker", "left", *wards, "alive")
    root = np.sqrt(2)
    assert np.allclose(schema.units, [10, 1, root, root, root, 1, 1, 30, root / 2, root / 2, root / 2, 1 / 3])
    assert schema.own.lower[[0, 1, 5, 7]].tolist() == [0, 0, 18262, 0]
    assert schema.own.upper[[0, 1, 5, 7]].tolist() == [110, 200_000, 20453, 365]
    assert np.array_equal(schema.scaled.upper, schema.own.upper / schema.units)
    assert [column.fill for column in schema.columns] == [40.0, None, None, None, None, 31.0, "2", 1.0]


def test_two_different_categories_are_their_weight_apart():
    column = column_of("region", {"categories": ["a", "b", "c"], "weight": 5}, "here")
    one, other = np.eye(3)[:2] / column.step
    assert np.isclose(np.linalg.norm(one - other), 5)


@pytest.mark.parametrize("scale", [None, "bounds", 2.0])
def test_what_a_release_records_gives_the_same_schema_again(scale):
    schema = schema_of(EVERY_KIND, scale, "here")
    again = Schema.from_record(schema.record)
    assert again.record == schema.record
    assert np.array_equal(again.units, schema.units)
    bounds, same = again.typed
    assert schema_of(bounds, same, "here").record == schema.record


def test_units_over_widths_by_name_and_by_one_number():
    bounds = {"age": (0, 110), "income": (0, 200_000), "region": ["a", "b"]}
    assert schema_of(bounds, "bounds", "here").units[:2].tolist() == [110, 200_000]
    assert schema_of(bounds, {"age": 10, "income": 20_000}, "here").units[:2].tolist() == [10, 20_000]
    assert schema_of(bounds, 5, "here").units[:2].tolist() == [5, 5]
    assert schema_of({"age": (0, 110)}, None, "here") is None
    assert schema_of({"age": (0, 110)}, 1, "here") is None


WRONG = {
    "bounds the wrong way round": ({"age": (110, 0)}, None, "the lower first"),
    "no numbers": ({"age": (0, float("nan"))}, None, "two finite numbers"),
    "texts of numbers": ({"age": ["0", "110"]}, None, "of digits in a dict"),
    "one category": ({"region": ["north"]}, None, "a list of texts"),
    "a category twice": ({"region": ["north", "south", " north"]}, None, "each once"),
    "a whole number twice": ({"ward": {"categories": [1, "1.0"]}}, None, "each once"),
    "an empty category": ({"region": ["north", " "]}, None, "none of them empty"),
    "a unit of zero": ({"age": {"bounds": (0, 110), "unit": 0}}, None, "a positive 'unit'"),
    "a negative weight": ({"region": {"categories": ["a", "b"], "weight": -1}}, None, "a positive 'weight'"),
    "a unit of a category": ({"region": {"categories": ["a", "b"], "unit": 1}}, None, "at most beside it, .*Got 'unit'"),
    "an unknown fact": ({"age": {"bounds": (0, 110), "units": 1}}, None, "at most beside it, for column .*Got"),
    "two kinds": ({"age": {"bounds": (0, 110), "categories": ["a", "b"]}}, None, "at most beside it, for column .*Got"),
    "dates the wrong way round": ({"day": (date(2025, 1, 1), date(2020, 1, 1))}, None, "two dates.*the lower first"),
    "days in another spelling": ({"day": ("01.01.2023", "31.12.2024")}, None, "two dates.*Got '01.01.2023' instead"),
    "a day that is none": ({"day": ["2023-13-01", "2024-12-31"]}, None, "two dates.*Got '2023-13-01' instead"),
    "no dates": ({"day": {"dates": ["2020-13-01", "2021-01-01"]}}, None, "two dates"),
    "an epoch that is none": ({"day": {"dates": ["2020-01-01", "2021-01-01"], "epoch": "soon"}}, None, "an 'epoch'"),
    "a fill out of bounds": ({"age": {"bounds": (0, 110), "fill": 111}}, None, "a 'fill'"),
    "a fill that is no category": ({"region": {"categories": ["a", "b"], "fill": "c"}}, None, "a 'fill'"),
    "a source of two lines": ({"age": {"bounds": (0, 110), "source": "a\nb"}}, None, "a 'source'"),
    "no names": ({3: (0, 1)}, None, "named by columns"),
    "no columns": ({}, None, "named by columns"),
    "a scale that is a word": ({"age": (0, 110)}, "width", "None, 'bounds'"),
    "a scale of zero": ({"age": (0, 110)}, 0, "None, 'bounds'"),
    "a unit of zero in the scale": ({"age": (0, 110)}, {"age": 0}, "a positive unit"),
    "a scale of an unknown column": ({"age": (0, 110)}, {"age": 1, "size": 2}, "named by columns of bounds"),
    "a scale that leaves a column out": ({"age": (0, 110), "size": (0, 2)}, {"age": 1}, "a unit for 'size' too"),
    "a scale of a category": ({"region": ["a", "b"]}, {"region": 1}, "units of numbers and dates"),
    "two units": ({"age": {"bounds": (0, 110), "unit": 10}}, {"age": 10}, "said once"),
    "units by name of nameless bounds": ((0, 1), {"age": 1}, "by column"),
}


@pytest.mark.parametrize(("bounds", "scale", "expected"), WRONG.values(), ids=WRONG)
def test_a_wrong_schema_is_refused_with_what_to_type(bounds, scale, expected):
    with pytest.raises(ParameterError, match=expected) as error:
        schema_of(bounds, scale, "here")
    assert "\nHint: " in str(error.value)


def test_a_warning_depends_on_public_widths_alone():
    assert "scale='bounds'" in uneven(schema_of({"age": (0, 110), "region": ["a", "b"]}, None, "here")).hint
    assert uneven(schema_of({"age": (0, 20), "smoker": bool}, None, "here")) is None
    assert uneven(schema_of({"age": (0, 110), "region": ["a", "b"]}, 1, "here")) is None
    assert uneven(schema_of({"age": {"bounds": (0, 110), "unit": 1}, "region": ["a", "b"]}, None, "here")) is None


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4) | st.dates(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                ["bounds", "dates", "categories", "boolean", "unit", "weight", "fill", "source", "epoch"]), inner, max_size=3),
            max_leaves=6,
        ),
        max_size=3,
    ),
    st.none() | st.just("bounds") | st.floats() | st.dictionaries(st.text(max_size=3), st.floats(), max_size=2),
)  # fmt: skip
def test_any_schema_is_read_or_refused_and_what_is_read_can_be_written(bounds, scale):
    try:
        schema = schema_of(bounds, scale, "here")
    except ParameterError:
        return
    if schema is not None:
        assert Schema.from_record(schema.record).record == schema.record
        assert np.isfinite(schema.scaled.lower).all()
        assert (schema.scaled.lower < schema.scaled.upper).all()
