"""CPU seconds and memory against rows: ``python -m benchmarks.scale``; writes the table of ``docs/scale.md``.

Every figure comes from a process of its own, which fits a small table first so that kernels are compiled. CPU seconds are those
of ``fit`` alone, of all threads together; for rows on disk this includes reading and decoding them in every pass, for rows in
memory it does not include loading them. scikit-learn gets one OpenMP thread: its threads burn CPU while they wait for each other.
Peak memory is that of the whole process, rows and libraries included.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import into_page, markdown, save

COLUMNS, CLUSTERS = 10, 20
SIZES = (100_000, 1_000_000, 10_000_000, 30_000_000)
#: Rows that are made and written at a time.
PART = 2**19
MIB = 2**20
#: Seconds after which a fit is given up. `MiniBatchKMeans` stops early on small tables and hardly ever on large ones.
LIMIT = 100


def write_rows(path: Path, n: int) -> None:
    """Write blobs as a Parquet file of 32-bit floats, as pyarrow writes it by default."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.8, 0.8, (CLUSTERS, COLUMNS)).astype(np.float32)
    schema = pa.schema([(f"c{t}", pa.float32()) for t in range(COLUMNS)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, PART):
            size = min(PART, n - start)
            rows = centers[rng.integers(0, CLUSTERS, size)] + np.float32(0.08) * rng.standard_normal((size, COLUMNS), np.float32)
            writer.write_table(pa.table([np.ascontiguousarray(column) for column in rows.T], schema=schema))


def load_rows(path: Path, n: int) -> np.ndarray:
    """Read a Parquet file into one array."""
    from spinney.tables.files import scan

    rows, start = np.empty((n, COLUMNS), dtype=np.float32), 0
    for batch in scan(path).read():
        rows[start : start + len(batch)] = batch
        start += len(batch)
    return rows


def private(rows: Any) -> None:
    """Fit with privacy."""
    from spinney import PrivateKMeans

    PrivateKMeans(CLUSTERS, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(rows)


def lloyd(rows: np.ndarray) -> None:
    """Fit scikit-learn's k-means."""
    from sklearn.cluster import KMeans

    KMeans(CLUSTERS, n_init=1, random_state=0).fit(rows)


def mini_batches(rows: np.ndarray) -> None:
    """Fit scikit-learn's k-means of small batches."""
    from sklearn.cluster import MiniBatchKMeans

    MiniBatchKMeans(CLUSTERS, n_init=1, random_state=0).fit(rows)


def open_scan(path: Path, n: int) -> Any:
    """Leave a Parquet file on disk."""
    from spinney.tables.files import scan

    return scan(path)


#: How the rows are opened and what fits them; opening is not measured.
WAYS: dict[str, tuple[Callable[[Path, int], Any], Callable[[Any], None]]] = {
    "`PrivateKMeans`, Parquet": (open_scan, private),
    "`PrivateKMeans`, memory": (load_rows, private),
    "`MiniBatchKMeans`": (load_rows, mini_batches),
    "`KMeans`": (load_rows, lloyd),
}


#: By the number of rows and the way: CPU seconds and MiB.
Results = dict[str, dict[str, dict[str, float]]]


def cpu_seconds() -> float:
    """Return the CPU seconds of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure_here(way: str, path: Path, n: int, small: Path) -> dict[str, float]:
    """Fit in this process and return CPU seconds and peak memory in MiB."""
    opened, fit = WAYS[way]
    fit(opened(small, 2000))
    rows = opened(path, n)
    begun = cpu_seconds()
    fit(rows)
    return {"cpu": cpu_seconds() - begun, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB}


def measure(way: str, path: Path, n: int, small: Path) -> dict[str, float]:
    """Fit in a process of its own; nothing if it takes too long."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["OMP_NUM_THREADS"] = "1"
    command = [sys.executable, "-m", "benchmarks.scale", way, str(path), str(n), str(small)]
    try:
        run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {}
    record: dict[str, float] = json.loads(run.stdout)
    return record


def one_machine() -> None:
    """Measure rows in memory and on disk beside scikit-learn."""
    results: Results = {}
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.parquet"
        write_rows(small, 2000)
        for n in SIZES:
            path = Path(folder) / "rows.parquet"
            write_rows(path, n)
            results[str(n)] = {}
            for way in WAYS:
                results[str(n)][way] = measure(way, path, n, small)
                print(f"{n:,}", way, results[str(n)][way], flush=True)
    write_tables(results)


def write_tables(results: Results) -> None:
    """Print the tables of one machine and write them into the page."""
    last = results[str(SIZES[-1])]
    ratio = last["`PrivateKMeans`, Parquet"]["cpu"] / last["`PrivateKMeans`, memory"]["cpu"]
    given_up = f"over {LIMIT} s"
    rows = [
        [f"{int(n):,}", *(f"{found[way]['cpu']:.1f} s, {found[way]['mib']:,.0f} MiB" if found[way] else given_up for way in WAYS)]
        for n, found in results.items()
    ]
    bars = [
        [f"CPU of Parquet over CPU of memory, {SIZES[-1]:,} rows", f"**{ratio:.2f}**", "2.5"],
        [f"peak memory of Parquet, {SIZES[-1]:,} rows", f"**{last['`PrivateKMeans`, Parquet']['mib']:,.0f} MiB**", "1,024 MiB"],
    ]
    text = markdown(["rows", *WAYS], rows) + "\n\n" + markdown(["what", "measured", "at most"], bars)
    print(text)
    save("scale", {"one machine": results, "ratio": ratio})
    into_page("scale", text, "docs/scale.md")


def main() -> None:
    """Measure one way in this process if it is named, all of them otherwise."""
    if len(sys.argv) > 1:
        way, path, n, small = sys.argv[1:]
        print(json.dumps(measure_here(way, Path(path), int(n), Path(small))))
        return
    one_machine()


if __name__ == "__main__":
    main()
