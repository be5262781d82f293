"""Run cells: ``python -m benchmarks run SUITE ...``, or ``--list``; what is in the store is not run again.

Suites are in ``benchmarks/cells.toml``; tables of the documents are written from the store by ``python -m benchmarks report``.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
from collections.abc import Iterable

import numpy as np

from benchmarks.cells import Cell, Suite, suites
from benchmarks.commits import run_on
from benchmarks.lead import NAME, misses
from benchmarks.runner import Found, Task, run_all
from benchmarks.store import Store, here, pooled_error, standard_error
from benchmarks.tables import NETWORK_SEEDS, is_fixed


def missing(store: Store, suite: Suite, cell: Cell, runs: int, again: bool) -> list[int]:
    """Return the numbers of the runs of a cell that are not in the store."""
    if not again and len(store.values(suite.name, cell)) >= runs:
        return []
    return list(range(suite.first + len(store.values(suite.name, cell, here())), suite.first + runs))


def fill(store: Store, suite: Suite, wanted: Iterable[tuple[Cell, int]], jobs: int, again: bool = False) -> None:
    """Run what is missing of some cells, and append it to the store cell by cell."""
    tasks = [
        Task(cell, run, suite.measure, "all" if suite.is_paired else "public")
        for cell, runs in wanted
        for run in missing(store, suite, cell, runs, again)
    ]
    for cell, group in itertools.groupby(run_all(tasks, jobs), key=lambda found: found.task.cell):
        found = list(group)
        store.append(suite.name, cell, here(), [one.value for one in found], _plains(found), _mean_seconds(found))
        shown = f"{store.mean(suite.name, cell):.4f}" if suite.measure == "cost" else f"{len(found)} runs"
        print(f"{suite.name}: {cell.title}, {cell.algorithm}: {shown}", flush=True)


def _plains(found: list[Found]) -> float | list[float | None] | None:
    each = [one.plain for one in found]
    return each[0] if is_fixed(found[0].task.cell.table) else each


def _mean_seconds(found: list[Found]) -> float:
    return float(np.mean([one.seconds for one in found]))


def near_bar(store: Store, suite: Suite, cell: Cell) -> bool:
    """Whether the mean of a cell is within two standard errors of its bar, on either side."""
    ratios = store.ratios(suite.name, cell)
    is_network = cell.table.startswith(("graph", "road"))
    error = pooled_error(ratios, NETWORK_SEEDS) if is_network else standard_error(ratios)
    return cell in suite.bars and abs(float(np.mean(ratios)) - suite.bars[cell]) <= 2 * error


def near_lowest(store: Store, suite: Suite, cell: Cell, within: float) -> bool:
    """Whether the mean of an algorithm is within a factor of the lowest of its cell; the first algorithm always is."""
    rivals = suite.rivals(cell)
    return cell == rivals[0] or not store.mean(suite.name, cell) > within * np.nanmin(
        [store.mean(suite.name, one) for one in rivals]
    )


def run_suite(store: Store, suite: Suite, chosen: list[Cell], jobs: int, again: bool = False, runs: int | None = None) -> None:
    """Run what is missing of some cells of a suite, then more of those that need it; `runs` is how often at most."""
    *stages, (last, most) = suite.race or ((math.inf, 0),)
    for within, often in [*stages, (last, runs or most)]:
        cells = [cell for cell in chosen if math.isinf(within) or near_lowest(store, suite, cell, within)]
        fill(store, suite, [(cell, often or suite.runs[cell]) for cell in cells], jobs, again)
    if suite.more:
        fill(store, suite, [(cell, suite.more) for cell in chosen if near_bar(store, suite, cell)], jobs, again)


def main(arguments: list[str] | None = None) -> None:
    """Run the suites that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks run", description=__doc__)
    parser.add_argument("suite", nargs="*", choices=[[], "all", *suites()], metavar="SUITE", help="or all")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--table", default="", help="only tables whose name has this in it")
    parser.add_argument("--algorithm", help="only this one")
    parser.add_argument("--again", action="store_true", help="run at this commit what was run at others")
    parser.add_argument("--commit", help="run on the sources of a commit")
    parser.add_argument("--runs", type=int, help="number of runs of each cell; of a race, of those that are near the lowest mean")
    parser.add_argument("--losses", action="store_true", help="of the race: only cells that miss the bar")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    if options.list or not options.suite:
        for name, suite in suites().items():
            print(f"{name:18} {len(suite.runs):5} cells  {suite.what}")
        return
    names = list(suites()) if "all" in options.suite else options.suite
    if options.commit:
        words = [*names, "--again", "--jobs", str(options.jobs), "--table", options.table]
        words += ["--algorithm", options.algorithm] if options.algorithm else []
        run_on(options.commit, "benchmarks.run", *words, *(["--runs", str(options.runs)] if options.runs else []))
        return
    store = Store()
    for suite in (suites()[name] for name in names):
        chosen = [c for c in suite.cells if options.table in c.table and options.algorithm in (None, c.algorithm)]
        if options.losses:
            lost = [miss.cell for miss in misses(store)]
            chosen = [cell for cell in chosen if suite.name == NAME and suite.rivals(cell)[0] in lost]
        run_suite(store, suite, chosen, options.jobs, options.again, options.runs)


if __name__ == "__main__":
    main()
