"""Sample and aggregate beside the tree: ``python -m benchmarks.sample_aggregate``; writes a table into docs/algorithms.md.

Ten Gaussian clusters that are apart, in 2 and 4 columns: centers evenly drawn in [-0.9, 0.9]^d, at least 0.3 (0.5) apart, with a
standard deviation of 0.03. Cost over that of the true centers, geometric mean over runs, each with clusters of its own.
"""

from __future__ import annotations

import itertools

import numpy as np

from benchmarks.tables import into_page, markdown, save
from spinney import PrivateKMeans
from spinney.baselines import SampleAggregate
from spinney.solvers.weighted import total_cost

APART, STD, CLUSTERS = {2: 0.3, 4: 0.5}, 0.03, 10
ROWS, EPSILONS, RUNS = (5_000, 20_000, 100_000), (1.0, 0.25), 10
MODELS = {
    "tree": {"algorithm": "tree"},
    "sample-aggregate": {"algorithm": "sample-aggregate"},
    "tree, replace": {"algorithm": "tree", "adjacency": "replace"},
    "sample-aggregate, replace": {"algorithm": "sample-aggregate", "adjacency": "replace"},
    "with replacement": {"algorithm": SampleAggregate(sampling="replacement"), "adjacency": "replace"},
}


def separated(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in clusters that are apart, and the centers."""
    rng = np.random.default_rng(seed)
    while True:
        centers = rng.uniform(-0.9, 0.9, (CLUSTERS, d))
        gaps = ((centers[:, None] - centers[None]) ** 2).sum(axis=2) + 99 * np.eye(CLUSTERS)
        if gaps.min() > APART[d] ** 2:
            return np.clip(centers[rng.integers(0, CLUSTERS, n)] + rng.normal(0, STD, (n, d)), -1, 1), centers


def main() -> None:
    """Measure, print the table, write it into the page."""
    lines, results = [], []
    for d, n, epsilon in itertools.product(APART, ROWS, EPSILONS):
        ratios: dict[str, list[float]] = {name: [] for name in MODELS}
        for run in range(RUNS):
            rows, centers = separated(n, d, run)
            for name, asked in MODELS.items():
                model = PrivateKMeans(CLUSTERS, epsilon=epsilon, bounds=(-1, 1), random_state=run, **asked).fit(rows)
                ratios[name].append(total_cost(rows, model.cluster_centers_, 2) / total_cost(rows, centers, 2))
        results.append({"columns": d, "rows": n, "epsilon": epsilon, **ratios})
        cells = [f"{np.exp(np.mean(np.log(found))):.3f}" for found in ratios.values()]
        lines.append([str(d), f"{n:,}", f"{epsilon:g}", *cells])
        print(*lines[-1], flush=True)
    save("sample_aggregate", results)
    head = ["columns", "rows", "epsilon", *(f"`{name}`" if " " not in name else name for name in MODELS)]
    into_page("sample-aggregate", markdown(head, lines), "docs/algorithms.md")


if __name__ == "__main__":
    main()
