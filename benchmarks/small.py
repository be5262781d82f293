"""Small budgets: ``python -m benchmarks.small`` (SPINNEY_DATA set); writes a table into docs/utility.md.

The mean cost of the default, 10 runs with secure noise, over the lowest cost of 20 runs of scikit-learn's KMeans, at epsilon
0.1, 0.25, 0.5 and 1, beside what must hold. Where that is within two standard errors of the mean, on either side, 160 runs say
more. ``--data`` takes the sets whose names hold a text; what is not run again is kept.
"""

from __future__ import annotations

import argparse
import json
import os
from multiprocessing import Pool

import numpy as np

from benchmarks.data import SETS, load, unit_box
from benchmarks.tables import RESULTS, ROOT, into_page, markdown, save

EPSILONS, RUNS, MORE_RUNS = (0.1, 0.25, 0.5, 1.0), 10, 160
#: Names, the number of clusters, delta, and the largest mean at each epsilon; none means that it is not asked for.
ROWS: list[tuple[str, int, float, tuple[float | None, ...]]] = [
    ("s1", 15, 0.0, (1.45, 1.10, 1.03, 1.01)),
    ("a2", 35, 0.0, (None, 1.40, 1.10, 1.03)),
    ("unbalance", 8, 0.0, (3.0, 1.40, 1.15, 1.03)),
    ("64 tight clusters 100k x 10", 64, 0.0, (None, 2.0, 1.12, 1.02)),
    ("shuttle", 10, 0.0, (1.6, 1.10, 1.03, 1.01)),
    ("shuttle", 10, 1e-6, (1.25, 1.07, 1.03, 1.01)),
    ("higgs_11k", 10, 0.0, (2.0, 1.33, 1.14, 1.08)),
    ("higgs_11k", 10, 1e-6, (1.12, 1.04, 1.03, 1.01)),
    ("mnist_test10k", 10, 0.0, (1.95, 1.75, 1.55, 1.42)),
    ("mnist_test10k", 10, 1e-6, (1.38, 1.28, 1.20, 1.12)),
    ("digits", 10, 1e-6, (2.05, 1.80, 1.48, 1.25)),
]


def rows_of(name: str) -> np.ndarray:
    """Return a set in [-1, 1]."""
    if name == "64 tight clusters 100k x 10":
        rng = np.random.default_rng(0)
        centers = rng.uniform(-0.9, 0.9, (64, 10))
        return np.clip(centers[rng.integers(0, 64, 100_000)] + rng.normal(0, 0.01, (100_000, 10)), -1, 1)
    if name in SETS:
        return load(name)
    return unit_box(np.load(os.path.join(os.environ["SPINNEY_DATA"], "sipu_basic.npz"))[name])


def plain_cost(name: str, k: int) -> float:
    """Return the best non-private cost of 20 runs, remembered between calls."""
    cache = ROOT / "benchmarks" / ".cache" / f"small {name} {k}.json"
    if not cache.exists():
        from sklearn.cluster import KMeans

        rows = rows_of(name)
        cache.parent.mkdir(exist_ok=True)
        cache.write_text(json.dumps(min(KMeans(k, n_init=1, random_state=seed).fit(rows).inertia_ for seed in range(20))))
    return float(json.loads(cache.read_text()))


def error(ratios: list[float]) -> float:
    """Return the standard error of a mean."""
    return float(np.std(ratios, ddof=1) / len(ratios) ** 0.5)


def measure(cell: tuple[str, int, float, float, float | None]) -> list[float]:
    """Return the ratios of one cell."""
    from spinney import PrivateKMeans

    name, k, delta, epsilon, bar = cell
    rows, plain, ratios = rows_of(name), plain_cost(name, k), []
    for run in range(MORE_RUNS):
        if run == RUNS and (bar is None or abs(np.mean(ratios) - bar) > 2 * error(ratios)):
            break
        model = PrivateKMeans(k, epsilon=epsilon, delta=delta, bounds=(-1, 1), random_state=run)
        ratios.append(round(-model.fit(rows).score(rows) / plain, 4))
    return ratios


def told(ratios: list[float], bar: float | None) -> str:
    """Return a mean with its standard error and its bar."""
    text = f"{np.mean(ratios):.3f} ± {error(ratios):.3f}"
    if bar is None:
        return text
    return f"{text} ({bar:g})" if np.mean(ratios) <= bar else f"**{text}** ({bar:g})"


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="")
    chosen = parser.parse_args()
    path = RESULTS / "small.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    lines = []
    with Pool(os.cpu_count()) as pool:
        for name, k, delta, bars in ROWS:
            title = f"{name}, k = {k}, delta {delta:g}"
            if chosen.data in name or title not in found:
                plain_cost(name, k)
                cells = [(name, k, delta, epsilon, bar) for epsilon, bar in zip(EPSILONS, bars, strict=True)]
                found[title] = dict(zip(map(str, EPSILONS), pool.map(measure, cells, chunksize=1), strict=True))
                save("small", found)
            lines.append([title, *(told(found[title][str(one)], bar) for one, bar in zip(EPSILONS, bars, strict=True))])
            print(" | ".join(lines[-1]), flush=True)
    head = ["set", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)]
    into_page("small", markdown(head, lines), "docs/utility.md")


if __name__ == "__main__":
    main()
