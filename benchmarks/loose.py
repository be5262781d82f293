"""Boxes that are too wide, with and without tighten: ``python -m benchmarks.loose`` (SPINNEY_DATA set); writes a table.

Each run declares a box of the stated width, placed at random around the rows, which fill [-1, 1] in every column.
"""

from __future__ import annotations

import itertools
import os
from multiprocessing import Pool

import numpy as np

from benchmarks.data import SETS, load
from benchmarks.tables import into_page, markdown, save
from benchmarks.utility import best_plain_cost

NAMES = ("s1", "blobs 100k x 8", "overlapping blobs 100k x 16")
FACTORS = (1, 2, 5, 20)
DELTAS = (0.0, 1e-6)
#: (columns, factor) -> the largest mean ratio that is good enough with tighten, at epsilon 1
BARS = {(2, 5): 1.05, (2, 20): 1.5, (8, 5): 1.2, (16, 5): 1.2}
RUNS = 10


def measure(cell: tuple[str, int, float, bool]) -> dict[str, object]:
    """Run one cell of the table."""
    from spinney import PrivateKMeans

    name, factor, delta, tighten = cell
    rows, plain = load(name), best_plain_cost(name, 2)
    d = rows.shape[1]
    ratios = []
    for run in range(RUNS):
        middle = np.random.default_rng(run).uniform(-1, 1, d) * (factor - 1)
        model = PrivateKMeans(
            SETS[name], epsilon=1.0, delta=delta, bounds=(middle - factor, middle + factor), tighten=tighten, random_state=run
        )
        ratios.append(-model.fit(rows).score(rows) / plain)
    return {
        "data": name, "columns": d, "factor": factor, "delta": delta, "tighten": tighten,
        "ratios": [round(r, 5) for r in ratios], "mean": float(np.mean(ratios)),
    }  # fmt: skip


def main() -> None:
    """Measure all cells, print the table, write it into the guide."""
    for name in NAMES:
        best_plain_cost(name, 2)
    with Pool(os.cpu_count(), maxtasksperchild=4) as pool:
        results = pool.map(measure, list(itertools.product(NAMES, FACTORS, DELTAS, (False, True))), chunksize=1)
    found = {(r["data"], r["factor"], r["delta"], r["tighten"]): r for r in results}
    lines, missed = [], 0
    for name, factor in itertools.product(NAMES, FACTORS):
        bar = BARS.get((found[name, factor, 0.0, True]["columns"], factor))
        means = [[found[name, factor, delta, tighten]["mean"] for tighten in (False, True)] for delta in DELTAS]
        lines.append([name, f"{factor}", "" if bar is None else f"{bar:g}", *(f"{a:.3f} / {b:.3f}" for a, b in means)])
        missed += sum(bar is not None and tight > bar for _, tight in means)
    head = ["data", "box, times too wide", "tightened, at most", *(f"delta {delta:g}: as it is / tightened" for delta in DELTAS)]
    text = markdown(head, lines)
    print(f"{text}\n\n{missed} cells miss the bar.")
    save("loose", results)
    into_page("loose", text, "docs/bounds.md")


if __name__ == "__main__":
    main()
