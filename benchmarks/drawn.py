"""Tables drawn by a seed.

Kinds of tables as they come (`KINDS`, of which `drawn` takes one in turn), so that no constant can be fitted to the sets that we
have; separated blobs; and clusters of several shapes for `n_clusters="auto"`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

#: Separated blobs: ten equal Gaussian clusters of this standard deviation in [-1, 1]^d. Their centers, drawn evenly from
#: [-REACH, REACH]^d, are at least APART standard deviations apart.
STD, REACH, APART, CLUSTERS = 0.04, 0.85, 8.0, 10
#: Most numbers in a drawn table.
MOST_NUMBERS = 12_800_000
#: Shapes of clusters, and how tables name them.
SHAPES = {
    "plain": "equal round clusters",
    "sizes": "unequal sizes",
    "spreads": "unequal spreads, up to fourfold",
    "uniform": "flat cubes",
    "long": "elongated",
}
WIDE, TRUE, TALL = (1, 2, 2, 3, 4, 5, 6, 8, 12, 16), (1, 2, 3, 5, 8, 12, 18, 25, 32, 40), (5_000, 20_000, 50_000)
#: Rows of each cluster, at least, and standard deviations between centers.
LEAST_ROWS, GAPS = 400, (4.5, 6.0, 9.0)


def _labels(rng: np.random.Generator, n: int, k: int, evenness: float) -> np.ndarray:
    """Draw clusters of rows; the smaller the evenness, the more unequal."""
    shares = rng.dirichlet(np.full(k, evenness))
    return rng.choice(k, n, p=np.maximum(shares, 0.2 / k) / np.maximum(shares, 0.2 / k).sum())


def separated(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw clusters whose centers lie far apart for their width."""
    width = rng.uniform(0.1, 0.4) * k ** (-1 / min(d, 4)) / math.sqrt(d) * 1.5
    return rng.uniform(-1, 1, (k, d))[_labels(rng, n, k, 5.0)] + rng.normal(0, width, (n, d))


