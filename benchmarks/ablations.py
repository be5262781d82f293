"""What each rule of the default buys: ``python -m benchmarks ablations --seed 7``.

The default runs on drawn tables as it is, and again with one constant changed, or one rule left out. A line says what the change
costs: the geometric mean over cells and runs of cost with the change over cost without it, its standard error, and the worst
cell. Above one the rule earns its place. Noise is drawn anew in every run; the default as it is has three times as many runs, for
all lines share them. Costs are remembered, as by `benchmarks.compare`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cells import Cell
from benchmarks.compare import DELTAS, EPSILONS, measured, tables
from benchmarks.pages import ROOT, markdown, save
from benchmarks.tables import table

#: What is changed: constants by module and name, or functions.
CHANGES: dict[str, dict[str, Any]] = {
    "rows twice": {"default.ROWS": Fraction(2, 100)},
    "columns half": {"default.COLUMNS": Fraction(2, 100)},
    "columns twice": {"default.COLUMNS": Fraction(8, 100)},
    "sizes half": {"default.SIZES": Fraction(3, 200)},
    "steps from one column on": {"schedule.FEW_COLUMNS": 1, "default.FEW_COLUMNS": 1},
    "steps from six columns on": {"schedule.FEW_COLUMNS": 6, "default.FEW_COLUMNS": 6},
    "steps at most 0.6": {"default.MOST": Fraction(6, 10)},
    "steps at most 0.9": {"default.MOST": Fraction(9, 10)},
    "radii half": {"default.RADII_PART": Fraction(5, 100)},
    "radii twice": {"default.RADII_PART": Fraction(20, 100)},
    "splits fewer": {"default.SPLITS": Fraction(40, 100)},
    "splits more": {"default.SPLITS": Fraction(70, 100)},
    "splits as with steps": {"default.ONLY_SPLITS": Fraction(55, 100)},
    "blind 1": {"schedule.BLIND": 1},
    "blind 4": {"schedule.BLIND": 4},
    "left 0.1": {"schedule.LEFT": 0.1},
    "left 0.4": {"schedule.LEFT": 0.4},
    "steps that gain a tenth": {"schedule.NEARLY": 0.1},
    "all steps that gain": {"schedule.NEARLY": 0.0},
    "always a summary": {"schedule.Schedule.is_seen": True},
    "bins twice": {"summary.BIN_STDS": 1},
    "bins half": {"summary.BIN_STDS": 4},
    "start with more cells": {"summary.START_STDS": 2, "summary.START_CELLS": 16},
    "start with one cell": {"summary.START_CELLS": 0.5},
    "leaves half": {"summary.LEAVES": 50},
    "leaves four times": {"summary.LEAVES": 400},
    "the whole domain": {"summary.SPAN": 1e6},
    "a narrower box": {"summary.SPAN": 1.0},
    "all leaves in one reading": {"summary.likely_leaves": "one_reading"},
    "counts as they are": {"summary.likely_leaves": "no_reading"},
    "columns without bumps": {"columns.ELSEWHERE": 1.0},
    "halves at 2 deviations": {"columns.SIGNIFICANT": 2},
    "wide bumps alone": {"columns.BUMP_WIDTHS": 2.0 ** -np.arange(0.5, 2.1, 0.5)},
    "readings on a grid of 12": {"reading.TRIED": 12},
    "rings to a fourth of the distance": {"step.RING_EDGES": 12},
    "no shrinkage": {"step.shrunk": "as_they_are"},
    "no lengthening": {"step.Distances.kept": "all_kept"},
    "steps shrunk one by one": {"step.shrunk_together": "one_by_one"},
    "no exchange": {"default.exchanged": "not_exchanged"},
    "the summary stays": {"reading.Summary.moved": "stays"},
    "plain units": {"default.step_widths": "plain_units"},
    "no column as narrow": {"step.NARROWEST": 0.1},
}


def one_reading(private_counts: Any, noise: Any, is_split: Any) -> Any:
    """Read all leaves together."""
    from spinney.algorithms.reading import Occupancy

    if noise.distribution == "none":
        return private_counts > 0, private_counts.astype(np.float64)
    found = Occupancy.of(private_counts, noise)
    return found.has_rows > 0.5, found.counts


def no_reading(private_counts: Any, noise: Any, is_split: Any) -> Any:
    """Take each count above zero as it is."""
    return private_counts > 0, private_counts.astype(np.float64)


def as_they_are(steps: Any, variances: Any, sides: Any = None) -> Any:
    """Leave steps as they are."""
    return steps


def one_by_one(steps: Any, variances: Any, centers: Any, sides: Any) -> Any:
    """Shrink each step by its own noise alone."""
    from spinney.algorithms.step import shrunk

    return shrunk(steps, variances)


def not_exchanged(centers: Any, moved: Any, distances: Any, noise: float, spreads: Any, rng: Any) -> Any:
    """Leave centers as they are."""
    return centers, distances, np.zeros(len(centers), dtype=bool)


def stays(self: Any, centers: Any, to: Any, domain: Any) -> Any:
    """Leave the summary where it is."""
    return self


def all_kept(self: Any, radii: Any) -> Any:
    """Take clipping to leave all."""
    return np.ones(len(radii))


def plain_units(problem: Any, spreads: Any) -> None:
    """Take no units of columns."""


def changed(name: str) -> Any:
    """Return the default with a change; made in this process for good."""
    for path, value in CHANGES[name].items():
        module, *within, last = path.split(".")
        owner = import_module(f"spinney.algorithms.{module}")
        for one in within:
            owner = getattr(owner, one)
        assert hasattr(owner, last)
        setattr(owner, last, globals()[value] if isinstance(value, str) else value)
    return import_module("spinney.algorithms.default").Tree()


def __getattr__(name: str) -> Callable[[], Any]:
    """Return what makes a changed default, by its name with underscores; `benchmarks.compare` asks for it."""
    title = next((one for one in CHANGES if f"with_{one.replace(' ', '_')}" == name), None)
    if title is None:
        raise AttributeError(name)
    return lambda: changed(title)


def fill_page(found: dict[str, dict[str, Any]], page: Path = ROOT / "docs" / "default.md") -> None:
    """Write into the table of all constants what changes of each of them cost."""
    lines = page.read_text().splitlines(keepends=True)
    for place, line in enumerate(lines):
        cells = line.split(" | ")
        path = f"{cells[0].removeprefix('| ')}.{cells[1].strip('`')}" if line.startswith("| ") and len(cells) == 6 else ""
        costs = [f"{found[name]['mean']:.3f} ({name})" for name, one in CHANGES.items() if name in found and path in one]
        if costs:
            lines[place] = " | ".join([*cells[:-1], "; ".join(costs)]) + " |\n"
    page.write_text("".join(lines))


def main() -> None:
    """Run the default with each change and print what it costs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks ablations", description=__doc__, formatter_class=raw)
    parser.add_argument("--seed", type=int, default=7, help="of the drawn tables")
    parser.add_argument("--drawn", type=int, default=18, help="number of drawn tables")
    parser.add_argument("--real", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument("--smaller", type=float, default=math.inf, help="leave out tables of more numbers")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="changes, by name; all by default")
    parser.add_argument(
        "--save", action="store_true", help="write the figures to benchmarks/results/ablations.json, and into docs/default.md"
    )
    options = parser.parse_args()
    made = [one for one in tables(options.seed, options.drawn, options.real) if table(one[0]).rows.size <= options.smaller]
    cells = [Cell(title, k, epsilon, delta, 2) for title, k in made for epsilon in EPSILONS for delta in DELTAS]
    plain = measured(None, "auto", cells, 3 * options.runs, options.jobs)
    found: dict[str, dict[str, Any]] = {}
    for name in options.only or CHANGES:
        costs = measured(None, f"benchmarks.ablations:with_{name.replace(' ', '_')}", cells, options.runs, options.jobs)
        logs = {cell.title: (np.log(costs[cell.title]), np.log(plain[cell.title])) for cell in cells}
        gaps = {title: float(after.mean() - before.mean()) for title, (after, before) in logs.items()}
        error = math.sqrt(sum(one.var(ddof=1) / len(one) for pair in logs.values() for one in pair)) / len(gaps)
        mean, worst = math.exp(sum(gaps.values()) / len(gaps)), max(gaps, key=lambda title: gaps[title])
        found[name] = {"mean": mean, "error": mean * error, "worst": math.exp(gaps[worst]), "at": worst}
        print(f"{found[name]['mean']:.4f} +- {error:.4f}  worst {found[name]['worst']:.2f} ({worst})  {name}", flush=True)
    rows = [[name, f"{one['mean']:.3f} +- {one['error']:.3f}", f"{one['worst']:.2f}"] for name, one in found.items()]
    print("\n" + markdown(["change", "cost with it over cost without", "worst cell"], rows))
    if options.save:
        fill_page(found)
        save("ablations", {"seed": options.seed, "cells": len(cells), "runs": options.runs, "changes": found})


if __name__ == "__main__":
    main()
