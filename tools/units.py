"""Units of columns on a real table: `scale="bounds"` against the same rows scaled by hand, and against columns as they are.

``SPINNEY_DATA=folder python -m tools.units`` fits the six numeric columns of ``adult`` in raw units, public bounds, k = 10.
Costs are in scaled units, over those of ten centers without noise on the scaled rows. The bar: within 1% of the rows scaled by
hand; with one seed both are the same release, bit for bit, which is told too.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from spinney import PrivateKMeans
from spinney.solvers.weighted import total_cost

K, SEEDS = 10, range(5)
#: From the code book of the census: age, weight of the sample, years of education, gains, losses, hours a week.
BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (10_000, 1_500_000),
    "education": (1, 16),
    "gain": (0, 100_000),
    "loss": (0, 5_000),
    "hours": (1, 99),
}


def main() -> None:
    """Print a line for each epsilon."""
    import pandas as pd
    from sklearn.cluster import KMeans

    rows = np.load(Path(os.environ["SPINNEY_DATA"]) / "adult.npz")["X"].astype(np.float64)
    lower, upper = (np.array(ends, dtype=float) for ends in zip(*BOUNDS.values(), strict=True))
    widths = upper - lower
    clipped = np.clip(rows, lower, upper) / widths
    best = total_cost(clipped, KMeans(K, n_init=4, random_state=0).fit(clipped).cluster_centers_, 2)
    table = pd.DataFrame(rows, columns=list(BOUNDS))
    for epsilon in (1.0, 0.25):
        ratios: dict[str, list[float]] = {"scale": [], "by hand": [], "as they are": []}
        same = True
        for seed in SEEDS:
            asked = {"n_clusters": K, "epsilon": epsilon, "delta": 1e-6, "noise_seed": seed}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scaled = PrivateKMeans(**asked, bounds=BOUNDS, scale="bounds").fit(table).cluster_centers_
                hand = PrivateKMeans(**asked, bounds=(lower / widths, upper / widths)).fit(rows / widths).cluster_centers_
                raw = PrivateKMeans(**asked, bounds=BOUNDS, scale=1).fit(table).cluster_centers_
            same &= np.array_equal(scaled, hand * widths)
            for name, centers in (("scale", scaled / widths), ("by hand", hand), ("as they are", raw / widths)):
                ratios[name].append(total_cost(clipped, centers, 2) / best)
        told = ", ".join(f"{name} {np.mean(values):.4f}" for name, values in ratios.items())
        print(f"epsilon {epsilon:g}: {told}; the same release bit for bit: {same}", flush=True)


if __name__ == "__main__":
    main()
