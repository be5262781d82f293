"""The experiments of two papers, tiny: their tables resume, and their pages are filled."""

import numpy as np
import pytest

from benchmarks import pages
from benchmarks.cells import suites
from benchmarks.store import Store
from experiments import cohen_addad, jones, pe_means
from experiments.grid import Cell, Runs


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Copy a page to where it may be filled."""

    def copied(name):
        (tmp_path / "page.md").write_text((pages.ROOT / name).read_text())
        monkeypatch.setattr(pages, "ROOT", tmp_path)
        return tmp_path / "page.md"

    return copied


def filled(costs):
    runs = Runs(pages.ROOT)
    for k in cohen_addad.KS:
        for method, cost in costs.items():
            epsilon = 0.0 if method in (cohen_addad.PLAIN, cohen_addad.PAPER_PLAIN) else 0.5
            runs.costs[Cell("skin", "k-median", k, epsilon), method] = cost
    return runs


def test_the_page_of_the_trees_is_filled(page, tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.cohen_addad_figures.LEAF_RUNS", 1)
    path = page(cohen_addad.PAGE)
    rows = np.clip(np.random.default_rng(0).normal(0, 0.3, (500, 2)), -1, 1)
    runs = filled({"plain": [1.0], "k-median++": [1.1], "hst": [1.2], "auto": [1.05], "balcan": [3.0]})
    cohen_addad.write_page(runs, tmp_path, "page.md", lambda: rows)
    assert "`balcan` to `hst`" in path.read_text()
    assert "| `auto` |" in path.read_text()
    assert {one.name for one in tmp_path.glob("*.png")} == {"costs.png", "leaves.png"}


def test_additive_errors_fill_their_page(page, tmp_path, monkeypatch):
    monkeypatch.setattr(jones, "SWEEPS", {"k": (2, 4), "n": (40, 80), "epsilon": (1.0, 2.0)})
    monkeypatch.setattr(jones, "LOADS", (4,))
    jones.run_all(tmp_path / "runs.csv", jones.METHODS, 1)
    before = (tmp_path / "runs.csv").read_bytes()
    jones.run_all(tmp_path / "runs.csv", jones.METHODS, 1)
    assert (tmp_path / "runs.csv").read_bytes() == before
    path = page(jones.PAGE)
    jones.write_page(tmp_path, "page.md")
    assert "constant 1 | constant " in path.read_text()


@pytest.mark.parametrize(
    ("factor", "said"), [(0.9, "lower by two standard errors in 13"), (1.0, "not clearly either in 13"), (1.1, "higher in 13")]
)
def test_the_default_is_held_to_published_areas(page, tmp_path, monkeypatch, factor, said):
    """Made-up runs whose area is the published one times a factor, at every epsilon alike."""
    store, told = Store(tmp_path / "store.jsonl"), pe_means.sets()
    for cell in suites()[pe_means.SUITE].cells:
        line = told[pe_means.published_name(cell)]
        loss = factor * int(line["n"]) * pe_means.best(line) / 3.75
        store.append(pe_means.SUITE, cell, "made up", [0.995 * loss, 1.005 * loss], loss)
    monkeypatch.setattr(pe_means, "Store", lambda: store)
    path = page(pe_means.PAGE)
    pe_means.main("page.md")
    assert said in " ".join(path.read_text().split())
    assert "| adult |" in path.read_text()


def test_areas_are_those_of_the_trapezoid_rule():
    losses = [[1.0, 1.2], [0.9, 0.7], [0.5, 0.5]]
    found = pe_means.area([0.25, 1.0, 4.0], losses)
    assert found.value == pytest.approx(0.75 * (1.1 + 0.8) / 2 + 3 * (0.8 + 0.5) / 2)
    assert found.error == pytest.approx(np.hypot(0.375 * 0.1, 1.875 * 0.1))
