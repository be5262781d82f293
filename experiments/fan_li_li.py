"""The experiments of Fan, Li and Li on HST initialization, repeated: ``python -m experiments.fan_li_li`` (SPINNEY_DATA set).

Writes tables and figures into ``experiments/results/fan_li_li`` and into the page ``experiments/fan_li_li.md``. Parts: ``runs``,
``time`` and ``page``, by default all; ``--spaces``, ``--methods`` and ``--repetitions`` run a part of the runs again,
``--missing`` only what is not in the tables yet.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path as File
from typing import Any

from benchmarks.pages import into_page
from experiments.figures import draw_costs, draw_iterations, draw_times
from experiments.runs import EPSILON, METHODS, read_runs, run_space, write_runs
from experiments.tasks import SPACES
from experiments.timing import fast_times, measure_times, read_times, time_spaces, write_times
from experiments.verdicts import claims_table, costs_table, gap_table, printed_text, summary_text, time_table

__all__ = ["REPETITIONS", "RESULTS", "main", "write_page"]

RESULTS = File(__file__).parent / "results" / "fan_li_li"
PAGE = "experiments/fan_li_li.md"
#: The papers have 10 of each.
REPETITIONS = dict.fromkeys(("graph-r1", "graph-r100", "mnist-l2", "mnist-l1"), 10)


def all_runs(folder: File = RESULTS) -> list[dict[str, Any]]:
    """Return the runs on all spaces that were measured."""
    return [run for name in SPACES if (path := folder / f"runs_{name}.csv").exists() for run in read_runs(path)]


def repetitions_text(runs: list[dict[str, Any]]) -> str:
    """Return how often each space was run, and ``cells`` where that differs."""
    texts = []
    for title in SPACES.values():
        own = [run for run in runs if run["space"] == title]
        every, cells = (len({r["repetition"] for r in part}) for part in (own, [r for r in own if r["method"] == "cells"]))
        texts.append(f"{title}: {every}" + (f" (`cells`: {cells})" if cells != every else ""))
    return ", ".join(texts)


def write_page(folder: File = RESULTS, page: str = PAGE) -> None:
    """Make figures from the saved runs, and put tables and verdicts into the page."""
    runs = all_runs(folder)
    for name in {name for name, title in SPACES.items() if any(run["space"] == title for run in runs)}:
        draw_costs(runs, name, folder)
    draw_iterations(runs, folder)
    into_page("repetitions", repetitions_text(runs), page)
    into_page("claims", claims_table(runs), page)
    into_page("gap", gap_table(runs), page)
    into_page("costs", costs_table(runs), page)
    into_page("printed", printed_text(EPSILON), page)
    times = read_times(path) if (path := folder / "times.csv").exists() else []
    into_page("summary", summary_text(runs, times, fast_times()), page)
    into_page("fast times", time_table(fast_times()), page)
    if times:
        draw_times(times, folder)
        into_page("times", time_table(times), page)


def main() -> None:
    """Run the parts named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["runs", "time", "page"], help="runs, time, page")
    parser.add_argument("--spaces", nargs="+", choices=list(REPETITIONS), default=list(REPETITIONS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repetitions", type=int, help="at most this many of each space")
    parser.add_argument("--missing", action="store_true", help="leave out repetitions that are in the tables already")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    if "time" in chosen.parts:
        write_times(RESULTS / "times.csv", measure_times(time_spaces()))
    for name in chosen.spaces if "runs" in chosen.parts else ():
        for repetition in range(min(REPETITIONS[name], chosen.repetitions or 1000)):
            path = RESULTS / f"runs_{name}.csv"
            known = {run["method"] for run in (read_runs(path) if path.exists() else ()) if run["repetition"] == repetition}
            methods = [method for method in chosen.methods if not (chosen.missing and method in known)]
            if methods:
                write_runs(path, run_space(name, repetition, methods))
    if "page" in chosen.parts:
        write_page()


if __name__ == "__main__":
    main()
