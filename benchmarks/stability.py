"""Separated blobs, and what `"stable"` gains or loses against its base: ``python -m benchmarks.stability``; writes tables.

The blobs are those of `benchmarks.blobs`; each run draws its own. The non-private cost is the best of ten runs of scikit-learn's
KMeans and one from the true centers, or of as many plain Weiszfeld-Lloyd runs.

``--sets`` measures the sets of the utility table as well (SPINNEY_DATA set): the mean cost over that of the base. Cells are kept
in ``benchmarks/results/stability.json`` as they are measured, and those that are there are not measured again; ``--again`` does.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from functools import cache
from typing import Any

import numpy as np

from benchmarks.blobs import CLUSTERS, separated_blobs
from benchmarks.tables import RESULTS, into_page, markdown, save

COLUMNS, ROWS, EPSILONS, DELTAS = (2, 4), (2_000, 5_000, 10_000, 50_000), (1.0, 0.25), (0.0, 1e-6)
ALGORITHMS = ("stable", "tree")
#: What the sets of the utility table are measured at.
PROMISES = [
    ("k-means", 1.0, 0.0),
    ("k-means", 1.0, 1e-6),
    ("k-means", 0.25, 0.0),
    ("k-median", 1.0, 0.0),
    ("k-median", 0.25, 0.0),
]
POWERS = {"k-means": 2, "k-median": 1}
#: At epsilon 1 from so many rows on, at most so many times the non-private cost.
ENOUGH_ROWS, BAR = 5_000, 1.10
#: The geometric mean over the utility table's sets at epsilon 1, over that of the base with the whole budget, is at most this.
SETS_BAR = 1.03
RUNS = 10


@cache
def plain(n: int, d: int, seed: int, power: int) -> tuple[np.ndarray, float]:
    """Return blobs and their best non-private cost."""
    rows, centers = separated_blobs(n, d, seed)
    if power == 2:
        from sklearn.cluster import KMeans

        tries = [KMeans(CLUSTERS, n_init=1, random_state=run) for run in range(10)] + [KMeans(CLUSTERS, init=centers, n_init=1)]
        return rows, min(one.fit(rows).inertia_ for one in tries)
    from spinney.solvers.weighted import improve

    starts = [rows[np.random.default_rng(run).choice(n, CLUSTERS, replace=False)] for run in range(10)] + [centers]
    return rows, min(improve(rows, np.ones(n), start, 1, 300, 1e-6, 1e-9).cost for start in starts)


def measure(objective: str, d: int, n: int, epsilon: float, delta: float, algorithm: str) -> dict[str, Any]:
    """Run one cell of blobs."""
    from spinney import PrivateKMeans, PrivateKMedian

    estimator, ratios = (PrivateKMeans if objective == "k-means" else PrivateKMedian), []
    for run in range(RUNS):
        rows, cost = plain(n, d, run, POWERS[objective])
        model = estimator(CLUSTERS, epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm=algorithm, random_state=run)
        ratios.append(-model.fit(rows).score(rows) / cost)
    return {"ratios": [round(ratio, 5) for ratio in ratios], "mean": float(np.mean(ratios)), "max": float(max(ratios))}


def blob_table(found: dict[str, Any]) -> tuple[str, int]:
    """Return the table of blobs, and how many cells miss the bar."""
    lines, missed = [], 0
    for objective, d, n in itertools.product(POWERS, COLUMNS, ROWS):
        line = [objective, str(d), f"{n:,}"]
        for epsilon, delta in itertools.product(EPSILONS, DELTAS):
            ours, base = (found.get(str((objective, d, n, epsilon, delta, name))) for name in ALGORITHMS)
            line.append("" if ours is None or base is None else f"{ours['mean']:.3f} ({base['mean']:.3f})")
            missed += ours is not None and epsilon == 1 and n >= ENOUGH_ROWS and ours["mean"] > BAR
        lines.append(line)
    head = ["objective", "columns", "rows", *(f"epsilon {e:g}, delta {d:g}" for e, d in itertools.product(EPSILONS, DELTAS))]
    return markdown(head, lines), missed


def set_table(found: dict[str, Any], names: list[str]) -> tuple[str, int]:
    """Return the quotients of the utility table's sets with their geometric means, and how many of these miss the bar."""
    lines = [[name, *(f"{found[str((name, *promise))]['quotient']:.3f}" for promise in PROMISES)] for name in names]
    means = [
        math.exp(float(np.mean([math.log(found[str((name, *promise))]["quotient"]) for name in names]))) for promise in PROMISES
    ]
    missed = sum(mean > SETS_BAR for mean, (_, epsilon, _) in zip(means, PROMISES, strict=True) if epsilon == 1)
    head = ["data", *(f"{objective}, epsilon {epsilon:g}, delta {delta:g}" for objective, epsilon, delta in PROMISES)]
    return markdown(head, [*lines, ["geometric mean", *(f"{mean:.3f}" for mean in means)]]), missed


def measure_set(name: str, objective: str, epsilon: float, delta: float) -> dict[str, Any]:
    """Run one cell of the utility table's sets: the mean cost of the stable algorithm over that of its base."""
    from benchmarks.data import SETS, load
    from spinney import PrivateKMeans, PrivateKMedian

    rows, estimator = load(name), PrivateKMeans if objective == "k-means" else PrivateKMedian
    costs: dict[str, list[float]] = {}
    for algorithm, run in itertools.product(ALGORITHMS, range(RUNS)):
        model = estimator(SETS[name], epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm=algorithm, random_state=run)
        costs.setdefault(algorithm, []).append(-model.fit(rows).score(rows))
    ours, base = (float(np.mean(costs[algorithm])) for algorithm in ALGORITHMS)
    return {"costs": {name: [round(cost, 3) for cost in each] for name, each in costs.items()}, "quotient": ours / base}


def main() -> None:
    """Measure what is missing, print the tables, write them into the guide."""
    from benchmarks.utility import NAMES

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    path = RESULTS / "stability.json"
    found: dict[str, Any] = {} if options.again or not path.exists() else json.loads(path.read_text())
    blobs = itertools.product(POWERS, COLUMNS, ROWS, EPSILONS, DELTAS, ALGORITHMS)
    sets = itertools.product(NAMES, PROMISES) if options.sets else ()
    for cell in itertools.chain(blobs, ((name, *promise) for name, promise in sets)):
        if str(cell) not in found:
            found[str(cell)] = measure(*cell) if cell[0] in POWERS else measure_set(*cell)  # type: ignore[arg-type]
            save("stability", found)
            print(*cell, {name: value for name, value in found[str(cell)].items() if name in ("mean", "quotient")}, flush=True)
    text, missed = blob_table(found)
    print(f"{text}\n\n{missed} cells miss the bar.")
    into_page("stability", text, "docs/stability.md")
    if options.sets:
        text, missed = set_table(found, NAMES)
        print(f"{text}\n\n{missed} means miss the bar.")
        into_page("stability sets", text, "docs/stability.md")


if __name__ == "__main__":
    main()
