"""CPU seconds of a first and a second process: ``python -m benchmarks.start``; writes the README's table.

A first process runs a copy of the package without byte code and compiled kernels, as in a new container; a second one finds
what the first has kept. Whole processes with their imports, user and system time of all threads, median of several runs.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import spinney
from benchmarks.tables import into_page, markdown, save

RUNS = 3
#: At most so many CPU seconds more than the second process takes, and at most so many for the second one.
FIRST, SECOND = 8.0, 2.5
TABLE = """
import sys, numpy as np
from spinney import PrivateKMeans
rows = np.random.default_rng(0).normal(0, 0.3, ({n}, 3)).astype({dtype!r})
PrivateKMeans(5, epsilon=1.0, bounds=(-1, 1)).fit(rows)
"""
DISK = """
import sys
from spinney import PrivateKMeans, scan
PrivateKMeans(5, epsilon=1.0, bounds=(-1, 1)).fit(scan(sys.argv[1]))
"""
SITES = """
import numpy as np
from spinney import FiniteMetric, PrivateKMedoids
rng = np.random.default_rng(0)
PrivateKMedoids(5, epsilon=1.0, space=FiniteMetric.from_points(rng.random((1000, 2)))).fit(rng.integers(0, 1000, 1000))
"""
CASES = {
    "1,000 x 3": (TABLE.format(n=1000, dtype="f8"), FIRST, SECOND),
    "1,000,000 x 3": (TABLE.format(n=1_000_000, dtype="f8"), FIRST, None),
    "1,000 x 3, 32-bit": (TABLE.format(n=1000, dtype="f4"), None, None),
    "1,000 x 3, Parquet on disk": (DISK, None, None),
    "1,000 rows at 1,000 sites": (SITES, None, None),
}


def child_cpu(code: str, folder: Path, *arguments: str) -> float:
    """Return the CPU seconds of a process that runs code on the package in a folder."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "NUMBA_CACHE_DIR"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments], check=True, env={**environment, "PYTHONPATH": str(folder)}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_and_second(code: str, *arguments: str) -> tuple[float, float]:
    """Return the CPU seconds of a first and a second process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = Path(spinney.__file__).parent
        shutil.copytree(source, folder / "spinney", ignore=shutil.ignore_patterns("__pycache__"))
        return child_cpu(code, folder, *arguments), child_cpu(code, folder, *arguments)


def main() -> None:
    """Measure, print the table, write it into the README."""
    import polars as pl

    lines, record = [], {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        rows = np.random.default_rng(0).normal(0, 0.3, (1000, 3))
        pl.DataFrame({f"x{i}": rows[:, i] for i in range(3)}).write_parquet(path)
        for title, (code, most_above, most_second) in CASES.items():
            runs = np.array([first_and_second(code, str(path)) for _ in range(RUNS)])
            first, second = np.median(runs, axis=0)
            above = float(np.median(runs[:, 0] - runs[:, 1]))
            record[title] = {"first": float(first), "second": float(second), "above": above}
            bars = [f"{bar:g}" if bar else "" for bar in (most_above, most_second)]
            lines.append([title, f"{first:.2f}", f"**{above:.2f}**", bars[0], f"**{second:.2f}**", bars[1]])
    text = markdown(["fit", "first process", "above the second", "at most", "second process", "at most"], lines)
    print(text)
    save("start", record)
    into_page("start", text)


if __name__ == "__main__":
    main()
