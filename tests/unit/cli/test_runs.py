"""``--run-id``: a job that is started many times is charged once, and asks once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spinney import Ledger, PrivateKMeans, read_release, verify
from spinney.fits import run as fits_run
from tests.unit.cli.running import files, must_not_run, refused, run

ROOT = Path(__file__).parents[3]
FIT = "fit rows.npy --k 2 --epsilon 1 --algorithm lloyd --out release.json --ledger ledger --run-id job --schema schema.json"
DESCRIBE = "describe old.json rows.csv --schema facts.json --epsilon 1 --out release.json --ledger ledger --run-id job"
SITES = "sites --points places.csv --demand demand.csv --existing kept.csv --k 1 --epsilon 1 --out release.json"
SITES += " --ledger ledger --run-id job"
JOBS = {"fit": FIT.replace("--schema schema.json", "--bounds 0 1"), "describe": DESCRIBE, "sites": SITES}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).random((300, 2))
    np.save("rows.npy", rows)
    np.savetxt("rows.csv", rows, delimiter=",", header="a,b", comments="")
    Path("facts.json").write_text('{"b": [0, 1]}')
    Path("places.csv").write_text("name,x,y\np,0,0\nq,1,1\nr,0,1\n")
    Path("kept.csv").write_text("name\nr\n")
    Path("demand.csv").write_text("point\n" + "p\nq\n" * 50)
    model = PrivateKMeans(2, epsilon=1.0, bounds={"a": (0, 1)}, algorithm="lloyd").fit("rows.csv")
    model.release_.to_json("old.json")
    Ledger("ledger", epsilon=9)
    return tmp_path


def failing(*arguments, **options):
    raise MemoryError


@pytest.mark.parametrize("command", JOBS)
def test_a_job_is_charged_once_and_returns_its_release(command, folder, monkeypatch):
    job = JOBS[command].split()
    with monkeypatch.context() as patch:
        patch.setattr(fits_run, "noise_source", failing)  # after the charge, before any question
        assert run(*job).exit_code == 5
    entries = Ledger("ledger").entries
    assert ([one.id for one in entries], Ledger("ledger").began) == (["job"], frozenset())
    assert run(*job).exit_code == 0
    content = Path("release.json").read_bytes()
    assert verify("release.json", ledger="ledger").authenticated
    monkeypatch.setattr(fits_run, "run_with", must_not_run)
    for more in ([], ["--charge-again"], ["--force"]):
        again = run(*job, *more)
        assert (again.exit_code, Path("release.json").read_bytes()) == (0, content)
        assert "release.json is there already" in again.stdout
    told = run(*job, "--json")
    assert json.loads(told.stdout)["digest"] == read_release("release.json").digest
    assert Ledger("ledger").entries == entries


@pytest.mark.parametrize("old", ["kmeans-box", "sites-named", "cover"])
def test_a_job_takes_the_place_of_any_older_release(old, folder):
    content = (ROOT / "tests/stored/0.1.0" / f"{old}.json").read_bytes()
    Path("release.json").write_bytes(content)
    refused(run(*JOBS["fit"].split()), 2, "is there already")
    assert run(*JOBS["fit"].split(), "--force").exit_code == 0
    assert read_release("release.json").made["entry"] == "job"


@pytest.mark.parametrize("command", JOBS)
def test_a_job_that_began_stops_until_it_is_paid_for_again(command, folder, monkeypatch):
    job = JOBS[command].split()
    with monkeypatch.context() as patch:
        patch.setattr("spinney.curators.purse.Purse.ask", failing)
        assert run(*job).exit_code != 0
    assert Ledger("ledger").began == {"job"}
    assert "no release is known: job." in run("ledger", "show", "ledger").stdout
    Path("release.json").write_text("another's")
    for more in ([], ["--force"]):
        refused(run(*job, *more), 6, "'job' began already")
    refused(run(*job, "--charge-again"), 2, "is there already")
    Path("release.json").unlink()
    assert run(*job, "--charge-again").exit_code == 0
    assert run(*job).exit_code == 0
    assert [one.id for one in Ledger("ledger").entries] == ["job", "job (2)"]
    assert json.loads(run("ledger", "show", "ledger", "--json").stdout)["unfinished"] == ["job"]
    Path("release.json").rename("mine.json")
    for copied in ("old.json", "mine.json"):
        content = json.loads(Path(copied).read_text())
        Path("release.json").write_text(json.dumps(content | {"version": "0.0.0"}))
        refused(run(*job), 6, "'job (2)' began already")  # another's, or an edited one
    assert len(Ledger("ledger").entries) == 2


@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("fit", lambda job: [*job, "--algorithm", "tree"]),
        ("fit", lambda job: [*job, "--out", "other.json"]),
        ("fit", lambda job: [one.replace("rows.npy", "./rows.npy") for one in job] + ["--n-guess", "300"]),
        ("describe", lambda job: Path("facts.json").write_text('{"b": [0, 2]}') and job),
        ("describe", lambda job: Path("old.json").write_text(Path("old.json").read_text() + " ") and job),
        ("sites", lambda job: Path("places.csv").write_text("name,x,y\np,0,0\nq,1,2\nr,0,1\n") and job),
        ("sites", lambda job: Path("kept.csv").write_text("name\nq\n") and job),
    ],
)
def test_an_id_belongs_to_all_parameters(command, change, folder, monkeypatch):
    job = JOBS[command].split()
    monkeypatch.setattr(fits_run, "noise_source", failing)
    run(*job)
    content = Path("ledger").read_bytes()
    refused(run(*change(job)), 2, "other parameters")
    assert Path("ledger").read_bytes() == content


def test_nothing_of_the_rows_is_kept(folder, monkeypatch):
    """Other rows under the same path leave the same digest."""
    monkeypatch.setattr(fits_run, "noise_source", failing)
    jobs = []
    for seed in range(2):
        np.save("rows.npy", np.random.default_rng(seed).random((200 + seed, 2)))
        Path("ledger").unlink()
        Ledger("ledger", epsilon=9)
        run(*JOBS["fit"].split())
        jobs += [one.job for one in Ledger("ledger").entries]
    assert len(jobs) == 2
    assert len(set(jobs)) == 1


def test_the_mark_is_on_disk_before_the_first_question(folder, monkeypatch):
    from spinney.curators.purse import Purse
    from spinney.ledgers import journal

    events, ask, sync = [], Purse.ask, os.fsync

    def asking(self, *arguments, **options):
        events.append("ask")
        return ask(self, *arguments, **options)

    class Watching:
        def __getattr__(self, name):
            return getattr(os, name)

        def fsync(self, descriptor):
            events.append(Path("ledger").read_text().count("began"))
            sync(descriptor)

    monkeypatch.setattr(Purse, "ask", asking)
    monkeypatch.setattr(journal, "os", Watching())
    assert run(*JOBS["fit"].split()).exit_code == 0
    assert 1 in events[: events.index("ask")]
    assert events[0] == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--out", "-"], "--run-id needs a ledger"),
        (["--out", "/dev/null"], "--run-id needs a ledger"),
        (["--run-id", " "], "--run-id must be a name"),
        (["--run-id", "x" * 50], "--run-id must be a name"),
    ],
)
def test_what_a_job_needs(more, words, folder):
    refused(run(*JOBS["fit"].split(), *more), 2, words)
    refused(run(*JOBS["fit"].replace("--ledger ledger", "").split()), 2, "--run-id needs a ledger")
    refused(run(*JOBS["fit"].replace("--run-id job", "--charge-again").split()), 2, "--charge-again needs --run-id")
    assert len(Ledger("ledger").entries) == 0


def test_one_of_many_starts_asks(folder):
    """Processes that start at once: one release, one charge, and an exit code of its own for those that came too late."""
    command = [sys.executable, "-m", "spinney", *JOBS["fit"].split()]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    codes = [child.wait(timeout=240) for child in children if child.communicate()]
    assert set(codes) <= {0, 6}
    assert 0 in codes
    assert len(Ledger("ledger").entries) == 1
    assert verify("release.json", ledger="ledger").authenticated
    assert [name for name in files(folder) if name.startswith(".")] == []


def test_kills_at_random_points_leave_one_charge_and_no_part():
    told = subprocess.run(
        [sys.executable, "-m", "tools.kills", "--kills", "20", "--seed", str(os.getpid())],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    found = json.loads(told.stdout)
    assert sum(found["kills"].values()) == 20
    assert found["wrong"] == {}
