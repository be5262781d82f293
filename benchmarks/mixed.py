"""Does ``--k auto`` find clusters in mixed tables? ``python -m benchmarks.mixed --tables 20``.

Made-up tables as people have them: 2 to 6 columns, 1 to 3 of them categories, 2 to 8 true clusters that differ in numbers
and, mostly, in categories. Only tables count whose plain silhouette is best at the true number, among 2 to 10: the others
have no plain answer.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from spinney import fit
from spinney.spaces.units import schema_of
from spinney.tables.sources import read_source

WIDE = {"age": (0, 110), "stay": (0, 60), "cost": (0, 50_000), "bmi": (10, 60), "dose": (0, 500)}


@dataclass(frozen=True)
class Mixed:
    """A table, its public schema, and how many clusters it has."""

    table: pd.DataFrame
    schema: dict[str, Any]
    k: int


def mixed(seed: int, n: int = 20_000) -> Mixed:
    """Return a made-up table: clusters with middles apart in some column of numbers, each with a usual category."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(2, 7)), int(rng.integers(2, 9))
    n_categories = min(int(rng.integers(1, 4)), d - 1)
    names = list(rng.permutation(list(WIDE)))[: d - n_categories]
    cluster = rng.choice(k, n, p=rng.dirichlet(np.full(k, 8.0)))
    columns: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for name in names:
        low, high = WIDE[name]
        middles = rng.permutation(np.linspace(0.1, 0.9, k))
        columns[name] = low + (high - low) * np.clip(middles[cluster] + rng.normal(0, 0.025, n), 0, 1)
        schema[name] = (low, high)
    for place in range(n_categories):
        listed = [f"c{i}" for i in range(int(rng.integers(2, 6)))]
        usual = rng.permutation(np.arange(k) % len(listed))
        cells = np.where(rng.random(n) < 0.98, usual[cluster], rng.integers(0, len(listed), n))
        columns[f"category {place}"] = np.array(listed)[cells]
        schema[f"category {place}"] = listed
    return Mixed(pd.DataFrame(columns), schema, k)


def is_plain(made: Mixed) -> bool:
    """Whether the silhouette of plain k-means of the encoded rows names the true number."""
    public = schema_of(made.schema, "bounds", "mixed")
    assert public is not None
    cells = np.asarray(read_source(made.table[:2_000], public.names, schema=public).nonprivate_rows)
    rows, scores = public.encode(cells), {}
    for k in range(2, 11):
        scores[k] = silhouette_score(rows, KMeans(k, n_init=4, random_state=0).fit_predict(rows))
    return max(scores, key=lambda k: scores[k]) == made.k


def main() -> None:
    """Print how far the numbers found are from the true ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--delta", type=float, default=0.0)
    asked = parser.parse_args()
    off, ones, seed = Counter[int](), 0, 0
    while off.total() < asked.tables:
        made, seed = mixed(seed), seed + 1
        if not is_plain(made):
            continue
        with warnings.catch_warnings(action="ignore"):
            promise = {"epsilon": 1.0, "delta": asked.delta, "noise_seed": seed, "random_state": 0}
            found = len(fit(made.table, "auto", bounds=made.schema, scale="bounds", **promise).centers)
        off[found - made.k] += 1
        ones += found == 1
        print(f"table {seed - 1}: {made.table.shape[1]} columns, true {made.k}, found {found}", flush=True)
    near = sum(count for gap, count in off.items() if abs(gap) <= 1)
    gaps = dict(sorted(off.items()))
    print(f"{near} of {off.total()} within one of the true number, {ones} found 1; off by {gaps}; {seed} tables were made")


if __name__ == "__main__":
    main()
