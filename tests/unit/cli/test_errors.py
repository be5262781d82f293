"""Whatever ends a command is one line without a word about rows, and an exit code that is documented."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from spinney import Ledger
from tests.unit.cli.running import run

CANARY = "canary 30000001"
FIT = (
    "fit", "rows.csv", "--k", "2", "--bounds", "0", "3", "--columns", "a,b", "--epsilon", "0.5", "--algorithm", "lloyd", "--out",
    "release.json",
)  # fmt: skip
SITES = (
    "sites", "--points", "points.csv", "--demand", "demand.csv", "--k", "1", "--epsilon", "0.5", "--out", "release.json",
)  # fmt: skip
STAYS = "The ledger was charged for this release and keeps the charge."
UNCOUNTED = "No ledger counts this fit: answers may have been computed, so take its epsilon as spent."


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n" + "1,2\n" * 100)
    (tmp_path / "points.csv").write_text("name,x,y\n" + "".join(f"p{i},{i},0\n" for i in range(9)))
    (tmp_path / "demand.csv").write_text("point\n" + "p3\n" * 100)
    Ledger("ledger", 9)
    return tmp_path


def raising(kind):
    def fail(*_, **__):
        raise kind(CANARY)

    return fail


def terminating(*_, **__):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(1)


ENDS = {
    "memory": (raising(MemoryError), 5, "The work on the rows failed or ran out of memory."),
    "a bug": (raising(IndexError), 5, "The work on the rows failed or ran out of memory."),
    "Ctrl-C": (raising(KeyboardInterrupt), 130, "Interrupted."),
    "SIGTERM": (terminating, 143, "Terminated."),
}


@pytest.mark.parametrize("ledger", [(), ("--ledger", "ledger")], ids=["no ledger", "ledger"])
@pytest.mark.parametrize("command", [FIT, SITES], ids=["fit", "sites"])
@pytest.mark.parametrize("end", ENDS)
def test_what_ends_a_fit_has_an_exit_code_and_says_that_the_charge_stays(end, command, ledger, folder, monkeypatch):
    work, code, text = ENDS[end]
    monkeypatch.setattr("spinney.curators.numbers.sum_offsets", work)
    monkeypatch.setattr("spinney.curators.demand.DemandBackend.exact", work)
    result = run(*command, *ledger)
    assert result.exit_code == code
    assert result.stderr.startswith(f"error: {text}")
    assert (STAYS if ledger else UNCOUNTED) in result.stderr
    assert result.stderr.count("\n") == 1
    assert CANARY not in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["demand.csv", "ledger", "points.csv", "rows.csv"]
    assert len(Ledger("ledger").entries) == len(ledger) // 2
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, MemoryError, OSError, type("Panic", (BaseException,), {})])
def test_an_error_that_nobody_expected_is_one_constant_line(kind, monkeypatch):
    monkeypatch.setattr("spinney.cli.fitting.open_table", raising(kind))
    result = run(*FIT)
    assert result.exit_code == {MemoryError: 5, OSError: 3}.get(kind, 1)
    assert result.stderr.startswith("error: ")
    assert CANARY not in result.output


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_running_fit(end, folder):
    np.save(folder / "rows.npy", np.random.default_rng(0).random((200_000, 2)))
    command = ["fit", "rows.npy", "--k", "4000", "--epsilon", "1", "--bounds", "0", "1", "--out", "r.json", "--ledger", "ledger"]
    fit = subprocess.Popen([sys.executable, "-m", "spinney", *command], stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if len(Path("ledger").read_text().splitlines()) > 1 or fit.poll() is not None:
            break
        time.sleep(0.1)
    time.sleep(0.5)
    fit.send_signal(end)
    _, said = fit.communicate(timeout=60)
    assert fit.returncode == 128 + end
    assert said.count("\n") == 1
    assert said.endswith(f"{STAYS}\n")
    assert not list(folder.glob("*.json"))


def test_exit_codes_are_in_the_help_and_on_the_page():
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text()
    shown = " ".join(run("--help").output.split())
    for code in (0, 1, 2, 3, 4, 5, 6, 130, 143):
        assert f"\n| {code} | " in page
        assert f" {code} " in shown.split("Exit codes:")[1]
