"""Schema files on the command line: templates from names alone, fits, plans and labels in the user's own units."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spinney import DataError, PrivateKMeans, Release
from spinney.cli import fitting
from spinney.tables.schema_files import read_schema
from tests.unit.cli.running import refused, run

SCHEMA = """
age = [0, 110]
region = ["north", "south"]

[admitted]
dates = [2020-01-01, 2024-12-31]
unit = 365
source = "the study's protocol"

[income]
bounds = [0, 200000]
unit = 20000
fill = 0
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a table and its schemas."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    kind = rng.random(2_000) < 0.5
    frame = pd.DataFrame(
        {
            "name": "Zoe",
            "age": np.where(kind, 30, 70) + rng.normal(0, 3, 2_000),
            "region": np.where(kind, "north", "south"),
            "admitted": np.where(kind, "2020-06-01", "2024-06-01"),
            "income": np.where(kind, 20_000, 150_000) + rng.normal(0, 5_000, 2_000),
        }
    )
    frame.loc[::30, "income"] = np.nan
    frame.loc[::40, "region"] = "canary"
    frame.to_csv("rows.csv", index=False)
    frame.to_parquet("rows.parquet")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "schema.json").write_text(json.dumps(read_schema(tmp_path / "schema.toml"), default=str))
    (tmp_path / "bounds.json").write_text('{"age": [0, 110], "income": [0, 200000]}')
    return tmp_path


def fit(*arguments):
    return run("fit", *arguments, "--k", "2", "--epsilon", "4", "--out", "release.json", "--force")


@pytest.mark.parametrize(("table", "schema"), [("rows.csv", "schema.toml"), ("rows.parquet", "schema.json")])
def test_a_schema_file_fits_shows_and_labels_in_the_users_units(folder, table, schema):
    result = fit(table, "--schema", schema)
    assert result.exit_code == 0, result.output
    assert "canary" not in result.output
    release = Release.from_json("release.json")
    assert release.feature_names == ("age", "region=north", "region=south", "admitted", "income")
    young, old = release.centers[release.centers[:, 0].argsort()]
    assert abs(young[0] - 30) < 10
    assert abs(old[4] - 150_000) < 40_000
    page = run("show", "release.json").output
    assert "the study's protocol" in page
    assert "2024-0" in page
    assert "%" in page
    assert run("report", "release.json", "--out", "report.html").exit_code == 0
    assert "2024-0" in (folder / "report.html").read_text()
    result = run("predict", "release.json", table)
    labels = [int(line) for line in result.stdout.split()[1:]]
    assert labels == PrivateKMeans.from_release("release.json").predict(pd.read_csv("rows.csv")).tolist()
    assert run("verify", "release.json").exit_code == 0


def test_a_template_is_made_of_names_alone(folder):
    first = run("schema", "rows.csv")
    (folder / "rows.csv").write_text("name,age,region,admitted,income\n")
    assert run("schema", "rows.csv").output == first.output
    assert '["age"]' in first.output
    assert run("schema", "rows.parquet", "--out", "new.json").exit_code == 0
    assert list(json.loads((folder / "new.json").read_text())) == ["name", "age", "region", "admitted", "income"]
    for name in ("again.json", "new.toml"):
        assert run("schema", "rows.csv", "--out", name).exit_code == 0
        result = fit("rows.csv", "--schema", name)
        assert result.exit_code == 3
        assert f"{name}: nothing is filled in for column 'name'." in result.output
    (folder / "odd.csv").write_text('"a""b","c]d",é,=x\n')
    assert run("schema", "odd.csv", "--out", "odd.toml").exit_code == 0
    filled = (folder / "odd.toml").read_text().replace("bounds = []", "bounds = [0, 1]")
    (folder / "odd.toml").write_text(filled)
    assert list(read_schema(folder / "odd.toml")) == ['a"b', "c]d", "é", "=x"]


def test_a_schema_that_is_there_is_not_written_over(folder):
    (folder / "rows.csv").write_text("age\n1\n")
    (folder / "facts.toml").write_text("filled in")
    refused(run("schema", "rows.csv", "--out", "facts.toml"), 2, "is there already")
    assert (folder / "facts.toml").read_text() == "filled in"


