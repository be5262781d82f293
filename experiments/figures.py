"""Pictures of the runs."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import numpy as np

from experiments.runs import METHODS, OURS, PLAIN, PRINTED, SEARCHED
from experiments.tasks import KS, SPACES
from experiments.verdicts import means

__all__ = ["draw_costs", "draw_iterations", "draw_times", "save_sheet", "sheet"]

COLORS = {"rand": "tab:gray", "kmedian++": "tab:blue", "HST": "tab:red", "cells": "tab:green", "coverage": "tab:orange"}
DPI = 75


def _look(method: str) -> dict[str, Any]:
    """Return color by start, line by kind of method."""
    start = method.split()[0].split("-")[-1]
    style = {**dict.fromkeys(PLAIN, ":"), **dict.fromkeys(SEARCHED, "--")}.get(method, "-")
    return {"color": COLORS[start], "linestyle": style, "marker": "." if method not in OURS else "s", "markersize": 4, "lw": 1.2}


def _lines(axis: Any, runs: list[dict[str, Any]], column: str, space: str, demand: str, methods: tuple[str, ...]) -> None:
    values = means(runs, column)
    for method in methods:
        points = sorted((k, v) for (s, d, k, m), v in values.items() if (s, d, m) == (space, demand, method))
        if points:
            axis.plot(*zip(*points, strict=True), label=method, **_look(method))
    axis.set_xlabel("k")
    axis.set_xticks(KS)
    axis.tick_params(labelsize=7)


def save_sheet(figure: Any, axes: np.ndarray, path: File) -> None:
    """Save panels as a small PNG, with one legend for all of them."""
    import matplotlib.pyplot as plt
    from PIL import Image

    found = {}
    for axis in axes.ravel():
        found |= dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(found.values(), found.keys(), loc="lower center", ncol=6, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.02 + 0.03 * (1 + len(found) // 6), 1, 1))
    figure.canvas.draw()
    Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[:, :, :3]).quantize(32).save(path, optimize=True)
    plt.close(figure)


def sheet(rows: int, columns: int, height: float = 3.0) -> tuple[Any, np.ndarray]:
    """Return a figure and its panels."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=(3.3 * columns, height * rows + 0.5), squeeze=False, dpi=DPI)


def draw_costs(runs: list[dict[str, Any]], name: str, folder: File) -> None:
    """Draw costs over k on one space: initial, mean over T, best of T and final, with both kinds of demand."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    figure, axes = sheet(2, 4)
    panels = {
        "initial": ("initial", (*PLAIN, *PRINTED)),
        "average": ("mean over T steps", (*PRINTED, *SEARCHED)),
        "best": ("best of T steps", (*PRINTED, *SEARCHED)),
        "final": ("final, or released", METHODS),
    }
    for row, demand in enumerate(("balanced", "imbalanced")):
        for axis, (column, (title, methods)) in zip(axes[row], panels.items(), strict=True):
            _lines(axis, runs, column, SPACES[name], demand, methods)
            axis.set_title(f"{SPACES[name]}, {demand}: {title}", fontsize=8)
            axis.set_yscale("log")
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.minorticks_off()
    save_sheet(figure, axes, folder / f"costs_{name}.png")


def draw_iterations(runs: list[dict[str, Any]], folder: File) -> None:
    """Draw the steps to the best moving average, imbalanced demand."""
    figure, axes = sheet(1, len(SPACES))
    for axis, space in zip(axes[0], SPACES.values(), strict=True):
        _lines(axis, runs, "iterations", space, "imbalanced", (*PRINTED, *SEARCHED))
        axis.set_title(f"{space}, imbalanced: steps", fontsize=8)
        axis.set_ylim(0, 21)
    save_sheet(figure, axes, folder / "iterations.png")


def draw_times(rows: list[dict[str, Any]], folder: File) -> None:
    """Draw CPU seconds over k on all spaces at their full size, and over n on MNIST under l2 with k = 20."""
    largest = {row["space"]: max(r["n"] for r in rows if r["space"] == row["space"]) for row in rows}
    figure, axes = sheet(1, len(largest) + 1)
    cuts = [([r for r in rows if r["space"] == s and r["n"] == n], "k", f"{s}, n = {n}") for s, n in largest.items()]
    cuts.append(([r for r in rows if r["space"] == "MNIST l2" and r["k"] == 20], "n", "MNIST l2, k = 20"))
    for axis, (cut, along, title) in zip(axes[0], cuts, strict=True):
        cut.sort(key=lambda row: row[along])
        across = [row[along] for row in cut]
        axis.plot(across, [row["tree"] + row["search"] for row in cut], "r.-", label="HST")
        axis.plot(across, [row["k-median++"] for row in cut], "b.-", label="k-median++")
        axis.set(xlabel=along, xscale="log", yscale="log")
        axis.set_title(f"CPU s: {title}", fontsize=8)
    save_sheet(figure, axes, folder / "times.png")
