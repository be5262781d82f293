"""Messy cells: notations, signs, aliases and codes, each cell alone, alike everywhere; what could be two things is refused."""

import math
from datetime import date

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.messy import made, schema
from spinney import ParameterError, PrivateKMeans, Release, fit
from spinney.spaces.column_facts import as_typed, column_of, record_of
from spinney.spaces.units import schema_of
from spinney.tables.encoding import coded_cells, codes
from spinney.tables.files import opened, read_table
from spinney.tables.sources import read_source
from spinney.verification import verify

NAN = math.nan
MESSY = schema_of(schema(), None, "here")
NAMES = list(MESSY.names)


def read(cells, **facts):
    """Return cells of text as numbers."""
    return codes(pl.Series(cells, dtype=pl.String), column_of("x", facts, "here")).to_numpy()


def containers(frame, folder):
    """Yield a table of texts in every container, by its name."""
    yield "polars", frame
    yield "lazy", frame.lazy()
    yield "pandas", frame.to_pandas()
    yield "categorical", frame.to_pandas().astype("category")
    yield "arrow", frame.with_columns(pl.col("^x.$").cast(pl.Float64)).to_arrow()
    frame.write_csv(folder / "rows.csv")
    yield "csv", folder / "rows.csv"
    frame.write_csv(folder / "quoted.csv", quote_style="always")
    yield "quoted csv", folder / "quoted.csv"
    frame.with_columns(pl.col("^x.$").cast(pl.Float64)).write_parquet(folder / "rows.parquet")
    yield "parquet", folder / "rows.parquet"


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_a_messy_table_is_read_alike_in_every_container_and_as_its_truth(wrong, tmp_path):
    table = made(2_000, seed=1, wrong=wrong)
    for name, source in containers(table.messy, tmp_path):
        cells = np.asarray(read_source(source, MESSY.names, schema=MESSY).nonprivate_rows, dtype=float)
        known = np.column_stack([column.known(cells[:, i]) for i, column in enumerate(MESSY.columns)])
        assert np.array_equal(known, table.truth, equal_nan=True), name
    streamed = np.concatenate(list(opened(tmp_path / "rows.csv", NAMES, schema=MESSY).read()))
    assert np.array_equal(streamed, read_table(tmp_path / "quoted.csv", NAMES, schema=MESSY).nonprivate_rows, equal_nan=True)


def test_without_noise_sizes_count_the_rows_that_follow_the_schema(tmp_path):
    for seed in range(3):
        table = made(3_000, seed=seed, wrong=0.15)
        for source in (table.messy, containers_csv := tmp_path / f"{seed}.csv"):
            table.messy.write_csv(containers_csv)
            found = fit(source, 3, epsilon=math.inf, bounds=schema(), scale="bounds", random_state=0)
            assert found.sizes.sum() == table.lawful.sum()
    assert 0 < table.lawful.sum() < 3_000


def test_a_release_says_how_cells_were_read_and_reads_others_so(tmp_path):
    table = made(3_000, seed=4)
    model = PrivateKMeans(2, epsilon=1.0, bounds=schema(), scale="bounds").fit(table.messy)
    model.release_.to_json(tmp_path / "release.json")
    assert verify(tmp_path / "release.json").holds
    again = Release.from_json(tmp_path / "release.json")
    assert {column.name: column.aliases for column in again.facts.columns}["ward"] == MESSY.columns[-1].aliases
    labels = PrivateKMeans.from_release(again).predict(table.messy)
    assert np.array_equal(labels, model.predict(table.messy))
    clean = model.predict(table.messy.with_columns(pl.col("ward").str.strip_chars().str.to_uppercase()))
    assert np.array_equal(labels, clean)


@pytest.mark.parametrize(
    ("formats", "cells", "numbers"),
    [
        (["1,234.5"], ["1,234.50", "1234.5", "-12", "+1,234,567", ".5", "1,23", "1,2345", "1.234,5", "", "1e3"],
         [1234.5, 1234.5, -12, 1234567, 0.5, NAN, NAN, NAN, NAN, NAN]),
        (["1.234,5"], ["1.234,50", "1234,5", "1.234", "12.5", "1.000", "5", ",5"], [1234.5, 1234.5, 1234, NAN, 1000, 5, 0.5]),
        (["1 234,5"], ["1 234,5", "1\u00a0234,5", "1\u202f234", "1 23"], [1234.5, 1234.5, 1234, NAN]),
        (["1'234.5"], ["1'234.5", "1\u2019234.5", "1234.5", "1'23"], [1234.5, 1234.5, 1234.5, NAN]),
        (["1234,5"], ["1234,5", "1234", "1.5", "1e3"], [1234.5, 1234, NAN, NAN]),
        (["1234.5"], ["1234.5", "1e3", "inf", "1,5"], [1234.5, 1000, math.inf, NAN]),
        (["1,234.5", "1.234,5"], ["1,234", "1.234", "1.234,5", "12.5", "12,5"], [1234, 1.234, 1234.5, 12.5, 12.5]),
        (["1.234,5", "1234.5"], ["1,234", "1.234", "1234.5", "1e3"], [1.234, 1234, 1234.5, 1000]),
    ],
)  # fmt: skip
def test_the_first_notation_of_numbers_that_fits_wins(formats, cells, numbers):
    assert np.array_equal(read(cells, bounds=(0, 1), formats=formats), numbers, equal_nan=True)


