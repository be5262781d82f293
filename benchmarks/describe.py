"""Are the columns named that distinguish clusters most? On adult, at epsilon 0.5, five columns, three of them named.

``SPINNEY_DATA=folder python -m benchmarks.describe`` clusters two columns of adult privately and describes the clusters by the
others and by the income class. The score of a column in a cluster is the total variation distance between its histogram in the
cluster and in all rows, as DPClustX (Gilad et al. 2025) scores how interesting a column is; here it is exact, over the released
bins. Told for each line: the sum of the exact scores of the three columns named over that of the best three, in clusters of at
least 2,000 rows: its mean over clusters and runs, that of the worst run, the least of all, and how many reach 95%.
The bar is 95% in each of these clusters.
"""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.tables import into_page, markdown, save
from spinney import PrivateKMeans, describe
from spinney.releases.description import NAMED, DescriptionRelease

BOUNDS = {
    "age": (0, 110),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 17),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (0, 100),
    "income": bool,
}
CLUSTERED = (("age", "hours-per-week"), ("education-num", "hours-per-week"), ("age", "education-num"))
RUNS, K, LARGE, EPSILON = 20, 10, 2_000, 0.5


def adult() -> pl.DataFrame:
    """Return the numeric columns of adult and the income class."""
    found = np.load(Path(os.environ["SPINNEY_DATA"]) / "adult.npz")
    columns = dict(zip(found["columns"].tolist(), found["X"].astype(np.float64).T, strict=True))
    return pl.DataFrame(columns).with_columns(pl.Series("income", found["y"] == 1))


def ratios(found: DescriptionRelease, exact: DescriptionRelease) -> np.ndarray:
    """Return, for each large cluster, the exact scores of the columns named over those of the best ones."""
    told = []
    for j in np.flatnonzero(exact.rows >= LARGE):
        order = np.argsort(-np.nan_to_num(found.scores[j]), kind="stable")[:NAMED]
        told.append(exact.scores[j, order].sum() / np.sort(exact.scores[j])[-NAMED:].sum())
    return np.array(told)


def line(table: pl.DataFrame, clustered: tuple[str, ...], delta: float, runs: int) -> list[str]:
    """Return a line of the table."""
    own = {name: BOUNDS[name] for name in clustered}
    each = []
    for seed in range(runs):
        release = PrivateKMeans(K, epsilon=1.0, bounds=own, scale="bounds", random_state=seed).fit(table).release_
        exact = describe(release, table, bounds=BOUNDS, epsilon=math.inf)
        each.append(ratios(describe(release, table, bounds=BOUNDS, epsilon=EPSILON, delta=delta), exact))
    all_cases = np.concatenate(each)
    means = [one.mean() for one in each]
    shares = [f"{100 * value:.1f}%" for value in (all_cases.mean(), min(means), all_cases.min(), (all_cases >= 0.95).mean())]
    return [" and ".join(clustered), f"{delta:g}", str(len(all_cases)), *shares]


def main() -> None:
    """Print the table, and put it into docs/describe.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    arguments = parser.parse_args()
    table, rows = adult(), []
    for clustered in CLUSTERED:
        for delta in (0.0, 1e-6):
            rows.append(line(table, clustered, delta, arguments.runs))
            print(*rows[-1], sep=" | ", flush=True)
    head = ["clustered", "delta", "clusters", "mean", "worst run", "least", "reach 95%"]
    if arguments.runs == RUNS:
        save("describe", [dict(zip(head, row, strict=True)) for row in rows])
        into_page("named", markdown(head, rows), "docs/describe.md")


if __name__ == "__main__":
    main()
