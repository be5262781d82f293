"""CPU seconds and memory against rows: ``python -m benchmarks scale [machine] [higgs] [sites] [tree]``; writes into ``docs``.

- ``machine``: rows in memory and on disk beside scikit-learn. CPU seconds are those of ``fit`` alone, of all threads together;
  for rows on disk this includes reading and decoding them in every pass, for rows in memory it does not include loading them.
- ``higgs`` (SPINNEY_DATA set): 11,000,000 rows of 28 columns from Parquet. The shared part of HIGGS has 10,984, which are tiled,
  and every copy is jittered. Beside it scikit-learn's Lloyd iterations on the same rows in memory, 32-bit floats: a fit of 3
  iterations less one of 1, so that neither the start nor the last labels count, over 2 and times 25.
- ``sites``: `PrivateKMedoids` on a square of streets.
- ``tree``: the published tree with ten million cells.

Every figure comes from a process of its own, which fits a small table first so that kernels are compiled. scikit-learn gets one
OpenMP thread: its threads burn CPU while they wait for each other. Peak memory is that of the whole process, rows and libraries
included.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import higgs_part
from benchmarks.pages import into_page, markdown, save

COLUMNS, CLUSTERS = 10, 20
SIZES = (100_000, 1_000_000, 10_000_000, 30_000_000)
#: Rows that are made and written at a time.
PART = 2**19
MIB = 2**20
#: Seconds after which a fit is given up. `MiniBatchKMeans` stops early on small tables and hardly ever on large ones.
LIMIT = 100
#: What must hold of HIGGS: MiB of the process that fits, and Lloyd iterations that cost as much CPU as the fit.
HIGGS_ROWS, HIGGS_COLUMNS = 11_000_000, 28
MOST_MIB, MOST_ITERATIONS = 2048, 25
DELTAS = {"delta 0": 0.0, "delta 1e-6": 1e-6}
#: The large network: streets along a side of the square, and rows of demand.
SIDE, SITES, DEMAND = 340, 10, 20_000
#: The large tree: rows spread evenly, and beta, which makes cells of few rows split.
TREE_ROWS, BETA = 1_500_000, 0.01


def write_parquet(path: Path, n: int, columns: int, part: Callable[[int, int], np.ndarray]) -> None:
    """Write rows as a Parquet file of 32-bit floats, as pyarrow writes it by default, a part at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(f"c{t}", pa.float32()) for t in range(columns)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, PART):
            rows = part(start, min(PART, n - start))
            writer.write_table(pa.table([np.ascontiguousarray(column) for column in rows.T], schema=schema))


def write_rows(path: Path, n: int) -> None:
    """Write blobs."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.8, 0.8, (CLUSTERS, COLUMNS)).astype(np.float32)

    def part(start: int, size: int) -> np.ndarray:
        return centers[rng.integers(0, CLUSTERS, size)] + np.float32(0.08) * rng.standard_normal((size, COLUMNS), np.float32)

    write_parquet(path, n, COLUMNS, part)


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


def peak_mib() -> float:
    """Return the peak of memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB


