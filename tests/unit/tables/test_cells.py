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

from spinney import PrivateKMeans
from spinney.tables.cells import is_list_of_names, numeric_array


@pytest.mark.parametrize(
    "table", [pd.DataFrame(index=range(7321)), np.empty((7321, 0)), [[]] * 7321], ids=["frame", "array", "list"]
)
def test_a_table_without_columns_is_refused_without_its_number_of_rows(table):
    with pytest.raises(ValueError, match=r"0 feature\(s\)") as caught:
        numeric_array(table)
    assert "7321" not in str(caught.value)


DAYS = ["2020-01-01", None]
DECLARED = {
    "dates": np.array([DAYS], dtype="M8[D]"),
    "durations": np.array([[1, 2020]], dtype="m8[s]"),
    "texts": np.array([["1", "2020"]]),
    "texts of any length": np.array([["1", "2020"]], dtype=np.dtypes.StringDType()),
    "bytes": np.array([[b"1", b"2020"]]),
    "masked texts": np.ma.array([["1", "2020"]], mask=[[False, True]]),
    "complex": np.ones((2, 2)) * 1j,
    "records": np.array([[(2020,)]], dtype=[("a", "i4")]),
}


@pytest.mark.parametrize("title", DECLARED)
def test_an_array_that_is_declared_without_numbers_is_refused_without_showing_a_cell(title):
    with pytest.raises(
        ValueError, match=r"(?s)must hold numbers\. Got .* instead\.\nHint: |Complex data not supported"
    ) as caught:
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


def test_a_series_of_dates_may_stand_for_names_and_an_array_may_not():
    days = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]))
    assert is_list_of_names(days, 2)
    assert is_list_of_names(days.astype(object), 2)
    assert not is_list_of_names(days.to_numpy(), 2)
    PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), max_rows_per_group=1).fit(np.zeros((2, 2)), groups=days)


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


#: Cells and the numbers that they are read as.
CELLS = [
    (1, 1), ("2", 2), (Decimal("0.5"), 0.5), (Fraction(1, 4), 0.25), (True, 1), (" 3 ", 3), ("1e3", 1000), ("-inf", -np.inf),
    (None, np.nan), (Decimal("NaN"), np.nan), (10**400, np.nan), (b"1", np.nan), ("0x1", np.nan), ("", np.nan), ("x", np.nan),
    ([3], np.nan), (object(), np.nan), (pd.Timestamp("2020-01-01"), np.nan), (datetime.date(2020, 1, 1), np.nan),
    (np.datetime64("2020-01-01"), np.nan), (2j, np.nan),
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(CELLS), min_size=3, max_size=3), min_size=1, max_size=6))
@settings(deadline=None, derandomize=True)
def test_a_cell_is_read_alike_in_any_table(rows):
    cells, expected = ([[pair[i] for pair in row] for row in rows] for i in (0, 1))
    array = np.empty((len(rows), 3), dtype=object)
    for i, j in np.ndindex(array.shape):
        array[i, j] = cells[i][j]
    objects = pl.DataFrame([pl.Series(name, list(column), dtype=pl.Object) for name, column in zip("zab", array.T, strict=True)])
    frame = pd.DataFrame(array, columns=["z", "a", "a"])  # columns of one name are each read once
    for table in (cells, array, np.ma.array(array), pd.DataFrame(cells), frame, frame.infer_objects(), objects):
        np.testing.assert_array_equal(numeric_array(table).astype(float), expected)


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
