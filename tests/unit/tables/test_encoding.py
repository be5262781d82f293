"""Categories, truth values and dates as numbers: each cell alone, wherever it stands, and nothing said about any."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from spinney.exceptions import DataError, ParameterError
from spinney.spaces.column_facts import column_of
from spinney.spaces.units import schema_of
from spinney.tables.encoding import DAY_STEPS, cell_names, codes
from spinney.tables.files import opened, read_table
from spinney.tables.sources import read_source

SCHEMA = schema_of(
    {
        "age": (0, 110),
        "region": ["north", "south", "12"],
        "day": {"dates": ["2020-01-01", "2020-12-31"], "epoch": "2020-01-01"},
        "smoker": bool,
    },
    "bounds",
    "here",
)
NAN = np.nan
#: Texts as a file has them, and what they are read as.
CELLS = [
    (("5", "north", "2020-01-03", "true"), (5, 0, 2, 1)),
    (("6.5", " south ", "2020-01-03 12:30", "FALSE"), (6.5, 1, 2, 0)),
    (("7", "12.0", "2020-01-04T00:00:00Z", "1"), (7, 2, 3, 1)),
    (("8", "12", "2019-12-31", "0"), (8, 2, -1, 0)),
    (("9", "North", "2020-02-30", "Yes"), (9, NAN, NAN, 1)),
    (("", "", "", ""), (NAN, NAN, NAN, NAN)),
    (("old", "012", "20200103", "y"), (NAN, NAN, NAN, NAN)),
    (("1e3", "east", "2020-01-033", "no"), (1000, NAN, NAN, 0)),
]
TEXTS, EXPECTED = [cells for cells, _ in CELLS], np.array([numbers for _, numbers in CELLS], dtype=float)
NAMES = list(SCHEMA.names)


def same(found, expected=EXPECTED):
    return np.array_equal(np.asarray(found, dtype=float), expected, equal_nan=True)


def test_a_cell_is_read_alike_wherever_it_stands(tmp_path):
    frame = pd.DataFrame(TEXTS, columns=NAMES)
    (tmp_path / "rows.csv").write_text("\n".join([",".join(NAMES), *(",".join(row) for row in TEXTS)]) + "\n")
    (tmp_path / "quoted.csv").write_text("\n".join([",".join(NAMES), *(",".join(f'"{c}"' for c in row) for row in TEXTS)]) + "\n")
    table = pa.table({"age": EXPECTED[:, 0], **{name: list(frame[name]) for name in NAMES[1:]}})
    pl.from_arrow(table).write_parquet(tmp_path / "rows.parquet")
    for source in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), table, frame.astype("category")):
        assert same(read_source(source, SCHEMA.names, schema=SCHEMA).nonprivate_rows)
    for name in ("rows.csv", "quoted.csv", "rows.parquet"):
        assert same(read_table(tmp_path / name, NAMES, schema=SCHEMA).nonprivate_rows)
        assert same(np.concatenate(list(opened(tmp_path / name, NAMES, schema=SCHEMA).read())))


def test_cells_of_other_types_say_the_same(tmp_path):
    region, smoker = [12, 12.0, "north", None, NAN, object()], [True, 0, 1.0, "true", None, 2]
    days = [dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 23), np.datetime64("2020-01-02"), pd.NaT, 5, "2020-01-02"]
    frame = pd.DataFrame({"age": range(6), "region": region, "day": pd.Series(days, dtype=object), "smoker": smoker})
    expected = [[2, 2, 0, NAN, NAN, NAN], [1, 1, 1, NAN, NAN, 1], [1, 0, 1, 1, NAN, NAN]]
    found = read_source(frame, SCHEMA.names, schema=SCHEMA).nonprivate_rows
    assert same(found, np.array([range(6), *expected], dtype=float).T)
    typed = pl.DataFrame(
        {"age": [1, 2], "region": [12, 13], "day": [dt.date(2020, 1, 2), None], "smoker": [True, False]}
    ).with_columns(pl.col("day").cast(pl.Datetime))
    typed.write_parquet(tmp_path / "typed.parquet")
    wanted = np.array([[1, 2, 1, 1], [2, NAN, NAN, 0]])
    for source in (typed, typed.to_arrow(), typed.to_pandas(), tmp_path / "typed.parquet"):
        assert same(read_source(source, SCHEMA.names, schema=SCHEMA).nonprivate_rows, wanted)


def test_own_numbers_over_units_and_cells_filled_in():
    schema = schema_of(
        {"age": {"bounds": (0, 9), "fill": 4}, "region": {"categories": ["a", "b"], "weight": 2, "fill": "b"}, "x": ["u", "v"]},
        None, "here",
    )  # fmt: skip
    root = np.sqrt(2)
    found = schema.encode(np.array([[5.0, 0, 1], [NAN, NAN, 0], [np.inf, 1, NAN]]))
    assert np.allclose(found[:2], [[5, root, 0, 0, 1 / root], [4, 0, root, 1 / root, 0]])
    assert np.isnan(found[2]).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("name", "kind"), [("region", pa.list_(pa.string())), ("day", pa.int64()), ("smoker", pa.duration("s")), ("age", pa.string())]
)
def test_a_declared_type_that_cannot_hold_such_cells_is_refused(name, kind, tmp_path):
    types = {"age": pa.float64(), "region": pa.string(), "day": pa.string(), "smoker": pa.bool_()} | {name: kind}
    table = pa.schema(list(types.items())).empty_table()
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    for source in (table, tmp_path / "rows.parquet"):
        with pytest.raises((DataError, ParameterError), match=f"(?s){name}.*Hint: "):
            read_source(source, SCHEMA.names, schema=SCHEMA)


@given(st.lists(st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.dates(), st.datetimes(), st.binary(max_size=5),
    st.sampled_from(["a", " b", "\ud800", "true", "2020-01-01", "2020-01-01T", "1", 1, 1.0]),
), max_size=8))  # fmt: skip
def test_how_a_cell_is_read_depends_on_that_cell_alone(cells):
    for given_facts in (["a", "b", "1"], {"dates": ["2020-01-01", "2021-01-01"]}, bool):
        column = column_of("x", given_facts, "here")
        together = codes(cell_names(cells), column).to_list()
        assert together == [codes(cell_names([cell]), column).to_list()[0] for cell in cells]


WHOLE_64 = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 260_000_000_000_000, -70_000_000_000_000])
TIMES = st.sampled_from([pl.Date, pl.Duration("ms")]) | st.builds(
    pl.Datetime, st.sampled_from(["ms", "us", "ns"]), st.sampled_from([None, "UTC", "America/New_York", "Pacific/Apia"])
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TIMES, WHOLE_64, st.sampled_from(["region", "day", "smoker"]))
def test_a_time_that_python_cannot_hold_is_missing_and_nothing_is_said(tmp_path_factory, capfd, kind, number, name):
    number = number % 2**32 - 2**31 if kind == pl.Date else number
    column = pl.Series(name, [0, number, None], pl.Int64).cast(pl.Int32 if kind == pl.Date else pl.Int64).cast(kind)
    plain = {"age": [5.0] * 3, "region": ["north"] * 3, "day": ["2020-01-03"] * 3, "smoker": [True] * 3}
    frame = pl.DataFrame(plain | {name: column})
    days = 0 if kind == pl.Duration("ms") else number // (DAY_STEPS[kind.time_unit] if kind == pl.Datetime else 1)
    # But for two days at the ends of what Python, or 64 bits of nanoseconds, hold: a zone may lead out of them.
    assume(min(abs(days + 719_162), abs(days - 2_932_896), abs(days + 106_751), abs(days - 106_751)) > 2)
    sources = [frame, frame.lazy(), frame.to_pandas(use_pyarrow_extension_array=True)]
    if not isinstance(kind, pl.Duration):  # its type is refused where it is declared
        path = tmp_path_factory.mktemp("times") / "rows.parquet"
        frame.write_parquet(path)
        sources += [frame.to_arrow(), path] if name != "smoker" else []
    rows = [np.asarray(read_source(source, SCHEMA.names, schema=SCHEMA).nonprivate_rows) for source in sources]
    assert all(np.array_equal(rows[0], other, equal_nan=True) for other in rows[1:])
    assert np.isnan(rows[0][2]).any()
    assert capfd.readouterr() == ("", "")  # polars writes of a panic to the screen
