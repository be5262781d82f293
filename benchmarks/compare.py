"""All algorithms on a table of your own: ``python -m benchmarks.compare --data mine.npz --k 10 --epsilon 1``.

Cost over that of a strong plain solution, mean and standard error of several runs, as a table, a CSV file and a plot. The table
is treated as PUBLIC: every run is a release, costs are exact, and nothing is charged. Never compare on private rows.

``--algorithms`` chooses among ours (all of them by default), ``--algorithm package.module:Class`` adds one of your own; those
that packages register under ``spinney.algorithms`` come by themselves. ``--external module:function`` adds any function
``f(rows, k, epsilon, delta, lower, upper, objective, seed)`` that returns centers, and ``--diffprivlib-python`` the interpreter
of an environment that has diffprivlib, for its k-means. ``k-median++`` is the plain start with Lloyd rounds of Cohen-Addad et
al., section 6: it is not private, and here to compare only.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.audit_peers import RUNNER
from benchmarks.tables import markdown
from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.registry import GROUP, HOMES, solves_of
from spinney.solvers.weighted import improve, seed, solve, total_cost

POWERS = {"kmeans": 2, "kmedian": 1}
PLAIN = "k-median++ (not private)"
#: Plain solutions of which the best is the measure: restarts of the library's solver.
RESTARTS = 3

Runner = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Task:
    """A public table, and what is asked of it."""

    rows: np.ndarray
    k: int
    epsilon: float
    delta: float
    objective: str
    lower: np.ndarray
    upper: np.ndarray

    @property
    def power(self) -> int:
        """Of distances."""
        return POWERS[self.objective]

    def cost(self, centers: np.ndarray) -> float:
        """Return the exact cost of centers."""
        return float(total_cost(self.rows, np.ascontiguousarray(centers, dtype=np.float64), self.power))


def load_table(path: Path, array: str | None) -> np.ndarray:
    """Return the rows of a .npz, .npy, .csv or .parquet file; of an .npz the array of this name, or its first of two axes."""
    if not path.is_file():
        raise SystemExit(f"{path} is no file. Hint: --data names a public table: .npz, .npy, .csv or .parquet.")
    if path.suffix == ".npz":
        arrays = np.load(path)
        tables = [name for name in arrays.files if arrays[name].ndim == 2 and arrays[name].dtype.kind in "fiu"]
        chosen = array if array is not None else (tables or arrays.files)[0]
        rows = arrays[chosen]
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


def strong_cost(task: Task) -> float:
    """Return the least cost of several plain solutions of all rows."""
    weights, best = np.ones(len(task.rows)), math.inf
    for run in range(RESTARTS):
        rng = np.random.default_rng(run)
        centers = solve(task.rows, weights, task.k, task.power, rng, task.rows[: task.k]).centers
        best = min(best, improve(task.rows, weights, centers, task.power, 300, 1e-7, 1e-9).cost)
    return float(best)


def plain_start(task: Task, run: int) -> np.ndarray:
    """Return the plain baseline: D^p seeding of all rows, then Lloyd or Weiszfeld rounds. It is not private."""
    rng, weights = np.random.default_rng(run), np.ones(len(task.rows))
    fillers = task.rows[rng.integers(0, len(task.rows), task.k)]
    start = seed(task.rows, weights, task.k, task.power, rng.random((task.k, 1)), fillers)
    return np.asarray(improve(task.rows, weights, start, task.power, 10, 1e-4, 1e-9).centers)


def named(path: str) -> Any:
    """Return what ``package.module:name`` names."""
    module, _, name = path.partition(":")
    if not name:
        raise SystemExit("Give an import path such as package.module:Name.")
    return getattr(import_module(module), name)


def spinney_runner(task: Task, algorithm: Any) -> Runner:
    """Return one of ours, or an algorithm of the user's own, with secure noise."""
    estimator = PrivateKMeans if task.objective == "kmeans" else PrivateKMedian

    def run(number: int) -> np.ndarray:
        model = estimator(
            task.k, epsilon=task.epsilon, delta=task.delta, bounds=(task.lower, task.upper), algorithm=algorithm,
            random_state=number,
        )  # fmt: skip
        return np.asarray(model.fit(task.rows).cluster_centers_)

    return run


def external_runner(task: Task, function: Callable[..., Any]) -> Runner:
    """Return any function that makes centers."""

    def run(number: int) -> np.ndarray:
        facts = (task.k, task.epsilon, task.delta, task.lower, task.upper, task.objective, number)
        return np.asarray(function(task.rows.copy(), *facts), dtype=np.float64)

    return run


def peer_runner(task: Task, python: str) -> Runner:
    """Return diffprivlib's k-means, which runs in an environment of its own."""

    def run(number: int) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            tables = Path(folder) / "tables.npz"
            np.savez(tables, first=task.rows, second=task.rows[:1])
            options = {
                "peer": "diffprivlib KMeans", "tables": str(tables), "runs": 1, "epsilon": task.epsilon, "k": task.k,
                "lower": task.lower.tolist(), "upper": task.upper.tolist(), "seed": number, "names": ["first"],
            }  # fmt: skip
            told = subprocess.run([python, str(RUNNER)], input=json.dumps(options) + "\n", capture_output=True, text=True)
        (centers,) = json.loads(told.stdout)["first"] if told.returncode == 0 else ("the environment does not run",)
        if isinstance(centers, str):
            raise RuntimeError(centers)
        return np.asarray(centers)

    return run


