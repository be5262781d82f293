"""CSV files with other separators and encodings; a file with another one is told so from its header, and nothing else is said."""

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.messy import made, schema
from spinney import DataError, ParameterError, PrivateKMeans, read_release, scan
from spinney.cli.main import main
from spinney.spaces.units import schema_of
from spinney.tables.batches import opened
from spinney.tables.files import read_table
from spinney.tables.line import line_as_read
from spinney.tables.records import COMMAS, SEPARATORS, Csv

MESSY = schema_of(schema(), None, "here")
NAMES = list(MESSY.names)
TABLE = made(300, seed=2, wrong=0.1)
SECRET = "secret-4711"


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    path = tmp_path_factory.mktemp("known") / "rows.csv"
    TABLE.messy.write_csv(path)
    return read_table(path, NAMES, schema=MESSY).nonprivate_rows


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "iso8859-15", "utf-16"])
@pytest.mark.parametrize("quotes", ["necessary", "always"])
@pytest.mark.parametrize("name", SEPARATORS)
def test_a_file_says_the_same_in_every_way_of_writing_it(name, quotes, encoding, known, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(TABLE.messy.write_csv(separator=SEPARATORS[name], quote_style=quotes).encode(encoding))
    written = Csv.of(name, encoding, True, "here")
    assert np.array_equal(read_table(path, NAMES, schema=MESSY, written=written).nonprivate_rows, known, equal_nan=True)
    streamed = scan(path, separator=SEPARATORS[name], encoding=encoding).declared(NAMES, MESSY)
    assert np.array_equal(np.concatenate(list(streamed.read())), known, equal_nan=True)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_letters_of_several_bytes_and_quoted_lines_may_lie_across_blocks(block, known, tmp_path, monkeypatch):
    monkeypatch.setattr("spinney.tables.records.BLOCK", block)
    path = tmp_path / "rows.csv"
    path.write_bytes(TABLE.messy[:40].write_csv(quote_style="always").encode("utf-16"))
    found = read_table(path, NAMES, schema=MESSY, written=Csv.of("comma", "utf-16", True, "here")).nonprivate_rows
    assert np.array_equal(found, known[:40], equal_nan=True)


def test_a_scan_is_fitted_with_a_schema(tmp_path):
    path = tmp_path / "rows.csv"
    TABLE.messy.write_csv(path, separator=";")
    model = PrivateKMeans(2, epsilon=float("inf"), bounds=schema(), scale="bounds").fit(scan(path, separator="semicolon"))
    assert model.cluster_sizes_.sum() == TABLE.lawful.sum()


@pytest.mark.parametrize("name", ["semicolon", "tab", "pipe"])
def test_a_file_with_another_separator_is_told_so_from_its_header_alone(name, tmp_path):
    path = tmp_path / "rows.csv"
    mark = SEPARATORS[name]
    path.write_text(f"age{mark}cost, net{mark}ward\n1{mark}2{mark}{SECRET}\n")
    with pytest.raises(DataError, match=f"has a {name} between its cells(.|\\n)*separator='{name}'") as caught:
        opened(path, ["age", "ward"])
    assert SECRET not in str(caught.value)
    assert "net" not in str(caught.value)
    assert opened(path, ["age", "ward"], written=Csv.of(name, "utf-8", True, "here")).columns == ("age", "ward")


def test_a_line_of_cells_where_names_should_be_is_not_quoted(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"{SECRET};north;5\n")
    for columns in (["age"], None):
        with pytest.raises(DataError) as caught:
            opened(path, columns)
        assert SECRET not in str(caught.value)
        assert "north" not in str(caught.value)


def test_an_open_quote_hides_no_lines_where_quotes_are_letters(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('a,pipe\n1,"5\n' + "2,3\n" * 40)
    (tmp_path / "schema.toml").write_text("a = [0, 9]\n")
    typed = [
        "fit", path, "--schema", tmp_path / "schema.toml", "--k", 1, "--epsilon", 50, "--force", "--out", tmp_path / "r.json",
    ]  # fmt: skip
    for quotes, rows in ((True, 1), (False, 41)):
        assert sum(map(len, scan(path, ["a"], quotes=quotes).read())) == rows
        assert CliRunner().invoke(main, [*map(str, typed), *([] if quotes else ["--no-quotes"])]).exit_code == 0
        assert abs(read_release(tmp_path / "r.json").sizes.sum() - rows) < 10


@pytest.mark.parametrize(
    "given", [{"separator": "x"}, {"separator": ""}, {"encoding": "no such"}, {"encoding": "base64"}, {"quotes": "no"}]
)
def test_what_is_no_separator_or_encoding_is_refused(given, tmp_path):
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(ParameterError, match=f"'{next(iter(given))}' parameter of scan must be"):
        scan(tmp_path / "rows.csv", **given)


def test_a_made_up_line_shows_how_a_schema_reads_it():
    facts = {"cost": {"bounds": (0, 9), "formats": ["1.234,5"], "missing": [-1], "fill": 5}, "ward": ["north", "south"]}
    facts |= {"day": {"dates": ("2020-01-01", "2021-01-01"), "formats": ["DD.MM.YYYY"]}, "ill": bool}
    semicolons = Csv(";")
    assert line_as_read(facts, "1.234,5;north;1.2.2020;yes", semicolons, "here") == [
        "cost  1,234.5, moved to the bound 9", "ward  north", "day   2020-02-01", "ill   true",
    ]  # fmt: skip
    assert line_as_read(facts, "-1;nroth;2.1.2021;maybe", semicolons, "here") == [
        "cost  missing: read as 5", "ward  missing: the row is left out", "day   2021-01-02, moved to the bound 2021-01-01",
        "ill   missing: the row is left out",
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="has 1 cells, and the schema 4 columns"):
        line_as_read(facts, "-1;north;x;y", COMMAS, "here")


def test_the_command_line_takes_separators_and_tries_a_schema(tmp_path):
    TABLE.messy.write_csv(tmp_path / "rows.csv", separator=";")
    (tmp_path / "schema.toml").write_text(
        '[ward]\ncategories = ["north", "south", "west"]\naliases = {north = ["N"]}\nignore_case = true\n[x0]\nbounds = [0, 9]\n'
    )

    def run(*typed):
        return CliRunner().invoke(main, [str(one) for one in typed])

    made_up = run("schema", tmp_path / "schema.toml", "--check", "n|5", "--separator", "pipe")
    assert made_up.output == "ward  north\nx0    5\n"
    out = tmp_path / "release.json"
    fit = ("fit", tmp_path / "rows.csv", "--schema", tmp_path / "schema.toml", "--k", 2, "--epsilon", 1, "--scale", "bounds")
    wrong = run(*fit, "--out", out)
    assert "Hint: --separator semicolon." in wrong.stderr
    assert run(*fit, "--out", out, "--separator", "semicolon").exit_code == 0
    labels = run("predict", out, tmp_path / "rows.csv", "--separator", "semicolon")
    assert len(labels.stdout.split()) == 301
    assert '["x0"]' in run("schema", tmp_path / "rows.csv", "--separator", "semicolon").output


def test_half_a_letter_in_a_made_up_line_is_none():
    assert "missing" in line_as_read({"a": ["x", "y"]}, "\ud800", Csv(), "a test")[0]