def apart(task: str, *arguments: str) -> dict[str, Any]:
    """Measure a task in a process of its own, with one OpenMP thread; nothing if it takes too long."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "benchmarks.scale", "--task", task, *arguments]
    limit = LIMIT if task == "way" else None
    try:
        run = subprocess.run(
            command, check=True, capture_output=True, text=True, env=environment | {"OMP_NUM_THREADS": "1"}, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {}
    record: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return record


def way(name: str, path: str, n: str, small: str) -> dict[str, float]:
    """Fit blobs in this process."""
    opened, fit = WAYS[name]
    fit(opened(Path(small), 2000))
    rows = opened(Path(path), int(n))
    begun = cpu_seconds()
    fit(rows)
    return {"cpu": cpu_seconds() - begun, "mib": peak_mib()}


def machine() -> None:
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
                results[str(n)][way] = apart("way", way, str(path), str(n), str(small))
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
    into_page("scale", text)


def fit_higgs(path: str, small: str, delta: str) -> dict[str, float | str]:
    """Fit in this process, and return CPU seconds and peak memory in MiB."""
    from spinney import PrivateKMeans
    from spinney.tables.files import scan

    for each in (small, path):
        begun = cpu_seconds()
        model = PrivateKMeans(CLUSTERS, epsilon=1.0, delta=float(delta), bounds=(-1, 1), random_state=0).fit(scan(Path(each)))
    return {"cpu": cpu_seconds() - begun, "mib": peak_mib(), "algorithm": model.release_.algorithm}


def iterate(rows_wanted: str) -> dict[str, float]:
    """Time Lloyd iterations in this process, and return the CPU seconds of one."""
    from sklearn.cluster import KMeans

    warnings.simplefilter("ignore")
    n = int(rows_wanted)
    rows, seconds = np.concatenate([higgs_part(start, min(PART, n - start)) for start in range(0, n, PART)]), []
    first = rows[np.random.default_rng(0).choice(n, CLUSTERS, replace=False)]
    for iterations in (1, 1, 3):
        begun = cpu_seconds()
        KMeans(CLUSTERS, init=first, n_init=1, max_iter=iterations, tol=0).fit(rows)
        seconds.append(cpu_seconds() - begun)
    return {"iteration": (seconds[2] - seconds[1]) / 2}


def higgs(n: int = HIGGS_ROWS) -> None:
    """Measure a table of the size of HIGGS, print the table, and write it into the page; the file is deleted after."""
    results = {"Lloyd": apart("iterate", str(n))}
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "rows.parquet", Path(folder) / "small.parquet"
        write_parquet(path, n, HIGGS_COLUMNS, higgs_part)
        write_parquet(small, 20_000, HIGGS_COLUMNS, higgs_part)
        for name, delta in DELTAS.items():
            results[name] = apart("fit_higgs", str(path), str(small), str(delta))
            print(name, results[name], flush=True)
    text = higgs_table(results, n)
    print(text)
    save("higgs", results)
    into_page("higgs", text)


def higgs_table(results: dict[str, dict[str, float]], n: int) -> str:
    """Return the table of the page."""
    one, lines = results["Lloyd"]["iteration"], []
    for name in DELTAS:
        cpu, mib = results[name]["cpu"], results[name]["mib"]
        holds = "yes" if cpu <= MOST_ITERATIONS * one and mib < MOST_MIB else "**no**"
        lines.append([f"`{results[name]['algorithm']}`, {name}", f"{cpu:.0f} s", f"{cpu / one:.1f}", f"{mib:,.0f} MiB", holds])
    head = [f"{n:,} x 28, k = {CLUSTERS}", "CPU", f"Lloyd iterations (at most {MOST_ITERATIONS})"]
    text = markdown([*head, f"peak memory (below {MOST_MIB:,} MiB)", "holds"], lines)
    return text + f"\n\nOne Lloyd iteration of scikit-learn on the same rows in memory took {one:.2f} CPU seconds."


def large_network() -> dict[str, float]:
    """Choose sites on a square of streets, in this process."""
    from benchmarks.networks import streets
    from spinney import PrivateKMedoids

    space = streets(SIDE)
    rows = np.random.default_rng(0).choice(space.n_points // 4, DEMAND)
    begun = time.process_time()
    PrivateKMedoids(SITES, epsilon=1.0, space=space, random_state=0).fit(rows)
    return {"nodes": space.n_points, "rows": DEMAND, "cpu": time.process_time() - begun, "peak GiB": peak_mib() / 1024}


def sites() -> None:
    """Measure sites on a large network; ``python -m benchmarks report sites`` writes it into the page."""
    found = apart("large_network")
    print(found)
    save("scale_sites", found)


def large_tree() -> dict[str, float]:
    """Fit the published tree to rows on disk, in this process; nearly half of the cells without rows are split too."""
    from spinney import PrivateKMeans, scan
    from spinney.algorithms import HST, tree_program

    algorithm, visited, placed = HST(beta=BETA, rounds=0), [], tree_program.place_centers

    def counted(first_child: np.ndarray, costs: np.ndarray, k: int) -> Any:
        visited.append(first_child.size)
        return placed(first_child, costs, k)

    tree_program.place_centers = counted
    with tempfile.TemporaryDirectory() as folder:
        for n in (1_000, TREE_ROWS):
            np.save(Path(folder) / f"{n}.npy", np.random.default_rng(0).uniform(-1, 1, (n, COLUMNS)))
            begun, before = cpu_seconds(), peak_mib()
            model = PrivateKMeans(CLUSTERS, epsilon=10.0, bounds=(-1, 1), algorithm=algorithm, random_state=0, noise_seed=0)
            model.fit(scan(Path(folder) / f"{n}.npy"))
    problem = model.plan(COLUMNS).problem
    stated = tree_program.cell_bytes(problem, algorithm.depth(problem))
    return {"cells": visited[-1], "cpu": cpu_seconds() - begun, "mib": peak_mib() - before, "stated": stated}


def tree() -> None:
    """Measure the tree of many cells, and write a sentence into the page."""
    found = apart("large_tree")
    text = (
        f"A tree of {found['cells']:,} cells over {TREE_ROWS:,} rows of {COLUMNS} columns on disk, k = {CLUSTERS}: "
        f"{found['cpu']:.0f} CPU seconds, and {found['mib']:,.0f} MiB more than a small one,\nrows included; "
        f"the plan states at most {found['stated'] * found['cells'] / MIB:,.0f} MiB for as many."
    )
    print(text)
    save("scale_tree", found)
    into_page("tree", text)


PARTS: dict[str, Callable[[], None]] = {"machine": machine, "higgs": higgs, "sites": sites, "tree": tree}
TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    task.__name__: task for task in (way, fit_higgs, iterate, large_network, large_tree)
}


def main() -> None:
    """Measure the parts that are named, or all; or one thing in this process."""
    first, *rest = sys.argv[1:] or PARTS
    if first == "--task":
        print(json.dumps(TASKS[rest[0]](*rest[1:])))
        return
    if {first, *rest} - set(PARTS):
        raise SystemExit(__doc__)
    for name in (first, *rest):
        PARTS[name]()


if __name__ == "__main__":
    main()
