"""Public sets in [-1, 1], by each column's minimum and maximum, which are treated as public; pixels by their range."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks.drawn import tight_clusters, unit_box

__all__ = ["blobs", "folder", "higgs_part", "load", "unit_box"]

#: Sets of the file sipu_basic.npz.
SIPU = ("s1", "s2", "s3", "s4", "a1", "a2", "a3", "birch1", "unbalance", "dim032", "dim064")


def folder() -> Path:
    """Return the folder of the data."""
    if "SPINNEY_DATA" not in os.environ:
        raise SystemExit("Set SPINNEY_DATA to the folder that holds the .npz files.")
    return Path(os.environ["SPINNEY_DATA"])


def blobs(
    n: int, d: int, k: int = 20, seed: int = 0, dtype: type = np.float64, reach: float = 0.8, std: float = 0.08
) -> np.ndarray:
    """Return k equal Gaussian clusters with centers uniform in [-reach, reach]^d."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-reach, reach, (k, d))
    rows = np.empty((n, d), dtype=dtype)
    for start in range(0, n, 1_000_000):
        labels = np.arange(start, min(start + 1_000_000, n)) % k
        rows[start : start + labels.size] = centers[labels] + rng.normal(0, std, (labels.size, d))
    return rows


#: Made-up sets.
MADE = {
    "blobs 100k x 8": lambda: unit_box(blobs(100_000, 8)),
    "blobs 1M x 10": lambda: unit_box(blobs(1_000_000, 10)),
    "overlapping blobs 100k x 16": lambda: unit_box(blobs(100_000, 16, reach=0.5, std=0.25)),
    "64 tight clusters 100k x 10": tight_clusters,
}


@lru_cache(maxsize=1)
def _higgs() -> np.ndarray:
    return load("higgs_11k").astype(np.float32)


def higgs_part(start: int, size: int) -> np.ndarray:
    """Return rows of a table of the size of HIGGS, from `start` on: the shared part over and over, every copy jittered."""
    rows = _higgs()[np.arange(start, start + size) % len(_higgs())]
    rows += np.float32(0.02) * np.random.default_rng(start).standard_normal(rows.shape, np.float32)
    return np.clip(rows, -1, 1, out=rows)


def load(name: str) -> np.ndarray:
    """Return a set by its name; real ones are read from the folder in SPINNEY_DATA."""
    if name in MADE:
        return MADE[name]()
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits().data / 8 - 1
    if name == "covtype54":
        file = np.load(folder() / "covtype.npz")
        indicators = [np.eye(most, dtype=np.float64)[file[part]] * 2 - 1 for part, most in (("wilderness", 4), ("soil", 40))]
        return np.hstack([unit_box(file["X10"]), *indicators])
    file, array = ("sipu_basic", name) if name in SIPU else ("covtype", "X10") if name == "covtype" else (name, "X")
    rows = np.load(folder() / f"{file}.npz")[array]
    return rows / 127.5 - 1 if name == "mnist_test10k" else unit_box(rows)
