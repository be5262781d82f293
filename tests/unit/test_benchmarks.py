"""The one tool that measures: cells, store, runner, race, report, comparison."""

import json
import math
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from spinney.algorithms.lloyd import Lloyd

from benchmarks import __main__, compare, drawn, lead, mine, pages, report, run, runner, scale, store, tables
from benchmarks.cells import Cell, Suite, suites
from benchmarks.store import Store

CELL = Cell("tiny", 2, 1.0, 1e-6, 2)


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


def test_the_last_commit_counts(kept):
    costs(kept, auto=[2.0, 4.0])
    kept.append("tiny", CELL, "def", [6.0], 2.0)
    kept.append("tiny", CELL, "def", [2.0], 2.0)
    assert kept.ratios("tiny", CELL) == [3.0, 1.0]
    assert kept.ratios("tiny", CELL, "abc") == [2.0, 4.0]


def test_a_race_runs_the_near_ones_more_often(tiny, kept, monkeypatch):
    costs(kept, auto=[3.0], lloyd=[1.0], hst=[1.2], balcan=[1.4])
    monkeypatch.setattr(store, "here", lambda: "abc")
    monkeypatch.setattr(run, "here", lambda: "abc")
    cells = [replace(CELL, algorithm=name) for name in ("auto", "lloyd", "hst", "balcan")]
    run.run_suite(kept, suite_of(*cells, race=((math.inf, 1), (1.25, 2))), cells, jobs=1)
    assert [len(kept.values("tiny", cell)) for cell in cells] == [2, 2, 2, 1]


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


def test_tables_and_suites_can_be_printed(capsys):
    report.main(["baselines", "hst", "--print"])
    assert "| `lsh` | s1 | 2.9 |" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no table or suite 'none'"):
        report.main(["none"])


def test_a_table_goes_into_every_page_with_its_markers(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    for page in ("README.md", "docs/other.md"):
        (tmp_path / page).write_text("a\n<!-- it -->\nold\n<!-- end it -->\nb\n")
    pages.into_page("it", "new")
    assert {(tmp_path / page).read_text() for page in ("README.md", "docs/other.md")} == {
        "a\n<!-- it -->\nnew\n<!-- end it -->\nb\n"
    }


@pytest.mark.parametrize(
    ("ours", "winner", "close", "far"),
    [
        ([1.0, 1.0, 1.0], "auto", True, False),
        ([2.01, 2.01, 2.01], "lsh", True, False),  # within 1%
        ([2.05, 2.05, 2.05], "lsh", False, False),
        ([2.1, 2.1, 2.1], "lsh", False, True),
    ],
)
def test_the_bar_of_the_lead_is_judged_by_the_lowest_mean(ours, winner, close, far):
    verdict = lead.judge({CELL: ours, replace(CELL, algorithm="lsh"): [2.0, 2.0, 2.0]})
    assert (verdict.winner, verdict.is_close, verdict.is_far) == (winner, close, far)


def test_two_standard_errors_of_the_winner_forgive():
    verdict = lead.judge({CELL: [2.1] * 3, replace(CELL, algorithm="lsh"): [1.9, 2.0, 2.1]})
    assert verdict.is_close
    assert verdict.is_far  # but more than 3% above is too much, whatever the errors


def test_a_cell_with_a_method_left_out_is_not_judged():
    assert lead.judge({CELL: [1.0] * 3, replace(CELL, algorithm="lsh"): []}) is None


def test_losses_are_shown(kept, monkeypatch):
    monkeypatch.setattr(lead, "NAME", "tiny")
    monkeypatch.setattr(lead, "suites", lambda: {"tiny": suite_of(CELL, replace(CELL, algorithm="lsh"))})
    costs(kept, auto=[2.1] * 3, lsh=[2.0] * 3)
    assert "| tiny | k-means | 2 | 1 | `lsh` | 5.0% |" in lead.loss_table(kept)
    assert "**The bar does not hold.**" in lead.bar_text(kept)
    assert "**2.100 (lsh 2.000)**" in lead.lead_table(kept)
    assert "| `lsh` | 0.95 (1 of 1) |" in lead.method_table(kept)


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


def test_costs_of_two_programs_are_measured_on_drawn_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "CACHE", tmp_path)
    monkeypatch.setattr(tables, "CACHE", tmp_path)
    monkeypatch.setattr(drawn, "MOST_NUMBERS", 20_000)
    ((title, k),) = compare.tables(seed=7, count=1, with_real=False)
    assert [(title, k)] == list(compare.tables(seed=7, count=1, with_real=False))
    (tmp_path / "asked.json").write_text(json.dumps([[{"table": title, "k": k, "epsilon": 1.0, "delta": 0.0, "power": 2}, 2]]))
    compare.work(tmp_path / "asked.json", tmp_path / "found.jsonl", jobs=1)
    found = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert [one for one, _ in found] == [f"{title}, k {k}, epsilon 1, delta 0, power 2"] * 2
    assert found[0][1] != found[1][1], "noise is drawn anew"


