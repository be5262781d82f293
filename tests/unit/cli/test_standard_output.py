"""``--out -`` is standard output, in every command that has --out, and there is nothing else on it."""

import json

import click
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from spinney import Ledger
from spinney.cli.main import main

FIT = "fit rows.csv --k 1 --epsilon 1 --schema bounds.json --ledger ledger"
#: A command line for each, and whether it writes JSON.
COMMANDS = {
    "fit": (FIT, True),
    "sites": ("sites --points places.csv --demand demand.csv --k 1 --epsilon 1", True),
    "describe": ("describe release.json rows.csv --schema facts.json --epsilon 1", True),
    "predict": ("predict release.json rows.csv", False),
    "check": ("check release.json --policy rules.toml", False),
    "schema": ("schema rows.csv", False),
    "recluster": ("recluster release.json --k 2", True),
    "report": ("report release.json", False),
    "label": ("label release.json --registry", True),
    "audit": ("audit --method replay --pairs 1", False),
    "local question": ("local question session.json", True),
    "local respond": ("local respond question.json devices.json --policy policy.json --states states.json", True),
    "local aggregate": ("local aggregate session.json reports.json", True),
}
#: Those whose --out is a folder.
FOLDERS = {"demo": "demo", "example": "example"}


def run(line):
    return CliRunner().invoke(main, line.split(), catch_exceptions=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"a": np.linspace(0, 1, 200), "b": np.linspace(0, 1, 200)}).write_csv("rows.csv")
    (tmp_path / "bounds.json").write_text('{"a": [0, 1]}')
    (tmp_path / "facts.json").write_text('{"b": [0, 1]}')
    (tmp_path / "rules.toml").write_text("epsilon = 9\n")
    (tmp_path / "places.csv").write_text("name,x,y\np,0,0\nq,1,1\n")
    (tmp_path / "demand.csv").write_text("point\n" + "p\n" * 50)
    (tmp_path / "devices.json").write_text("[0.5]\n" * 40)
    Ledger("ledger", 9)
    assert run(f"{FIT} --out release.json").exit_code == 0
    new = "--k 1 --epsilon 1 --bounds 0 1 --n-features 1 --out question.json --policy policy.json"
    assert run(f"local question session.json {new}").exit_code == 0
    return tmp_path


def with_out(group, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from with_out(command, (*path, name))
        elif any("--out" in parameter.opts for parameter in command.params):
            yield " ".join((*path, name))


def test_every_command_with_out_is_tried():
    assert set(with_out(main)) == set(COMMANDS) | set(FOLDERS)


def answered(folder):
    """Answer every question but the last, and leave its reports."""
    while True:
        assert (
            run("local respond question.json devices.json --policy policy.json --states states.json --out reports.json").exit_code
            == 0
        )
        (folder / "before.json").write_bytes((folder / "session.json").read_bytes())
        if run("local aggregate session.json reports.json --out ended.json").stdout.count("ended.json"):
            (folder / "session.json").write_bytes((folder / "before.json").read_bytes())
            return
        assert run("local question session.json --out question.json").exit_code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dash_is_standard_output_alone(folder, name):
    line, is_json = COMMANDS[name]
    if name == "local aggregate":
        answered(folder)
    result = run(f"{line} --out -")
    assert result.exit_code == 0, result.output
    assert not (folder / "-").exists()
    if is_json:
        for text in result.stdout.splitlines() if name == "local respond" else [result.stdout]:
            assert isinstance(json.loads(text), dict)
    else:
        assert "Wrote" not in result.stdout
        assert result.stdout
    if name not in ("schema", "label", "audit", "predict", "check"):
        assert "Wrote -" in result.stderr


ELSEWHERE = (
    "show release.json --picture -",
    f"{FIT} --out out.json --ledger -",
    "ledger open - --epsilon 1",
    "local question - --out q",
)


@pytest.mark.parametrize("line", [*(f"{command} --out -" for command in FOLDERS.values()), *ELSEWHERE])
def test_a_dash_is_no_file_elsewhere(folder, line):
    result = run(line)
    assert result.exit_code == 2
    assert "stands for standard output, which --out takes alone" in result.stderr
    assert not (folder / "-").exists()
