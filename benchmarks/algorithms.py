"""What is run on a table, by name: algorithms of the library and variants of them, plain solutions, peers, and anyone's own.

A name is one of `VARIANTS`, of `PLAIN`, ``diffprivlib`` (its k-means, in an environment of its own, whose interpreter is named by
the variable DIFFPRIVLIB_PYTHON), ``module:Class`` for an algorithm, ``module:function`` for a function
``f(rows, k, epsilon, delta, lower, upper, objective, seed)`` that returns centers, or a name that the library knows.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import spinney.algorithms as ours
from benchmarks.cells import Cell
from benchmarks.tables import Table
from spinney import PrivateKMeans, PrivateKMedian, PrivateKMedoids

RUNNER = Path(__file__).parent / "audit_peer_runner.py"
_STEPS = ("weiszfeld", "gradient", "localized", "objective")


def _local(algorithm: Any) -> dict[str, Any]:
    return {"model": "local", "adjacency": "replace", "algorithm": algorithm}


#: What makes the parameters of an estimator, by the name of a variant: other commits may lack some.
VARIANTS: dict[str, Callable[[], dict[str, Any]]] = {
    "hst, published": lambda: {"algorithm": ours.HST(alpha=10, consistent=False)},  # the constants of Cohen-Addad et al.
    "hst, projected": lambda: {"algorithm": ours.HST(projection="auto")},
    "hst, repaired": lambda: {"algorithm": ours.HST(repairs=3)},
    "auto, tightened": lambda: {"tighten": True},
    "auto, replace": lambda: {"adjacency": "replace"},
    "sample-aggregate, replace": lambda: {"algorithm": "sample-aggregate", "adjacency": "replace"},
    "with replacement": lambda: {"algorithm": ours.SampleAggregate(sampling="replacement"), "adjacency": "replace"},
    "local refined": lambda: _local(import_module("spinney.local").Refined()),
    "local stable": lambda: _local(import_module("spinney.local").StableLocal()),
    "local stable, as printed": lambda: _local(import_module("spinney.local").StableLocal(anchored=False)),
    **{f"stable, {step}": partial(lambda step: {"algorithm": ours.Stable(median_step=step)}, step) for step in _STEPS},
    **{f"hst, {step}": partial(lambda step: {"algorithm": ours.HST(median_step=step)}, step) for step in _STEPS},
}


def median_step(table: Table, step: str, run: int) -> Any:
    """Return an algorithm: one step, for the whole budget, from a center that is half the median distance off the median.

    The rows are public.
    """
    from spinney.algorithms.medians import median_parts, move_to_medians
    from spinney.mechanisms.additive import Noise
    from spinney.solvers.weighted import improve

    rows = table.rows
    center = improve(rows, np.ones(len(rows)), np.median(rows, axis=0)[None, :], 1, 300, 1e-9, 1e-12).centers[0]
    distances = np.sqrt(((rows - center) ** 2).sum(axis=1))
    direction = np.random.default_rng([run, rows.shape[1]]).normal(size=rows.shape[1])
    start = (center + 0.5 * np.median(distances) * direction / np.linalg.norm(direction))[None, :]
    radii = np.array([np.quantile(distances, 0.4)])

    class MedianStep(ours.Algorithm):
        """Nothing but the step."""

        name = "median step"

        def parts(self, problem: Any) -> Any:
            """Return the parts of the step."""
            return median_parts("step", Fraction(1), problem, step)

        def run(self, purse: Any, problem: Any, rng: Any) -> Any:
            """Take the step."""
            moved = move_to_medians(purse, problem, start, radii, "step", step)
            return ours.Result(moved.centers, np.zeros(1, dtype=np.int64), Noise("none", 0.0), start[:0], np.empty(0))

    return MedianStep()


def named(path: str) -> Any:
    """Return what ``package.module:name`` names; a class, or a function without parameters, is called."""
    module, _, name = path.partition(":")
    if not name:
        raise SystemExit("Give an import path such as package.module:Name.")
    found = getattr(import_module(module), name)
    return found() if isinstance(found, type) or (callable(found) and not inspect.signature(found).parameters) else found


def model(cell: Cell, table: Table, run: int, seeds: str = "public") -> Any:
    """Return the estimator of a cell; the run seeds its public draws, with `seeds` "all" its noise too, with "none" nothing."""
    if cell.algorithm in VARIANTS:
        asked = VARIANTS[cell.algorithm]()
    elif cell.algorithm.startswith("median step, "):
        asked = {"algorithm": median_step(table, cell.algorithm.removeprefix("median step, "), run)}
    else:
        asked = {"algorithm": named(cell.algorithm) if ":" in cell.algorithm else cell.algorithm}
    asked |= {"epsilon": cell.epsilon, "delta": cell.delta, "random_state": None if seeds == "none" else run}
    if seeds == "all":
        asked |= {"noise_seed": run}
    if table.space is not None:
        return PrivateKMedoids(cell.k, space=table.space, power=cell.power, **asked)
    kind = PrivateKMeans if cell.power == 2 else PrivateKMedian
    return kind(cell.k, bounds=table.bounds or (table.lower, table.upper), **asked)


def _plain_start(cell: Cell, table: Table, run: int) -> np.ndarray:
    """Return D^p seeding of all rows, then ten Lloyd or Weiszfeld rounds (Cohen-Addad et al., section 6)."""
    from spinney.solvers.weighted import improve, seed

    rng, rows = np.random.default_rng(run), table.rows
    fillers = rows[rng.integers(0, len(rows), cell.k)]
    start = seed(rows, np.ones(len(rows)), cell.k, cell.power, rng.random((cell.k, 1)), fillers)
    return np.asarray(improve(rows, np.ones(len(rows)), start, cell.power, 10, 1e-4, 1e-9).centers)


def _blind_sites(cell: Cell, table: Table, run: int) -> np.ndarray:
    """Return the best sites for all points of a network alike."""
    from spinney.solvers.medoids import solve_medoids

    return np.asarray(solve_medoids(table.space, np.ones(table.space.n_points), cell.k, cell.power).points)


#: Not private, or blind: to compare with.
PLAIN: dict[str, Callable[[Cell, Table, int], np.ndarray]] = {
    "k-median++ (not private)": _plain_start,
    "no rows read": _blind_sites,
}


def _external(function: Callable[..., Any], cell: Cell, table: Table, run: int) -> np.ndarray:
    sides = (np.broadcast_to(side, table.rows.shape[1:]).astype(float) for side in (table.lower, table.upper))
    objective = "kmeans" if cell.power == 2 else "kmedian"
    return np.asarray(function(table.rows.copy(), cell.k, cell.epsilon, cell.delta, *sides, objective, run), dtype=np.float64)


def _diffprivlib(
    rows: np.ndarray, k: int, epsilon: float, delta: float, lower: np.ndarray, upper: np.ndarray, objective: str, number: int
) -> Any:
    """Return the centers of diffprivlib's k-means."""
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables.npz"
        np.savez(tables, first=rows, second=rows[:1])
        options = {
            "peer": "diffprivlib KMeans", "tables": str(tables), "runs": 1, "epsilon": epsilon, "k": k,
            "lower": lower.tolist(), "upper": upper.tolist(), "seed": number, "names": ["first"],
        }  # fmt: skip
        command = [os.environ.get("DIFFPRIVLIB_PYTHON", "false"), str(RUNNER)]
        told = subprocess.run(command, input=json.dumps(options) + "\n", capture_output=True, text=True)
    (found,) = json.loads(told.stdout)["first"] if told.returncode == 0 else ("the environment does not run",)
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def centers(cell: Cell, table: Table, run: int, seeds: str = "public") -> np.ndarray:
    """Return the centers, or the sites, of one run of a cell."""
    if cell.algorithm in PLAIN:
        return PLAIN[cell.algorithm](cell, table, run)
    if cell.algorithm == "diffprivlib":
        if cell.power != 2:
            raise SystemExit("diffprivlib has no k-median.")
        return _external(_diffprivlib, cell, table, run)
    if ":" in cell.algorithm and inspect.isfunction(function := named(cell.algorithm)):
        return _external(function, cell, table, run)
    fitted = model(cell, table, run, seeds).fit(table.rows)
    return np.asarray(fitted.medoid_indices_ if table.space is not None else fitted.cluster_centers_)
