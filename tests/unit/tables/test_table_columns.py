import datetime
import math
import warnings

import polars as pl
import pytest

from spinney.exceptions import DataError
from spinney.spaces.plain_values import canonical_name
from spinney.tables.networks import read_columns

#: Cells of CSV files and the names they hold.
NAMES = {
    "12": "12", "12.0": "12", "12.000": "12", " 12 ": "12", "0": "0", "0.0": "0", "-3.0": "-3", "-3": "-3",
    "012": "012", "012.0": "012.0", "12.5": "12.5", "12.": "12.", ".0": ".0", "1e3": "1e3", "1.0e3": "1.0e3",
    "A7": "A7", " Main St ": "Main St", "A.0": "A.0", "nan": "nan", "NA": "NA", "x 1.0": "x 1.0", "": None, "  ": None,
    "ä": "ä", "100000000000000000000.0": "100000000000000000000",
}  # fmt: skip


def names_of(path, column="p", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_columns(path, [column], [], **options).names[column].to_list()


@pytest.mark.parametrize("others", ["", "7\n", "x\n1.5\n", '"quoted, name"\n', "\n"], ids=repr)
def test_a_name_in_a_csv_is_read_alike_whatever_the_other_names_are(tmp_path, others):
    path = tmp_path / "t.csv"
    path.write_text("p,q\n" + others + "".join(f"{cell},1\n" for cell in NAMES), encoding="utf-8")
    assert names_of(path)[-len(NAMES) :] == list(NAMES.values())
    assert [canonical_name(cell) for cell in NAMES] == [name or "" for name in NAMES.values()]  # a typed name is one, too


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pl.Series([12, None, -3]), ["12", None, "-3"]),
        (pl.Series([12.0, None, math.nan, math.inf, -0.0, 12.5, 1e12]), ["12", None, None, None, "0", "12.5", "1000000000000"]),
        (pl.Series([12.0, 0.5], dtype=pl.Float32), ["12", "0.5"]),
        (pl.Series([2.0**53, 1e300]), [str(2**53), pl.Series([1e300]).cast(pl.String)[0]]),
        (pl.Series([2**63 + 5], dtype=pl.UInt64), [str(2**63 + 5)]),
        (pl.Series([" 12.0 ", "A", "", None]), ["12", "A", None, None]),
        (pl.Series(["12.0", "A"], dtype=pl.Categorical), ["12", "A"]),
        (pl.Series(["B", "A"], dtype=pl.Enum(["A", "B"])), ["B", "A"]),
        (pl.Series([1, 2]).cast(pl.Decimal(10, 2)), ["1", "2"]),
        (pl.Series([True, None]), ["true", None]),
        (pl.Series([None, None]), [None, None]),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pl.Series) else "",
)
def test_a_name_in_a_parquet_file_is_read_by_its_type(tmp_path, column, expected):
    pl.DataFrame({"p": column}).write_parquet(tmp_path / "t.parquet")
    assert names_of(tmp_path / "t.parquet") == expected


@pytest.mark.parametrize(
    "column", [[datetime.date(2020, 1, 1)], [[1]], [{"x": 1}], [b"1"]], ids=["date", "list", "struct", "bytes"]
)
def test_a_parquet_column_of_another_kind_is_refused_by_its_type(tmp_path, column):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"p": column, "q": ["A"]}).write_parquet(path)
    with pytest.raises(DataError, match=r"column 'p' does not hold names\.\nHint: "):
        read_columns(path, ["p"], [])
    if not isinstance(column[0], bytes):  # which may name persons
        with pytest.raises(DataError, match=r"column 'p' does not hold names\.\nHint: "):
            read_columns(path, ["q"], [], groups="p")
    with pytest.raises(DataError, match=r"column 'p' does not hold numbers\.\nHint: "):
        read_columns(path, ["q"], ["p"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_and_groups_are_read_beside_names(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    frame = pl.DataFrame({"who": ["p1", None, "7.0"], "p": ["A", "B", "C"], "x": [1.5, None, 3.0], "t": [" 2 ", "b", "4"]})
    (frame.write_parquet if kind == "parquet" else frame.write_csv)(path)
    read = read_columns(path, ["p"], ["x", "t"], groups="who")
    assert read.names.to_dict(as_series=False) == {"p": ["A", "B", "C"]}
    assert read.numbers.to_dict(as_series=False) == {"x": [1.5, None, 3.0], "t": [2.0, None, 4.0]}
    assert read.groups.to_list() == ["p1", None, "7.0"]  # as fit reads them
    both = read_columns(path, ["who"], [], groups="who")
    assert both.names["who"].to_list() == ["p1", None, "7"]
    assert both.groups.to_list() == ["p1", None, "7.0"]
    assert read_columns(path, ["p"], []).groups is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_secret_header_is_not_repeated(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    frame = pl.DataFrame({"Main St": ["A"], "ann": ["B"]})
    (frame.write_parquet if kind == "parquet" else frame.write_csv)(path)
    with pytest.raises(DataError, match=r"no column 'p'\.\nHint: it has 'Main St', 'ann'\."):
        read_columns(path, ["p"], [])
    with pytest.raises(DataError, match=r"no column 'p'\.\nHint: its first line must name") as caught:
        read_columns(path, ["p"], [], header_is_secret=True)
    assert "Main St" not in str(caught.value)
    assert "'ann'" not in str(caught.value)
    with pytest.raises(DataError, match="no column 'who'"):
        read_columns(path, ["ann"], [], groups="who", header_is_secret=True)
