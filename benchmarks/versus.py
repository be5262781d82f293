"""Two programs on the same tables: ``python -m benchmarks.versus --before b6413ba``.

Costs of the default of one commit over those of another, on fresh drawn tables and on the sets in SPINNEY_DATA, with standard
errors. ``--after`` names a commit, or is left out for the sources as they are; ``--algorithm`` runs another algorithm there, by
its name or as ``module:Class``. Noise is drawn anew in every run. Costs are remembered by commit in ``benchmarks/.cache``, so
that a commit is run once. ``--seed`` draws other tables: the last figures have that of the last commit's name.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import load, unit_box
from benchmarks.generalize import FAMILIES
from benchmarks.tables import ROOT, markdown, save

CACHE = Path(__file__).parent / ".cache" / "versus"
EPSILONS, DELTAS = (0.1, 0.25, 1.0), (0.0, 1e-6)
#: Tables have at most so many numbers.
MOST_NUMBERS = 12_800_000
#: Names in `benchmarks.data`, and how many clusters are looked for.
REAL = {
    "s1": 15, "s3": 15, "a2": 35, "birch1": 100, "unbalance": 8, "dim032": 16, "dim064": 16, "uk_accidents": 20, "skin": 10,
    "adult": 10, "shuttle": 10, "covtype": 10, "covtype54": 10, "higgs_11k": 10, "digits": 10, "mnist_test10k": 10,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One table and budget: what is run there, so many times."""

    table: str
    k: int
    epsilon: float
    delta: float
    power: int

    @property
    def title(self) -> str:
        """As results name it."""
        return f"{self.table}, k {self.k}, epsilon {self.epsilon:g}, delta {self.delta:g}, power {self.power}"


