"""All methods on one task: what each costs at its start, on the way and at its end."""

from __future__ import annotations

import csv
import time
from collections.abc import Collection, Iterable
from pathlib import Path as File
from typing import Any

import numpy as np

from benchmarks.pmedian import ALPHA
from benchmarks.pmedian import LEVELS as PLAIN_LEVELS
from experiments.published import LEVELS, STEPS, Path, PrintedCurator, Recorder, SearchOnTree, run
from experiments.tasks import DEMAND, KS, SPACES, demand_sets, make_space
from spinney.algorithms.registry import find
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.swaps import local_search
from spinney.solvers.tree_search import search_medoids
from spinney.spaces.metric import FiniteMetric
from spinney.trees.metric_hst import MetricHST

__all__ = [
    "COLUMNS",
    "EPSILON",
    "METHODS",
    "OURS",
    "PLAIN",
    "PRINTED",
    "SEARCHED",
    "STARTS",
    "along",
    "read_runs",
    "run_space",
    "write_runs",
]

EPSILON = 1.0
#: The papers' names of starts, and ours.
STARTS = {"rand": "random", "kmedian++": "kmedian++", "HST": "hst"}
#: Without privacy the papers have one set of points, U: here the demand, and beside it all points, which a private start reads.
PLAIN = tuple(f"NDP-{start}{where}" for where in ("", " on U") for start in STARTS)
PRINTED = tuple(f"DP-{start}" for start in STARTS)
SEARCHED = tuple(f"DP-{start} corrected" for start in STARTS)
OURS = ("cells", "coverage")
METHODS = (*PLAIN, *PRINTED, *SEARCHED, *OURS)
COLUMNS = ("space", "demand", "k", "repetition", "method", "initial", "average", "best", "final", "iterations")
#: The window of the moving average whose lowest value counts as a local optimum.
WINDOW = 5


def to_optimum(costs: np.ndarray) -> int:
    """Return after how many steps the moving average of costs is lowest: the last step of the window."""
    window = min(WINDOW, len(costs))
    return int(np.convolve(costs, np.ones(window) / window, "valid").argmin()) + window


def along(service: Service, path: Path) -> dict[str, float]:
    """Return the costs of a path: its start, the mean and the least of what it visited, what it released."""
    costs = np.array([service.cost(sites) for sites in path.visited])
    after = costs[1:] if len(costs) > 1 else costs
    return {
        "initial": costs[0], "average": after.mean(), "best": costs.min(), "final": costs[path.chosen],
        "iterations": to_optimum(after) if len(costs) > 1 else 0,
    }  # fmt: skip


def plain_starts(service: Service, rows: np.ndarray, k: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the starts of the methods that are not private, by method: from the demand alone, and from all points alone."""
    found = {}
    for where, points in (("", rows), (" on U", np.arange(service.space.n_points))):
        inside = service.space if where else FiniteMetric.from_matrix(service.space.distances_between(rows, rows))
        weights = np.ones(inside.n_points)
        tree = MetricHST.printed(inside, rng, PLAIN_LEVELS)
        starts = {
            "rand": rng.choice(inside.n_points, k, replace=False),
            "kmedian++": seed_medoids(Service.of(inside, weights), k, rng),
            "HST": search_medoids(inside, tree, tree.counts(weights), k),
        }
        found |= {f"NDP-{start}{where}": points[places] for start, places in starts.items()}
    return found


def _plain(service: Service, rows: np.ndarray, k: int, rng: np.random.Generator) -> dict[str, Any]:
    """Run the methods that are not private; centers may move to any point."""
    found = {}
    for name, start in plain_starts(service, rows, k, rng).items():
        end = local_search(service, start, alpha=ALPHA, steps=STEPS)
        found[name] = {"initial": service.cost(start), "final": end.cost, "iterations": end.swaps}
    return found


def run_task(
    space: FiniteMetric, rows: np.ndarray, tree: MetricHST, k: int, seed: int, methods: Collection[str]
) -> dict[str, dict[str, float]]:
    """Run each method once.

    Parameters
    ----------
    space : FiniteMetric
    rows : array of int
        The demand.
    tree : MetricHST
        For the private search.
    k : int
    seed : int
        Of starts and of noise; every method draws its own.
    methods : collection of str
    """
    weights = np.bincount(rows, minlength=space.n_points).astype(float)
    service = Service.of(space, weights)
    service.tabulate()
    found = _plain(service, rows, k, np.random.default_rng(seed)) if set(PLAIN) & set(methods) else {}
    for method in methods:
        own = seed * len(METHODS) + METHODS.index(method)
        if method in OURS:
            found[method] = {"final": service.cost(run(find(method, "sites"), space, rows, k, EPSILON, own).visited[0])}
        elif method not in PLAIN:
            printed = method in PRINTED
            start = STARTS[method.split()[0].removeprefix("DP-")]
            search = SearchOnTree(start, STEPS, not printed, LEVELS, made=tree)
            path = run(search, space, rows, k, EPSILON, own, PrintedCurator if printed else Recorder)
            found[method] = along(service, path)
    return found


def run_space(
    name: str,
    repetition: int,
    methods: Collection[str] = METHODS,
    ks: Iterable[int] = KS,
    n: int | None = None,
    demand: int = DEMAND,
) -> list[dict[str, Any]]:
    """Run methods on one space, once for each kind of demand and each k.

    Parameters
    ----------
    name : str
        A key of SPACES.
    repetition : int
    methods : collection of str
    ks : iterable of int
    n : int, optional
        The number of points, by default that of `make_space`.
    demand : int
        The number of rows.
    """
    begun = time.process_time()
    records = []
    space, label = make_space(name, repetition, n)
    tree = MetricHST.printed(space, np.random.default_rng(repetition), LEVELS)
    for kind, rows in demand_sets(label, repetition, demand):
        for k in ks:
            found = run_task(space, rows, tree, k, 1000 * repetition + k, methods)
            where = {"space": SPACES[name], "demand": kind, "k": k, "repetition": repetition}
            records += [{**where, "method": method, **costs} for method, costs in found.items()]
    print(f"{SPACES[name]}: repetition {repetition}, {time.process_time() - begun:.0f} CPU s", flush=True)
    return records


def write_runs(path: File, records: list[dict[str, Any]]) -> None:
    """Write runs as CSV, costs with five digits; earlier runs in the file stay unless they are of the same task and method."""
    kept = {_key(record): record for record in ([*read_runs(path), *records] if path.exists() else records)}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for _, record in sorted(kept.items()):
            writer.writerow({key: f"{value:.5g}" if isinstance(value, float) else value for key, value in record.items()})


def _key(record: dict[str, Any]) -> tuple[Any, ...]:
    return (record["space"], record["demand"], record["k"], record["repetition"], METHODS.index(record["method"]))


def read_runs(path: File) -> list[dict[str, Any]]:
    """Read what `write_runs` wrote; what was not measured is left out."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = {"k": int, "repetition": int} | dict.fromkeys(COLUMNS[5:], float)
    return [{key: numbers.get(key, str)(value) for key, value in row.items() if value != ""} for row in rows]
