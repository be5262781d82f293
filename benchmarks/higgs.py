"""Eleven million rows of 28 columns from Parquet: ``python -m benchmarks.higgs`` (SPINNEY_DATA set); writes ``docs/scale.md``.

HIGGS has 11,000,000 rows; the shared part has 10,984, which are tiled, and every copy is jittered. The default fits them with
k = 20 from the file, in a process of its own that warmed up on a small file. Beside it scikit-learn's Lloyd iterations on the
same rows in memory, 32-bit floats: a fit of 3 iterations less one of 1, so that neither the start nor the last labels count,
over 2 and times 25.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import higgs_part
from benchmarks.scale import MIB, PART, cpu_seconds
from benchmarks.tables import into_page, markdown, save

ROWS, CLUSTERS, EPSILON = 11_000_000, 20, 1.0
#: What must hold: MiB of the process that fits, and Lloyd iterations that cost as much CPU as the fit.
MOST_MIB, MOST_ITERATIONS = 2048, 25
#: name -> delta: without one the default is moments from 25 columns on, with one and an epsilon of 1 it is tree up to 30.
DELTAS = {"delta 0": 0.0, "delta 1e-6": 1e-6}


def write_rows(path: Path, n: int) -> None:
    """Write the rows as a Parquet file of 32-bit floats, as pyarrow writes it by default."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"c{t}", pa.float32()) for t in range(28)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, PART):
            rows = higgs_part(start, min(PART, n - start))
            writer.write_table(pa.table([np.ascontiguousarray(column) for column in rows.T], schema=schema))


def fit_here(path: str, small: str, delta: float) -> dict[str, float | str]:
    """Fit in this process, and return CPU seconds and peak memory in MiB."""
    import resource

    from spinney import PrivateKMeans
    from spinney.tables.files import scan

    for each in (small, path):
        begun = cpu_seconds()
        model = PrivateKMeans(CLUSTERS, epsilon=EPSILON, delta=delta, bounds=(-1, 1), random_state=0).fit(scan(Path(each)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    return {"cpu": cpu_seconds() - begun, "mib": peak, "algorithm": model.release_.algorithm}


def iterate_here(n: int) -> dict[str, float]:
    """Time Lloyd iterations in this process, and return the CPU seconds of one."""
    import warnings

    from sklearn.cluster import KMeans

    warnings.simplefilter("ignore")
    rows, seconds = np.concatenate([higgs_part(start, min(PART, n - start)) for start in range(0, n, PART)]), []
    first = rows[np.random.default_rng(0).choice(n, CLUSTERS, replace=False)]
    for iterations in (1, 1, 3):
        begun = cpu_seconds()
        KMeans(CLUSTERS, init=first, n_init=1, max_iter=iterations, tol=0).fit(rows)
        seconds.append(cpu_seconds() - begun)
    return {"iteration": (seconds[2] - seconds[1]) / 2}


def apart(*arguments: str) -> dict[str, float]:
    """Measure in a process of its own, with one OpenMP thread: threads burn CPU while they wait."""
    command = [sys.executable, "-m", "benchmarks.higgs", *arguments]
    told = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    record: dict[str, float] = json.loads(told.stdout)
    return record


def measure(n: int) -> dict[str, dict[str, float]]:
    """Return what was measured on so many rows; the file is deleted after."""
    results = {"Lloyd": apart("lloyd", str(n))}
    print(results, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "rows.parquet", Path(folder) / "small.parquet"
        write_rows(path, n)
        write_rows(small, 20_000)
        for name, delta in DELTAS.items():
            results[name] = apart("fit", str(path), str(small), str(delta))
            print(name, results[name], flush=True)
    return results


def table(results: dict[str, dict[str, float]], n: int) -> str:
    """Return the table of the page."""
    one, lines = results["Lloyd"]["iteration"], []
    for name in DELTAS:
        cpu, mib = results[name]["cpu"], results[name]["mib"]
        holds = "yes" if cpu <= MOST_ITERATIONS * one and mib < MOST_MIB else "**no**"
        lines.append([f"`{results[name]['algorithm']}`, {name}", f"{cpu:.0f} s", f"{cpu / one:.1f}", f"{mib:,.0f} MiB", holds])
    head = [f"{n:,} x 28, k = {CLUSTERS}", "CPU", f"Lloyd iterations (at most {MOST_ITERATIONS})"]
    text = markdown([*head, f"peak memory (below {MOST_MIB:,} MiB)", "holds"], lines)
    return text + f"\n\nOne Lloyd iteration of scikit-learn on the same rows in memory took {one:.2f} CPU seconds."


def main() -> None:
    """Measure, print the table, and write it into the page; or measure one thing in this process if it is named."""
    part, *rest = sys.argv[1:] or ["all"]
    if part == "fit":
        print(json.dumps(fit_here(rest[0], rest[1], float(rest[2]))))
    elif part == "lloyd":
        print(json.dumps(iterate_here(int(rest[0]))))
    else:
        n = int(rest[0]) if rest else ROWS
        results = measure(n)
        print(table(results, n))
        if n == ROWS:
            save("higgs", results)
            into_page("higgs", table(results, n), "docs/scale.md")


if __name__ == "__main__":
    main()
