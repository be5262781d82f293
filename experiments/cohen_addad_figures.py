"""Pictures of the experiments of Cohen-Addad et al.: leaves of the tree on a plane, and costs over k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import markdown
from experiments.figures import save_sheet, sheet
from experiments.grid import DEFAULT, DELTA, METHODS, PAPER_PLAIN, Cell, Runs
from spinney import PrivateKMedian
from spinney.spaces.nearest import nearest

__all__ = ["draw_costs", "draw_leaves", "leaf_distances"]

#: Figure 1: what is drawn, and how often its leaves are measured.
LEAF_EPSILONS, LEAF_K, LEAF_RUNS = (0.25, 1.0), 15, 10
#: One color each, those of the paper first.
NAMED = (DEFAULT, "hst", "lsh", "balcan", "k-variates", "lloyd")
TABLE = ("gold", "navy", "lime", "teal", "salmon")
COLORS = dict(zip((*NAMED, *(name for name in METHODS if name not in NAMED)), range(20), strict=False))


def _leaves(rows: np.ndarray, epsilon: float, run: int) -> Any:
    model = PrivateKMedian(LEAF_K, epsilon=epsilon, delta=DELTA, bounds=(-1, 1), algorithm="hst", random_state=run)
    return model.fit(rows).release_


def leaf_distances(rows: np.ndarray) -> str:
    """Return how many leaves the tree has, and how far rows are from the next one: means of several runs."""
    lines = []
    for epsilon in LEAF_EPSILONS:
        counts, distances = [], []
        for run in range(LEAF_RUNS):
            release = _leaves(rows, epsilon, run)
            points = release.summary_points[release.summary_weights > 0]
            counts.append(len(points))
            distances.append(float(np.sqrt(nearest(rows, points)[0]).mean()))
        spread = f"{np.mean(distances):.4f} ({min(distances):.4f} to {max(distances):.4f})"
        lines.append([f"{epsilon:g}", f"{np.mean(counts):.0f}", spread])
    return markdown(
        ["epsilon", "leaves with weight", "mean distance of a row to the next leaf (least to most of the runs)"], lines
    )


def draw_leaves(rows: np.ndarray, folder: Path) -> None:
    """Draw rows, leaves by weight, and centers, for two epsilons (Figure 1)."""
    figure, axes = sheet(1, len(LEAF_EPSILONS), 4.0)
    for axis, epsilon in zip(axes[0], LEAF_EPSILONS, strict=True):
        release = _leaves(rows, epsilon, 0)
        some = rows[:: max(1, len(rows) // 2000)]
        axis.scatter(*some.T, s=1, color="tab:green", label="rows")
        weights = np.maximum(release.summary_weights, 0)
        sizes = 60 * weights / max(weights.max(), 1e-9)
        axis.scatter(*release.summary_points.T, s=sizes, color="tab:blue", alpha=0.6, label="leaves")
        axis.scatter(*release.centers.T, s=30, color="tab:red", marker="x", label="centers")
        axis.set_title(f"hst, k = {LEAF_K}, epsilon {epsilon:g}", fontsize=9)
    save_sheet(figure, axes, folder / "leaves.png")


def draw_costs(runs: Runs, sets: Mapping[str, str], ks: Iterable[int], epsilons: Iterable[float], folder: Path) -> None:
    """Draw mean costs over k, over the least plain cost: a row for each epsilon, a column for each set (Figures 2 and 3)."""
    shown = [data for data in sets if any(cell.data == data for cell, _ in runs.costs)]
    if not shown:
        return
    epsilons = [one for one in epsilons if any(cell.epsilon == one for cell, _ in runs.costs)]
    if not epsilons:
        return
    figure, axes = sheet(len(epsilons), len(shown), 2.6 if len(epsilons) > 1 else 3.6)
    for row, epsilon in enumerate(epsilons):
        for axis, data in zip(axes[row], shown, strict=True):
            for method in (PAPER_PLAIN, *METHODS):
                _line(axis, runs, data, epsilon, method, ks)
            axis.set_title(f"{sets[data].split()[0]}, epsilon {epsilon:g}", fontsize=8)
            axis.set(yscale="log", xlabel="k")
            axis.tick_params(labelsize=7, which="both")
    save_sheet(figure, axes, folder / "costs.png")


def _line(axis: Any, runs: Runs, data: str, epsilon: float, method: str, ks: Iterable[int]) -> None:
    points = []
    for k in ks:
        cell = Cell(data, "k-median", k, 0.0 if method == PAPER_PLAIN else epsilon)
        costs, plain = runs.costs.get((cell, method), []), runs.plain(cell)
        if costs:
            points.append((k, float(np.mean(costs)) / plain))
    if points:
        style = ":" if method == PAPER_PLAIN else "-" if method in NAMED else "--"
        color = "black" if method == PAPER_PLAIN else f"C{COLORS[method]}" if COLORS[method] < 10 else TABLE[COLORS[method] - 10]
        axis.plot(*zip(*points, strict=True), style, marker=".", lw=2 if method == DEFAULT else 1, label=method, color=color)
