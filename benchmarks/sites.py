"""Sites for private demand on networks: ``python -m benchmarks.sites`` (SPINNEY_DATA set); writes a table into the README.

500 rows of demand, all from a part of the network, and 10 sites. Every number is the cost over that of the best plain search:
20 seeded ones and 20 more from near the best. Secure noise. Distances are put into a table first, since every run asks for the
same ones. Beside it, time and memory on a network of 115,600 nodes. Parts: ``large`` and the networks, by default all;
``squared``, the default with squared distances, and ``whole``, with demand from all of the network. ``more`` runs the default
more often where its mean is within two standard errors of its bar: thirty runs do not tell on which side of it that lies.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pool

import numpy as np

from benchmarks.pmedian import clusters_graph, demands, folder, streets, tabulated, undirected
from benchmarks.tables import RESULTS, into_page, markdown, save
from spinney.solvers.medoids import solve_medoids
from spinney.solvers.service import Service
from spinney.spaces.metric import FiniteMetric

K, ROWS, SEEDS = 10, 500, 3
EPSILONS = (1.0, 0.25)
#: method -> runs with each seed: the default first, the others for comparison
METHODS = {"cells": 10, "coverage": 4, "local-search": 4, "hst": 4}
#: The default's where its mean is near its bar.
MORE_RUNS = 40
#: The control: sites for all points of the network alike, which reads no row.
BLIND = "no rows read"
SPACES = ("graph r=1", "graph r=100", "road Oldenburg", "road Rome")
#: (graph or road, epsilon) -> the largest mean ratio that is good enough, for the default
BARS = {("graph", 1.0): 1.012, ("road", 1.0): 1.04, ("graph", 0.25): 1.04, ("road", 0.25): 1.15}
#: The default alone: the same with squared distances, and with demand from all of the network.
OTHERS = ("road Oldenburg squared", "road Rome squared", "road Oldenburg whole", "road Rome whole", "graph r=100 whole")
OTHER_BARS = {("squared", 1.0): 1.2, ("squared", 0.25): 1.5}
#: Plain searches from fresh seeds; as many start near the best.
PLAIN = 20
#: The largest peak of memory on the large network, in GiB, and the rows of demand there.
PEAK, LARGE_SIDE, LARGE_ROWS = 2.0, 340, 20_000


def road(name: str) -> FiniteMetric:
    """Return a road network."""
    file = np.load(folder() / {"Oldenburg": "road_oldenburg.npz", "Rome": "road_rome99.npz"}[name])
    return FiniteMetric.from_graph(undirected(np.column_stack([file["edges"], file["weights"]]).astype(float), int(file["n"])))


def corner_demand(space: FiniteMetric, seed: int, rows: int = ROWS) -> np.ndarray:
    """Draw demand from the quarter of the nodes that are nearest to two random nodes."""
    rng = np.random.default_rng(seed)
    near = space.distances(rng.choice(space.n_points, 2, replace=False)).min(axis=0)
    return rng.choice(np.argsort(near, kind="stable")[: space.n_points // 4], rows, replace=False)


def tasks(name: str, seeds: int = SEEDS) -> Iterator[tuple[FiniteMetric, np.ndarray]]:
    """Yield spaces with demand: a graph for each seed, or one road network with demand for each seed."""
    kind, which, *how = name.split()
    network = tabulated(road(which)) if kind == "road" else None
    for seed in range(seeds):
        space, label = (network, None) if network else clusters_graph(float(which.removeprefix("r=")), seed=seed)
        if "whole" in how:
            yield tabulated(space), np.random.default_rng(seed).choice(space.n_points, ROWS, replace=False)
        elif network is not None:
            yield space, corner_demand(space, seed)
        else:
            yield tabulated(space), np.flatnonzero(dict(demands(label, seed))["imbalanced"])


def measure(name: str, seeds: int = SEEDS, methods: dict[str, int] = METHODS) -> dict[str, list[list[float]]]:
    """Run methods on one kind of network; ratios by method and epsilon, one list per seed."""
    from spinney import PrivateKMedoids

    power = 2 if name.endswith("squared") else 1
    ratios: dict[str, list[list[float]]] = {BLIND: []} | {f"{m} {epsilon:g}": [] for m in methods for epsilon in EPSILONS}
    for seed, (space, rows) in enumerate(tasks(name, seeds)):
        weights = np.bincount(rows, minlength=space.n_points).astype(float)
        service = Service.of(space, weights, power)
        plain = solve_medoids(space, weights, K, power, restarts=PLAIN).cost
        ratios[BLIND].append([round(service.cost(solve_medoids(space, np.ones(space.n_points), K, power).points) / plain, 4)])
        for method, epsilon in itertools.product(methods, EPSILONS):
            begun = time.process_time()
            models = [
                PrivateKMedoids(K, epsilon=epsilon, space=space, power=power, algorithm=method, random_state=run).fit(rows)
                for run in range(methods[method])
            ]
            costs = [service.cost(model.medoid_indices_) / plain for model in models]
            ratios[f"{method} {epsilon:g}"].append([round(cost, 4) for cost in costs])
            spent = (time.process_time() - begun) / methods[method]
            print(f"{name}, seed {seed}, {method}, epsilon {epsilon:g}: {np.mean(costs):.3f}, {spent:.2f} CPU s each", flush=True)
    return ratios


def more(results: dict[str, dict[str, list[list[float]]]]) -> None:
    """Run the default more often where its mean is near its bar, and add what is found."""
    with Pool(os.cpu_count()) as pool:
        for (name, ratios), epsilon in itertools.product(results.items(), EPSILONS):
            known = ratios[f"cells {epsilon:g}"]
            error = math.sqrt(np.mean([np.var(one, ddof=1) for one in known]) / sum(map(len, known)))
            if abs(np.mean(known) - BARS[name.split()[0], epsilon]) <= 2 * error:
                cells = [(name, seed, epsilon, len(one)) for seed, one in enumerate(known)]
                for one, found in zip(known, pool.imap(_runs, cells), strict=True):
                    one += found
                print(f"{name}, epsilon {epsilon:g}: {np.mean(known):.3f}", flush=True)


def _runs(cell: tuple[str, int, float, int]) -> list[float]:
    """Return the ratios of the default's runs from one on, with one demand."""
    from spinney import PrivateKMedoids

    name, seed, epsilon, first = cell
    space, rows = next(itertools.islice(tasks(name), seed, None))
    weights = np.bincount(rows, minlength=space.n_points).astype(float)
    service, plain = Service.of(space, weights), solve_medoids(space, weights, K, restarts=PLAIN).cost
    models = (PrivateKMedoids(K, epsilon=epsilon, space=space, random_state=run) for run in range(first, MORE_RUNS))
    return [round(service.cost(model.fit(rows).medoid_indices_) / plain, 4) for model in models]


