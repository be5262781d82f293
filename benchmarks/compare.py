"""Two programs on the same tables: ``python -m benchmarks compare BEFORE [AFTER]``, both of them commits.

Costs of the default of one commit over those of another, on fresh drawn tables and on the sets in SPINNEY_DATA, with standard
errors. Without AFTER the sources are those that are here; ``--algorithm`` runs another algorithm there, by its name or as
``module:Class``. Noise is drawn anew in every run. Costs are remembered by commit in ``benchmarks/.cache``, so that a commit is
run once. ``--seed`` draws other tables: a commit, or a number. ``--suite`` compares on the cells of a suite in place of these.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import Cell, suites
from benchmarks.commits import full_name, run_on
from benchmarks.drawn import drawn
from benchmarks.pages import ROOT, markdown, save
from benchmarks.report import quotient
from benchmarks.runner import Task, run_all
from benchmarks.tables import CACHE, is_fixed, table

EPSILONS, DELTAS = (0.1, 0.25, 1.0), (0.0, 1e-6)
#: Cells whose cost ratio is above a limit by two standard errors are counted.
LIMITS = (1.05, 1.2)
#: Names of tables, and how many clusters are looked for.
REAL = {
    "s1": 15, "s3": 15, "a2": 35, "birch1": 100, "unbalance": 8, "dim032": 16, "dim064": 16, "uk_accidents": 20, "skin": 10,
    "adult": 10, "shuttle": 10, "covtype": 10, "covtype54": 10, "higgs_11k": 10, "digits": 10, "mnist_test10k": 10,
}  # fmt: skip


def tables(seed: int, count: int, with_real: bool) -> Iterator[tuple[str, int]]:
    """Yield titles and numbers of clusters of drawn tables, which are then in the cache, and of real ones."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for place in range(count):
        index = CACHE / f"drawn {seed} {place}.json"
        if not index.exists():
            title, k, rows = drawn(seed, place)
            np.save(CACHE / f"{title}.npy", rows)
            index.write_text(json.dumps([title, k]))
        title, k = json.loads(index.read_text())
        yield title, k
    yield from REAL.items() if with_real else ()


def version(commit: str | None, algorithm: str) -> str:
    """Return the name under which costs of a program are remembered: its commit, or a digest of the sources as they are."""
    if commit is not None:
        name = full_name(commit)
    else:
        own = [] if ":" not in algorithm else [Path(str(import_module(algorithm.partition(":")[0]).__file__))]
        digest = hashlib.sha256()
        for path in [*sorted((ROOT / "src").rglob("*.py")), *own]:
            digest.update(path.read_bytes())
        name = f"sources-{digest.hexdigest()[:12]}"
    return name if algorithm == "auto" else f"{name}-{algorithm.replace(':', '.')}"


def measured(commit: str | None, algorithm: str, cells: list[Cell], runs: int, jobs: int) -> dict[str, list[float]]:
    """Return costs by the titles of cells; what is remembered is not run again."""
    path = CACHE / f"{version(commit, algorithm)}.jsonl"
    known: dict[str, list[float]] = {cell.title: [] for cell in cells}
    for line in path.read_text().splitlines() if path.exists() else ():
        title, cost = json.loads(line)
        known.setdefault(title, []).append(cost)
    left = [[asdict(replace(cell, algorithm=algorithm)), runs - len(known[cell.title])] for cell in cells]
    left = [[facts, count] for facts, count in left if count > 0]
    if left:
        asked = CACHE / f"{path.stem}.asked.json"
        asked.write_text(json.dumps(left))
        run_on(commit, "benchmarks.compare", "--work", str(asked), "--into", str(path), "--jobs", str(jobs))
        asked.unlink()
        return measured(commit, algorithm, cells, runs, jobs)
    return {cell.title: known[cell.title][:runs] for cell in cells}


def work(asked: Path, into: Path, jobs: int) -> None:
    """Run cells on the sources that this process has, and append each cost to a file."""
    cells = [(Cell(**facts), count) for facts, count in json.loads(asked.read_text())]
    tasks = [Task(cell, run, seeds="none", with_plain=False) for cell, count in cells for run in range(count)]
    for found in run_all(tasks, jobs):
        with into.open("a") as file:
            file.write(json.dumps([found.task.cell.title, found.value]) + "\n")