@pytest.mark.parametrize(
    ("formats", "cells", "days"),
    [
        (["DD.MM.YYYY"], ["26.06.2022", "6.6.2022", "26.06.2022 10:15", "31.02.2022", "06/26/2022", "2022-06-26", "26.06.22"],
         ["2022-06-26", "2022-06-06", "2022-06-26", None, None, "2022-06-26", None]),
        (["DD/MM/YYYY", "MM/DD/YYYY"], ["03/04/2022", "13/04/2022", "04/13/2022"], ["2022-04-03", "2022-04-13", "2022-04-13"]),
        (["DDMMMYYYY"], ["26JUN2022", "26jun2022", "6JUN2022", "26XXX2022"], ["2022-06-26", "2022-06-26", None, None]),
        (["YYYYMMDD"], ["20220626", "2022626", "20220626T10"], ["2022-06-26", None, "2022-06-26"]),
        (["DD.MM.YY"], ["26.06.22", "26.06.69", "26.06.70"], ["2022-06-26", "2069-06-26", "1970-06-26"]),
        (["DD MMM YYYY"], ["6 Jun 2022", "06 JUN 2022 10:15"], ["2022-06-06", "2022-06-06"]),
    ],
)  # fmt: skip
def test_the_first_notation_of_dates_that_fits_wins(formats, cells, days):
    wanted = [NAN if day is None else (date.fromisoformat(day) - date(1970, 1, 1)).days for day in days]
    assert np.array_equal(read(cells, dates=["2020-01-01", "2023-01-01"], formats=formats), wanted, equal_nan=True)


def test_signs_stand_beside_a_number():
    cells = ["\N{EURO SIGN} 5", "5 EUR", "5EUR", "-\N{EURO SIGN}5", "\N{EURO SIGN}-5", "EUR 5 kg", "$5", "EUR", "5 EU", "E5"]
    found = read(cells, bounds=(0, 1), signs=["\N{EURO SIGN}", "EUR"])
    assert np.array_equal(found, [5, 5, 5, -5, -5, NAN, NAN, NAN, NAN, NAN], equal_nan=True)


@pytest.mark.parametrize("signs", [["EUR", "kg"], ["kg", "EUR"], ["g", "kg", "EUR", "e", "per kg"]])
def test_one_sign_before_and_one_behind_in_whatever_order_they_are_declared(signs):
    cells = [
        "EUR 5 kg", "kg5EUR", "EUR5EUR", "-EUR 5 kg", "5\u00a0EUR", "5 EUR kg", "5 kg EUR", "kg EUR 5", "EUREUR5", "5 kgkg",
        "1e1",
    ]  # fmt: skip
    wanted = [5, 5, 5, -5, 5, NAN, NAN, NAN, NAN, NAN]
    assert np.array_equal(read(cells, bounds=(0, 1), signs=signs), [*wanted, 10], equal_nan=True)
    assert np.array_equal(read(cells, bounds=(0, 1), signs=signs, formats=["1.234,5"]), [*wanted, NAN], equal_nan=True)


def test_what_a_type_says_to_be_a_number_is_one():
    column = column_of("x", {"bounds": (0, 9), "formats": ["1.234,5"]}, "here")
    assert np.array_equal(
        coded_cells(["1.234", 1.234, "x", None, True, b"5"], column), [1234, 1.234, NAN, NAN, 1, NAN], equal_nan=True
    )


def test_codes_are_missing_and_filled_in():
    filled = schema_of(
        {"x": {"bounds": (0, 9), "missing": [999, -1], "fill": 4}, "y": {"bounds": (0, 9), "missing": [99]}}, None, "a"
    )
    assert np.array_equal(filled.encode(np.array([[999.0, 5], [-1, 99], [8, NAN]])), [[4, 5], [4, NAN], [8, NAN]], equal_nan=True)