def own_names() -> list[str]:
    """Return the names of our algorithms for tables, and of those that other packages registered."""
    others = [point.name for point in entry_points(group=GROUP) if solves_of(_made(point.load())) == "points"]
    return ["auto", *sorted({*HOMES["points"], *others})]


def _made(thing: Any) -> Any:
    return thing() if isinstance(thing, type) else thing


def runners(task: Task, options: argparse.Namespace) -> Iterator[tuple[str, Runner]]:
    """Yield everything that is compared, by name."""
    yield PLAIN, lambda number: plain_start(task, number)
    for name in own_names() if options.algorithms is None else options.algorithms:
        yield name, spinney_runner(task, name)
    for path in options.algorithm:
        yield path, spinney_runner(task, _made(named(path)))
    for path in options.external:
        yield path, external_runner(task, named(path))
    if options.diffprivlib_python and task.objective == "kmeans":
        yield "diffprivlib", peer_runner(task, options.diffprivlib_python)


def compared(task: Task, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return, for everything that is compared, its ratios to a strong plain solution."""
    strong, results = strong_cost(task), []
    for name, run in runners(task, options):
        ratios, failed, begun = [], "", cpu_seconds()
        for number in range(options.runs):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    ratios.append(task.cost(run(number)) / strong)
            except Exception as error:  # a peer, or someone's own: the others go on
                failed = type(error).__name__
                break
        mean, error = (math.nan, math.nan) if failed else (float(np.mean(ratios)), standard_error(ratios))
        seconds = (cpu_seconds() - begun) / max(len(ratios), 1)
        results.append({"name": name, "mean": mean, "error": error, "ratios": ratios, "seconds": seconds, "failed": failed})
        print(f"{name:28} {failed or f'{mean:.4f} +- {error:.4f}'}", flush=True)
    return results


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it waited for: a peer runs in one of its own."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def standard_error(ratios: list[float]) -> float:
    """Return the standard error of a mean; not a number for one run."""
    return float(np.std(ratios, ddof=1) / math.sqrt(len(ratios))) if len(ratios) > 1 else math.nan


def write_csv(path: Path, task: Task, results: list[dict[str, Any]]) -> None:
    """Write one line per run."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "objective", "k", "epsilon", "delta", "run", "ratio", "mean", "standard_error", "failed"])
        for one in results:
            facts = [one["name"], task.objective, task.k, task.epsilon, task.delta]
            for run, ratio in enumerate(one["ratios"] or [math.nan]):
                writer.writerow([*facts, run, ratio, one["mean"], one["error"], one["failed"]])


def write_plot(path: Path, task: Task, results: list[dict[str, Any]]) -> None:
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
    axis.set_xlabel("cost over a strong plain solution, mean and standard error")
    axis.set_title(f"{task.objective}, k = {task.k}, epsilon {task.epsilon:g}, delta {task.delta:g}", fontsize=10)
    figure.savefig(path, dpi=150)


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a public table: .npz, .npy, .csv or .parquet")
    parser.add_argument("--array", help="which array of an .npz; by default the first with two axes")
    parser.add_argument("--k", type=int, required=True)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, default=1e-6, help="1e-06 by default: Gaussian noise; 0 for pure privacy")
    parser.add_argument("--objective", choices=sorted(POWERS), default="kmeans")
    parser.add_argument("--bounds", type=float, nargs=2, metavar=("LOWER", "UPPER"), help="of all columns; else the table's own")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--algorithms", nargs="*", metavar="NAME", help="of ours, with blanks or commas between; all by default")
    parser.add_argument("--algorithm", action="append", default=[], metavar="MODULE:CLASS", help="of your own")
    parser.add_argument("--external", action="append", default=[], metavar="MODULE:FUNCTION")
    parser.add_argument("--diffprivlib-python", metavar="PATH")
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
    task = Task(rows[:, keeps], options.k, options.epsilon, options.delta, options.objective, lower[keeps], upper[keeps])
    print(f"{task.objective}, k = {task.k}, epsilon {task.epsilon:g}, delta {task.delta:g}, {options.runs} runs each", flush=True)
    results = compared(task, options)
    ordered = sorted(results, key=lambda one: (bool(one["failed"]), one["mean"]))
    cells = [
        [one["name"], one["failed"] or f"{one['mean']:.3f}", f"{one['error']:.3f}", f"{one['seconds']:.2f}"] for one in ordered
    ]
    print("\n" + markdown(["algorithm", "cost ratio", "standard error", "CPU seconds"], cells))
    write_csv(options.out.with_suffix(".csv"), task, results)
    write_plot(options.out.with_suffix(".png"), task, results)
    return 1 if any(one["failed"] for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
