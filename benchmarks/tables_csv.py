"""CPU seconds of ``spinney fit`` on a CSV file: ``python -m benchmarks.tables_csv``; writes the README's table.

Whole processes, user and system time of all threads, the least of several runs, against reading the same file with polars and,
if it is installed, with pyarrow.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.data import blobs, unit_box
from benchmarks.tables import into_page, markdown, save

ROWS = 1_000_000
PEOPLE = 300_000
RUNS = 7
#: How many times the CPU seconds of reading with polars, which Spinney reads with, a fit may take.
BAR = 3.0
READERS = {
    "polars": "import sys, polars; polars.read_csv(sys.argv[1])",
    "pyarrow": "import sys, pyarrow.csv; pyarrow.csv.read_csv(sys.argv[1])",
}


def command_cpu(*command: str) -> float:
    """Return the least CPU seconds of several runs of a command, byte code and compiled kernels present."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    costs = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)


def fit_cpu(table: Path, *options: str) -> float:
    """Return the CPU seconds of a fit of all columns."""
    out = str(table.with_suffix(".json"))
    return command_cpu(
        "-m", "spinney", "fit", str(table), "--k", "10", "--epsilon", "1", "--bounds", "-1", "1", "--out", out, *options
    )  # fmt: skip


def main() -> None:
    """Measure, print the table, write it into the README."""
    readers = {name: code for name, code in READERS.items() if importlib.util.find_spec(name)}
    lines, record = [], []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        for d in (5, 10):
            rows = unit_box(blobs(ROWS, d))
            frame = pl.DataFrame({f"column{i}": rows[:, i] for i in range(d)})
            for digits in (None, 6):
                frame.write_csv(table, float_precision=digits)
                read = {name: command_cpu("-c", code, str(table)) for name, code in readers.items()}
                fit = fit_cpu(table)
                ratios = {name: fit / cost for name, cost in read.items()}
                title = f"{ROWS:,} x {d}, {'all' if digits is None else digits} digits"
                record.append({"table": title, "read": read, "fit": fit, "ratios": ratios})
                times = [f"{read[name]:.2f}" if name in read else "" for name in READERS]
                shown = [f"**{ratios[name]:.2f}**" if name in read else "" for name in READERS]
                lines.append([title, *times, f"{fit:.2f}", *shown, f"{BAR:g}"])
        people = np.random.default_rng(0).integers(0, PEOPLE, ROWS)
        frame = frame.select(frame.columns[:5]).with_columns(person=pl.format("person-{}", pl.Series(people)))
        frame.write_csv(table)
        without = fit_cpu(table, "--columns", ",".join(frame.columns[:5]))
        grouped = fit_cpu(table, "--groups", "person", "--max-rows-per-group", "5")
        record.append({"table": "groups", "without": without, "with": grouped})
    head = ["table", *(f"reading with {name}" for name in READERS), "`spinney fit`", *(f"over {name}" for name in READERS)]
    text = markdown([*head, "at most"], lines)
    text += (
        f"\n\nWith `--groups` and {PEOPLE:,} names among {ROWS:,} rows of 5 columns: {grouped - without:.2f} CPU seconds more."
    )
    print(text)
    save("csv", record)
    into_page("csv", text)


if __name__ == "__main__":
    main()
