"""The one tool that measures: cells, store, runner, race, report, comparison."""

import json
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import compare, mine, pages, report, run, runner, tables
from benchmarks.cells import Cell, Suite, suites
from benchmarks.store import Store
from spinney.baselines.lloyd import Lloyd

#: With little noise: runs are not seeded.
CELL = Cell("tiny", 2, 100.0, 1e-6, 2)


def suite_of(*cells, bars=None, **facts):
    others = {"measure": "cost", "first": 0, "is_paired": False, "more": 0, "race": ()}
    return Suite("tiny", "", dict.fromkeys(cells, 2), bars or {}, **others | facts)


@pytest.fixture
def tiny(monkeypatch):
    """A table of two clusters, by its name."""
    rng = np.random.default_rng(0)
    rows = np.clip(np.repeat([[-0.5, 0.0], [0.5, 0.0]], 200, axis=0) + rng.normal(0, 0.05, (400, 2)), -1, 1)
    monkeypatch.setitem(tables.OWN, "tiny", tables.Table(rows))
    runner.plain.cache_clear()
    return rows


@pytest.fixture
def kept(tmp_path):
    return Store(tmp_path / "store.jsonl")


def costs(kept, **values):
    """Keep costs of algorithms over a plain cost of 1."""
    for name, found in values.items():
        kept.append("tiny", replace(CELL, algorithm=name.replace("_", "-")), "abc", found, 1.0)
    return kept


def test_a_small_cell_runs_in_processes_and_is_not_run_again(tiny, kept, capsys):
    cells = [CELL, replace(CELL, algorithm="lloyd"), replace(CELL, power=1)]
    run.run_suite(kept, suite_of(*cells), cells, jobs=2)
    again = Store(kept.path)
    assert again.lines == kept.lines
    assert [len(again.ratios("tiny", cell)) for cell in cells] == [2, 2, 2]
    assert 0.99 < again.mean("tiny", CELL) < 1.1
    assert again.lines["tiny", CELL][0]["plain"] == pytest.approx(400 * 2 * 0.05**2, rel=0.2)
    text = kept.path.read_bytes()
    run.run_suite(again, suite_of(*cells), cells, jobs=1)
    assert kept.path.read_bytes() == text
    run.fill(again, suite_of(*cells), [(CELL, 3)], jobs=1)
    assert len(again.values("tiny", CELL)) == 3
    assert kept.path.read_bytes().startswith(text), "lines are appended"


def test_runs_near_a_bar_are_repeated(tiny, kept, monkeypatch):
    costs(kept, auto=[1.0, 1.2], lloyd=[1.0, 1.001])
    monkeypatch.setattr(run, "here", lambda: "abc")
    cells = [CELL, replace(CELL, algorithm="lloyd")]
    run.run_suite(kept, suite_of(*cells, bars=dict.fromkeys(cells, 1.1), more=3), cells, jobs=1)
    assert [len(kept.values("tiny", cell)) for cell in cells] == [3, 2]


def test_cells_are_products_of_lists_with_bars_for_the_first_algorithm():
    found = suites()["utility"]
    assert len(found.cells) == 6 * 2 * 2 * 2 * 3
    assert found.bars[Cell("shuttle", 10, 0.25, 0.0, 1, "auto")] == 1.30
    assert found.bars[Cell("s1", 10, 1.0, 0.0, 1, "hst")] == 1.25
    assert Cell("s1", 10, 1.0, 0.0, 1, "lloyd") not in found.bars
    assert {one.algorithm for one in found.rivals(found.cells[0])} == {"auto", "hst", "lloyd"}
    assert len(suites()["auto-k-shaped"].cells) == 150


def test_the_documents_have_what_the_store_has():
    kept = Store()
    for name, table in report.TABLES.items():
        for page in pages.pages_with(name):
            text = (pages.ROOT / page).read_text()
            assert "nan" not in table(kept), name
            assert f"<!-- {name} -->\n{table(kept)}\n<!-- end {name} -->" in text, f"python -m benchmarks report '{name}'"


def test_two_programs_are_compared_run_by_run_and_costs_are_remembered(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compare, "CACHE", tmp_path)
    monkeypatch.setattr(compare, "REAL", {"s1": 2})
    monkeypatch.setattr(compare, "EPSILONS", (1.0,))
    asked = []

    def pretend(commit, module, *words):
        options = dict(zip(words[::2], words[1::2], strict=True))
        cells = json.loads(Path(options["--work"]).read_text())
        asked.append((commit, sum(count for _, count in cells)))
        with Path(options["--into"]).open("a") as file:
            for facts, count in cells:
                for number in range(count):
                    cost = (1.0 if commit == "HEAD" else 1.3) * (1 + 0.01 * number)
                    file.write(json.dumps([Cell(**facts).title, cost]) + "\n")

    monkeypatch.setattr(compare, "run_on", pretend)
    for _ in range(2):
        compare.main(["HEAD", "--drawn", "0", "--runs", "2"])
    told = capsys.readouterr().out
    assert "| all | 1.3000 | 2 |" in told
    assert "above 1.05 by two standard errors: 2; above 1.2 by two standard errors: 2" in told
    assert asked == [("HEAD", 4), (None, 4)], "what is remembered is not run again"


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
