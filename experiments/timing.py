"""CPU seconds of HST initialization and of k-median++, over k and over n (Fig. 7 of the first version of the paper)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

import numpy as np

from benchmarks.data import folder
from benchmarks.networks import clusters_graph
from benchmarks.pmedian import LEVELS, timed
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.tree_search import search_medoids
from spinney.spaces.metric import FiniteMetric
from spinney.trees.metric_hst import MetricHST

__all__ = ["TIMED_KS", "fast_times", "measure_times", "read_times", "time_spaces", "write_times"]

#: Where ``python -m benchmarks pmedian time`` keeps times of the fast tree.
FAST = File(__file__).parents[1] / "benchmarks" / "results" / "pmedian_time.json"
#: The paper's numbers of centers, and larger ones.
TIMED_KS = (2, 5, 10, 15, 20, 50, 100, 200)


def time_spaces() -> Iterator[tuple[str, FiniteMetric]]:
    """Yield MNIST under l2 with more and more points, all of it under l1, and both graphs."""
    points = np.random.default_rng(0).permutation(np.load(folder() / "mnist_test10k.npz")["X"] / 255.0)
    for n in (2000, 4000, 6000, 8000, 10000):
        yield "MNIST l2", FiniteMetric.from_points(points[:n])
    yield "MNIST l1", FiniteMetric.from_points(points, "manhattan")
    for reach in (1.0, 100.0):
        yield f"graph r={reach:.0f}", clusters_graph(reach)[0]


def measure_times(spaces: Iterator[tuple[str, FiniteMetric]], ks: tuple[int, ...] = TIMED_KS) -> list[dict[str, Any]]:
    """Time both on all points of each space, after a first run that compiles; a tree serves all k, and counts for each."""
    warm: set[str] = set()
    rows = []
    for name, space in spaces:
        weights = np.ones(space.n_points)
        service, rng = Service.of(space, weights), np.random.default_rng(0)
        if (kind := type(space.source).__name__) not in warm:
            warm.add(kind)
            small = FiniteMetric.from_points(np.eye(99)) if kind == "Coordinates" else space
            search_medoids(small, (tree := MetricHST.printed(small, rng, LEVELS)), tree.counts(np.ones(small.n_points)), 2)
            seed_medoids(service, 2, rng)
        tree, built = timed(lambda s=space, r=rng: MetricHST.printed(s, r, LEVELS))
        for k in ks:
            found = timed(lambda s=space, t=tree, w=weights, c=k: search_medoids(s, t, t.counts(w), c))[1]
            seeded = timed(lambda s=service, c=k, r=rng: seed_medoids(s, c, r))[1]
            rows.append({"space": name, "n": space.n_points, "k": k, "tree": built, "search": found, "k-median++": seeded})
        print(f"time, {name}, n = {space.n_points}: tree {built:.2f} CPU s, k-median++ at k = {k} {seeded:.2f}", flush=True)
    return rows


def write_times(path: File, rows: list[dict[str, Any]]) -> None:
    """Write times as CSV, in CPU seconds."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([f"{value:.5f}" if isinstance(value, float) else value for value in row.values()] for row in rows)


def read_times(path: File) -> list[dict[str, Any]]:
    """Read what `write_times` wrote."""
    kinds = {"space": str, "n": int, "k": int}
    with path.open(newline="") as file:
        return [{key: kinds.get(key, float)(value) for key, value in row.items()} for row in csv.DictReader(file)]


def fast_times(path: File = FAST) -> list[dict[str, Any]]:
    """Read times of the fast tree, as those of `read_times`."""
    return [
        {"space": one["space"], "n": one["n"], "k": int(k), "tree": one["tree"], "search": one["HST"][k] - one["tree"]}
        | {"k-median++": one["k-median++"][k]}
        for one in json.loads(path.read_text(encoding="utf-8"))
        for k in one["HST"]
    ]
