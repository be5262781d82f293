"""The private 1-cluster search beside a plain one: ``python -m benchmarks.one_cluster``; writes a table into docs/one-cluster.md.

Ten Gaussian clusters of 100,000 rows; the ball is to hold 8,000 rows, less than one cluster has, or 25,000, which no two clusters
have. The radius is compared with the smallest ball with so many rows that a plain search finds, and the rows in the ball are
counted.
"""

from __future__ import annotations

import itertools

import numpy as np

from benchmarks.data import blobs
from benchmarks.tables import into_page, markdown, save
from spinney import one_cluster
from spinney.solvers.balls import smallest_ball

COLUMNS, ROWS, CLUSTERS = (2, 8, 16), 100_000, 10
WANTED, EPSILONS, RUNS = (8_000, 25_000), (1.0, 0.25), 10
#: Rows that the plain search starts from, beside the true centers and the means of two and three of them.
STARTS = 40


def main() -> None:
    """Measure, print the table, write it into the page."""
    lines, results = [], []
    for d, wanted in itertools.product(COLUMNS, WANTED):
        rows = np.clip(blobs(ROWS, d, CLUSTERS, seed=d, std=0.03), -1, 1)
        middles = [rows[i::CLUSTERS].mean(axis=0) for i in range(CLUSTERS)]
        means = [np.mean(few, axis=0) for size in (1, 2, 3) for few in itertools.combinations(middles, size)]
        starts = np.concatenate([rows[np.random.default_rng(0).integers(0, ROWS, STARTS)], means])
        plain = smallest_ball(rows, np.ones(ROWS), wanted, starts)
        for epsilon in EPSILONS:
            found = []
            for run in range(RUNS):
                ball = one_cluster(rows, wanted, epsilon=epsilon, bounds=(-1, 1), random_state=run)
                inside = np.count_nonzero(((rows - ball.center) ** 2).sum(axis=1) <= ball.radius**2)
                found.append((ball.radius / plain.radius, inside / wanted, ball.count / wanted))
            radius, held, told = np.array(found).T
            record = {"columns": d, "wanted": wanted, "epsilon": epsilon, "plain radius": plain.radius}
            results.append(record | {"radius": radius.tolist(), "rows": held.tolist(), "noisy count": told.tolist()})
            spans = [f"{one.mean():.2f} ({one.min():.2f} to {one.max():.2f})" for one in (radius, held)]
            lines.append([str(d), f"{wanted:,}", f"{epsilon:g}", f"{plain.radius:.3f}", *spans])
            print(*lines[-1], flush=True)
    head = ["columns", "t", "epsilon", "plain radius", "radius over plain", "rows inside over t"]
    save("one_cluster", results)
    into_page("one cluster", markdown(head, lines), "docs/one-cluster.md")


if __name__ == "__main__":
    main()