def ratio(after: list[float], before: list[float]) -> tuple[float, float]:
    """Return the ratio of two mean costs, and its standard error."""
    found, relative = quotient(after, before)
    return found, found * relative


def report(cells: list[Cell], after: dict[str, list[float]], before: dict[str, list[float]]) -> dict[str, Any]:
    """Print the comparison and return it."""
    found = {cell.title: ratio(after[cell.title], before[cell.title]) for cell in cells}
    for title in sorted(found, key=lambda title: found[title][0]):
        print(f"{found[title][0]:.3f} +- {found[title][1]:.3f}  {title}")
    logs = {cell: math.log(found[cell.title][0]) for cell in cells}
    above = {limit: [t for t, (one, error) in found.items() if one - 2 * error > limit] for limit in LIMITS}
    mean = math.exp(float(np.mean(list(logs.values()))))
    rows = [["all", f"{mean:.4f}", str(len(cells))]]
    for epsilon, delta in sorted({(cell.epsilon, cell.delta) for cell in cells}):
        some = [log for cell, log in logs.items() if (cell.epsilon, cell.delta) == (epsilon, delta)]
        rows.append([f"epsilon {epsilon:g}, delta {delta:g}", f"{math.exp(np.mean(some)):.4f}", str(len(some))])
    print("\n" + markdown(["cells", "geometric mean", "number"], rows))
    print("; ".join(f"above {limit} by two standard errors: {len(titles)}" for limit, titles in above.items()))
    return {"mean": mean, "above": {str(limit): titles for limit, titles in above.items()}, "cells": found}


def seed_of(text: str) -> int:
    """Return a seed of drawn tables: a number, or the first seven digits of a commit."""
    return int(text) if text.isdigit() else int(text[:7], 16)


def chosen_cells(options: argparse.Namespace) -> list[Cell]:
    """Return what is compared."""
    if options.suite:
        cells = [replace(cell, algorithm="auto") for cell in suites()[options.suite].cells if is_fixed(cell.table)]
        cells = list(dict.fromkeys(cells))
    else:
        power = {"kmeans": 2, "kmedian": 1}[options.objective]
        budgets = list(itertools.product(EPSILONS, DELTAS))
        found = tables(options.seed, options.drawn, options.real)
        cells = [Cell(title, k, epsilon, delta, power) for title, k in found for epsilon, delta in budgets]
    cells = [cell for cell in cells if any(one in cell.table for one in options.only.split("|"))]
    if math.isinf(options.smaller):
        return cells
    small = {name for name in dict.fromkeys(cell.table for cell in cells) if table(name).rows.size <= options.smaller}
    return [cell for cell in cells if cell.table in small]


def main(arguments: list[str] | None = None) -> None:
    """Compare two programs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=__doc__, formatter_class=raw)
    parser.add_argument("before", nargs="?", help="a commit")
    parser.add_argument("after", nargs="?", help="a commit; the sources as they are if it is left out")
    parser.add_argument("--algorithm", default="auto", help="of the second program: a name, or module:Class")
    parser.add_argument("--seed", type=seed_of, default=0, help="of the drawn tables: a number, or a commit")
    parser.add_argument("--drawn", type=int, default=18, help="number of drawn tables")
    parser.add_argument("--real", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--suite", choices=list(suites()), help="the cells of a suite, the default in each")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--objective", choices=("kmeans", "kmedian"), default="kmeans")
    parser.add_argument("--only", default="", help="tables whose title has this in it, or one of these, with | between")
    parser.add_argument("--smaller", type=float, default=math.inf, help="leave out tables of more numbers")
    parser.add_argument("--save", help="write the figures to benchmarks/results under this name")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.work:
        return work(options.work, options.into, options.jobs)
    if options.before is None:
        parser.error("a commit to compare with is needed")
    cells = chosen_cells(options)
    before = measured(options.before, "auto", cells, options.runs, options.jobs)
    after = measured(options.after, options.algorithm, cells, options.runs, options.jobs)
    found = report(cells, after, before)
    if options.save:
        names = {"before": version(options.before, "auto"), "after": version(options.after, options.algorithm)}
        save(options.save, names | found)
    return None


if __name__ == "__main__":
    main()
