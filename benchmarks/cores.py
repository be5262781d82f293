"""A fit on more and more cores: ``python -m benchmarks.cores``. Seconds on the clock and of all cores, and that bits agree."""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from benchmarks.pages import markdown
from spinney import PrivateKMeans
from spinney.threads import n_threads

SHAPES = ((5_000_000, 10), (3_000_000, 28))
CLUSTERS, RUNS, PART = 20, 3, 100_000


def rows(n: int, d: int) -> np.ndarray:
    """Draw clusters of rows in [-1, 1]^d."""
    rng = np.random.default_rng(0)
    centers, found = rng.uniform(-0.8, 0.8, (CLUSTERS, d)), np.empty((n, d))
    for start in range(0, n, PART):
        part = found[start : start + PART]
        part[:] = np.clip(centers[rng.integers(CLUSTERS, size=len(part))] + rng.normal(0, 0.1, part.shape), -1, 1)
    return found


def measured(table: np.ndarray, threads: int) -> tuple[float, float, bytes]:
    """Return the least seconds on the clock, the least of all cores, and the centers."""
    clock, cores = [], []
    budget = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1), "noise_seed": 1, "random_state": 2}
    for _ in range(RUNS + 1):  # the first compiles
        begun = time.perf_counter(), time.process_time()
        model = PrivateKMeans(CLUSTERS, n_jobs=threads, **budget).fit(table)
        clock.append(time.perf_counter() - begun[0])
        cores.append(time.process_time() - begun[1])
    return min(clock), min(cores), model.cluster_centers_.tobytes()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, n_threads()])
    parser.add_argument("--part", type=float, default=1.0, help="of the rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for n, d in SHAPES:
        table = rows(int(n * options.part), d)
        found = {threads: measured(table, threads) for threads in dict.fromkeys(options.threads)}
        assert len({centers for *_, centers in found.values()}) == 1, "the number of threads changes a release"
        first = next(iter(found.values()))[0]
        for threads, (clock, cores, _) in found.items():
            lines.append([f"{len(table)} x {d}", str(threads), f"{clock:.2f}", f"{cores:.2f}", f"{first / clock:.1f}"])
    print(markdown(["rows", "threads", "seconds", "seconds of all cores", "times faster"], lines))


if __name__ == "__main__":
    main()