def test_kinds_are_told_as_declared_before_anything_is_charged(folder, monkeypatch):
    """A CSV file states no types, and those of Parquet do not tell all: the schema alone is repeated."""
    (folder / "texts.json").write_text('{"name": [0, 1], "age": [0, 110]}')
    told = "Read as declared: 'name', 'age' as numbers. A cell of another kind is missing."
    wrong = fit("rows.csv", "--schema", "texts.json")
    assert told in wrong.stderr
    (folder / "rows.csv").write_text("name,age\n0.5,44\n")
    assert told in fit("rows.csv", "--schema", "texts.json").stderr
    plan = run("plan", "--k", "2", "--epsilon", "1", "--schema", "schema.toml", "--n-guess", "2000").output
    assert "2 clusters, 5 columns" in plan
    assert "income +- " in plan
    assert "'age', 'income' as numbers; 'admitted' as dates; 'region' as categories." in plan
    monkeypatch.setattr(fitting, "run", lambda *arguments: 1 / 0)
    assert "as dates" in fit("rows.parquet", "--schema", "schema.toml").stderr


WRONG = {
    "swapped": ('{"age": {"bounds": [110, 0]}}', "the lower bound of 'age' is not below"),
    "unit": ('{"age": {"bounds": [0, 110], "unit": -1}}', "a positive 'unit' for column 'age'. Got a value of type int instead"),
    "key": (
        '{"age": {"bounds": [0, 110], "sorce": "tables"}}',
        "'bounds', with 'fill', 'formats', 'missing', 'signs', 'source', 'unit' at most beside it, for column 'age'. Got a value",
    ),
    "no end": ('{"age": {"bounds": [0, "old"]}}', "for column 'age'. Got a value of type str instead"),
    "empty": ('{"age": {"bounds": [null, null]}}', "nothing is filled in for column 'age'"),
    "nothing": ("{}", "does not hold bounds"),
    "unknown": ('{"where": [0, 1]}', "has no column 'where'"),
    "text": ('{"region": [0, 1]}', "column 'region' does not hold numbers"),
}


@pytest.mark.parametrize(("content", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_schema_file_is_one_line_that_says_what_to_type(folder, content, message):
    (folder / "wrong.json").write_text(content)
    refused(fit("rows.parquet", "--schema", "wrong.json"), 3, message)
    assert not (folder / "release.json").exists()


TOLD = {
    "unit": ("[age]\nbounds = [0, 110]\nunit = -1", "a positive 'unit' for column 'age'. Got -1 instead"),
    "key": ("[age]\nbounds = [0, 110]\nunits = 10", "for column 'age'. Got 'units' instead"),
    "format": ('[day]\ndates = [2020-01-01, 2021-01-01]\nformats = ["TT.MM.JJJJ"]', "for column 'day'. Got 'TT.MM.JJJJ' instead"),
    "days": (
        '[day]\ndates = ["01.01.2021", "31.12.2024"]',
        "such as 2021-01-31, the lower first, for column 'day'. Got '01.01.2021'",
    ),
    "alias": ('[a]\ncategories = ["x", "y"]\naliases = {z = ["1"]}', "of its categories alone for column 'a'. Got 'z' instead"),
    "twice": ('[a]\ncategories = ["x", "y"]\naliases = {x = ["y"]}', "for column 'a'. Got 'y' twice instead"),
    "line": ("[age]\nbounds = [0 110]", "wrong.toml is no TOML: line 2 cannot be read"),
}


@pytest.mark.parametrize(("content", "message"), TOLD.values(), ids=TOLD)
def test_a_schema_in_toml_which_no_table_is_in_is_told_what_is_wrong_in_it(folder, content, message):
    (folder / "wrong.toml").write_text(content)
    refused(fit("rows.parquet", "--schema", "wrong.toml"), 3, message)


#: What may stand in a file that is no schema but a table: texts and numbers of persons, by columns or by rows.
CELLS = st.sampled_from(["Zoe", "Zoe Miller", "2020-Zoe", "731905", 731905, -731905, 7319.05, 1e-300, 731905e300, None, True, ""])
WORDS = ["bounds", "dates", "categories", "boolean", "unit", "weight", "fill", "source", "epoch", "Zoe", "731905"]
TABLES = st.recursive(
    CELLS | st.just([0, 731905]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    facts=st.dictionaries(st.sampled_from(["age", "region"]), TABLES, min_size=1),
)
def test_a_table_in_place_of_a_schema_is_not_quoted(facts, tmp_path):
    path = tmp_path / "table.json"
    path.write_text(json.dumps(facts))
    try:
        read_schema(path)
    except DataError as error:
        told = str(error) + str(error.__cause__) + str(error.__context__)
        assert "Zoe" not in told
        assert not re.search("7319|1e-300", told)
