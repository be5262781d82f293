import datetime
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import ParameterError, PrivateKMeans
from spinney.tables.cells import is_list_of_names, numeric_array


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, bool])
def test_numbers_are_not_copied(dtype):
    table = np.ones((3, 2), dtype=dtype)
    assert numeric_array(table) is table


@pytest.mark.parametrize(
    "table",
    [
        [[1, "2"], [None, "x"]],
        np.array([[1, "2"], [None, "x"]], dtype=object),
        pd.DataFrame({"a": [1, None], "b": ["2", "x"]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array(["2", "x"], dtype="string")}),
        pd.DataFrame({"a": pd.Categorical([1, None]), "b": ["2", object()]}),
        pd.DataFrame({"a": [1.0, np.nan], "b": ["2", [3]]}),
    ],
)
def test_a_cell_that_is_not_a_number_is_missing(table):
    array = numeric_array(table)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, [[1, 2], [np.nan, np.nan]])


def test_text_in_a_cell_is_read_where_it_is_a_number():
    cells = np.array([["1e3", "-inf"], ["0x1", ""]], dtype=object)
    np.testing.assert_array_equal(numeric_array(cells), [[1000, -np.inf], [np.nan, np.nan]])


def test_cells_beyond_any_float_are_missing():
    np.testing.assert_array_equal(numeric_array([[10**400, 1], [2, 3]]), [[np.nan, 1], [2, 3]])


def test_frames_keep_the_order_of_their_columns():
    frame = pd.DataFrame({"z": [1, 2], "a": ["3", "4"]})
    np.testing.assert_array_equal(numeric_array(frame), [[1, 3], [2, 4]])


@pytest.mark.parametrize(
    "table", [pd.DataFrame(index=range(7321)), np.empty((7321, 0)), [[]] * 7321], ids=["frame", "array", "list"]
)
def test_a_table_without_columns_is_refused_without_its_number_of_rows(table):
    with pytest.raises(ValueError, match=r"0 feature\(s\)") as caught:
        numeric_array(table)
    assert "7321" not in str(caught.value)


def test_a_text_is_not_measured_by_the_error_about_it():
    told = []
    for cells in (["7", "8"], ["Meier-Schulze", "8"]):
        with pytest.raises(ParameterError, match="Got an array of texts") as caught:
            numeric_array(np.array([cells]))
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_masked_cells_are_missing():
    table = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(numeric_array(table), [[1.0, np.nan], [3.0, 4.0]])


def test_polars_frames_are_read():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, None, 3], "b": ["2", "x", None]})
    np.testing.assert_array_equal(numeric_array(frame), [[1, 2], [np.nan, np.nan], [3, np.nan]])


def test_columns_of_one_name_are_each_read_once():
    frame = pd.DataFrame([[1.0, "2"], [3.0, "x"]], columns=["a", "a"])
    np.testing.assert_array_equal(numeric_array(frame), [[1, 2], [3, np.nan]])


def test_a_frame_with_columns_of_one_name_can_be_fitted():
    frame = pd.DataFrame([[0.1, 0.2], [0.3, 0.4]], columns=["a", "a"])
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0).fit(frame)
    assert model.predict(frame).shape == (2,)


DAYS = ["2020-01-01", None]
DECLARED = {
    "dates": np.array([DAYS], dtype="M8[D]"),
    "durations": np.array([[1, 2020]], dtype="m8[s]"),
    "texts": np.array([["1", "2020"]]),
    "texts of any length": np.array([["1", "2020"]], dtype=np.dtypes.StringDType()),
    "bytes": np.array([[b"1", b"2020"]]),
    "masked texts": np.ma.array([["1", "2020"]], mask=[[False, True]]),
    "records": np.array([[(2020,)]], dtype=[("a", "i4")]),
}


@pytest.mark.parametrize("title", DECLARED)
def test_an_array_that_is_declared_without_numbers_is_refused_without_showing_a_cell(title):
    with pytest.raises(ParameterError, match=r"(?s)must hold numbers\. Got .* instead\.\nHint: ") as caught:
        numeric_array(DECLARED[title])
    assert "2020" not in str(caught.value)


FRAMES = {
    "dates": lambda: pd.DataFrame({"a": pd.to_datetime(DAYS)}),
    "with a time zone": lambda: pd.DataFrame({"a": pd.to_datetime(DAYS, utc=True)}),
    "durations": lambda: pd.DataFrame({"a": pd.to_timedelta([1, None])}),
    "periods": lambda: pd.DataFrame({"a": pd.PeriodIndex(DAYS, freq="D")}),
    "complex": lambda: pd.DataFrame({"a": [2j, np.nan]}),
    "polars": lambda: pl.DataFrame({"a": np.array(DAYS, dtype="M8[D]")}),
    "polars durations": lambda: pl.DataFrame({"a": [datetime.timedelta(1), None]}),
}


@pytest.mark.parametrize("title", FRAMES)
@pytest.mark.parametrize("other", [[1.0, 2.0], ["1", "2"]], ids=["numbers", "texts"])
def test_no_column_of_a_frame_is_refused_for_what_became_its_type(title, other):
    frame = FRAMES[title]()
    frame = frame.assign(b=other) if hasattr(frame, "assign") else frame.with_columns(b=pl.Series(other))
    np.testing.assert_array_equal(numeric_array(frame), [[np.nan, 1], [np.nan, 2]])


