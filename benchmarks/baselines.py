"""The papers' baselines in this library against their authors' own code: ``python -m benchmarks.baselines`` (SPINNEY_DATA set).

k-means, k = 10, epsilon 1, delta 1e-6: mean cost of 10 runs with secure noise, over the best plain cost. What their own code
reached in the same setting is the bar. It writes ``benchmarks/results/baselines.json`` and a table into docs/utility.md.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.compare import standard_error
from benchmarks.grid import PLAIN, PLAIN_STARTS, Cell, rows_of, run_once
from benchmarks.tables import into_page, markdown, save

RUNS = 10
#: (algorithm, data) -> the mean ratio of its authors' own code
BARS = {("lsh", "s1"): 2.9, ("lsh", "shuttle"): 2.2, ("lsh", "skin"): 1.26, ("balcan", "s1"): 1.95}


def main() -> None:
    """Measure, print the table, and write it down."""
    found, lines = [], []
    for (method, data), bar in BARS.items():
        cell, rows = Cell(data, "k-means", 10, 1.0), rows_of(data)
        plain = min(run_once(cell, PLAIN, rows, run)[0] for run in range(PLAIN_STARTS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ratios = [run_once(cell, method, rows, run)[0] / plain for run in range(RUNS)]
        mean, error = float(np.mean(ratios)), standard_error(ratios)
        found.append({"algorithm": method, "data": data, "ratios": [round(ratio, 4) for ratio in ratios]})
        lines.append([f"`{method}`", data, f"{bar:g}", f"**{mean:.3f}**" if mean > bar else f"{mean:.3f}", f"{error:.3f}"])
        print(*lines[-1], flush=True)
    save("baselines", found)
    into_page("baselines", markdown(["algorithm", "data", "their own code", "here", "standard error"], lines), "docs/utility.md")


if __name__ == "__main__":
    main()
