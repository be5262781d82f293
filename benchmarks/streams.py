"""Rows of a DuckDB file, read once for each fit, beside the same rows in Parquet: ``python -m benchmarks streams``.

Every figure comes from a process of its own, as those of ``python -m benchmarks scale`` do; writes a table of ``docs``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.pages import into_page, markdown, save
from benchmarks.scale import CLUSTERS, COLUMNS, cpu_seconds, open_scan, peak_mib, private, write_rows

#: Rows that are streamed, the memory of DuckDB, and what must hold: CPU over that of Parquet, and MiB.
ROWS, POOL, MOST_RATIO, MOST_MIB = 12_000_000, "128MB", 1.3, 1024


def write_duckdb(path: Path) -> None:
    """Copy a Parquet file into a file of DuckDB beside it."""
    import duckdb

    with duckdb.connect(str(path.with_suffix(".duckdb")), config={"memory_limit": POOL}) as connection:
        connection.execute("create table rows as select * from read_parquet(?)", [str(path)])


def open_duckdb(path: Path, spool: Path | None) -> Any:
    """Ask DuckDB for the rows of a file that `write_duckdb` made."""
    import duckdb

    from spinney import stream

    connection = duckdb.connect(str(path.with_suffix(".duckdb")), read_only=True, config={"memory_limit": POOL})
    return stream(connection, "select * from rows", spool=spool)


#: How rows are opened.
WAYS: dict[str, Callable[[Path], Any]] = {
    "Parquet": lambda path: open_scan(path, ROWS),
    "DuckDB, spooled": lambda path: open_duckdb(path, path.parent),
    "DuckDB, in memory": lambda path: open_duckdb(path, None),
}


def fit(way: str, folder: Path) -> dict[str, float]:
    """Fit in this process: a small table first, so that kernels are compiled."""
    private(WAYS[way](folder / "small.parquet"))
    begun = cpu_seconds()
    private(WAYS[way](folder / "rows.parquet"))
    return {"cpu": cpu_seconds() - begun, "mib": peak_mib()}


def measure() -> dict[str, dict[str, float]]:
    """Fit in all ways, each in a process of its own."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, n in (("small", 2000), ("rows", ROWS)):
            write_rows(Path(folder) / f"{name}.parquet", n)
            write_duckdb(Path(folder) / f"{name}.parquet")
        for way in WAYS:
            command = [sys.executable, "-m", "benchmarks.streams", way, folder]
            run = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
            results[way] = json.loads(run.stdout.splitlines()[-1])
            print(way, results[way], flush=True)
    return results


def table(results: dict[str, dict[str, float]]) -> str:
    """Return the table of the page; what is held in memory has no bound, and need not keep below one."""
    lines = []
    for way, found in results.items():
        ratio = found["cpu"] / results["Parquet"]["cpu"]
        holds = "yes" if ratio <= MOST_RATIO and (found["mib"] < MOST_MIB or "memory" in way) else "**no**"
        lines.append([way, f"{found['cpu']:.1f} s", f"{ratio:.2f}", f"{found['mib']:,.0f} MiB", holds])
    head = [f"{ROWS:,} x {COLUMNS}, k = {CLUSTERS}", "CPU", f"over Parquet (at most {MOST_RATIO})"]
    return markdown([*head, f"peak memory (spooled: below {MOST_MIB:,} MiB)", "holds"], lines)


def main() -> None:
    """Measure all ways, or one in this process."""
    if len(sys.argv) > 1:
        print(json.dumps(fit(sys.argv[1], Path(sys.argv[2]))))
        return
    results = measure()
    print(table(results))
    save("streams", results)
    into_page("streams", table(results))


if __name__ == "__main__":
    main()
