import functools

import numpy as np
import pytest

from benchmarks import pages
from benchmarks.drawn import separated_blobs
from experiments import fan_li_li, needs, published, shechner
from experiments.runs import run_space, write_runs
from experiments.timing import measure_times, write_times
from spinney.algorithms.problem import SiteProblem, planned
from spinney.privacy import Budget, Unit
from spinney.questions import Counts, Labels
from spinney.spaces.metric import FiniteMetric


@pytest.fixture(scope="module")
def runs():
    return [run for repetition in range(2) for run in run_space("graph-r1", repetition, ks=(2,), n=200, demand=20)]


def test_a_small_run_fills_the_page(runs, tmp_path, monkeypatch):
    write_runs(tmp_path / "runs_graph-r1.csv", runs)
    line = FiniteMetric.from_points(np.arange(60.0)[:, None])
    write_times(tmp_path / "times.csv", measure_times(iter([("MNIST l2", line)]), ks=(2, 20)))
    page = (pages.ROOT / fan_li_li.PAGE).read_text()
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(page)
    fan_li_li.write_page(tmp_path, "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "graph r=1: 2" in text and "1.4980 together" in text  # noqa: PT018
    assert {path.name for path in tmp_path.glob("*.png")} == {"costs_graph-r1.png", "iterations.png", "times.png"}
    assert all(path.stat().st_size < 100_000 for path in tmp_path.glob("*.png"))


def test_the_printed_search_must_swap():
    space = FiniteMetric.from_points(np.arange(30.0)[:, None])
    for stay, curator in ((False, published.PrintedCurator), (True, published.Recorder)):
        search = published.SearchOnTree("random", published.STEPS, stay)
        path = published.run(search, space, np.zeros(50, dtype=np.int64), 2, 1.0, 0, curator)
        assert len(path.visited) == published.STEPS + 1
        moved = [set(a.tolist()) != set(b.tolist()) for a, b in zip(path.visited, path.visited[1:], strict=False)]
        assert all(moved) or stay


def test_printed_noise_of_a_level_doubles_with_its_depth():
    space = FiniteMetric.from_points(np.arange(4.0)[:, None])
    search = published.SearchOnTree("hst")
    problem = SiteProblem(k=2, power=1, space=space, existing=np.empty(0, dtype=np.int64), budget=Budget.of(1.0), unit=Unit())
    charges = planned(search, problem)
    source = published.SeededSource(0)
    backend = published.DemandBackend(np.zeros(5), problem.ground, Unit(), source.key)
    gate = published.PrintedCurator(backend, Unit(), published.FitLedger(problem.budget, charges), source)
    scales = [gate.ask(Counts(Labels(np.arange(4), 4)), charge).noise.scale for charge in charges[:3]]
    assert scales == [4.0, 8.0, 16.0]


def near(rows, setting, seed):
    """The centers of blobs, or with few rows none of them."""
    return separated_blobs(setting.n, setting.d, seed)[1] if setting.n > 300 else np.zeros((1, setting.d))


def test_a_small_sweep_fills_the_page_and_is_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(shechner, "SWEEPS", {"n": (300, 600), "epsilon": (1.0, 4.0)})
    calls, own = [], shechner.Setting

    def counted(rows, setting, seed, own=shechner.METHODS["tree"]):
        calls.append(setting)
        return own(rows, setting, seed)

    monkeypatch.setattr(shechner, "Setting", functools.partial(shechner.Setting, n=600, d=2, k=3))
    monkeypatch.setattr(shechner, "METHODS", {"tree": counted, "stable": shechner.METHODS["stable"]})
    monkeypatch.setattr(needs, "STARTS", {"tree": (300, 600)})
    path = tmp_path / "runs.csv"
    for _ in range(2):
        shechner.run_all(path, ("tree", "stable"), 1)
        assert len(calls) == 2 * 3  # two objectives, of n and of epsilon one value is the same
    runs = shechner.read_runs(path)
    assert len(runs) == 2 * 2 * 3
    assert all(run["cost"] > 0.9 * run["plain"] and 0 < run["phi"] < 1 for run in runs)
    page = (pages.ROOT / shechner.PAGE).read_text()
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(page)
    needs.run(tmp_path / "rows.csv", {"tree": near}, own, 2)
    shechner.write_page(tmp_path, "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "1 repetitions" in text
    assert "within the bound" in text
    assert "| Corollary 4.4 | `stable` |" in text
    assert "| k-means | 2 | 600 (1.0" in text
    assert {picture.name for picture in tmp_path.glob("*.png")} == {"ratio.png", "distance.png"}
