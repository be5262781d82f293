"""Cost over the best non-private cost: ``python -m benchmarks.utility`` (SPINNEY_DATA set); writes the README's table.

Every cell is the mean of 10 runs with secure noise. The non-private cost is the best of 20 runs of scikit-learn's KMeans, or of
20 plain Weiszfeld-Lloyd runs for k-median. Every algorithm on every shared set, and whether the default leads, is in
`benchmarks.lead`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from multiprocessing import Pool

import numpy as np

from benchmarks.data import SETS, load
from benchmarks.tables import ROOT, into_page, markdown, save

#: (data, epsilon) -> the largest mean ratio that is good enough
BARS = {
    ("blobs 100k x 8", 1.0): 1.01,
    ("blobs 1M x 10", 1.0): 1.01,
    ("skin", 1.0): 1.03,
    ("s1", 1.0): 1.03,
    ("covtype", 1.0): 1.03,
    ("shuttle", 1.0): 1.08,
    ("blobs 100k x 8", 0.25): 1.10,
    ("blobs 1M x 10", 0.25): 1.10,
    ("skin", 0.25): 1.02,
    ("s1", 0.25): 1.30,
    ("covtype", 0.25): 1.05,
    ("shuttle", 0.25): 1.30,
}
#: The same for the published tree, k-median
HST_BARS = {("s1", 1.0): 1.25, ("shuttle", 1.0): 1.7}
NAMES = list(dict.fromkeys(name for name, _ in BARS))
OBJECTIVES = {"k-means": 2, "k-median": 1}
EPSILONS = (1.0, 0.25)
DELTAS = (0.0, 1e-6)
ALGORITHMS = ("tree", "hst", "lloyd")
RUNS = 10


def best_plain_cost(name: str, power: int) -> float:
    """Return the best non-private cost of 20 runs, remembered between calls."""
    cache = ROOT / "benchmarks" / ".cache" / f"{name} {power}.json"
    if cache.exists():
        return float(json.loads(cache.read_text()))
    rows, k = load(name), SETS[name]
    if power == 2:
        from sklearn.cluster import KMeans

        best = min(KMeans(k, n_init=1, random_state=seed).fit(rows).inertia_ for seed in range(20))
    else:
        from spinney.solvers.weighted import improve, seed

        best, weights = np.inf, np.ones(len(rows))
        for run in range(20):
            draws = np.random.default_rng(run).random((k, 8))
            centers = seed(rows, weights, k, 1 + run % 2, draws, rows[:k])  # greedy seeding by distances, or by their squares
            best = min(best, improve(rows, weights, centers, 1, 300, 1e-6, 1e-9).cost)
    cache.parent.mkdir(exist_ok=True)
    cache.write_text(json.dumps(float(best)))
    return float(best)


def measure(cell: tuple[str, str, float, float, str]) -> dict[str, object]:
    """Run one cell of a table."""
    from spinney import PrivateKMeans, PrivateKMedian

    name, objective, epsilon, delta, algorithm = cell
    rows = load(name)
    estimator = PrivateKMeans if objective == "k-means" else PrivateKMedian
    plain = best_plain_cost(name, OBJECTIVES[objective])
    ratios, cpu = [], []
    for run in range(RUNS):
        model = estimator(SETS[name], epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm=algorithm, random_state=run)
        begun = time.process_time()
        model.fit(rows)
        cpu.append(time.process_time() - begun)
        ratios.append(-model.score(rows) / plain)
    return {
        "data": name, "objective": objective, "epsilon": epsilon, "delta": delta, "algorithm": algorithm,
        "ratios": [round(r, 5) for r in ratios], "mean": float(np.mean(ratios)), "max": max(ratios),
        "cpu_seconds": float(np.median(cpu)),
    }  # fmt: skip


def table(results: list[dict[str, object]]) -> tuple[str, int]:
    """Return the README's table, and how many cells miss a bar or lose to another algorithm."""
    found = {(r["data"], r["objective"], r["epsilon"], r["delta"], r["algorithm"]): r["mean"] for r in results}
    names = [name for name in NAMES if any(r["data"] == name for r in results)]
    lines, missed = [], 0
    for name in names:
        for epsilon in EPSILONS:
            line = [name, f"{epsilon:g}", f"{BARS[name, epsilon]:.2f}"]
            for objective in OBJECTIVES:
                for delta in DELTAS:
                    ours, hst, lloyd = (found[name, objective, epsilon, delta, algorithm] for algorithm in ALGORITHMS)
                    line.append(f"{ours:.3f} ({hst:.2f}; {lloyd:.2f})")
                    missed += ours > BARS[name, epsilon] or ours >= min(hst, lloyd)
                    missed += objective == "k-median" and hst > HST_BARS.get((name, epsilon), np.inf)
            lines.append(line)
    head = ["data", "epsilon", "at most"] + [f"{o}, delta {d:g}" for o in OBJECTIVES for d in DELTAS]
    return markdown(head, lines), missed


def main() -> None:
    """Measure all cells, print the table, write it into the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=NAMES, choices=NAMES)
    options = parser.parse_args()
    cells = list(itertools.product(options.data, OBJECTIVES, EPSILONS, DELTAS, ALGORITHMS))
    for name, power in itertools.product(options.data, OBJECTIVES.values()):
        best_plain_cost(name, power)
    results = []
    with Pool(os.cpu_count(), maxtasksperchild=4) as pool:
        for result in pool.imap(measure, cells, chunksize=1):
            results.append(result)
            print(
                "{data:15} {objective:9} eps {epsilon:<5} delta {delta:<6} {algorithm:6} {mean:.4f} (max {max:.4f})".format(
                    **result
                )
            )
    text, missed = table(results)
    print(f"\n{text}\n\n{missed} cells miss a bar or lose to another algorithm.")
    if options.data == NAMES:
        save("utility", results)
        into_page("utility", text)


if __name__ == "__main__":
    main()
