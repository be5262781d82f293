"""Tables of several files, and tables that stay on disk: the same release, the same errors."""

import json

import numpy as np
import polars as pl
import pytest

from spinney.curators.files import FileBackend
from spinney.tables import files as tables
from tests.unit.cli.running import run, seeded

RNG = np.random.default_rng(0)
ROWS = np.repeat([[1.0, 20.0], [9.0, 80.0]], 1500, axis=0) + RNG.normal(0, 0.5, (3000, 2))
FRAME = pl.DataFrame({"dose": ROWS[:, 0], "age": ROWS[:, 1], "patient": [f"p{i // 3}" for i in range(3000)]})
FILES = {
    "csv": ("one.csv", "two.csv"),
    "parquet": ("one.parquet", "two.parquet"),
    "npy": ("one.npy", "two.npy"),
    "folder": ("parts",),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    for name, frame in (("one", FRAME[:1000]), ("two", FRAME[1000:])):
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_parquet(tmp_path / f"{name}.parquet")
        frame.write_parquet(tmp_path / "parts" / f"{name}.parquet")
        np.save(tmp_path / f"{name}.npy", frame[["dose", "age"]].to_numpy())
    (tmp_path / "bounds.json").write_text(json.dumps({"dose": [0, 100], "age": [0, 100]}))
    monkeypatch.chdir(tmp_path)
    seeded(monkeypatch)
    return tmp_path


@pytest.fixture
def large(monkeypatch):
    """Make every table large, and remember that curators of tables on disk were made."""
    made = []
    open_parquet = FileBackend.__init__

    def remember(self, *arguments):
        made.append(1)
        open_parquet(self, *arguments)

    monkeypatch.setattr(FileBackend, "__init__", remember)
    monkeypatch.setattr(tables, "LARGE_SHARE", 0)
    return made


def fit(*arguments, bounds=("--bounds-file", "bounds.json")):
    more = ["--k", "2", "--epsilon", "5", "--out", "release.json", "--force", *bounds]
    return run("fit", *arguments, *more)


@pytest.mark.parametrize("kind", FILES)
def test_large_tables_give_the_same_release(folder, kind, request):
    bounds = ("--bounds", "0", "100") if kind == "npy" else ("--bounds-file", "bounds.json")
    assert fit(*FILES[kind], bounds=bounds).exit_code == 0
    expected = (folder / "release.json").read_text()
    made = request.getfixturevalue("large")
    assert fit(*FILES[kind], bounds=bounds).exit_code == 0
    assert made == [1]
    assert (folder / "release.json").read_text() == expected


def test_large_tables_with_groups_give_the_same_release(folder, request):
    options, releases = ("--groups", "patient", "--max-rows-per-group", "2"), set()
    for kind in ("csv", "parquet", "large", "csv", "parquet"):
        if kind == "large":
            request.getfixturevalue("large")
            continue
        assert fit(*FILES[kind], *options).exit_code == 0
        releases.add((folder / "release.json").read_text())
    assert len(releases) == 1
