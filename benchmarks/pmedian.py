"""k-medoids in finite metrics, not private: ``python -m benchmarks pmedian``; needs SPINNEY_DATA and the package kmedoids.

Three parts: the OR-Library p-median graphs against their optima, one swap step against one iteration of FastPAM1, and the
papers' two claims on HST initialization against k-median++: lower initial cost, and less time for k > log n. CPU seconds of all
threads together, after the kernels were compiled.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.data import folder
from benchmarks.networks import clusters_graph, demands, streets, undirected
from benchmarks.pages import RESULTS, into_page, markdown, save
from spinney.solvers import service as services
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.swaps import local_search
from spinney.solvers.tree_search import search_medoids
from spinney.spaces.metric import FiniteMetric
from spinney.trees.metric_hst import MetricHST

#: The papers' numbers of centers, and larger ones.
KS = (2, 5, 10, 15, 20, 50, 100, 200)
#: The papers' depth of a tree without privacy, and their local search.
LEVELS, ALPHA, STEPS = 6, 1e-3, 20


def timed(task: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a task returns, and its CPU seconds."""
    begun = time.process_time()
    result = task()
    return result, time.process_time() - begun


def pmed() -> dict[str, Any]:
    """Solve the OR-Library graphs without noise; every number is the gap to the optimum, over three seeds."""
    from spinney import PrivateKMedoids

    file = np.load(folder() / "pmed_odd.npz")
    rows = []
    for number, optimum in zip(file["ids"].tolist(), file["opt"].tolist(), strict=True):
        n, _, p = file[f"pmed{number}_nmp"].tolist()
        edges = file[f"pmed{number}_edges"]
        edges = edges - [*[int(edges[:, :2].min())] * 2, 0]
        space = FiniteMetric.from_graph(undirected(edges, n))

        def solve(seed: int, space: FiniteMetric = space, n: int = n, p: int = p) -> Any:
            return PrivateKMedoids(p, epsilon=math.inf, space=space, random_state=seed).fit(np.arange(n)).medoid_indices_

        runs = [timed(lambda seed=seed, task=solve: task(seed)) for seed in range(3)]
        service = Service.of(space, np.ones(n))
        gaps = [service.cost(found) / optimum - 1 for found, _ in runs]
        row = {"graph": f"pmed{number}", "n": n, "p": p, "optimum": optimum, "gaps": gaps}
        rows.append({**row, "cpu": float(np.median([cpu for _, cpu in runs]))})
    best, every = [min(row["gaps"]) for row in rows], [gap for row in rows for gap in row["gaps"]]
    print(markdown(
        ["graph", "n", "p", "optimum", "gap of each seed, %", "CPU s"],
        [
            [r["graph"], str(r["n"]), str(r["p"]), str(r["optimum"]),
             " ".join(f"{100 * g:.2f}" for g in r["gaps"]), f"{r['cpu']:.2f}"]
            for r in rows
        ],
    ))  # fmt: skip
    verdict = {
        "mean of best": float(np.mean(best)), "worst of best": max(best),
        "mean of single seeds": float(np.mean(every)), "worst single seed": max(every), "least": min(every),
    }  # fmt: skip
    print({name: f"{100 * gap:.3f}%" for name, gap in verdict.items()})
    return {"rows": rows, "verdict": verdict}


def swap_step() -> dict[str, float]:
    """Measure one step with 10,000 candidates, 10,000 rows and k = 20, as half the difference of three and one."""
    import kmedoids

    rows = np.load(folder() / "mnist_test10k.npz")["X"].astype(np.float64)
    squares = (rows**2).sum(axis=1)
    matrix = np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0))
    start = np.random.default_rng(0).choice(len(rows), 20, replace=False)
    record = {}
    for bits, kind in ((32, np.float32), (64, np.float64)):
        services.EXACT_BYTES = 2**30 if bits == 64 else 2**28
        table = np.ascontiguousarray(matrix, dtype=kind)
        service = Service.of(FiniteMetric.from_matrix(table), np.ones(len(rows)))
        service.tabulate()
        local_search(service, start, alpha=0.0, steps=1)

        def ours(steps: int, demand: Service = service) -> float:
            return timed(lambda: local_search(demand, start, alpha=0.0, steps=steps))[1]

        def theirs(steps: int, distances: np.ndarray = table) -> float:
            return timed(lambda: kmedoids.fastpam1(distances, start, max_iter=steps))[1]

        mine, other = (float(np.median([task(3) - task(1) for _ in range(3)])) / 2 for task in (ours, theirs))
        record |= {
            f"swap step, {bits} bits": mine,
            f"FastPAM1 iteration, {bits} bits": other,
            f"ratio, {bits} bits": mine / other,
        }
    services.EXACT_BYTES = 2**28
    print({name: round(value, 3) for name, value in record.items()})
    return record


def settings() -> Iterator[tuple[str, FiniteMetric, np.ndarray, int]]:
    """Yield the papers' spaces with their clusters and a number of repetitions."""
    file = np.load(folder() / "mnist_test10k.npz")
    for metric, name in (("euclidean", "MNIST l2"), ("manhattan", "MNIST l1")):
        yield name, FiniteMetric.from_points(file["X"].astype(float), metric), file["y"].astype(int), 5  # type: ignore[arg-type]
    for reach in (1.0, 100.0):
        yield f"graph r={reach:.0f}", *clusters_graph(reach), 10


