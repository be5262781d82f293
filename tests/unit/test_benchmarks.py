"""The one tool that measures: cells, store, runner, race, report, comparison."""

import sys
import types

import numpy as np
import pytest

from benchmarks import mine, pages, report, runner, tables
from benchmarks.store import Store
from spinney.baselines.lloyd import Lloyd


@pytest.fixture
def kept(tmp_path):
    return Store(tmp_path / "store.jsonl")


def test_the_documents_have_what_the_store_has():
    kept = Store()
    for name, table in report.TABLES.items():
        made = table(kept)
        assert "nan" not in made, name
        for page in pages.pages_with(name):
            text = (pages.ROOT / page).read_text()
            assert f"<!-- {name} -->\n{made}\n<!-- end {name} -->" in text, f"python -m benchmarks report '{name}'"


class Own(Lloyd):
    """An algorithm of the user's own."""

    name = "own"


def middle(rows, k, epsilon, delta, lower, upper, objective, seed):
    return np.repeat((lower + upper)[None, :] / 2, k, axis=0)


def broken(rows, k, epsilon, delta, lower, upper, objective, seed):
    raise RuntimeError("no matter what")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file with two clusters and a constant column, and a module of the user's own."""
    module = types.ModuleType("their_module")
    module.Own, module.middle, module.broken = Own, middle, broken
    monkeypatch.setitem(sys.modules, "their_module", module)
    monkeypatch.setitem(tables.OWN, "mine", None)
    monkeypatch.setattr(tables, "STARTS", 3)
    runner.plain.cache_clear()
    rng = np.random.default_rng(0)
    rows = np.repeat([[0.0, 0.0, 7.0], [5.0, 3.0, 7.0]], 300, axis=0) + np.array([0.1, 0.1, 0.0]) * rng.normal(size=(600, 3))
    np.savez(tmp_path / "mine.npz", names=np.array(["a"]), table=rows)
    return tmp_path / "mine.npz"


@pytest.mark.parametrize("objective", ["kmeans", "kmedian"])
def test_ours_the_users_and_external_ones_are_compared_on_a_table_of_ones_own(table, objective):
    out, names = table.parent / "found", ["auto", "lloyd", "their_module:Own", "their_module:middle"]
    words = ["--data", str(table), "--k", "2", "--epsilon", "1", "--runs", "2", "--objective", objective, "--out", str(out)]
    assert mine.main([*words, "--algorithms", ",".join(names)]) == 0
    lines = [line.split(",") for line in out.with_suffix(".csv").read_text().splitlines()[1:]]
    assert [line[0] for line in lines] == [name for name in [mine.PLAIN, *names] for _ in range(2)]
    ratios = {line[0]: float(line[7]) for line in lines}
    assert 0.99 < ratios["auto"] < 1.5
    assert 0.99 < ratios[mine.PLAIN] < 1.5
    assert ratios["their_module:middle"] > 5
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_one_that_fails_stops_no_other(table, monkeypatch):
    monkeypatch.setenv("DIFFPRIVLIB_PYTHON", "/bin/false")
    out = table.parent / "found"
    tail = ["--algorithms", "auto", "their_module:broken", "diffprivlib", "--out", str(out)]
    assert mine.main(["--data", str(table), "--k", "2", "--epsilon", "1", "--runs", "1", *tail]) == 1
    lines = [line.split(",") for line in out.with_suffix(".csv").read_text().splitlines()[1:]]
    failed = {line[0]: line[-1] for line in lines}
    assert failed == {mine.PLAIN: "", "auto": "", "their_module:broken": "RuntimeError", "diffprivlib": "RuntimeError"}
