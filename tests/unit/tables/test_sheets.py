"""Tables of Excel: the same rows as from CSV, whatever stands in a cell; and what cannot be read names a converter."""

import warnings
from datetime import date, datetime, time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import DataError, PrivateKMeans, scan
from spinney.spaces.units import schema_of
from spinney.tables import sheets
from spinney.tables.files import read_table
from spinney.tables.schema import CONVERTERS
from spinney.tables.schema_files import table_columns

openpyxl = pytest.importorskip("openpyxl")

FACTS = {
    "age": (0, 110),
    "cost": {"bounds": (0, 5_000), "formats": ["1,234.5"], "signs": ["EUR"], "missing": [-1]},
    "day": {"dates": ("2022-01-01", "2024-12-31"), "formats": ["DD.MM.YYYY"]},
    "ward": {"categories": ["north", "south", "7"], "aliases": {"north": ["N"]}, "ignore_case": True},
}
SCHEMA = schema_of(FACTS, None, "sheets")
TEXTS = ["", " 45 ", "1,234.50", "1,234.50 EUR", "26.06.2022", "2022-06-26 10:15", " N\n", "SOUTH", "7.0", "#N/A", "=1/0", "n/a"]
PLAIN = st.floats(-1e15, 1e15).map(lambda x: float(f"{x:.15g}")).filter(lambda x: "e" not in str(x))
NUMBERS = st.one_of(st.integers(-(2**53), 2**53), PLAIN)  # as Excel shows them
DAYS = st.one_of(st.dates(date(1901, 1, 1)), st.datetimes(datetime(1901, 1, 1)).map(lambda at: at.replace(microsecond=0)))
CELLS = st.one_of(st.none(), st.sampled_from(TEXTS), NUMBERS, DAYS)


def written(folder, rows, names=(*FACTS, "person")):
    """Return the paths of an Excel file and of its CSV twin."""
    book = openpyxl.Workbook()
    for row in (names, *rows):
        book.active.append(list(row))
    for cells in book.active.iter_rows():
        for cell in cells:
            if isinstance(cell.value, str):  # no formulas
                cell.data_type = "s"
    book.create_sheet("other").append(["nothing"])
    book.save(folder / "t.xlsx")
    quoted = [['"' + ("" if cell is None else str(cell)).replace('"', '""') + '"' for cell in row] for row in (names, *rows)]
    (folder / "t.csv").write_text("\n".join(map(",".join, quoted)) + "\n", encoding="utf-8", newline="")
    return folder / "t.xlsx", folder / "t.csv"


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS, st.sampled_from(["A", "b ", 7, None])), min_size=1, max_size=9))
def test_cells_are_those_of_the_csv_file(rows, tmp_path_factory):
    sheet, text = written(tmp_path_factory.mktemp("sheets"), rows)
    with warnings.catch_warnings(action="error"):
        found, same = (read_table(path, list(FACTS), "person", SCHEMA) for path in (sheet, text))
    np.testing.assert_array_equal(found.nonprivate_rows, same.nonprivate_rows)
    assert found.nonprivate_groups.to_list() == same.nonprivate_groups.to_list()
    parts = scan(sheet, list(FACTS), "person").declared(list(FACTS), SCHEMA)
    np.testing.assert_array_equal(
        np.concatenate(list(parts.read_from(1)) or [same.nonprivate_rows[:0]]), same.nonprivate_rows[1:]
    )


def test_a_release_is_the_one_of_the_csv_file(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (round(age, 3), f"{cost:,.2f} EUR", date(2023, 5, 17), "N", f"p{i % 9}")
        for i, (age, cost) in enumerate(rng.uniform(0, 99, (400, 2)))
    ]
    models = [
        PrivateKMeans(2, epsilon=1.0, bounds=FACTS, scale="bounds", max_rows_per_group=2, random_state=0, noise_seed=0).fit(
            path, groups="person"
        )
        for path in written(tmp_path, rows)
    ]
    assert models[0].cluster_centers_.tobytes() == models[1].cluster_centers_.tobytes()


@pytest.mark.parametrize("number", [1e300, -1.0, -1e300, 2958466.0, 5e-324])
@pytest.mark.parametrize("form", ["yyyy-mm-dd", "[h]:mm", "h:mm"])
def test_no_number_that_is_called_a_day_fails_or_is_repeated(tmp_path, number, form, recwarn):
    book = openpyxl.Workbook()
    book.active.append(["day"])
    book.active.append([date(2022, 1, 2)])
    book.active.append([number])
    book.active.cell(3, 1).number_format = form
    book.active.append([time(1, 2)])
    book.save(tmp_path / "t.xlsx")
    rows = read_table(tmp_path / "t.xlsx", ["day"], schema=schema_of({"day": FACTS["day"]}, None, "sheets")).nonprivate_rows
    assert rows[0, 0] == (date(2022, 1, 2) - date(1970, 1, 1)).days
    assert np.isnan(rows[2, 0])
    assert not recwarn


def test_columns_without_a_name_are_left_out_and_rows_are_no_names(tmp_path):
    sheet, _ = written(tmp_path, [(1, 2, 3), (4, 5, 6, "stray")], names=(None, "a", "b"))
    assert list(scan(sheet).columns) == table_columns(sheet) == ["a", "b"]
    with pytest.raises(DataError, match="no column 'c'") as refused:
        scan(sheet, ["c"])
    assert "'a'" not in str(refused.value)
    for wrong, words in ((("a", 7), "number or a date"), ((date(2022, 1, 2),), "number or a date"), ((), "no columns")):
        with pytest.raises(DataError, match=words) as refused:
            scan(written(tmp_path, [(1, 2)], names=wrong)[0])
        assert "2022" not in str(refused.value)


def test_broken_files_and_those_of_other_programs_are_told(tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"PK canary")
    with pytest.raises(DataError, match="cannot be read") as refused:
        scan(tmp_path / "t.xlsx")
    assert "canary" not in str(refused.value)
    for suffix in CONVERTERS:
        (tmp_path / f"t{suffix}").write_bytes(b"canary")
        with pytest.raises(DataError, match=r"write_parquet|save it as"):
            scan(tmp_path / f"t{suffix}")
    monkeypatch.setattr(sheets, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"spinney-dp\[excel\]"):
        scan(tmp_path / "t.xlsx")
