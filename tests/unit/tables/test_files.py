import datetime
import json

import numpy as np
import polars as pl
import pytest

from spinney.exceptions import DataError
from spinney.tables.files import read_bounds, read_table


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a frame in one of the formats."""

    def make(frame, kind):
        path = tmp_path / f"table.{kind}"
        (frame.write_parquet if kind == "parquet" else frame.write_csv)(path)
        return path

    return make


FRAME = pl.DataFrame({"a": [1.5, None, 3.0], "b": [1, 2, None], "who": ["p", None, "q"]})


def test_a_text_in_a_csv_is_read_where_it_is_a_number(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n1.5,"1"\n,2 \n3,x\n')
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv").nonprivate_rows, [[1.5, 1], [np.nan, 2], [3, np.nan]])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_come_as_rows_of_64_bits_ready_for_the_kernels(write, kind):
    table = read_table(write(FRAME, kind), groups="who")
    assert table.columns == ("a", "b")
    assert table.nonprivate_rows.dtype == np.float64
    assert table.nonprivate_rows.flags.c_contiguous
    np.testing.assert_array_equal(table.nonprivate_rows, [[1.5, 1], [np.nan, 2], [3, np.nan]])
    assert list(table.nonprivate_groups) == ["p", None, "q"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_come_in_the_order_asked_for(write, kind):
    table = read_table(write(FRAME, kind), ["b", "a"])
    assert table.columns == ("b", "a")
    np.testing.assert_array_equal(table.nonprivate_rows[:, 1], [1.5, np.nan, 3])
    assert table.nonprivate_groups is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_may_have_no_rows(write, kind):
    table = read_table(write(FRAME.clear(), kind), ["a", "b"])
    assert table.nonprivate_rows.shape == (0, 2)
    assert table.nonprivate_rows.dtype == np.float64


def test_a_path_is_no_pattern(tmp_path):
    (tmp_path / "[a].csv").write_text("a\n1\n")
    (tmp_path / "a.csv").write_text("a\n2\n")
    assert read_table(tmp_path / "[a].csv").nonprivate_rows.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pl.Series([True, None, False]), [1, np.nan, 0]),
        (pl.Series([3, None, 2**40]), [3, np.nan, 2**40]),
        (pl.Series([None, None, None]), [np.nan] * 3),
        (pl.Series([1, 2, None]).cast(pl.Decimal(10, 2)), [1, 2, np.nan]),
        (pl.Series([0.5, None, np.inf], dtype=pl.Float32), [0.5, np.nan, np.inf]),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pl.Series) else "",
)
def test_a_parquet_column_is_read_by_its_type(write, column, expected):
    np.testing.assert_array_equal(read_table(write(pl.DataFrame({"a": column}), "parquet")).nonprivate_rows[:, 0], expected)


@pytest.mark.parametrize(
    "column",
    [
        [datetime.date(2020, 1, 1)],
        [datetime.datetime(2020, 1, 1)],
        [datetime.timedelta(1)],
        [[1.0]],
        [{"x": 1}],
        [b"1"],
        ["1"],
        pl.Series(["1"], dtype=pl.Categorical),
        pl.Series(["1"], dtype=pl.Enum(["1"])),
    ],
    ids=["date", "datetime", "duration", "list", "struct", "bytes", "text", "category", "enum"],
)
def test_a_parquet_column_of_another_kind_is_refused_by_its_type(write, column):
    with pytest.raises(DataError, match=r"column 'a' does not hold numbers\.\nHint: leave it out"):
        read_table(write(pl.DataFrame({"a": column}), "parquet"))


@pytest.mark.parametrize("column", [[datetime.date(2020, 1, 1)], [[1]]], ids=["date", "list"])
def test_names_of_groups_are_texts_or_numbers(write, column):
    with pytest.raises(DataError, match=r"column 'who' does not hold names\.\nHint: "):
        read_table(write(pl.DataFrame({"a": [1.0], "who": column}), "parquet"), groups="who")


def test_an_array_stays_on_disk(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((3, 2), dtype=np.float32))
    table = read_table(tmp_path / "rows.npy")
    assert isinstance(table.nonprivate_rows, np.memmap)
    assert table.columns is None


@pytest.mark.parametrize(
    "array", [np.zeros(3), np.zeros((2, 0)), np.zeros((2, 2, 2)), np.array([["a"]]), np.zeros((2, 2), complex)], ids=str
)
def test_an_array_that_is_no_table_of_numbers_is_refused(tmp_path, array):
    np.save(tmp_path / "rows.npy", array)
    with pytest.raises(DataError, match=r"does not hold a two-dimensional array of numbers\.\nHint: "):
        read_table(tmp_path / "rows.npy")


def test_an_array_of_objects_is_not_unpickled(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path / "rows.npy")


def test_an_archive_of_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "rows.npz", a=np.zeros((2, 2)))
    (tmp_path / "rows.npz").rename(tmp_path / "rows.npy")
    with pytest.raises(DataError, match="cannot be read"):
        read_table(tmp_path / "rows.npy")


def test_an_array_may_have_no_rows(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((0, 3)))
    assert read_table(tmp_path / "rows.npy").nonprivate_rows.shape == (0, 3)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ["a", "z"]}, "no column 'z'"),
        ({"groups": "z"}, "no column 'z'"),
        ({"columns": []}, "no columns to cluster"),
        ({"columns": ["a", "b", "a"]}, "'a' is asked for twice"),
    ],
    ids=["missing", "missing groups", "none", "twice"],
)
def test_columns_that_cannot_be_had_are_refused(write, kind, options, words):
    with pytest.raises(DataError, match=rf"{words}.*\nHint: "):
        read_table(write(FRAME, kind), **options)


@pytest.mark.parametrize("content", [b"", b"\n1,2\n"], ids=["empty", "blank"])
def test_a_csv_needs_a_header(tmp_path, content):
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"no columns to cluster\.\nHint: its first line must name them"):
        read_table(tmp_path / "rows.csv")


def test_a_header_that_is_none_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"a,b\rc\n1,2\n")
    with pytest.raises(DataError, match=r"rows\.csv cannot be read\.\nHint: "):
        read_table(tmp_path / "rows.csv")


@pytest.mark.parametrize("content", [b"", b"PAR1 no", b"\x93NUMPY"], ids=["empty", "text", "half"])
@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_a_broken_file_is_refused(tmp_path, kind, content):
    path = tmp_path / f"rows.{kind}"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be read\.\nHint: "):
        read_table(path)


@pytest.mark.parametrize("record", [{"a": [0, 1], "b": [2, 3.5]}, {}])
def test_bounds_are_read(tmp_path, record):
    path = tmp_path / "bounds.json"
    path.write_text(json.dumps(record))
    assert read_bounds(path) == {name: tuple(pair) for name, pair in record.items()}


@pytest.mark.parametrize("text", ["", "[1]", "3", '{"a": 3}', '{"a": [1]}', '{"a": [1, 2, 3]}', '{"a": ["x", 2]}', '{"a": null}'])
def test_what_are_not_bounds_is_refused(tmp_path, text):
    path = tmp_path / "bounds.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"does not hold bounds\.\nHint: write JSON") as caught:
        read_bounds(path)
    assert caught.value.__context__ is None  # a file given by mistake may be the private one
    with pytest.raises(DataError, match=r"cannot be read\.\nHint: write JSON"):
        read_bounds(tmp_path / "nothing.json")