def initial_cost() -> list[dict[str, Any]]:
    """Compare initial and final costs of HST initialization and k-median++."""
    cells: dict[tuple[str, str, int], list[list[float]]] = {}
    for space_name, space, label, repetitions in settings():
        for seed in range(repetitions):
            rng = np.random.default_rng(seed)
            tree = MetricHST.build(space, rng, LEVELS)
            for demand_name, weights in demands(label, seed):
                service = Service.of(space, weights)
                service.tabulate()
                for k in KS:
                    starts = search_medoids(space, tree, tree.counts(weights), k), seed_medoids(service, k, rng)
                    ends = [local_search(service, start, alpha=ALPHA, steps=STEPS).cost for start in starts]
                    cells.setdefault((space_name, demand_name, k), []).append([*map(service.cost, starts), *ends])
    rows = []
    for (space_name, demand_name, k), costs in cells.items():
        hst, seeded, hst_end, seeded_end = np.mean(costs, axis=0).tolist()
        row = {"space": space_name, "demand": demand_name, "k": k, "HST": hst, "k-median++": seeded, "ratio": hst / seeded}
        rows.append({**row, "final ratio": hst_end / seeded_end})
    print(markdown(
        ["space", "demand", "k", "HST", "k-median++", "ratio", f"ratio after {STEPS} swaps"],
        [
            [r["space"], r["demand"], str(r["k"]), f"{r['HST']:.4g}", f"{r['k-median++']:.4g}",
             f"{r['ratio']:.2f}", f"{r['final ratio']:.3f}"]
            for r in rows
        ],
    ))  # fmt: skip
    for name in dict.fromkeys(row["space"] for row in rows):
        for span, wanted in (("k up to 20, as in the papers", KS[:5]), ("larger k", KS[5:])):
            own = [row["ratio"] for row in rows if row["space"] == name and row["k"] in wanted]
            lower = sum(ratio < 1 for ratio in own)
            verdict = "holds" if lower == len(own) else "does not hold" if lower == 0 else "holds in part"
            print(f"{name}, {span}: initial cost lower in {lower} of {len(own)} cells: the claim {verdict}")
    return rows


def initial_time() -> list[dict[str, Any]]:
    """Compare CPU seconds of a tree with its search, and of k-median++, on all points of a space."""
    spaces = {name: space for name, space, _, _ in settings()}
    spaces |= {f"streets {side}x{side}": streets(side) for side in (50, 100, 200, 340)}
    for small in (FiniteMetric.from_points(np.eye(99)), streets(9)):  # compiles the kernels
        MetricHST.build(small, np.random.default_rng(0), LEVELS)
        seed_medoids(Service.of(small, np.ones(small.n_points)), 2, np.random.default_rng(0))
    rows = []
    for name, space in spaces.items():
        weights = np.ones(space.n_points)
        service, rng = Service.of(space, weights), np.random.default_rng(0)
        tree, built = timed(lambda s=space, r=rng: MetricHST.build(s, r, LEVELS))
        row: dict[str, Any] = {"space": name, "n": space.n_points, "tree": built, "HST": {}, "k-median++": {}}
        for k in KS:
            row["HST"][k] = built + timed(lambda s=space, t=tree, w=weights, c=k: search_medoids(s, t, t.counts(w), c))[1]
            row["k-median++"][k] = timed(lambda s=service, c=k, r=rng: seed_medoids(s, c, r))[1]
        above = [k for k in KS if k > np.log2(space.n_points)]
        faster = [k for k in above if row["HST"][k] < row["k-median++"][k]]
        row["verdict"] = "holds" if faster == above else "does not hold" if not faster else f"holds from k = {min(faster)}"
        rows.append(row)
    print(markdown(
        ["space", "n", "log2 n", *(f"k = {k}" for k in KS), "faster for k > log2 n"],
        [
            [r["space"], str(r["n"]), f"{np.log2(r['n']):.1f}",
             *(f"{r['HST'][k]:.2f} / {r['k-median++'][k]:.2f}" for k in KS), r["verdict"]]
            for r in rows
        ],
    ))  # fmt: skip
    return rows


def main() -> None:
    """Run the parts named on the command line, or all, and save their results."""
    parts = {"pmed": pmed, "swap": swap_step, "cost": initial_cost, "time": initial_time}
    for name in sys.argv[1:] or parts:
        print(f"\n## {name}")
        save(f"pmedian_{name}", parts[name]())
    into_page("plain", table())


def table() -> str:
    """Return the table of the README, from the saved results."""
    gaps, swap = (json.loads((RESULTS / f"pmedian_{name}.json").read_text()) for name in ("pmed", "swap"))
    gaps = {name: 100 * gap for name, gap in gaps["verdict"].items()}
    rows = [
        ["20 OR-Library graphs, best of 3 seeds: mean gap to the optimum, %", f"{gaps['mean of best']:.3f}", "0.5"],
        ["the same, worst graph", f"{gaps['worst of best']:.3f}", "2"],
        ["the same, single seeds: mean; worst", f"{gaps['mean of single seeds']:.3f}; {gaps['worst single seed']:.3f}", ""],
    ]
    for bits in (32, 64):
        what = f"a swap step over one iteration of `kmedoids.fastpam1`, {bits}-bit matrix: CPU"
        rows.append([what, f"{swap[f'ratio, {bits} bits']:.2f}", "0.5"])
    return markdown(["what", "measured", "at most"], rows)


if __name__ == "__main__":
    main()
