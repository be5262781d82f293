"""What was measured: ``benchmarks/results/store.jsonl``, to which lines are appended and never changed.

A line has the suite, the cell, the commit of the sources, values by the numbers of runs, CPU seconds of a run, and for costs the
best non-private one, `plain`, one for all runs or one for each. Lines with a plain cost of 1 hold ratios: what is left of results
of older scripts. Of a cell the lines of the commit that was measured last count.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import FIELDS, Cell
from benchmarks.commits import VARIABLE
from benchmarks.pages import RESULTS, ROOT

PATH = RESULTS / "store.jsonl"


@cache
def here() -> str:
    """Return the commit of the sources that run: that of `benchmarks.commits`, or the last one, and whether they were changed."""
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()

    last, changed = git("log", "-1", "--format=%h", "--abbrev=12", "--", "src"), git("status", "--porcelain", "--", "src")
    return last + ("+" if changed else "")


def short(number: Any) -> Any:
    """Return numbers with six digits, also within lists and records."""
    if isinstance(number, dict):
        return {name: short(one) for name, one in number.items()}
    if isinstance(number, list | tuple):
        return [short(one) for one in number]
    return float(f"{number:.6g}") if isinstance(number, float) else number


class Store:
    """All lines of a file, by suite and cell."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = PATH if path is None else path
        self.lines: dict[tuple[str, Cell], list[dict[str, Any]]] = defaultdict(list)
        for text in self.path.read_text().splitlines() if self.path.exists() else ():
            self._take(json.loads(text))

    def _take(self, line: dict[str, Any]) -> None:
        self.lines[line["suite"], Cell(*(line[name] for name in FIELDS))].append(line)

    def append(
        self, suite: str, cell: Cell, commit: str, values: list[Any], plain: Any = None, seconds: float | None = None
    ) -> None:
        """Add what some runs of a cell measured."""
        line = {"suite": suite, **asdict(cell), "commit": commit, "values": short(values)}
        line |= {name: short(one) for name, one in (("plain", plain), ("seconds", seconds)) if one is not None}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self._take(line)

    def of(self, suite: str, cell: Cell, commit: str | None = None) -> list[dict[str, Any]]:
        """Return the lines of a cell at a commit, or at that which was measured last."""
        lines = self.lines.get((suite, cell), [])
        commit = lines[-1]["commit"] if lines and commit is None else commit
        return [line for line in lines if line["commit"] == commit]

    def values(self, suite: str, cell: Cell, commit: str | None = None) -> list[Any]:
        """Return the values of a cell, run by run."""
        return [value for line in self.of(suite, cell, commit) for value in line["values"]]

    def ratios(self, suite: str, cell: Cell, commit: str | None = None) -> list[float]:
        """Return costs over the best non-private ones, run by run."""
        return [ratio for line in self.of(suite, cell, commit) for ratio in np.divide(line["values"], line["plain"]).tolist()]

    def mean(self, suite: str, cell: Cell) -> float:
        """Return the mean ratio of a cell; not a number if it was not run."""
        found = self.ratios(suite, cell)
        return float(np.mean(found)) if found else float("nan")

    def seconds(self, suite: str, cells: Iterable[Cell]) -> float:
        """Return the most CPU seconds that a run of some cells took."""
        return max((line.get("seconds", 0.0) for cell in cells for line in self.of(suite, cell)), default=0.0)


def standard_error(values: list[float]) -> float:
    """Return the standard error of a mean; not a number for one run."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan")


def pooled_error(ratios: list[float], seeds: int) -> float:
    """Return the standard error of a mean over demands that take turns, of which there are no others."""
    each = [ratios[place::seeds] for place in range(seeds)]
    return float(np.sqrt(np.mean([np.var(one, ddof=1) for one in each]) / len(ratios)))
