"""Devices of the local model: ``python -m benchmarks local``; writes tables into ``docs/local.md``.

One response of a device in Python, in CPU time, and the size of its report; the variance of counts by unary reports and by a
Hadamard code; and what few users pay for five centers beside one (alone: ``local few``). Costs are the suite ``local`` of
`benchmarks.run`.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.drawn import CLUSTERS
from benchmarks.pages import into_page, markdown
from benchmarks.store import standard_error

HISTOGRAM_EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
#: Users, columns and runs, more where costs vary more or runs are short, by seeds that nothing was tuned on; and clusters: how
#: many, how far from the middle of [-1, 1]^d they are at most, and how wide.
FEW, FIRST_SEED = ((1_000, 4, 40), (1_000, 8, 20), (5_000, 16, 20), (20_000, 8, 40)), 3_000
CLUSTERED = {"near the middle": (5, 0.3, 0.1), "tight": (5, 0.2, 0.04), "one blob": (1, 0.3, 0.15), "two": (2, 0.5, 0.15)}
CLUSTERED |= {"all over": (5, 0.85, 0.1), "wide": (5, 0.6, 0.25)}


def _questions() -> dict[str, str]:
    """Return questions as the protocols ask them, the largest of each kind."""
    from spinney.local.asking import Asking
    from spinney.local.cells import CellTree, Grid
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


def _few_costs(users: int, columns: int, runs: int, clusters: int, reach: float, width: float) -> str:
    """Return the cost of five centers over that of one, its standard error, and that over the exact mean's; noise is seeded."""
    from spinney import PrivateKMeans

    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + runs):
        rng = np.random.default_rng([users, columns, seed])
        rows = rng.uniform(-reach, reach, (clusters, columns))[rng.integers(clusters, size=users)]
        rows = np.clip(rows + rng.normal(0, width, rows.shape), -1, 1)
        facts: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 1), "model": "local", "adjacency": "replace"}
        models = (PrivateKMeans(k, random_state=seed, noise_seed=seed, **facts) for k in (5, 1))
        found.append([*(-model.fit(rows).score(rows) for model in models), ((rows - rows.mean(axis=0)) ** 2).sum()])
    costs = np.array(found)
    five, one, mean = costs.mean(axis=0)
    error = standard_error((costs[:, 0] - five / one * costs[:, 1]).tolist()) / one
    return f"{five / one:.2f} ± {error:.2f} ({five / mean:.2f})"


def few_table() -> str:
    """Return what few users pay."""
    lines = [
        [f"{users:,} x {d}", str(runs), *(_few_costs(users, d, runs, *kind) for kind in CLUSTERED.values())]
        for users, d, runs in FEW
    ]
    return markdown(["users x columns", "runs", *CLUSTERED], lines)


def main() -> None:
    """Measure, print and write the tables that are named, or all."""
    makers = {
        "responses": lambda: markdown(["question", "characters", "characters of a report", "milliseconds"], respond_times()),
        "histograms": histogram_table,
        "few": few_table,
    }
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or makers:
        table = makers[name]()
        print(table)
        into_page(name, table)


if __name__ == "__main__":
    main()
