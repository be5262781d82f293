"""Does ``--k auto`` find clusters in mixed tables, and none in noise? ``python -m benchmarks.mixed --tables 20``.

Made-up tables as people have them: 2 to 6 columns, 1 to 3 of them categories, 2 to 8 true clusters that differ in numbers
and, mostly, in categories. Only tables count whose plain silhouette is best at the true number, among 2 to 10: the others
have no plain answer. Of noise, columns are drawn one by one, every other table of numbers alone: there is one cluster.
With ``--save`` figures go to ``benchmarks/results/mixed.json``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from spinney import fit
from spinney.spaces.units import schema_of
from spinney.tables.sources import read_source

WIDE = {"age": (0, 110), "stay": (0, 60), "cost": (0, 50_000), "bmi": (10, 60), "dose": (0, 500)}
SAVED = Path(__file__).parent / "results" / "mixed.json"


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


def noise(seed: int, n: int = 20_000) -> Mixed:
    """Return a made-up table in which nothing goes with anything: 1 to 6 columns, at least one of them numbers."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    n_categories = 0 if seed % 2 else min(int(rng.integers(1, 4)), d - 1)
    columns: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for name in list(rng.permutation(list(WIDE)))[: d - n_categories]:
        low, high = WIDE[name]
        drawn = [rng.random(n), rng.normal(0.5, rng.uniform(0.03, 0.2), n), rng.exponential(rng.uniform(0.05, 0.3), n)]
        columns[name] = low + (high - low) * np.clip(drawn[int(rng.integers(3))], 0, 1)
        schema[name] = (low, high)
    for place in range(n_categories):
        listed = [f"c{i}" for i in range(int(rng.integers(2, 6)))]
        columns[f"category {place}"] = rng.choice(listed, n, p=rng.dirichlet(np.full(len(listed), 3.0)))
        schema[f"category {place}"] = listed
    return Mixed(pd.DataFrame(columns), schema, 1)


def is_plain(made: Mixed) -> bool:
    """Whether the silhouette of plain k-means of the encoded rows names the true number."""
    public = schema_of(made.schema, "bounds", "mixed")
    assert public is not None
    cells = np.asarray(read_source(made.table[:2_000], public.names, schema=public).nonprivate_rows)
    rows, scores = public.encode(cells), {}
    for k in range(2, 11):
        scores[k] = silhouette_score(rows, KMeans(k, n_init=4, random_state=0).fit_predict(rows))
    return max(scores, key=lambda k: scores[k]) == made.k


def plain_tables() -> Iterator[tuple[int, Mixed]]:
    """Yield made-up tables with a plain answer, and their seeds."""
    yield from ((seed, made) for seed in count() if is_plain(made := mixed(seed)))


def found(made: Mixed, delta: float, seed: int) -> int:
    """Return how many clusters are found."""
    promise = {"epsilon": 1.0, "delta": delta, "noise_seed": seed, "random_state": 0}
    with warnings.catch_warnings(action="ignore"):
        return len(fit(made.table, "auto", bounds=made.schema, scale="bounds", **promise).centers)


def measured(tables: list[tuple[int, Mixed]], delta: float) -> dict[str, Any]:
    """Return how far the numbers found are from the true ones."""
    off, ones = Counter[int](), 0
    for seed, made in tables:
        k = found(made, delta, seed + 1)
        off[k - made.k] += 1
        ones += k == 1
        print(f"table {seed}: {made.table.shape[1]} columns, true {made.k}, found {k}", flush=True)
    near = sum(times for gap, times in off.items() if abs(gap) <= 1)
    gaps = {str(gap): times for gap, times in sorted(off.items())}
    return {"tables": len(tables), "within one": near, "found 1": ones, "off by": gaps}


def main() -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    clustered = list(islice(plain_tables(), asked.tables))
    noisy = [(seed, noise(seed)) for seed in range(asked.tables // 2)]
    kinds = {"clusters": clustered, "noise, mixed": noisy[::2], "noise, numbers alone": noisy[1::2]}
    figures = {f"{kind}, delta {delta:g}": measured(tables, delta) for kind, tables in kinds.items() for delta in (0.0, 1e-6)}
    text = json.dumps({"epsilon": 1.0, "rows": 20_000, "made for it": clustered[-1][0] + 1, "figures": figures}, indent=1)
    print(text)
    if asked.save:
        SAVED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
