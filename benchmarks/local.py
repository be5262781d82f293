"""The local model on separated blobs: ``python -m benchmarks.local``; writes tables into ``docs/local.md``.

The blobs are those of `benchmarks.blobs`; each run draws its own, by seeds from 100 on: the protocols' constants were tuned on
seeds 0 to 3. The cost is that of the released centers over the best non-private one, found from the true centers. Cells are
kept in ``benchmarks/results/local.json`` as they are measured, and not measured again; ``--again`` does.

Also: one response of a device in Python, in CPU time, and the size of its report; and the CPU time of 1,000,000 simulated users.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.blobs import CLUSTERS, separated_blobs
from benchmarks.tables import RESULTS, into_page, markdown, save

COLUMNS, USERS, EPSILON, DELTA = (2, 4), (100_000, 1_000_000), 1.0, 1e-6
#: With 1,000,000 users, at most so many times the non-private cost, by columns.
BARS = {2: 1.10, 4: 1.25}
#: CPU seconds of 1,000,000 simulated users, and milliseconds of one response.
MOST_SECONDS, MOST_MILLISECONDS = 60, 1.0
SEEDS = range(100, 110)
HISTOGRAM_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
PAGE = "docs/local.md"


def protocols() -> dict[str, Any]:
    """Return what is compared."""
    from spinney.local import Refined, StableLocal

    return {"refined": Refined(), "stable": StableLocal(), "stable, as printed": StableLocal(anchored=False)}


def measure(objective: str, d: int, n: int) -> list[dict[str, Any]]:
    """Run all protocols on the same blobs."""
    from spinney import PrivateKMeans, PrivateKMedian
    from spinney.solvers.weighted import improve, total_cost

    estimator, power = {"k-means": (PrivateKMeans, 2), "k-median": (PrivateKMedian, 1)}[objective]
    ratios: dict[str, list[float]] = {name: [] for name in protocols()}
    seconds: dict[str, list[float]] = {name: [] for name in protocols()}
    for seed in SEEDS:
        rows, centers = separated_blobs(n, d, seed)
        best = improve(rows, np.ones(n), centers, power, 20, 1e-6, 1e-9).cost
        for name, protocol in protocols().items():
            model = estimator(
                CLUSTERS, epsilon=EPSILON, delta=DELTA, bounds=(-1, 1), adjacency="replace", model="local",
                algorithm=protocol, random_state=seed,
            )  # fmt: skip
            start = time.process_time()
            model.fit(rows)
            seconds[name].append(time.process_time() - start)
            ratios[name].append(total_cost(rows, model.cluster_centers_, power) / best)
    cell = {"objective": objective, "columns": d, "users": n, "seeds": [SEEDS[0], SEEDS[-1]]}
    return [
        cell | {"protocol": name, "ratios": [round(r, 4) for r in found], "mean": float(np.mean(found))}
        | {"worst": float(np.max(found)), "seconds": float(np.max(seconds[name]))}
        for name, found in ratios.items()
    ]  # fmt: skip


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


def histogram_table() -> str:
    """Return what a count of 1,024 cells costs: unary reports, and one bit of a Hadamard code each, with the same promise.

    All users are in the first cell; the variance is measured over the other cells, for one user.
    """
    from scipy.linalg import hadamard

    rng, cells, users, lines = np.random.default_rng(0), 1024, 200_000, []
    code = hadamard(cells)
    for epsilon in HISTOGRAM_EPSILONS:
        q, squares = 1 / (1 + np.exp(epsilon)), []
        for _ in range(20):
            unary = ((rng.binomial(users, q, cells) - users * q) / (0.5 - q))[1:]
            row = rng.integers(0, cells, users)
            bit = np.where(rng.random(users) < q, -1, 1) * code[row, 0] / (1 - 2 * q)
            told = (np.bincount(row, bit, cells) @ code)[1:]
            squares.append([(unary**2).mean() / users, (told**2).mean() / users])
        found = np.mean(squares, axis=0)
        exact = [q * (1 - q) / (0.5 - q) ** 2, 1 / (1 - 2 * q) ** 2]
        lines.append([f"{epsilon:g}", *(f"{one:.2f} ({other:.2f})" for one, other in zip(found, exact, strict=True))])
    return markdown(["epsilon", "unary, 1,024 bits", "Hadamard, 11 bits"], lines)


def cost_table(cells: list[dict[str, Any]]) -> tuple[str, int]:
    """Return the table of costs, and how many cells miss their bar."""
    found = {(c["objective"], c["columns"], c["users"], c["protocol"]): c for c in cells}
    lines, missed = [], 0
    for objective, d, n in dict.fromkeys((c["objective"], c["columns"], c["users"]) for c in cells):
        own = [found[objective, d, n, name] for name in protocols()]
        bar = BARS[d] if n == 1_000_000 and objective == "k-means" else None
        missed += bar is not None and own[0]["mean"] > bar
        factor = (own[2]["mean"] - 1) / max(own[0]["mean"] - 1, 1e-9)
        means = [f"{own[0]['mean']:.3f} ({own[0]['worst']:.3f})", *(f"{c['mean']:.3f}" for c in own[1:])]
        lines.append([objective, str(d), f"{n:,}", "" if bar is None else f"{bar:g}", *means, f"{factor:.0f}"])
    first, *others = protocols()
    head = ["objective", "columns", "users", "at most", f"{first} (worst run)", *others, "excess, printed over refined"]
    table = markdown(head, lines)
    seconds = max(c["seconds"] for c in cells if c["users"] == 1_000_000 and c["protocol"] == "refined")
    time_line = f"One fit of 1,000,000 simulated users takes at most {seconds:.1f} CPU seconds with the refined protocol."
    return f"{table}\n\n{time_line}", missed


def main() -> None:
    """Measure what is missing, print and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true")
    path = RESULTS / "local.json"
    cells = [] if parser.parse_args().again or not path.exists() else json.loads(path.read_text())
    settings = [("k-means", d, n) for d, n in itertools.product(COLUMNS, USERS)] + [("k-median", d, 1_000_000) for d in COLUMNS]
    for setting in settings:
        if setting not in {(c["objective"], c["columns"], c["users"]) for c in cells}:
            cells += measure(*setting)
            save("local", cells)
            print(*setting, *(f"{c['protocol']}: {c['mean']:.3f}" for c in cells[-3:]), flush=True)
    table, missed = cost_table(cells)
    times = markdown(["question", "characters", "characters of a report", "milliseconds"], respond_times())
    print(table, f"\n\n{missed} cells miss the bar.\n\n", times, sep="")
    into_page("local", table, PAGE)
    into_page("responses", times, PAGE)
    into_page("histograms", histogram_table(), PAGE)


if __name__ == "__main__":
    main()
