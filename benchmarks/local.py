"""The local model on separated blobs: ``python -m benchmarks.local``; writes tables into ``docs/local.md``.

The blobs: ten equal Gaussian clusters of standard deviation STD in [-1, 1]^d, whose centers, drawn evenly from [-REACH, REACH]^d,
are at least APART standard deviations apart; each run draws its own. The cost is that of the released centers over the best
non-private one, found from the true centers.

Also: one response of a device in Python, in CPU time, and the size of its report; and the CPU time of 1,000,000 simulated users.
"""

from __future__ import annotations

import itertools
import json
import time
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.tables import into_page, markdown, save

STD, REACH, APART, CLUSTERS = 0.04, 0.85, 8.0, 10
COLUMNS, USERS, EPSILON, DELTA = (2, 4), (100_000, 1_000_000), 1.0, 1e-6
#: With 1,000,000 users, at most so many times the non-private cost, by columns.
BARS = {2: 1.10, 4: 1.25}
#: CPU seconds of 1,000,000 simulated users, and milliseconds of one response.
MOST_SECONDS, MOST_MILLISECONDS = 60, 1.0
RUNS = 3
PAGE = "docs/local.md"


def separated_blobs(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and the centers they were drawn around."""
    rng = np.random.default_rng(seed)
    centers = np.empty((0, d))
    while len(centers) < CLUSTERS:
        one = rng.uniform(-REACH, REACH, (1, d))
        if not len(centers) or ((centers - one) ** 2).sum(axis=1).min() >= (APART * STD) ** 2:
            centers = np.vstack([centers, one])
    return np.clip(centers[np.arange(n) % CLUSTERS] + rng.normal(0, STD, (n, d)), -1, 1), centers


def protocols() -> dict[str, Any]:
    """Return what is compared."""
    from spinney.local import Refined, StableLocal

    return {"refined": Refined(), "stable": StableLocal(), "stable, as printed": StableLocal(anchored=False)}


def measure(objective: str, d: int, n: int, name: str) -> dict[str, Any]:
    """Run one cell."""
    from spinney import PrivateKMeans, PrivateKMedian
    from spinney.solvers.weighted import improve, total_cost

    estimator, power = {"k-means": (PrivateKMeans, 2), "k-median": (PrivateKMedian, 1)}[objective]
    ratios, seconds = [], []
    for run in range(RUNS):
        rows, centers = separated_blobs(n, d, run)
        best = improve(rows, np.ones(n), centers, power, 20, 1e-6, 1e-9).cost
        model = estimator(
            CLUSTERS, epsilon=EPSILON, delta=DELTA, bounds=(-1, 1), adjacency="replace", model="local",
            algorithm=protocols()[name], random_state=run,
        )  # fmt: skip
        start = time.process_time()
        model.fit(rows)
        seconds.append(time.process_time() - start)
        ratios.append(total_cost(rows, model.cluster_centers_, power) / best)
    cell = {"objective": objective, "columns": d, "users": n, "protocol": name, "ratios": [round(r, 4) for r in ratios]}
    return cell | {"mean": float(np.mean(ratios)), "worst": float(np.max(ratios)), "seconds": float(np.max(seconds))}


def _questions() -> dict[str, str]:
    """Return questions as the protocols ask them, the largest of each kind."""
    from spinney.local.asking import Asking
    from spinney.local.cells import CellTree
    from spinney.local.grid import Grid
    from spinney.spaces.box import Box

    asking, rng = Asking(Grid.of(Box(-1, 1).domain(4)), "salt"), np.random.default_rng(0)
    tree, _ = CellTree(asking.grid).refined(np.array([10]))
    one, share, centers, third = Fraction(1), Fraction(3, 16), rng.uniform(-1, 1, (CLUSTERS, 4)), np.full(CLUSTERS, 0.1)
    return {
        "cells, 1024": asking.cells("q", tree, one),
        "regions, 10": asking.regions("q", centers, third, share),
        "offsets, 10 x 4 bins": asking.offsets("q", centers, third, "mean", 4, one),
        "cost": asking.cost("q", centers, centers[::-1] + 0.1, 2, 4.0, Fraction(1, 8)),
        "sums, 10 x 4": asking.sums("q", centers, third, centers, third, share, Fraction(1, 10**6)),
    }


def respond_times() -> list[list[str]]:
    """Return what one response takes and how long its report is, for each kind of question."""
    from spinney.local.device import KINDS, respond

    lines = []
    for name, question in _questions().items():
        asked = json.loads(question)
        policy = {"domain": asked["domain"], "kinds": sorted(KINDS), "epsilon": "1", "delta": "1/1000000", "most_slots": 4096}
        policy |= {"question_epsilon": "1", "question_delta": "1/1000000", "widest_radius": 2**25, "most_questions": 1}
        best = np.inf
        for _ in range(7):
            start = time.process_time()
            reports = [respond([0.1, 0.2, 0.3, 0.4], question, policy, {}) for _ in range(100)]
            best = min(best, (time.process_time() - start) / len(reports))
        sizes = [len(report) for report in reports]
        lines.append([name, f"{len(question):,}", f"{max(sizes):,}", f"{1000 * best:.2f}"])
    return lines


def main() -> None:
    """Measure, print and write both tables."""
    cells = [measure("k-means", d, n, name) for d, n, name in itertools.product(COLUMNS, USERS, protocols())]
    cells += [measure("k-median", d, 1_000_000, name) for d, name in itertools.product(COLUMNS, protocols())]
    save("local", cells)
    found = {(c["objective"], c["columns"], c["users"], c["protocol"]): c for c in cells}
    lines = []
    for objective, d, n in dict.fromkeys((c["objective"], c["columns"], c["users"]) for c in cells):
        own = [found[objective, d, n, name] for name in protocols()]
        bar = BARS[d] if n == 1_000_000 and objective == "k-means" else None
        factor = (own[2]["mean"] - 1) / max(own[0]["mean"] - 1, 1e-9)
        lines.append(
            [objective, str(d), f"{n:,}", "" if bar is None else f"{bar:g}", *(f"{c['mean']:.3f}" for c in own), f"{factor:.0f}"]
        )
    head = ["objective", "columns", "users", "at most", *protocols(), "excess, printed over refined"]
    table = markdown(head, lines)
    seconds = max(c["seconds"] for c in cells if c["users"] == 1_000_000 and c["protocol"] == "refined")
    table += f"\n\nOne fit of 1,000,000 simulated users takes at most {seconds:.1f} CPU seconds with the refined protocol."
    times = markdown(["question", "characters", "characters of a report", "milliseconds"], respond_times())
    print(table, "\n\n", times, sep="")
    into_page("local", table, PAGE)
    into_page("responses", times, PAGE)


if __name__ == "__main__":
    main()
