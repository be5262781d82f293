"""Runs of many methods on many cells, kept in one CSV file that is written after each cell, so that work resumes.

A cell is a data set, an objective, k and epsilon. Delta is 1e-6 everywhere: without one, ``coverage`` is charged step by step.
Rows are public here: costs are exact, and nothing is charged.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import algorithms, cells
from benchmarks.tables import Table
from spinney.solvers.weighted import improve, solve

DELTA = 1e-6
DEFAULT, PUBLISHED, PLAIN, PAPER_PLAIN = "auto", "hst, published", "plain", "k-median++"
#: What is compared.
METHODS = (
    DEFAULT, "tree", "moments", "stable", "hst", PUBLISHED, "hst, projected", "hst, repaired", "lloyd", "lsh", "balcan",
    "coverage", "k-variates", "sample-aggregate",
)  # fmt: skip
#: Not private: the measure of all ratios (the best of several), and the plain baseline of Cohen-Addad et al.
NOT_PRIVATE = (PLAIN, PAPER_PLAIN)
POWERS = {"k-means": 2, "k-median": 1}
COLUMNS = ("data", "objective", "k", "epsilon", "method", "seconds", "costs")
#: Rows that plain solutions start from.
PLAIN_SAMPLE = 20_000


class Cell(NamedTuple):
    """What is run: costs of plain solutions stand at epsilon 0."""

    data: str
    objective: str
    k: int
    epsilon: float


@dataclass
class Runs:
    """Costs of runs, by cell and method, and their mean CPU seconds."""

    path: Path
    costs: dict[tuple[Cell, str], list[float]] = field(default_factory=dict)
    seconds: dict[tuple[Cell, str], float] = field(default_factory=dict)

    @classmethod
    def read(cls, *paths: Path) -> Runs:
        """Read files that `write` wrote, as far as they are there; more runs are written to the first."""
        runs = cls(paths[0])
        for path in paths:
            with path.open(newline="") if path.exists() else io.StringIO() as file:
                for line in csv.DictReader(file):
                    cell = Cell(line["data"], line["objective"], int(line["k"]), float(line["epsilon"]))
                    runs.costs[cell, line["method"]] = [float(cost) for cost in line["costs"].split()]
                    runs.seconds[cell, line["method"]] = float(line["seconds"])
        return runs

    def write(self) -> None:
        """Write all runs, costs with six digits; the file is replaced as a whole, so that an end in between loses nothing."""
        draft = self.path.with_suffix(".draft")
        with draft.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for (cell, method), costs in sorted(self.costs.items()):
                seconds = f"{self.seconds[cell, method]:.2f}"
                writer.writerow([*cell[:3], f"{cell.epsilon:g}", method, seconds, " ".join(f"{cost:.6g}" for cost in costs)])
        os.replace(draft, self.path)

    def add(self, cell: Cell, method: str, cost: float, seconds: float) -> None:
        """Keep one more run."""
        costs, before = self.costs.setdefault((cell, method), []), self.seconds.get((cell, method), 0.0)
        self.seconds[cell, method] = (before * len(costs) + seconds) / (len(costs) + 1)
        costs.append(cost)

    def plain(self, cell: Cell) -> float:
        """Return the least cost that a plain solution of the cell's problem was seen to have; not a number if there is none."""
        where = cell._replace(epsilon=0.0)
        return min(itertools.chain(*(self.costs.get((where, name), []) for name in NOT_PRIVATE)), default=math.nan)


def plain_centers(rows: np.ndarray, k: int, power: int, run: int) -> np.ndarray:
    """Return a strong plain solution: the best of many restarts on some rows, improved on all of them."""
    rng = np.random.default_rng(run)
    some = rows[rng.permutation(len(rows))[:PLAIN_SAMPLE]]
    start = solve(some, np.ones(len(some)), k, power, rng, some[:k]).centers
    return np.asarray(improve(rows, np.ones(len(rows)), start, power, 100, 1e-5, 1e-9).centers)


def run_once(cell: Cell, method: str, rows: np.ndarray, run: int) -> tuple[float, float]:
    """Return the cost of one run and the CPU seconds that it took; noise is secure, public draws go by the number of the run."""
    table, power, begun = Table(rows), POWERS[cell.objective], time.process_time()
    if method == PLAIN:
        found = plain_centers(rows, cell.k, power, run)
    else:
        name = "k-median++ (not private)" if method == PAPER_PLAIN else method
        found = algorithms.centers(cells.Cell(cell.data, cell.k, cell.epsilon, DELTA, power, name), table, run)
    return table.cost(found, power), time.process_time() - begun


def fill(
    runs: Runs,
    chosen: Iterable[Cell],
    methods: Callable[[Cell], Iterable[str]],
    repetitions: int,
    rows_of: Callable[[str], np.ndarray],
) -> None:
    """Run what is missing of these methods up to a number of repetitions, cell by cell, and write the file after each."""
    for cell in chosen:
        missing = [method for method in methods(cell) if len(runs.costs.get((cell, method), [])) < repetitions]
        for method in missing:
            for run in range(len(runs.costs.get((cell, method), [])), repetitions):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    runs.add(cell, method, *run_once(cell, method, rows_of(cell.data), run))
        if missing:
            runs.write()
            print(*cell, {method: f"{np.mean(runs.costs[cell, method]):.5g}" for method in missing}, flush=True)


def cells_of(data: Iterable[str], objectives: Iterable[str], ks: Iterable[int], epsilons: Iterable[float]) -> list[Cell]:
    """Return all cells, one data set after the other."""
    return [Cell(*one) for one in itertools.product(data, objectives, ks, epsilons)]


def plain_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Return where the costs of plain solutions of these cells stand."""
    return list(dict.fromkeys(cell._replace(epsilon=0.0) for cell in cells))
