"""The race of all algorithms, and the page that it fills."""

import math

import numpy as np
import pytest

from benchmarks import grid, higgs, lead, tables
from benchmarks.grid import DEFAULT, PLAIN, Cell, Runs

CELL = Cell("s1", "k-means", 2, 1.0)


def rows(name):
    rng = np.random.default_rng(0)
    return np.clip(np.repeat([[-0.5, 0.0], [0.5, 0.0]], 200, axis=0) + rng.normal(0, 0.05, (400, 2)), -1, 1)


def runs_of(path, **costs):
    runs = Runs(path)
    for method in lead.rivals(CELL):
        runs.costs[CELL, method] = costs.get(method.replace("-", "_"), [9.0] * 3)
        runs.seconds[CELL, method] = 1.0
    runs.costs[CELL._replace(epsilon=0.0), PLAIN], runs.seconds[CELL._replace(epsilon=0.0), PLAIN] = [1.0], 1.0
    return runs


def test_runs_resume_where_they_ended(tmp_path):
    runs = Runs.read(tmp_path / "runs.csv")
    grid.fill(runs, [CELL], lambda cell: [DEFAULT, "lloyd"], 1, rows)
    again = Runs.read(tmp_path / "runs.csv")
    assert again.costs == {key: [float(f"{cost:.6g}") for cost in costs] for key, costs in runs.costs.items()}
    kept = dict(again.costs)
    grid.fill(again, [CELL], lambda cell: [DEFAULT], 2, rows)
    assert [len(again.costs[CELL, method]) for method in (DEFAULT, "lloyd")] == [2, 1]
    assert again.costs[CELL, DEFAULT][0] == kept[CELL, DEFAULT][0]


def test_plain_solutions_are_the_measure(tmp_path):
    runs = Runs(tmp_path / "runs.csv")
    assert math.isnan(runs.plain(CELL))
    grid.fill(runs, grid.plain_cells([CELL]), lambda cell: grid.NOT_PRIVATE, 1, rows)
    assert runs.plain(CELL) == pytest.approx(400 * 2 * 0.05**2, rel=0.2)


@pytest.mark.parametrize(
    ("ours", "winner", "close", "far"),
    [
        ([1.0, 1.0, 1.0], DEFAULT, True, False),
        ([2.01, 2.01, 2.01], "lsh", True, False),  # within 1%
        ([2.05, 2.05, 2.05], "lsh", False, False),
        ([2.1, 2.1, 2.1], "lsh", False, True),
    ],
)
def test_the_bar_is_judged_by_the_lowest_mean(tmp_path, ours, winner, close, far):
    verdict = lead.judge(runs_of(tmp_path / "runs.csv", auto=ours, lsh=[2.0, 2.0, 2.0]), CELL)
    assert (verdict.winner, verdict.is_close, verdict.is_far) == (winner, close, far)


def test_two_standard_errors_of_the_winner_forgive(tmp_path):
    verdict = lead.judge(runs_of(tmp_path / "runs.csv", auto=[2.1] * 3, lsh=[1.9, 2.0, 2.1]), CELL)
    assert verdict.is_close
    assert verdict.is_far  # but more than 3% above is too much, whatever the errors


def test_a_cell_with_a_method_left_out_is_not_judged(tmp_path):
    runs = runs_of(tmp_path / "runs.csv")
    del runs.costs[CELL, "balcan"]
    assert lead.judge(runs, CELL) is None


def test_the_page_shows_losses(tmp_path, monkeypatch):
    monkeypatch.setattr(lead, "KS", (2,))
    page = (tables.ROOT / lead.PAGE).read_text()
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(page)
    lead.write_page(runs_of(tmp_path / "runs.csv", auto=[2.1] * 3, lsh=[2.0] * 3), "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "| s1 | k-means | 2 | 1 | `lsh` | 5.0% |" in text
    assert "**The bar does not hold.**" in text
    assert "**2.100 (lsh 2.000)**" in text


def test_the_bar_of_higgs_counts_iterations_and_memory():
    found = {"Lloyd": {"iteration": 1.0}, "delta 0": {"cpu": 26.0, "mib": 100.0, "algorithm": "moments"}}
    found["delta 1e-6"] = {"cpu": 24.0, "mib": 100.0, "algorithm": "tree"}
    text = higgs.table(found, 1000)
    assert "| `moments`, delta 0 | 26 s | 26.0 | 100 MiB | **no** |" in text
    assert "| `tree`, delta 1e-6 | 24 s | 24.0 | 100 MiB | yes |" in text
