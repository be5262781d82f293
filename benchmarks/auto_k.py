"""How many clusters ``n_clusters="auto"`` finds: ``python -m benchmarks.auto_k``; writes tables into docs/how-many.md.

Named sets are read from the folder in SPINNEY_DATA. Made-up families are drawn by a seed: k from 1 to 40, 1 to 16 columns, 5,000
to 50,000 rows, centers at least so many standard deviations apart. The rule of `algorithms.valleys` was made while looking
at 60 other draws of such families and at a few runs of the named sets; the tables are of fresh noise and of fresh families.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.data import load, unit_box
from benchmarks.tables import into_page, markdown, save
from spinney import PrivateKMeans

#: name -> true number
SETS = {"s1": 15, "s2": 15, "a1": 20, "unbalance": 8, "blobs 100k x 8": 20, "s3": 15, "s4": 15, "a2": 35, "a3": 50}
EPSILONS, MOST = (1.0, 0.25), 40
SHAPES = {
    "plain": "equal round clusters",
    "sizes": "unequal sizes",
    "spreads": "unequal spreads, up to fourfold",
    "uniform": "flat cubes",
    "long": "elongated",
}
COLUMNS, CLUSTERS, ROWS = (1, 2, 2, 3, 4, 5, 6, 8, 12, 16), (1, 2, 3, 5, 8, 12, 18, 25, 32, 40), (5_000, 20_000, 50_000)
#: Rows of each cluster, at least, and standard deviations between centers.
LEAST_ROWS, APART = 400, (4.5, 6.0, 9.0)
PAGE = "docs/how-many.md"


def rows_of(name: str) -> np.ndarray:
    """Return a named set in [-1, 1]."""
    if name.startswith("blobs"):
        return load(name)
    return unit_box(np.load(Path(os.environ["SPINNEY_DATA"]) / "sipu_basic.npz")[name])


def centers_apart(rng: np.random.Generator, spreads: np.ndarray, d: int, apart: float) -> np.ndarray:
    """Draw centers, each at least `apart` times the larger spread from every other one."""
    k = len(spreads)
    reach, centers = apart * k ** (1 / d) * 0.75, np.empty((0, d))
    while len(centers) < k:
        for _ in range(50):
            one = rng.uniform(-reach, reach, d)
            far = np.sqrt(((centers - one) ** 2).sum(axis=1)) / np.maximum(spreads[: len(centers)], spreads[len(centers)])
            if far.min(initial=np.inf) >= apart:
                centers = np.vstack([centers, one])
                break
        else:
            reach *= 1.1
    return centers


def family(seed: int) -> tuple[str, int, float, np.ndarray]:
    """Return the shape, the true number, how far apart, and the rows in [-1, 1], drawn by a seed."""
    rng = np.random.default_rng([seed, 7])
    shape = list(SHAPES)[seed % len(SHAPES)]
    k, d, apart = int(rng.choice(CLUSTERS)), int(rng.choice(COLUMNS)), float(rng.choice(APART))
    n = max(int(rng.choice(ROWS)), LEAST_ROWS * k)
    spreads = np.exp(rng.uniform(-0.7, 0.7, k)) if shape == "spreads" else np.ones(k)
    centers = centers_apart(rng, spreads, d, apart)
    shares = np.maximum(rng.dirichlet(np.full(k, 2.0)), 0.3 / k) if shape == "sizes" else np.ones(k)
    labels = rng.choice(k, n, p=shares / shares.sum())
    offsets = rng.uniform(-(3**0.5), 3**0.5, (n, d)) if shape == "uniform" else rng.normal(size=(n, d))
    if shape == "long" and d > 1:
        turns = np.array([np.linalg.qr(rng.normal(size=(d, d)))[0] * np.r_[1.0, np.full(d - 1, 0.4)] for _ in range(k)])
        offsets = np.einsum("nij,nj->ni", turns[labels], offsets)
    rows = centers[labels] + offsets * spreads[labels, None]
    low, high = rows.min(axis=0), rows.max(axis=0)
    half = (high - low).max() / 2 * (1 + rng.uniform(0, 0.5))  # bounds may be wider than the rows
    return shape, k, apart, (rows - (low + high) / 2) / half


def found(rows: np.ndarray, epsilon: float, run: int) -> int:
    """Return the number that one fit finds."""
    model = PrivateKMeans("auto", max_clusters=MOST, epsilon=epsilon, bounds=(-1, 1), random_state=run)
    return len(model.fit(rows).cluster_centers_)


def named_table(runs: int) -> list[dict[str, object]]:
    """Measure the named sets and write their table."""
    records, lines = [], []
    for name, true in SETS.items():
        rows, line = rows_of(name), [name, str(true)]
        for epsilon in EPSILONS:
            start = time.process_time()
            numbers = [found(rows, epsilon, run) for run in range(runs)]
            near = sum(abs(number - true) <= 1 for number in numbers)
            line += [f"{near} of {runs}", f"{min(numbers)} to {max(numbers)}"]
            seconds = (time.process_time() - start) / runs
            records.append({"set": name, "true": true, "epsilon": epsilon, "found": numbers, "cpu seconds a fit": seconds})
        lines.append(line)
        print(*line, flush=True)
    head = ["data", "true number", *(f"epsilon {e:g}: {what}" for e in EPSILONS for what in ("within 1", "found"))]
    into_page("auto k", markdown(head, lines), PAGE)
    return records


def family_table(first: int, count: int) -> list[dict[str, object]]:
    """Measure the families and write their table."""
    records = []
    for seed in range(first, first + count):
        shape, true, apart, rows = family(seed)
        number = found(rows, 1.0, seed)
        records.append({"seed": seed, "shape": shape, "true": true, "apart": apart, "columns": rows.shape[1], "found": number})
        print(records[-1], flush=True)
    lines = []
    for shape, words in SHAPES.items():
        line = [words]
        for apart in APART:
            errors = [abs(r["found"] - r["true"]) for r in records if (r["shape"], r["apart"]) == (shape, apart)]
            line.append(f"{sum(e <= 1 for e in errors)} of {len(errors)}")
        lines.append(line)
    head = ["clusters", *(f"{apart:g} standard deviations apart" for apart in APART)]
    into_page("auto k families", markdown(head, lines), PAGE)
    return records


def main() -> None:
    """Measure, print, write the tables into the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--families", type=int, default=150)
    parser.add_argument("--first", type=int, default=1000, help="The first seed of the families.")
    options = parser.parse_args()
    sets = named_table(options.runs)
    save("auto_k", {"sets": sets, "families": family_table(options.first, options.families)})


if __name__ == "__main__":
    main()