@pytest.mark.parametrize("cell", [pd.Timestamp("2020-01-01"), 2j, "x", None, True, 10**400], ids=repr)
@pytest.mark.parametrize("others", [[1.5, -2.0], [1, 2], [pd.Timestamp("2020-01-01"), pd.NaT], ["1", "y"]], ids=str)
def test_one_cell_decides_neither_an_error_nor_how_others_are_read(cell, others):
    alone, together = (numeric_array(pd.DataFrame({"a": cells, "b": 0.0})) for cells in (others, [*others, cell]))
    np.testing.assert_array_equal(together[:2].astype(float), alone.astype(float))


def test_a_series_of_dates_may_stand_for_names_and_an_array_may_not():
    days = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]))
    assert is_list_of_names(days, 2)
    assert is_list_of_names(days.astype(object), 2)
    assert not is_list_of_names(days.to_numpy(), 2)
    PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), max_rows_per_group=1).fit(np.zeros((2, 2)), groups=days)


def test_dates_in_cells_are_missing():
    table = [[pd.Timestamp("2020-01-01"), 1], [datetime.date(2020, 1, 1), 2], [np.datetime64("2020-01-01"), 3]]
    np.testing.assert_array_equal(numeric_array(table), [[np.nan, 1], [np.nan, 2], [np.nan, 3]])


@pytest.mark.parametrize(
    "table", [[0.123, 0.2], [], 0.123, None, "0.123", {"a": [0.123]}, np.zeros((2, 2, 2)), pd.Series([0.123, "a"])]
)
def test_what_is_not_a_table_is_refused_without_showing_it(table):
    with pytest.raises(ValueError, match=r"Expected 2D array, got \dD array instead\. Reshape your data") as caught:
        numeric_array(table)
    assert "123" not in str(caught.value)


ROWS = st.sampled_from([[0.5, 1], (2, "3"), np.array([4.0, 5.0]), np.array([6, None], dtype=object), pd.Series([7, 8])])
NO_ROWS = st.sampled_from(
    [None, [], [0.5], [1, 2, 3], "ab", b"ab", 7, np.nan, {}, {1: 2, 3: 4}, {1, 2}, object(), range(3), np.zeros((2, 2)), [[1], 2],
     pd.NaT, float, np.float64(2)]
)  # fmt: skip


@given(
    drawn=st.lists(st.tuples(st.just(True), ROWS) | st.tuples(st.just(False), NO_ROWS), max_size=8),
    kind=st.sampled_from([list, tuple, deque]),
)
@settings(deadline=None, derandomize=True)
def test_each_row_of_a_list_is_read_alone_and_one_of_another_shape_is_missing(drawn, kind):
    found = numeric_array(kind(row for _, row in drawn), 2)
    assert found.shape == (len(drawn), 2)
    for (is_row, row), own in zip(drawn, found, strict=True):
        np.testing.assert_array_equal(numeric_array([row], 2)[0], own)
        assert is_row or np.isnan(own).any()


@given(rows=st.lists(ROWS, min_size=2, max_size=5), odd=NO_ROWS, place=st.integers(0, 5))
@settings(deadline=None, derandomize=True)
def test_no_single_row_decides_how_many_columns_a_list_has(rows, odd, place):
    rows.insert(place, odd)
    np.testing.assert_array_equal(numeric_array(rows), numeric_array(rows, 2))
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    np.testing.assert_array_equal(numeric_array(array), numeric_array(rows, 2))


def test_complex_tables_are_refused():
    with pytest.raises(ValueError, match="Complex data not supported"):
        numeric_array(np.ones((2, 2)) * 1j)


def test_a_cell_is_read_alike_in_any_table():
    cells = [[1, "2", Decimal("0.5"), Fraction(1, 4), True], [None, " 3 ", Decimal("NaN"), 10**400, b"1"]]
    expected = [[1, 2, 0.5, 0.25, 1], [np.nan, 3, np.nan, np.nan, np.nan]]
    for table in (cells, np.array(cells, dtype=object), pd.DataFrame(cells), pd.DataFrame(cells, dtype=object)):
        np.testing.assert_array_equal(numeric_array(table), expected)


@pytest.mark.parametrize(
    "cells",
    [
        np.array([["1", "2"], ["secret", "4"]], dtype=object),
        np.array([[1, 2], [10**400, 4]], dtype=object),
        np.array([[1, 2], [np.longdouble("1e400"), 4]]),
        np.array([[1, 2], [b"\xff", 4]], dtype=object),
    ],
    ids=["texts", "objects", "long doubles", "bytes"],
)
def test_a_masked_array_is_read_in_silence_whatever_stands_in_a_cell(cells):
    read = numeric_array(np.ma.array(cells, mask=[[False, True], [False, False]]))
    np.testing.assert_array_equal(np.isfinite(read), [[True, False], [False, True]])
    assert (read[0, 0], read[1, 1]) == (1.0, 4.0)