def test_seeds_of_drawn_tables_are_numbers_or_commits():
    assert compare.seed_of("42") == 42
    assert compare.seed_of("5ac1fe3aa") == 95166435


def test_costs_are_exact():
    rng = np.random.default_rng(0)
    rows, centers = rng.normal(size=(1000, 3)), rng.normal(size=(4, 3))
    squares = ((rows[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
    assert tables.total_cost(rows, centers, 2) == pytest.approx(squares.sum())
    assert tables.total_cost(rows, centers, 1) == pytest.approx(np.sqrt(squares).sum())


def test_tables_by_name_are_drawn_by_runs_or_not():
    assert [tables.drawing(name, 5) for name in ("s1", "separated 300 x 2", "road Rome", "shaped 7")] == [0, 5, 2, 0]
    first, second = (tables.table("separated 300 x 2", number) for number in (0, 1))
    assert first.truth is not None
    assert not np.array_equal(first.rows, second.rows)
    boxes = [tables.table("64 tight clusters 100k x 10 in a box 5 times too wide", number) for number in (1, 2)]
    assert all((box.upper - box.lower == 10).all() and (box.upper >= box.rows.max()).all() for box in boxes)
    assert not np.array_equal(boxes[0].lower, boxes[1].lower)


def test_the_help_has_every_command(capsys):
    told = __main__.help_text()
    for name in ("run", "report", "compare", "mine", "ablations", "speed", "scale", "spark", "guard", "mutants", "tutorial"):
        assert f"\n  {name} " in told


def test_the_bar_of_higgs_counts_iterations_and_memory():
    found = {"Lloyd": {"iteration": 1.0}, "delta 0": {"cpu": 26.0, "mib": 100.0, "algorithm": "tree"}}
    found["delta 1e-6"] = {"cpu": 24.0, "mib": 100.0, "algorithm": "tree"}
    text = scale.higgs_table(found, 1000)
    assert "| `tree`, delta 0 | 26 s | 26.0 | 100 MiB | **no** |" in text
    assert "| `tree`, delta 1e-6 | 24 s | 24.0 | 100 MiB | yes |" in text


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


def test_all_of_ours_are_compared_by_default_and_a_missing_table_is_told(tmp_path):
    names = mine.own_names()
    assert {"auto", "lsh", "balcan", "coverage", "k-variates", "hst"} <= set(names)
    assert not {mine.PLAIN, "tree", "moments"} & set(names)  # not private; other names of the default
    with pytest.raises(SystemExit, match=r"none\.csv is no file\. Hint: --data"):
        mine.main(["--data", str(tmp_path / "none.csv"), "--k", "2", "--epsilon", "1"])


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_tables_of_every_kind_are_read(tmp_path, suffix):
    import polars as pl

    rows, path = np.arange(6.0).reshape(3, 2), tmp_path / f"mine{suffix}"
    if suffix == ".npy":
        np.save(path, rows)
    else:
        frame = pl.DataFrame(rows, schema=["x", "y"])
        frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    np.testing.assert_array_equal(mine.load_table(path, None), rows)
