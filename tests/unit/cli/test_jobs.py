"""What jobs that nobody watches need: options from a file, results as JSON, messages as lines of JSON or none."""

import gzip
import json
from fractions import Fraction

import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from spinney import Ledger, read_release, verify
from spinney.cli.main import main
from tests.unit.cli.running import files, refused, run, seeded

JOB = """
[fit]
table = ["rows.csv"]
k = 2
epsilon = 1.5
schema = "bounds.json"
columns = ["a", "b"]
scale = "bounds"
ledger = "ledger"
out = "release.json"

[plan]
k = 2
epsilon = 1.5
schema = "bounds.json"
ledger = "ledger"

[describe]
release = "release.json"
table = "rows.csv"
schema = "facts.json"
epsilon = 0.5
out = "described.json"

[sites]
points = "places.csv"
demand = "rows.csv"
demand-column = "point"
candidates = ["p,q"]
k = 1
epsilon = 1
power = "2"
out = "sites.json"

[show]
release = "release.json"
curve = true

[verify]
release = "release.json"
ledger = "ledger"

[ledger.open]
path = "ledger"
epsilon = 9

[ledger.show]
path = "ledger"
last = 1
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = {"a": rng.random(300), "b": rng.random(300), "c": rng.random(300), "point": rng.choice(["p", "q"], 300)}
    pl.DataFrame(rows).write_csv("rows.csv")
    (tmp_path / "bounds.json").write_text('{"a": [0, 1], "b": [0, 1]}')
    (tmp_path / "facts.json").write_text('{"c": [0, 1]}')
    (tmp_path / "places.csv").write_text("name,x,y\np,0,0\nq,1,1\n")
    (tmp_path / "job.toml").write_text(JOB)
    Ledger("ledger", 9)
    return tmp_path


def leaves(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


def test_every_command_has_the_options_of_jobs():
    for path, command in leaves(main):
        names = {name for parameter in command.params for name in parameter.opts}
        assert {"--config", "--quiet", "--logs"} <= names, path
    wanted = {"plan", "fit", "sites", "describe", "show", "verify", "ledger open", "ledger show"}
    assert {" ".join(path) for path, command in leaves(main) if any("--json" in one.opts for one in command.params)} == wanted


def test_a_file_of_options_is_as_good_as_typing_them(folder, monkeypatch):
    seeded(monkeypatch)
    assert run("fit", "--config", "job.toml").exit_code == 0
    told = (folder / "release.json").read_text()
    typed = "fit rows.csv --k 2 --epsilon 1.5 --schema bounds.json --columns a,b --scale bounds --ledger ledger --out typed.json"
    assert run(*typed.split()).exit_code == 0
    assert read_release("typed.json").centers.tolist() == json.loads(told)["centers"]
    assert run("fit", "--config", "job.toml", "--out", "other.json", "--epsilon", "0.5").exit_code == 0
    assert read_release("other.json").promised_epsilon == 0.5  # what is typed goes before
    (folder / "flat.toml").write_text(JOB.split("[plan]")[0].replace("[fit]", "").replace("release", "flat"))
    assert run("fit", "--config", "flat.toml").exit_code == 0  # for one command no table is needed
    assert read_release("flat.json").statement == read_release("release.json").statement


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("k = canary-1", 3, "is no TOML"),
        ("\ufffe = 1", 3, "is no TOML"),
        ("[plan]\nk = 2", 2, "no table for this command"),
        ("fit = 3\n[plan]\nk = 2", 2, "no table for this command"),
        ("epsilom = 2", 2, "an option that this command does not have"),
        ("config = 'other.toml'", 2, "an option that this command does not have"),
        ("[fit]\nk = 'canary'\ntable = 'rows.csv'\nepsilon = 1\nout = 'x.json'", 2, "--k"),
    ],
)
def test_files_that_are_wrong_are_refused_in_one_line(folder, content, code, words):
    (folder / "job.toml").write_text(content)
    before = files(folder)
    result = run("fit", "--config", "job.toml")
    assert result.exit_code == code
    assert words in result.stderr
    assert "canary-1" not in result.stderr
    assert files(folder) == before


def test_results_are_json_for_programs(folder, monkeypatch):
    def printed(*command):
        result = run(*command, "--config", "job.toml", "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    plan = printed("plan")
    assert plan["left"] == 7.5
    assert sum(Fraction(charge["amount"]) for charge in plan["charges"]) == Fraction(3, 2)
    fit = printed("fit")
    release = read_release("release.json")
    assert fit["written"] == ["release.json"]
    assert (fit["statement"], fit["digest"]) == (release.statement, release.digest)
    assert (fit["ledger"]["spent"], fit["ledger"]["remaining"]) == (1.5, 7.5)
    assert fit["doubts"] == list(release.doubts.values())
    assert printed("describe")["digest"] == read_release("described.json").digest
    assert printed("describe", "--dry-run")["epsilon"] == 0.5
    assert printed("sites")["statement"] == read_release("sites.json").statement
    assert {charge["question"] for charge in printed("sites", "--plan")["charges"]}
    shown = printed("show")
    assert shown["centers"] == release.centers.tolist()
    assert len(shown["curve"]["costs"]) == len(shown["curve"]["clusters"]) > 1
    checked = printed("verify")
    assert checked["holds"] is True
    assert checked["verdict"] == verify("release.json", ledger="ledger").verdict
    ledger = printed("ledger", "show")
    assert (ledger["n_entries"], len(ledger["entries"]), ledger["spent"]) == (1, 1, 1.5)
    assert printed("ledger", "open")["entries"] == []
    (folder / "release.json").write_text((folder / "release.json").read_text().replace('"epsilon": 1.5', '"epsilon": 1.25'))
    result = run("verify", "release.json", "--json")
    assert (result.exit_code, json.loads(result.stdout)["holds"]) == (1, False)
    result = run("plan", "--k", "2", "--epsilon", "inf", "--n-features", "2", "--json")
    assert json.loads(result.stdout)["epsilon"] == "inf"
    result = run("fit", "--config", "job.toml", "--json", "--out", "-")
    assert json.loads(result.stdout)["format"] == release.format  # the release, and what is said elsewhere
    assert json.loads(result.stderr.splitlines()[-1])["written"] == ["-"]


def test_messages_are_lines_of_json(folder):
    result = run("fit", "--config", "job.toml", "--logs", "json")
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert {frozenset(line) for line in lines} == {frozenset({"kind", "text"})}
    asked = [line["text"] for line in lines if line["kind"] == "question"]
    charges = json.loads((folder / "release.json").read_text())["charges"]
    assert len(asked) >= 3
    assert {text.split(": ")[1] for text in asked} <= {charge["name"] for charge in charges}
    assert any(line["kind"] == "note" and line["text"].startswith("Read as declared") for line in lines)
    result = run("fit", "--config", "job.toml", "--logs", "json")
    (line,) = map(json.loads, result.stderr.splitlines())
    assert (result.exit_code, line["kind"]) == (2, "error")
    assert "release.json is there already" in line["text"]


@pytest.mark.parametrize("logs", ["text", "json"])
def test_quiet_commands_say_errors_alone(folder, logs):
    result = run("fit", "--quiet", "--config", "job.toml", "--logs", logs)
    assert (result.exit_code, result.output) == (0, "")
    result = run("fit", "--logs", logs, "--quiet", "--config", "job.toml")
    if logs == "text":
        refused(result, 2, "release.json is there already")
    else:
        assert json.loads(result.stderr)["kind"] == "error"
    result = run("fit", "--quiet", "--config", "job.toml", "--json", "--force")
    assert json.loads(result.stdout)["written"] == ["release.json"]  # a result is no message
    assert result.stderr == ""
    assert "Read as declared" in run("fit", "--config", "job.toml", "--force").stderr  # the next one speaks


def piped(content, *command):
    return CliRunner().invoke(main, [str(one) for one in command], input=content, catch_exceptions=False)


def test_standard_input_and_stores_are_tables(folder, monkeypatch):
    content = (folder / "rows.csv").read_bytes()
    spool = folder / "spool"
    spool.mkdir()
    fit = ("--k", 2, "--epsilon", 9, "--bounds", 0, 1, "--columns", "a,b", "--force", "--out")
    for name, table in (("typed.json", "rows.csv"), ("piped.json", "-")):
        seeded(monkeypatch)
        result = piped(content, "fit", table, "--spool", spool, *fit, name)
        assert result.exit_code == 0, result.output
        assert files(spool) == []
    assert read_release("piped.json").centers.tolist() == read_release("typed.json").centers.tolist()
    labels = run("predict", "typed.json", "rows.csv").stdout
    assert piped(content, "predict", "typed.json", "-", "--spool", spool).stdout == labels
    facts = ("--schema", "facts.json", "--epsilon", 1, "--force", "--out", "described.json")
    (folder / "bounds.json").write_text('{"a": [0, 1], "b": [0, 1]}')
    run("fit", "rows.csv", "--k", 2, "--epsilon", 9, "--schema", "bounds.json", "--out", "named.json")
    assert piped(content, "describe", "named.json", "-", "--spool", spool, *facts).exit_code == 0
    for command in (
        ("fit", "-", *fit, "x.json"),
        ("fit", "-", "rows.csv", "--spool", spool, *fit, "x.json"),
        ("predict", "typed.json", "-"),
    ):
        refused(piped(content, *command), 2, "Standard input can be read once only")
    stored = "file://{}/{}".format
    (folder / "stays").mkdir()
    for part in range(2):
        pl.read_csv("rows.csv")[150 * part :][:150].write_parquet(f"stays/{part}.parquet")
    (folder / "stays" / "_SUCCESS").touch()
    with gzip.open("rows.csv.gz", "wb") as file:
        file.write(content)
    for number, name in enumerate(("rows.csv.gz", "stays", "stays/0.parquet stays/1.parquet")):
        seeded(monkeypatch)
        tables = [stored(folder, one) for one in name.split()]
        result = run("fit", *tables, "--spool", spool, *fit, f"stored{number}.json")
        assert result.exit_code == 0, result.output
        assert read_release(f"stored{number}.json").centers.tolist() == read_release("typed.json").centers.tolist()
        assert files(spool) == []
    assert run("predict", "typed.json", stored(folder, "rows.csv.gz"), "--spool", spool).stdout == labels
    assert run("describe", "named.json", stored(folder, "rows.csv.gz"), "--spool", spool, *facts).exit_code == 0
    refused(run("predict", "typed.json", stored(folder, "stays"), "--spool", spool), 2, "cannot be labeled at once")
    refused(run("fit", stored(folder, "stays"), *fit, "x.json"), 2, "A table in a store is copied before it is read")
    for canary in (stored(folder, "canary.csv"), "canary://a", "s3://canary:canary@bucket?canary=1"):
        line = refused(run("fit", canary, "--spool", spool, *fit, "x.json"), 3, "cannot be fetched from its store")
        assert "canary" not in line
    broken = piped(b"1,2\n3,4\n", "fit", "-", "--spool", spool, *fit, "x.json")
    assert (broken.exit_code, files(spool), (folder / "x.json").exists()) == (3, [], False)
