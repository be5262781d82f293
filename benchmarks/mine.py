"""All algorithms on a table of your own: ``python -m benchmarks mine --data mine.npz --k 10 --epsilon 1``.

Cost over that of the best plain solution, mean and standard error of several runs, as a table, a CSV file and a plot. The table
is treated as PUBLIC: every run is a release, costs are exact, and nothing is charged. Never compare on private rows.

``--algorithms`` chooses (all of ours by default, with those that packages register): names, ``package.module:Class`` for an
algorithm of your own, or ``package.module:function`` for any ``f(rows, k, epsilon, delta, lower, upper, objective, seed)`` that
returns centers. ``diffprivlib`` is its k-means, in an environment of its own, whose interpreter DIFFPRIVLIB_PYTHON names. Beside
them stands k-median++ with Lloyd rounds (Cohen-Addad et al., section 6), which is not private.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import Cell
from benchmarks.pages import markdown
from benchmarks.runner import Task, run_all
from benchmarks.store import standard_error
from benchmarks.tables import OWN, Table

POWERS = {"kmeans": 2, "kmedian": 1}
PLAIN = "k-median++ (not private)"


def load_table(path: Path, array: str | None) -> np.ndarray:
    """Return the rows of a .npz, .npy, .csv or .parquet file; of an .npz the array of this name, or its first of two axes."""
    if not path.is_file():
        raise SystemExit(f"{path} is no file. Hint: --data names a public table: .npz, .npy, .csv or .parquet.")
    if path.suffix == ".npz":
        arrays = np.load(path)
        tables = [name for name in arrays.files if arrays[name].ndim == 2 and arrays[name].dtype.kind in "fiu"]
        rows = arrays[array if array is not None else (tables or arrays.files)[0]]
    elif path.suffix == ".npy":
        rows = np.load(path)
    else:
        import polars as pl

        frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
        rows = frame.select(pl.selectors.numeric()).to_numpy()
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if rows.ndim != 2 or not len(rows):
        raise SystemExit("The table must have rows and columns of numbers.")
    return rows[np.isfinite(rows).all(axis=1)]


def own_names() -> list[str]:
    """Return the names of our algorithms for tables, and of those that other packages registered."""
    from spinney.algorithms.registry import GROUP, HOMES, solves_of

    made = {point.name: point.load() for point in entry_points(group=GROUP)}
    others = [name for name, one in made.items() if solves_of(one() if isinstance(one, type) else one) == "points"]
    return ["auto", *sorted({*HOMES["points"], *others} - {"tree", "moments"})]


def compared(cells: list[Cell], runs: int, jobs: int) -> list[dict[str, Any]]:
    """Return the ratios of everything that is compared; one that fails stops no other."""
    tasks = [Task(cell, run, may_fail=True) for cell in cells for run in range(runs)]
    results = []
    for cell, group in itertools.groupby(run_all(tasks, jobs), key=lambda found: found.task.cell):
        found = list(group)
        failed = next((one.value for one in found if isinstance(one.value, str)), "")
        ratios = [] if failed else [one.value / one.plain for one in found if one.plain is not None]
        mean, error = float(np.mean(ratios)) if ratios else math.nan, standard_error(ratios)
        result = {"name": cell.algorithm, "mean": mean, "error": error, "ratios": ratios, "failed": failed}
        results.append(result | {"seconds": float(np.mean([one.seconds for one in found]))})
        print(f"{cell.algorithm:28} {failed or f'{mean:.4f} +- {error:.4f}'}", flush=True)
    return results


def write_csv(path: Path, cell: Cell, results: list[dict[str, Any]]) -> None:
    """Write one line per run."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "power", "k", "epsilon", "delta", "run", "ratio", "mean", "standard_error", "failed"])
        for one in results:
            facts = [one["name"], cell.power, cell.k, cell.epsilon, cell.delta]
            for run, ratio in enumerate(one["ratios"] or [math.nan]):
                writer.writerow([*facts, run, ratio, one["mean"], one["error"], one["failed"]])


def write_plot(path: Path, title: str, results: list[dict[str, Any]]) -> None:
    """Draw the means with their standard errors, the best on top; the axis is logarithmic."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = sorted((one for one in results if not one["failed"]), key=lambda one: -one["mean"])
    figure = Figure(figsize=(7, 1 + 0.35 * len(shown)), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.add_subplot()
    means, errors = [one["mean"] for one in shown], [0 if math.isnan(one["error"]) else one["error"] for one in shown]
    axis.errorbar(means, range(len(shown)), xerr=errors, fmt="o", color="#1f5f8b", ecolor="#8bb0c9", capsize=3)
    axis.axvline(1.0, color="#999999", linewidth=1)
    axis.set_yticks(range(len(shown)), [one["name"] for one in shown])
    axis.set_xscale("log")
    axis.set_xlabel("cost over the best plain solution, mean and standard error")
    axis.set_title(title, fontsize=10)
    figure.savefig(path, dpi=150)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks mine", description=__doc__, formatter_class=raw)
    parser.add_argument("--data", type=Path, required=True, help="a public table: .npz, .npy, .csv or .parquet")
    parser.add_argument("--array", help="which array of an .npz; by default the first with two axes")
    parser.add_argument("--k", type=int, required=True)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, default=1e-6, help="1e-06 by default: Gaussian noise; 0 for pure privacy")
    parser.add_argument("--objective", choices=sorted(POWERS), default="kmeans")
    parser.add_argument("--bounds", type=float, nargs=2, metavar=("LOWER", "UPPER"), help="of all columns; else the table's own")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--algorithms", nargs="*", metavar="NAME", help="with blanks or commas between; all of ours by default")
    parser.add_argument("--out", type=Path, default=Path("compare"), help="the CSV and the PNG, without their endings")
    options = parser.parse_args(arguments)
    if options.algorithms is not None:
        options.algorithms = [name for text in options.algorithms for name in text.split(",") if name]
    return options


def main(arguments: list[str] | None = None) -> int:
    """Compare, print the table, and write the CSV and the plot; 1 if something failed."""
    options = parsed(arguments)
    rows = load_table(options.data, options.array)
    lower, upper = (np.full(rows.shape[1], side) for side in options.bounds) if options.bounds else (rows.min(0), rows.max(0))
    keeps = upper > lower
    OWN["mine"] = Table(np.ascontiguousarray(rows[:, keeps]), lower[keeps], upper[keeps])
    first = Cell("mine", options.k, options.epsilon, options.delta, POWERS[options.objective], PLAIN)
    chosen = own_names() if options.algorithms is None else options.algorithms
    cells = [first, *(Cell("mine", first.k, first.epsilon, first.delta, first.power, name) for name in chosen)]
    title = f"{options.objective}, k = {first.k}, epsilon {first.epsilon:g}, delta {first.delta:g}"
    print(f"{title}, {options.runs} runs each", flush=True)
    results = compared(cells, options.runs, options.jobs)
    ordered = sorted(results, key=lambda one: (bool(one["failed"]), one["mean"]))
    lines = [
        [one["name"], one["failed"] or f"{one['mean']:.3f}", f"{one['error']:.3f}", f"{one['seconds']:.2f}"] for one in ordered
    ]
    print("\n" + markdown(["algorithm", "cost ratio", "standard error", "CPU seconds"], lines))
    write_csv(options.out.with_suffix(".csv"), first, results)
    write_plot(options.out.with_suffix(".png"), title, results)
    return 1 if any(one["failed"] for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
