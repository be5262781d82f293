"""k-median at small budgets: ``python -m benchmarks.small_median --before COMMIT`` (SPINNEY_DATA set); writes docs/utility.md.

The sets and budgets of `benchmarks.small`, the mean cost of the default over that of the default of another commit, 8 runs each
(3 of the largest sets) with secure noise. Must hold: lower in the geometric mean, and nowhere higher by two standard errors.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import warnings
from itertools import product
from multiprocessing import Pool

import numpy as np

from benchmarks.commits import on_commit
from benchmarks.small import EPSILONS, ROWS, rows_of
from benchmarks.tables import into_page, markdown, save

RUNS = {"mnist_test10k": 3, "64 tight clusters 100k x 10": 3}
CELLS = [(*row[:3], epsilon) for row, epsilon in product(ROWS, EPSILONS)]


def costs(cell: tuple[str, int, float, float]) -> list[float]:
    """Return the costs of the default in one cell."""
    from spinney import PrivateKMedian

    warnings.simplefilter("ignore")
    name, k, delta, epsilon = cell
    rows, runs = rows_of(name), range(RUNS.get(name, 8))
    models = (PrivateKMedian(k, epsilon=epsilon, delta=delta, bounds=(-1, 1), random_state=run) for run in runs)
    return [-model.fit(rows).score(rows) for model in models]


def relative(costs: list[float]) -> float:
    """Return the standard error of a mean, over the mean."""
    return float(np.std(costs, ddof=1) / len(costs) ** 0.5 / np.mean(costs))


def main() -> None:
    """Measure, print the verdict, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="COMMIT", default="6f0194d")
    parser.add_argument("--json", action="store_true", help="print the costs alone")
    asked = parser.parse_args()
    with Pool(os.cpu_count()) as pool:
        now = pool.map(costs, CELLS, chunksize=1)
    if asked.json:
        print(json.dumps(now))
        return
    before = on_commit(asked.before, "benchmarks.small_median")
    ratios = [float(np.mean(one) / np.mean(other)) for one, other in zip(now, before, strict=True)]
    errors = [math.hypot(relative(one), relative(other)) for one, other in zip(now, before, strict=True)]
    shown = [f"{ratio:.3f} ± {error:.3f}" for ratio, error in zip(ratios, errors, strict=True)]
    lines = [
        [f"{name}, k = {k}, delta {delta:g}", *shown[place * len(EPSILONS) : (place + 1) * len(EPSILONS)]]
        for place, (name, k, delta, _) in enumerate(ROWS)
    ]
    worse = sum(ratio > 1 + 2 * error for ratio, error in zip(ratios, errors, strict=True))
    verdict = f"Geometric mean {math.exp(np.mean(np.log(ratios))):.3f}; higher by more than two standard errors: {worse}."
    text = markdown(["set", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)], lines) + f"\n\n{verdict}"
    print(text)
    save("small_median", [{"cell": cell, "now": a, "before": b} for cell, a, b in zip(CELLS, now, before, strict=True)])
    into_page("small median", text, "docs/utility.md")


if __name__ == "__main__":
    main()
