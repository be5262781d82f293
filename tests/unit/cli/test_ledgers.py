import errno

import pytest

from spinney import Ledger, Release
from tests.unit.cli.running import run

FIT = ("fit", "rows.csv", "--k", "2", "--bounds", "0", "3")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n" + "1,2\n" * 100)
    return tmp_path


def test_a_ledger_is_opened_charged_and_shown(folder):
    opened = run("ledger", "open", "ledger", "--epsilon", "1", "--delta", "1e-5")
    assert opened.exit_code == 0
    assert opened.output == "Ceiling: epsilon 1, delta 1e-05; adding or removing one row\n\nSpent: epsilon 0; left: epsilon 1\n"
    fitted = run(*FIT, "--epsilon", "0.5", "--out", "release.json", "--ledger", "ledger")
    assert fitted.exit_code == 0
    assert "Charged to ledger: epsilon" in fitted.output
    assert len(Ledger("ledger").entries) == 1
    shown = run("ledger", "show", "ledger")
    assert shown.exit_code == 0
    assert "kmeans, tree  epsilon 0.5" in shown.output
    assert run("ledger", "show", "ledger", "--last", "0").output.count("kmeans") == 0
    assert run("ledger", "open", "ledger", "--epsilon", "1").exit_code == 0  # again: nothing changes
    assert len(Ledger("ledger").entries) == 1


def test_a_release_over_the_ceiling_is_refused_and_nothing_is_written(folder):
    run("ledger", "open", "ledger", "--epsilon", "1")
    result = run(*FIT, "--epsilon", "1.5", "--out", "release.json", "--ledger", "ledger")
    assert result.exit_code == 4
    told = result.output.splitlines()[-1]
    assert told.startswith("error: This release would bring the ledger to epsilon 1.5, and its ceiling is 1.")
    assert not (folder / "release.json").exists()
    assert Ledger("ledger").entries == ()


def test_the_plan_says_what_would_be_left(folder):
    run("ledger", "open", "ledger", "--epsilon", "1")
    plan = ("plan", "--k", "2", "--n-features", "2", "--ledger", "ledger", "--epsilon")
    result = run(*plan, "0.75")
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "After it epsilon 0.25 would be left in ledger."
    assert run(*plan, "1.25").exit_code == 4
    assert Ledger("ledger").entries == ()


def test_a_release_that_cannot_be_written_stays_charged_and_says_so(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "release.json")

    run("ledger", "open", "ledger", "--epsilon", "1")
    monkeypatch.setattr(Release, "to_json", full)
    result = run(*FIT, "--epsilon", "0.5", "--out", "release.json", "--ledger", "ledger")
    assert result.exit_code == 3
    assert "No space left on device" in result.output
    assert "The ledger was charged for this release and keeps the charge." in result.output
    assert Ledger("ledger").spent == 0.5
