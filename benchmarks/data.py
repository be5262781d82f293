"""The data sets of the benchmarks in [-1, 1]: by each column's minimum and maximum, treated as public; pixels by their range."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

#: name -> number of clusters
SETS = {
    "blobs 100k x 8": 20,
    "blobs 1M x 10": 20,
    "skin": 10,
    "s1": 10,
    "covtype": 10,
    "shuttle": 10,
    "overlapping blobs 100k x 16": 20,
    "higgs_11k": 10,
    "digits": 10,
    "mnist_test10k": 10,
}


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


def unit_box(rows: np.ndarray) -> np.ndarray:
    """Map each column's minimum and maximum to -1 and 1."""
    rows = np.asarray(rows, dtype=np.float64)
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.ascontiguousarray((rows - low) / (high - low) * 2 - 1)


@lru_cache(maxsize=1)
def _higgs() -> np.ndarray:
    return load("higgs_11k").astype(np.float32)


def higgs_part(start: int, size: int) -> np.ndarray:
    """Return rows of a table of the size of HIGGS, from `start` on: the shared part over and over, every copy jittered."""
    rows = _higgs()[np.arange(start, start + size) % len(_higgs())]
    rows += np.float32(0.02) * np.random.default_rng(start).standard_normal(rows.shape, np.float32)
    return np.clip(rows, -1, 1, out=rows)


def load(name: str) -> np.ndarray:
    """Return a data set by its name; real ones are read from the folder in SPINNEY_DATA."""
    if name == "blobs 100k x 8":
        return unit_box(blobs(100_000, 8))
    if name == "blobs 1M x 10":
        return unit_box(blobs(1_000_000, 10))
    if name == "overlapping blobs 100k x 16":
        return unit_box(blobs(100_000, 16, reach=0.5, std=0.25))
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits().data / 8 - 1
    folder = os.environ.get("SPINNEY_DATA")
    if folder is None:
        raise SystemExit("Set SPINNEY_DATA to the folder that holds the .npz files.")
    if name == "covtype54":
        file = np.load(Path(folder) / "covtype.npz")
        indicators = [np.eye(most, dtype=np.float64)[file[part]] * 2 - 1 for part, most in (("wilderness", 4), ("soil", 40))]
        return np.hstack([unit_box(file["X10"]), *indicators])
    file, array = {"s1": ("sipu_basic", "s1"), "covtype": ("covtype", "X10")}.get(name, (name, "X"))
    if name == "mnist_test10k":
        return np.load(Path(folder) / f"{file}.npz")[array] / 127.5 - 1
    return unit_box(np.load(Path(folder) / f"{file}.npz")[array])
