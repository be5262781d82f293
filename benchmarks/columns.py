"""Tree and moments with many columns: ``python -m benchmarks.columns`` (SPINNEY_DATA set); writes two tables.

The README's: cost over the best non-private cost on real sets. ARCHITECTURE.md's: where the two algorithms cross, on blobs.
"""

from __future__ import annotations

import itertools
import os
from multiprocessing import Pool

import numpy as np

from benchmarks.data import SETS, blobs, load, unit_box
from benchmarks.tables import into_page, markdown, save
from benchmarks.utility import best_plain_cost, measure

#: data -> the largest mean ratio that is good enough: k-means, epsilon 1, delta 1e-6
BARS = {"higgs_11k": None, "digits": 1.42, "mnist_test10k": 1.18}
BUDGETS = ((1.0, 1e-6), (1.0, 0.0), (0.25, 1e-6))
ALGORITHMS = ("tree", "moments")
#: For the crossing: columns, and clusters that are apart or overlap.
COLUMNS = (8, 16, 24, 32, 40, 64, 100)
KINDS = {"apart": {"reach": 0.8, "std": 0.08}, "overlapping": {"reach": 0.5, "std": 0.25}}
ROWS, RUNS = 20_000, 20


def cross(cell: tuple[str, int]) -> dict[str, object]:
    """Compare the two algorithms on blobs of one kind with so many columns."""
    from sklearn.cluster import KMeans

    from spinney import PrivateKMeans

    kind, d = cell
    rows = unit_box(blobs(ROWS, d, seed=d, **KINDS[kind]))
    plain = min(KMeans(20, n_init=1, random_state=seed).fit(rows).inertia_ for seed in range(10))
    found = {}
    for (epsilon, delta), algorithm in itertools.product(BUDGETS, ALGORITHMS):
        model = PrivateKMeans(20, epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm=algorithm)
        ratios = [-model.set_params(random_state=run).fit(rows).score(rows) / plain for run in range(RUNS)]
        found[f"{algorithm} {epsilon:g} {delta:g}"] = float(np.mean(ratios))
    return {"kind": kind, "columns": d, **found}


def main() -> None:
    """Measure, print the tables, write them into the pages."""
    for name in BARS:
        best_plain_cost(name, 2)
    cells = [(name, "k-means", *budget, algorithm) for name in BARS for budget in BUDGETS for algorithm in ALGORITHMS]
    with Pool(os.cpu_count(), maxtasksperchild=4) as pool:
        results = pool.map(measure, cells, chunksize=1)
        crossing = pool.map(cross, list(itertools.product(KINDS, COLUMNS)), chunksize=1)
    found = {(r["data"], r["epsilon"], r["delta"], r["algorithm"]): r["mean"] for r in results}
    titles = [f"epsilon {epsilon:g}, delta {delta:g}" for epsilon, delta in BUDGETS]
    lines, missed = [], 0
    for name, bar in BARS.items():
        pairs = [" / ".join(f"{found[name, *budget, algorithm]:.3f}" for algorithm in ALGORITHMS) for budget in BUDGETS]
        n, d = load(name).shape
        lines.append([name, f"{n:,} x {d}", str(SETS[name]), "" if bar is None else f"{bar:.2f}", *pairs])
        missed += bar is not None and found[name, 1.0, 1e-6, "moments"] > bar
    text = markdown(["data", "size", "k", "at most", *titles], lines)
    print(f"{text}\n\n{missed} cells miss the bar.\n")
    keys = [[f"{algorithm} {epsilon:g} {delta:g}" for algorithm in ALGORITHMS] for epsilon, delta in BUDGETS]
    rows = [[c["kind"], str(c["columns"]), *(" / ".join(f"{c[key]:.2f}" for key in pair) for pair in keys)] for c in crossing]
    crossing_text = markdown(["clusters", "columns", *titles], rows)
    print(crossing_text)
    save("columns", {"real": results, "crossing": crossing})
    into_page("columns", text)
    into_page("crossing", crossing_text, "ARCHITECTURE.md")


if __name__ == "__main__":
    main()
