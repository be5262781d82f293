import json

import numpy as np
import pytest
from click.testing import CliRunner

from spinney.cli.main import main


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(0, 0.3, (40, 2)).tolist()
    lines = [*map(json.dumps, rows), "null", "SECRET words", '{"SECRET": 1}']
    (tmp_path / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines))

    def run(command, code=0):
        result = CliRunner().invoke(main, ["local", *command.split()])
        assert result.exit_code == code, result.output
        assert "SECRET" not in result.output
        return result.output

    return run


START = "question session.json --out q.json --policy policy.json --k 2 --epsilon 3 --bounds -1 1 --n-features 2 --random-state 4"
RESPOND = "respond q.json rows.jsonl --policy policy.json --states states.jsonl --out reports.jsonl"


def test_a_session_over_files(shell, tmp_path):
    shell(START)
    while True:
        shell(RESPOND)
        printed = shell("aggregate session.json reports.jsonl --out release.json")
        assert "Counted " in printed
        if "Wrote release.json" in printed:
            break
        shell("question session.json --out q.json")
    assert json.loads((tmp_path / "release.json").read_text())["model"].startswith("local: ")
    states = [json.loads(line) for line in (tmp_path / "states.jsonl").read_text().splitlines()]
    assert {len(state["reports"]) for state in states} == {1}
    assert "has ended" in shell("question session.json --out q.json", 2)
    assert "has ended" in shell("aggregate session.json reports.jsonl", 2)


def test_a_repeated_response_sends_the_same_messages(shell, tmp_path):
    shell(START)
    shell(RESPOND)
    first = (tmp_path / "reports.jsonl").read_text()
    shell(RESPOND)
    assert (tmp_path / "reports.jsonl").read_text() == first
    printed = shell("aggregate session.json reports.jsonl reports.jsonl")
    assert "whose tokens were counted before" in printed
    assert "of devices that were not asked this time, or whose policy says no" in printed


def test_a_roster_leaves_strangers_out(shell, tmp_path):
    shell(START)
    shell(RESPOND)
    (tmp_path / "roster.txt").write_text("nobody\n")
    before = (tmp_path / "session.json").read_text()
    printed = shell("aggregate session.json reports.jsonl --roster roster.txt", 3)
    assert "No report counts: session.json stays at its question. Left out:" in printed
    assert (tmp_path / "session.json").read_text() == before


def test_bounds_by_column_start_a_session(shell, tmp_path):
    (tmp_path / "bounds.json").write_text('{"age": [0, 110], "stay": [0, 60]}')
    start = "question session.json --out q.json --k 2 --epsilon 1 --bounds-file bounds.json"
    assert "given twice" in shell(f"{start} --bounds 0 1", 2)
    assert "other columns" in shell(f"{start} --n-features 3", 2)
    shell(start)
    assert json.loads((tmp_path / "session.json").read_text())["parameters"]["bounds"] == {"age": [0, 110], "stay": [0, 60]}
    assert len(json.loads((tmp_path / "q.json").read_text())["domain"]["steps"]) == 2


def test_fit_and_plan_simulate_the_local_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("rows.csv", np.random.default_rng(0).normal(0, 0.3, (400, 2)), delimiter=",", header="a,b", comments="")
    asked = "--k 2 --epsilon 9 --model local --adjacency replace"
    done = CliRunner().invoke(main, f"fit rows.csv {asked} --bounds -1 1 --columns a,b --out release.json".split())
    assert done.exit_code == 0, done.output
    record = json.loads((tmp_path / "release.json").read_text())
    assert (record["algorithm"], record["model"][:16]) == ("refined", "local, simulated")
    assert "each user adds" in CliRunner().invoke(main, f"plan {asked} --n-features 2".split()).output
    central = CliRunner().invoke(main, ["plan", "--k", "2", "--epsilon", "9", "--model", "local", "--n-features", "2"])
    assert (central.exit_code, "--adjacency must be one of 'replace'" in central.output) == (2, True)
    many = CliRunner().invoke(main, f"plan {asked} --n-features 2000".split())
    assert (many.exit_code, "--n-features must be at most 1024" in many.output) == (2, True)


def test_wrong_files_and_options_are_errors_of_one_line(shell, tmp_path):
    assert "lacks an option" in shell("question session.json --out q.json --k 2", 2)
    shell(START)
    assert "a session already" in shell(START, 2)
    assert "cannot be read" in shell("aggregate session.json nothing.jsonl", 3)
    assert "cannot be read" in shell("respond nothing.json rows.jsonl --policy policy.json --states s --out o", 3)
    (tmp_path / "states.jsonl").write_text("SECRET\n")
    assert "does not hold the states" in shell(RESPOND, 3)
    (tmp_path / "states.jsonl").write_text("{}\n")
    assert "not as many states" in shell(RESPOND, 3)
    assert "no whole session" in shell("aggregate rows.jsonl rows.jsonl", 3)
