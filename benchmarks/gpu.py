"""Fits on a GPU: ``python -m benchmarks.gpu``. Seconds on the clock, beside plain k-means and a plain copy.

Seconds on rows are those in which questions are answered, and seconds of kernels those of the device. A first fit compiles,
and is not counted. Plain k-means is 20 steps of Lloyd's algorithm, written in CuPy, in 32 bits, with matrix products: it sees the
same rows, without privacy.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.pages import markdown
from spinney import fit
from spinney.curators.gpu.backend import CudaBackend
from spinney.curators.gpu.device import Device
from spinney.releases.centers import Release

#: Rows, columns and clusters; the last is sent from host memory, as 16-bit unit vectors.
SHAPES = ((11_000_000, 28, 20), (100_000_000, 10, 20))
SENT = (10_000_000, 768, 100)
RUNS, PART, ITERATIONS = 3, 2**17, 20


def rows(cupy: Any, n: int, d: int, k: int) -> Any:
    """Draw clusters of 32-bit rows in [-1, 1]^d on the device."""
    rng = cupy.random.default_rng(0)
    centers, found = rng.uniform(-0.8, 0.8, (k, d), cupy.float32), cupy.empty((n, d), cupy.float32)
    for start in range(0, n, PART):
        part = found[start : start + PART]
        part[:] = centers[rng.integers(0, k, len(part))] + 0.1 * rng.standard_normal(part.shape, cupy.float32)
    return found


def unit_vectors(cupy: Any, n: int, d: int, k: int) -> np.ndarray:
    """Draw clusters of 16-bit unit vectors in host memory."""
    found = np.empty((n, d), np.float16)
    for start in range(0, n, PART):
        part = rows(cupy, min(PART, n - start), d, k)
        found[start : start + PART] = (part / cupy.linalg.norm(part, axis=1, keepdims=True)).astype(cupy.float16).get()
    return found


def timed(cupy: Any, work: Callable[[], Any], runs: int = RUNS) -> tuple[float, float]:
    """Return the least seconds on the clock of a few runs, and how many of them rows were worked on."""
    found, exact = [], CudaBackend.exact

    def watch(*given: Any) -> Any:
        begun = time.perf_counter()
        try:
            return exact(*given)
        finally:
            spent.append(time.perf_counter() - begun)

    CudaBackend.exact = watch  # type: ignore[method-assign]
    try:
        for _ in range(runs):
            spent: list[float] = []
            cupy.cuda.Device().synchronize()
            begun = time.perf_counter()
            work()
            cupy.cuda.Device().synchronize()
            found.append((time.perf_counter() - begun, sum(spent)))
    finally:
        CudaBackend.exact = exact  # type: ignore[method-assign]
    return min(found)


def watched(cupy: Any, work: Callable[[], Any]) -> Counter[str]:
    """Return the device seconds of each kernel while a work is done."""
    marks, launch = [], Device.launch

    def watch(self: Device, name: str, *arguments: Any, **more: Any) -> None:
        begun, ended = cupy.cuda.Event(), cupy.cuda.Event()
        begun.record()
        launch(self, name, *arguments, **more)
        ended.record()
        marks.append((name, begun, ended))

    Device.launch = watch  # type: ignore[method-assign]
    try:
        work()
    finally:
        Device.launch = launch  # type: ignore[method-assign]
    cupy.cuda.Device().synchronize()
    seconds: Counter[str] = Counter()
    for name, begun, ended in marks:
        seconds[name] += cupy.cuda.get_elapsed_time(begun, ended) / 1e3
    return seconds


def plain(cupy: Any, table: Any, k: int) -> None:
    """Take 20 steps of Lloyd's algorithm."""
    centers = table[:k].copy()
    for _ in range(ITERATIONS):
        sums, counts = cupy.zeros((k, table.shape[1]), cupy.float32), cupy.zeros(k, cupy.float32)
        for start in range(0, len(table), 2**22):
            part = table[start : start + 2**22]
            labels = ((centers**2).sum(axis=1)[:, None] / 2 - centers @ part.T).argmin(axis=0)
            own = (labels == cupy.arange(k)[:, None]).astype(cupy.float32)
            sums += own @ part
            counts += own.sum(axis=1)
        centers = sums / cupy.maximum(counts, 1)[:, None]


def fitted(table: Any, k: int, **more: Any) -> Release:
    """Fit, with a seed, so that runs take the same decisions."""
    return fit(table, k, epsilon=1.0, delta=1e-6, bounds=(-1, 1), noise_seed=1, random_state=2, **more)


def on_device(cupy: Any, n: int, d: int, k: int) -> tuple[list[str], Counter[str]]:
    """Return a line about rows on the device, and the seconds of each kernel."""
    table = rows(cupy, n, d, k)
    fitted(table, k)
    times, seconds = timed(cupy, lambda: fitted(table, k)), watched(cupy, lambda: fitted(table, k))
    plain(cupy, table[: 2**22], k)
    lloyd, _ = timed(cupy, lambda: plain(cupy, table, k))
    shown = (f"{found:.2f}" for found in (*times, seconds.total(), lloyd))
    return [f"{n:,} x {d}, k = {k}", "device", *shown, ""], seconds


def from_host(cupy: Any, n: int, d: int, k: int) -> tuple[list[str], Counter[str]]:
    """Return the same about rows that are sent, of one fit."""
    vectors = unit_vectors(cupy, n, d, k)
    copy, _ = timed(cupy, lambda: cupy.asarray(vectors))
    cupy.get_default_memory_pool().free_all_blocks()
    fitted(vectors[:1000], k, device="cuda")
    times: list[float] = []
    seconds = watched(cupy, lambda: times.extend(timed(cupy, lambda: fitted(vectors, k, device="cuda"), runs=1)))
    shown = (f"{found:.2f}" for found in (*times, seconds.total()))
    return [f"{n:,} x {d}, 16-bit, k = {k}", "host", *shown, "", f"{copy:.2f}"], seconds


def main() -> None:
    """Print a table."""
    import cupy

    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--part", type=float, default=1.0, help="of the rows")
    parser.add_argument("--shapes", type=int, nargs="+", default=[0, 1, 2], help="which of them")
    parser.add_argument("--kernels", action="store_true", help="print the seconds of each kernel")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for shape in options.shapes:
        n, d, k = (*SHAPES, SENT)[shape]
        line, seconds = (from_host if shape == len(SHAPES) else on_device)(cupy, int(n * options.part), d, k)
        cupy.get_default_memory_pool().free_all_blocks()
        lines.append(line)
        if options.kernels:
            print(line, {name: round(found, 4) for name, found in seconds.most_common()}, flush=True)
    print(markdown(["rows", "where", "seconds", "on rows", "of kernels", "plain k-means", "plain copy"], lines))


if __name__ == "__main__":
    main()