def one_direction(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw columns that all follow one number, each in its own way."""
    along = rng.uniform(0, 1, n)
    return along[:, None] ** rng.uniform(0.5, 3, d) + rng.normal(0, 0.02, (n, d))


def drawn(seed: int, place: int) -> tuple[str, int, np.ndarray]:
    """Return a drawn table: its title, its number of clusters and its rows; kinds of tables take turns."""
    rng = np.random.default_rng([37, seed, place])
    kinds = {**FAMILIES, "one_direction": one_direction}
    kind = list(kinds)[place % len(kinds)]
    d = round(math.exp(rng.uniform(math.log(5), math.log(128))))
    k = round(math.exp(rng.uniform(math.log(3), math.log(40))))
    n = int(min(math.exp(rng.uniform(math.log(2000), math.log(400_000))), MOST_NUMBERS / d))
    return f"{kind} {n} x {d} ({seed}.{place})", k, np.clip(unit_box(kinds[kind](rng, n, d, k)), -1, 1)


def real(name: str) -> np.ndarray:
    """Return a set by its name."""
    folder = os.environ.get("SPINNEY_DATA", "")
    if name in ("s3", "a2", "birch1", "unbalance", "dim032", "dim064"):
        return unit_box(np.load(Path(folder) / "sipu_basic.npz")[name])
    return load(name)


def stored(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Yield titles and numbers of clusters of all tables, which are then in the cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for place in range(options.drawn):
        index = CACHE / f"drawn {options.seed} {place}.json"
        if not index.exists():
            title, k, rows = drawn(options.seed, place)
            np.save(CACHE / f"{title}.npy", rows)
            index.write_text(json.dumps([title, k]))
        yield tuple(json.loads(index.read_text()))
    for name, k in REAL.items() if options.real else ():
        if not (CACHE / f"{name}.npy").exists():
            np.save(CACHE / f"{name}.npy", real(name))
        yield name, k


def version(commit: str | None, algorithm: str) -> str:
    """Return the name under which costs of a program are remembered: its commit, or a digest of the sources as they are."""
    if commit is not None:
        told = subprocess.run(["git", "rev-parse", f"{commit}^{{commit}}"], check=True, capture_output=True, text=True, cwd=ROOT)
        name = told.stdout.strip()[:12]
    else:
        digest = hashlib.sha256()
        for path in [*sorted((ROOT / "src").rglob("*.py")), *_sources_of(algorithm)]:
            digest.update(path.read_bytes())
        name = f"sources-{digest.hexdigest()[:12]}"
    return name if algorithm == "auto" else f"{name}-{algorithm.replace(':', '.')}"


def _sources_of(algorithm: str) -> list[Path]:
    """Return the file of an algorithm that is not of the library."""
    module = algorithm.partition(":")[0] if ":" in algorithm else None
    return [] if module is None else [Path(str(import_module(module).__file__))]


def measured(commit: str | None, algorithm: str, cells: list[Cell], runs: int, jobs: int) -> dict[str, list[float]]:
    """Return costs by the titles of cells; what is remembered is not run again."""
    path = CACHE / f"{version(commit, algorithm)}.jsonl"
    known: dict[str, list[float]] = {cell.title: [] for cell in cells}
    for line in path.read_text().splitlines() if path.exists() else ():
        title, cost = json.loads(line)
        known.setdefault(title, []).append(cost)
    left = [(cell, runs - len(known[cell.title])) for cell in cells if len(known[cell.title]) < runs]
    with tempfile.TemporaryDirectory() as folder:
        sources = ROOT
        if commit is not None:
            archive = subprocess.run(["git", "archive", commit, "src"], check=True, capture_output=True, cwd=ROOT).stdout
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            sources = Path(folder)
        environment = {
            **os.environ,
            "PYTHONPATH": f"{sources}/src{os.pathsep}{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        }
        # Tables in turn go to the workers, each of which reads a table once.
        names = list(dict.fromkeys(cell.table for cell, _ in left))
        workers = []
        for job in range(jobs):
            own = [[vars(cell), count] for cell, count in left if names.index(cell.table) % jobs == job]
            if own:
                command = [sys.executable, "-m", "benchmarks.versus", "--work", json.dumps(own), "--algorithm", algorithm]
                workers.append(subprocess.Popen([*command, "--into", str(path)], env=environment))
        failed = [worker.wait() for worker in workers]
        if any(failed):
            raise SystemExit("A worker failed.")
    if left:
        return measured(commit, algorithm, cells, runs, jobs)
    return {cell.title: known[cell.title][:runs] for cell in cells}


def work(cells: list[Any], algorithm: str, into: Path) -> None:
    """Run cells on the sources that this process has, and append their costs to a file."""
    from spinney import PrivateKMeans, PrivateKMedian
    from spinney.solvers.weighted import total_cost

    warnings.simplefilter("ignore")
    chosen: Any = algorithm
    if ":" in algorithm:
        module, _, name = algorithm.partition(":")
        chosen = getattr(import_module(module), name)()
    table, rows = "", np.empty((0, 0))
    for facts, count in cells:
        cell = Cell(**facts)
        if cell.table != table:
            table, rows = cell.table, np.load(CACHE / f"{cell.table}.npy")
        kind = PrivateKMeans if cell.power == 2 else PrivateKMedian
        for _ in range(count):
            model = kind(cell.k, epsilon=cell.epsilon, delta=cell.delta, bounds=(-1, 1), algorithm=chosen).fit(rows)
            cost = total_cost(rows, np.ascontiguousarray(model.cluster_centers_), cell.power)
            with into.open("a") as file:
                file.write(json.dumps([cell.title, float(cost)]) + "\n")


def ratio(after: list[float], before: list[float]) -> tuple[float, float]:
    """Return the ratio of two mean costs, and its standard error."""
    means = float(np.mean(after)), float(np.mean(before))
    errors = [
        float(np.std(costs, ddof=1)) / math.sqrt(len(costs)) / mean for costs, mean in zip((after, before), means, strict=True)
    ]
    found = means[0] / means[1]
    return found, found * math.hypot(*errors)


def report(cells: list[Cell], after: dict[str, list[float]], before: dict[str, list[float]]) -> dict[str, Any]:
    """Print the comparison and return it."""
    found = {cell.title: ratio(after[cell.title], before[cell.title]) for cell in cells}
    ordered = sorted(found, key=lambda title: found[title][0])
    for title in ordered:
        print(f"{found[title][0]:.3f} +- {found[title][1]:.3f}  {title}")
    logs = np.array([math.log(found[cell.title][0]) for cell in cells])
    above = {limit: [t for t in found if found[t][0] - 2 * found[t][1] > limit] for limit in (1.05, 1.2)}
    rows = [["all", f"{math.exp(logs.mean()):.4f}", str(len(cells))]]
    for epsilon in sorted({cell.epsilon for cell in cells}):
        for delta in sorted({cell.delta for cell in cells}):
            some = [math.log(found[c.title][0]) for c in cells if (c.epsilon, c.delta) == (epsilon, delta)]
            rows.append([f"epsilon {epsilon:g}, delta {delta:g}", f"{math.exp(np.mean(some)):.4f}", str(len(some))])
    print("\n" + markdown(["cells", "geometric mean", "number"], rows))
    print(f"above 1.05 by two standard errors: {len(above[1.05])}; above 1.2: {len(above[1.2])}")
    return {"mean": math.exp(logs.mean()), "above": {str(k): v for k, v in above.items()}, "cells": found}


def main() -> None:
    """Compare two programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default="b6413ba", help="a commit")
    parser.add_argument("--after", help="a commit; the sources as they are if it is left out")
    parser.add_argument("--algorithm", default="auto", help="of the second program: a name, or module:Class")
    parser.add_argument("--seed", type=int, default=0, help="of the drawn tables")
    parser.add_argument("--drawn", type=int, default=18, help="so many drawn tables")
    parser.add_argument("--real", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--objective", choices=("kmeans", "kmedian"), default="kmeans")
    parser.add_argument("--only", default="", help="tables whose title has this in it")
    parser.add_argument("--smaller", type=float, default=math.inf, help="leave out tables of more numbers")
    parser.add_argument("--save", help="write the figures to benchmarks/results under this name")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(json.loads(options.work), options.algorithm, options.into)
    power = {"kmeans": 2, "kmedian": 1}[options.objective]
    tables = [(title, k) for title, k in stored(options) if any(one in title for one in options.only.split("|"))]
    tables = [(title, k) for title, k in tables if np.load(CACHE / f"{title}.npy", mmap_mode="r").size <= options.smaller]
    cells = [Cell(title, k, epsilon, delta, power) for title, k in tables for epsilon in EPSILONS for delta in DELTAS]
    before = measured(options.before, "auto", cells, options.runs, options.jobs)
    after = measured(options.after, options.algorithm, cells, options.runs, options.jobs)
    found = report(cells, after, before)
    if options.save:
        save(
            options.save, {"before": version(options.before, "auto"), "after": version(options.after, options.algorithm), **found}
        )
    return None


if __name__ == "__main__":
    main()