def large() -> dict[str, float]:
    """Choose sites on a square of streets, in this process, and return CPU seconds and the peak of memory in GiB."""
    from spinney import PrivateKMedoids

    space = streets(LARGE_SIDE)
    rows = np.random.default_rng(0).choice(space.n_points // 4, LARGE_ROWS)
    begun = time.process_time()
    PrivateKMedoids(K, epsilon=1.0, space=space, random_state=0).fit(rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"nodes": space.n_points, "rows": LARGE_ROWS, "cpu": time.process_time() - begun, "peak GiB": peak}


def large_alone() -> dict[str, float]:
    """Run `large` in a process of its own; kernels were compiled before, or their compilation counts too."""
    command = [sys.executable, "-c", "import json; from benchmarks.sites import large; print(json.dumps(large()))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(results: dict[str, dict[str, list[list[float]]]], size: dict[str, float]) -> tuple[str, list[str]]:
    """Return the table, and the bars that were missed."""
    lines, missed = [], []
    for (name, ratios), epsilon in itertools.product(results.items(), EPSILONS):
        bar = BARS[name.split()[0], epsilon]
        means = [float(np.mean(ratios[f"{method} {epsilon:g}"])) for method in METHODS]
        runs = [sum(map(len, ratios[f"{method} {epsilon:g}"])) for method in METHODS]
        counts = f"{runs[0]} ({min(runs[1:])})"
        lines.append([name, f"{epsilon:g}", counts, f"{bar:g}", f"**{means[0]:.3f}**", *(f"{mean:.2f}" for mean in means[1:])])
        lines[-1].append(f"{np.mean(ratios[BLIND]):.2f}")
        if means[0] > bar:
            missed.append(f"{name}, epsilon {epsilon:g}: {means[0]:.3f}, at most {bar:.2f}")
    text = markdown(["network", "epsilon", "runs", "at most", *(f'`"{method}"`' for method in METHODS), BLIND], lines)
    if not size:
        return text, missed
    text += (
        f"\n\nOn a square of streets of {size['nodes']:,.0f} nodes with {size['rows']:,.0f} rows, `PrivateKMedoids({K})` "
        f"takes {size['cpu']:.1f} CPU seconds and {size['peak GiB']:.2f} GiB at its peak (at most {PEAK:g})."
    )
    if size["peak GiB"] > PEAK:
        missed.append(f"large network: {size['peak GiB']:.2f} GiB, at most {PEAK:g}")
    return text, missed


def others(results: dict[str, dict[str, list[list[float]]]]) -> tuple[str, list[str]]:
    """Return the table of the default alone, and the bars that were missed."""
    lines, missed = [], []
    for (name, ratios), epsilon in itertools.product(results.items(), EPSILONS):
        mean, bar = float(np.mean(ratios[f"cells {epsilon:g}"])), OTHER_BARS.get((name.split()[-1], epsilon))
        lines.append([name, f"{epsilon:g}", f"{bar:g}" if bar else "", f"**{mean:.3f}**", f"{np.mean(ratios[BLIND]):.2f}"])
        if bar and mean > bar:
            missed.append(f"{name}, epsilon {epsilon:g}: {mean:.3f}, at most {bar:g}")
    return markdown(["network", "epsilon", "at most", '`"cells"`', BLIND], lines), missed


def main() -> None:
    """Measure the parts named on the command line, or all; print the table and the misses, and write them down."""
    path = RESULTS / "sites.json"
    found = json.loads(path.read_text()) if path.exists() else {"results": {}, "large": {}}
    chosen = sys.argv[1:] or ["large", *SPACES]
    if "large" in chosen:
        found["large"] = large_alone()
        print(found["large"], flush=True)
    for name in SPACES:
        if name in chosen:
            found["results"][name] = measure(name)
            found["results"] = {space: found["results"][space] for space in SPACES if space in found["results"]}
            save("sites", found)
    if "more" in chosen:
        more(found["results"])
    for name in OTHERS:
        if name in chosen or name.split()[-1] in chosen:
            found.setdefault("others", {})[name] = measure(name, methods={"cells": METHODS["cells"]})
            save("sites", found)
    text, found["missed"] = table(found["results"], found["large"])
    beside, missed = others(found.get("others", {}))
    text, found["missed"] = (
        f"{text}\n\nThe default with squared distances, and with demand all over:\n\n{beside}",
        found["missed"] + missed,
    )
    print(text)
    print("\n".join(["Missed:", *found["missed"]]) if found["missed"] else "All bars are met.")
    save("sites", found)
    into_page("sites", text)


if __name__ == "__main__":
    main()