def overlapping(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw clusters as wide as the distances between their centers."""
    return rng.normal(0, 1, (k, d))[_labels(rng, n, k, 5.0)] + rng.normal(0, rng.uniform(0.5, 1.2), (n, d))


def unequal(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw clusters of very different sizes and widths."""
    widths = 0.3 * k ** (-1 / min(d, 4)) * rng.lognormal(-1, 0.8, k) / math.sqrt(d)
    labels = _labels(rng, n, k, 0.5)
    return rng.uniform(-1, 1, (k, d))[labels] + rng.normal(0, 1, (n, d)) * widths[labels, None]


def heavy(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw clusters with heavy tails, which a declared range cuts at the 10,000th part of the rows."""
    rows = separated(rng, n, d, k) + 0.05 * rng.standard_t(2.0, (n, d)) * rng.uniform(0, 1, d)
    low, high = np.quantile(rows, (0.0001, 0.9999), axis=0)
    return np.clip(rows, low, high)


def low_rank(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw clusters in a few directions, with a little noise in all columns."""
    rank = int(rng.integers(1, min(d, 8) + 1))
    return separated(rng, n, rank, k) @ rng.normal(0, 1, (rank, d)) + rng.normal(0, 0.1, (n, d))


def categorical(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw columns of few values, as coded answers have."""
    levels = rng.integers(2, 8, d)
    likely = rng.integers(0, levels, (k, d))[_labels(rng, n, k, 2.0)]
    rows = np.where(rng.random((n, d)) < rng.uniform(0.6, 0.95), likely, rng.integers(0, levels, (n, d)))
    return rows + rng.uniform(-0.1, 0.1, (n, d))  # no cost of zero, which nothing can be measured against


def outlying(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw clusters, and a few rows anywhere in a box several times as wide."""
    rows = separated(rng, n, d, k)
    wild = rng.random(n) < rng.choice([0.001, 0.01])
    rows[wild] = rng.uniform(-4, 4, (int(wild.sum()), d))
    return rows


def skewed(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw columns such as amounts and counts: most rows near one end."""
    return np.exp(rng.uniform(0.3, 1.0) * overlapping(rng, n, d, k) * rng.uniform(0.2, 1.2, d))


def one_direction(rng: np.random.Generator, n: int, d: int, k: int) -> np.ndarray:
    """Draw columns that all follow one number, each in its own way."""
    along = rng.uniform(0, 1, n)
    return along[:, None] ** rng.uniform(0.5, 3, d) + rng.normal(0, 0.02, (n, d))


def direction(seed: int) -> np.ndarray:
    """Return 50,000 rows of 32 columns along one direction."""
    return unit_box(one_direction(np.random.default_rng(seed), 50_000, 32, 1))


KINDS: dict[str, Callable[[np.random.Generator, int, int, int], np.ndarray]] = {
    function.__name__: function
    for function in (separated, overlapping, unequal, heavy, low_rank, categorical, outlying, skewed, one_direction)
}


def unit_box(rows: np.ndarray) -> np.ndarray:
    """Map each column's minimum and maximum to -1 and 1; a column of one value becomes -1."""
    rows = np.asarray(rows, dtype=np.float64)
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    return np.ascontiguousarray((rows - low) / np.where(width > 0, width, 1.0) * 2 - 1)


def drawn(seed: int, place: int) -> tuple[str, int, np.ndarray]:
    """Return a drawn table: its title, its number of clusters and its rows; kinds of tables take turns."""
    rng = np.random.default_rng([37, seed, place])
    kind = list(KINDS)[place % len(KINDS)]
    d = round(math.exp(rng.uniform(math.log(5), math.log(128))))
    k = round(math.exp(rng.uniform(math.log(3), math.log(40))))
    n = int(min(math.exp(rng.uniform(math.log(2000), math.log(400_000))), MOST_NUMBERS / d))
    return f"{kind} {n} x {d} ({seed}.{place})", k, np.clip(unit_box(KINDS[kind](rng, n, d, k)), -1, 1)


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


def far_clusters(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of ten clusters of standard deviation 0.03, 0.3 apart in two columns and 0.5 in four, and the centers."""
    rng = np.random.default_rng(seed)
    while True:
        centers = rng.uniform(-0.9, 0.9, (CLUSTERS, d))
        gaps = ((centers[:, None] - centers[None]) ** 2).sum(axis=2) + 99 * np.eye(CLUSTERS)
        if gaps.min() > {2: 0.3, 4: 0.5}[d] ** 2:
            return np.clip(centers[rng.integers(0, CLUSTERS, n)] + rng.normal(0, 0.03, (n, d)), -1, 1), centers


def tight_clusters() -> np.ndarray:
    """Return 100,000 rows of 64 clusters in ten columns."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.9, 0.9, (64, 10))
    return np.clip(centers[rng.integers(0, 64, 100_000)] + rng.normal(0, 0.01, (100_000, 10)), -1, 1)


def one_cluster(n: int, d: int, is_skewed: bool) -> np.ndarray:
    """Return one cluster with heavy tails; a third of it lies to one side if it is skewed."""
    rng = np.random.default_rng([n, d])
    rows = rng.standard_t(3, (n, d))
    rows[rng.random(n) < (1 / 3 if is_skewed else 0)] += 4 / math.sqrt(d)
    return rows.clip(-10, 10)


def centers_apart(rng: np.random.Generator, spreads: np.ndarray, d: int, apart: float) -> np.ndarray:
    """Draw centers, each at least `apart` times the larger spread from every other one."""
    k = len(spreads)
    reach, centers = apart * k ** (1 / d) * 0.75, np.empty((0, d))
    while len(centers) < k:
        for _ in range(50):
            one = rng.uniform(-reach, reach, d)
            far = np.sqrt(((centers - one) ** 2).sum(axis=1)) / np.maximum(spreads[: len(centers)], spreads[len(centers)])
            if far.min(initial=np.inf) >= apart:
                centers = np.vstack([centers, one])
                break
        else:
            reach *= 1.1
    return centers


def shaped(seed: int) -> tuple[str, int, float, np.ndarray]:
    """Return the shape, the true number of clusters, how far apart they are, and the rows in [-1, 1], drawn by a seed."""
    rng = np.random.default_rng([seed, 7])
    shape = list(SHAPES)[seed % len(SHAPES)]
    k, d, apart = int(rng.choice(TRUE)), int(rng.choice(WIDE)), float(rng.choice(GAPS))
    n = max(int(rng.choice(TALL)), LEAST_ROWS * k)
    spreads = np.exp(rng.uniform(-0.7, 0.7, k)) if shape == "spreads" else np.ones(k)
    centers = centers_apart(rng, spreads, d, apart)
    shares = np.maximum(rng.dirichlet(np.full(k, 2.0)), 0.3 / k) if shape == "sizes" else np.ones(k)
    labels = rng.choice(k, n, p=shares / shares.sum())
    offsets = rng.uniform(-(3**0.5), 3**0.5, (n, d)) if shape == "uniform" else rng.normal(size=(n, d))
    if shape == "long" and d > 1:
        turns = np.array([np.linalg.qr(rng.normal(size=(d, d)))[0] * np.r_[1.0, np.full(d - 1, 0.4)] for _ in range(k)])
        offsets = np.einsum("nij,nj->ni", turns[labels], offsets)
    rows = centers[labels] + offsets * spreads[labels, None]
    low, high = rows.min(axis=0), rows.max(axis=0)
    half = (high - low).max() / 2 * (1 + rng.uniform(0, 0.5))  # bounds may be wider than the rows
    return shape, k, apart, (rows - (low + high) / 2) / half