@given(st.lists(st.text("0123456789.,'+-e \u00a0\u20ac$ABCJUNT/", max_size=12) | st.text(max_size=6), max_size=6))
def test_how_a_messy_cell_is_read_depends_on_that_cell_alone(cells):
    cells = [cell.encode("utf-8", "replace").decode().replace("\r", " ").strip() or None for cell in cells]
    for facts in (
        {"bounds": (0, 9), "formats": ["1,234.5", "1 234,5", "1234.5"], "signs": ["\N{EURO SIGN}", "$"]},
        {"dates": ["2020-01-01", "2021-01-01"], "formats": ["DD.MM.YYYY", "MM/DD/YY", "DDMMMYYYY"]},
        {"categories": ["a", "b"], "aliases": {"a": ["A.", "1"]}, "ignore_case": True},
        {"boolean": True, "aliases": {"false": ["N"]}},
    ):
        alone = [read([cell], **facts)[0] for cell in cells]
        assert np.array_equal(read(cells, **facts), np.array(alone, dtype=float), equal_nan=True)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"categories": ["a", "b"], "aliases": {"a": ["b"]}}, "all different"),
        ({"categories": ["a", "b"], "aliases": {"a": ["x"], "b": [" x "]}}, "all different"),
        ({"categories": ["a", "A"], "ignore_case": True}, "letters being read alike"),
        ({"categories": ["a", "b"], "aliases": {"a": ["B"]}, "ignore_case": True}, "letters being read alike"),
        ({"categories": ["a", "b"], "aliases": {"c": ["x"]}}, "'aliases' of its categories alone"),
        ({"categories": ["a", "b"], "aliases": {"a": []}}, "lists of other texts"),
        ({"categories": ["a", "b"], "aliases": ["x"]}, "lists of other texts"),
        ({"categories": ["a", "b"], "ignore_case": "yes"}, "true or false"),
        ({"categories": ["a", "b"], "missing": [9]}, "at most beside it"),
        ({"boolean": True, "aliases": {"true": ["NO"]}}, "all different"),
        ({"boolean": True, "aliases": {"maybe": ["x"]}}, "true and false alone"),
        ({"bounds": (0, 9), "formats": ["1.234.5"]}, "examples of how numbers are written"),
        ({"bounds": (0, 9), "formats": ["DD.MM.YYYY"]}, "examples of how numbers are written"),
        ({"bounds": (0, 9), "formats": "1,234.5"}, "examples of how numbers are written"),
        ({"bounds": (0, 9), "formats": ["1,234.5", "1,234.5"]}, "one twice"),
        ({"bounds": (0, 9), "signs": ["1"]}, "without digits"),
        ({"bounds": (0, 9), "signs": [" EUR"]}, "without digits"),
        ({"bounds": (0, 9), "missing": ["n/a"]}, "numbers such as"),
        ({"bounds": (0, 9), "missing": []}, "numbers such as"),
        ({"dates": ["2020-01-01", "2021-01-01"], "formats": ["YYYY-DD-MM"]}, "YYYY-MM-DD is always read"),
        ({"dates": ["2020-01-01", "2021-01-01"], "formats": ["DD.MM"]}, "YYYY-MM-DD is always read"),
        ({"dates": ["2020-01-01", "2021-01-01"], "formats": ["DD.DD.YYYY"]}, "YYYY-MM-DD is always read"),
        ({"dates": ["2020-01-01", "2021-01-01"], "missing": [9]}, "dates such as"),
    ],
)  # fmt: skip
def test_facts_that_could_be_two_things_or_none_are_refused_from_the_schema(facts, said):
    with pytest.raises(ParameterError, match=f"'bounds' parameter of PrivateKMeans must be .*{said}"):
        PrivateKMeans(2, epsilon=1.0, bounds={"x": facts, "y": (0, 1)}).fit(pl.DataFrame({"x": ["a"], "y": [1.0]}))


@pytest.mark.parametrize("name", ["cost", "dose", "day", "ward"])
def test_a_column_that_was_written_is_read_as_it_was(name):
    column = MESSY.columns[NAMES.index(name)]
    again = column_of(name, as_typed(record_of(column)), "a release")
    assert [getattr(again, fact) for fact in ("formats", "signs", "missing", "aliases", "ignore_case")] == [
        getattr(column, fact) for fact in ("formats", "signs", "missing", "aliases", "ignore_case")
    ]


def test_a_text_column_is_numbers_only_where_a_notation_was_declared():
    table = pa.table({"x": ["1,5"], "y": [1.0]})
    both = {"y": (0, 9)}
    said = schema_of({"x": {"bounds": (0, 9), "formats": ["1.234,5"]}, **both}, None, "a")
    assert read_source(table, said.names, schema=said).nonprivate_rows.tolist() == [[1.5, 1.0]]
    with pytest.raises(ParameterError, match="must hold numbers"):
        read_source(table, ("x", "y"), schema=schema_of({"x": {"bounds": (0, 9), "unit": 2}, **both}, None, "a"))


def test_notations_may_be_typed_in_small_letters_and_with_more_decimals():
    days = {"dates": ("2020-01-01", "2021-01-01"), "formats": ["dd.mm.yyyy", "DD.MM.YYYY"]}
    for facts, kept in (({"bounds": (0, 9999), "formats": ["1,234.56", "1,234.5"]}, "1,234.5"), (days, "DD.MM.YYYY")):
        assert column_of("x", facts, "here").formats == (kept,)
