"""Separated blobs, which the benchmarks of stability and of the local model and the experiment share.

Ten equal Gaussian clusters of standard deviation STD in [-1, 1]^d. Their centers, drawn evenly from [-REACH, REACH]^d, are at
least APART standard deviations apart. Every seed draws its own.
"""

from __future__ import annotations

import numpy as np

STD, REACH, APART, CLUSTERS = 0.04, 0.85, 8.0, 10


def places(d: int, rng: np.random.Generator, k: int = CLUSTERS, apart: float = APART) -> np.ndarray:
    """Draw centers one by one, each far enough from those before; begin anew where no place is left."""
    while True:
        found = rng.uniform(-REACH, REACH, (1, d))
        for _ in range(1000 * k):
            one = rng.uniform(-REACH, REACH, (1, d))
            if ((found - one) ** 2).sum(axis=1).min() >= (apart * STD) ** 2:
                found = np.vstack([found, one])
            if len(found) == k:
                return found


def separated_blobs(n: int, d: int, seed: int = 0, k: int = CLUSTERS, apart: float = APART) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and the centers they were drawn around."""
    rng = np.random.default_rng(seed)
    centers = places(d, rng, k, apart)
    return np.clip(centers[np.arange(n) % k] + rng.normal(0, STD, (n, d)), -1, 1), centers
