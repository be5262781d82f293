"""CPU seconds and memory: ``python -m benchmarks speed [fits] [start] [csv]``; writes tables of the documents.

- ``fits``: fits beside scikit-learn, after kernels were compiled; imports. Ratios are within one run.
- ``start``: a first process runs a copy of the package without byte code and compiled kernels, as in a new container; a second
  one finds what the first has kept.
- ``csv``: ``spinney fit`` on a CSV file, against reading the same file with polars and, if it is installed, with pyarrow.

CPU seconds of all threads together, of whole processes with their imports in the last two. ``--before COMMIT`` compares fits with
those of another commit instead, in turn, each in processes of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import blobs, unit_box
from benchmarks.pages import into_page, markdown, save


def cpu_seconds(task: Callable[..., object], *arguments: object) -> float:
    """Return the CPU seconds of one call."""
    begun = time.process_time()
    task(*arguments)
    return time.process_time() - begun


def extra_memory(task: Callable[..., object], *arguments: object) -> int:
    """Return by how many bytes the resident memory rises above its start during one call."""
    page = resource.getpagesize()
    statm = Path("/proc/self/statm")

    def resident() -> int:
        return int(statm.read_text().split()[1]) * page

    start, peak, done = resident(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], resident() - start)

    watcher = threading.Thread(target=watch)
    watcher.start()
    task(*arguments)
    done.set()
    watcher.join()
    return peak[0]


def process_cpu(code: list[str], **environment: str) -> float:
    """Return the CPU seconds of a process of its own, which may keep byte code and kernels."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "NUMBA_CACHE_DIR"}
    variables = {name: value for name, value in os.environ.items() if name not in left_out} | environment
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-W", "ignore", *code], check=True, capture_output=True, env=variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def command_cpu(*command: str, runs: int = 6) -> float:
    """Return the least CPU seconds of several runs of a command but the first, byte code and compiled kernels present."""
    return min([process_cpu(list(command)) for _ in range(runs)][1:])


#: What both commits fit: rows, columns, and how.
FITS: dict[str, tuple[int, int, str, dict[str, object]]] = {
    "k-means, 1,000,000 x 10": (1_000_000, 10, "PrivateKMeans", {}),
    "k-means, 1,000,000 x 3": (1_000_000, 3, "PrivateKMeans", {}),
    "k-median, 200,000 x 10, replace, delta 1e-6": (200_000, 10, "PrivateKMedian", {"adjacency": "replace", "delta": 1e-6}),
    "k-means, 20,000 x 5, lloyd": (20_000, 5, "PrivateKMeans", {"algorithm": "lloyd"}),
    "k-means, 50,000 x 384, unit vectors, epsilon 0.5": (50_000, 384, "PrivateKMeans", {"epsilon": 0.5, "delta": 1e-6}),
    "k-means, 50,000 x 384, unit vectors, epsilon 4": (50_000, 384, "PrivateKMeans", {"epsilon": 4.0, "delta": 1e-6}),
}


def unit_vectors(n: int, d: int, k: int = 20) -> np.ndarray:
    """Return vectors of length one in k clusters that overlap, as embeddings do."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def timed() -> dict[str, float]:
    """Return the median CPU seconds of five of each of the fits, by whatever package is found."""
    import spinney

    found = {}
    for name, (n, d, estimator, asked) in FITS.items():
        is_unit = "unit vectors" in name
        rows = unit_vectors(n, d) if is_unit else unit_box(blobs(n, d))
        known = {"epsilon": 1.0, "bounds": spinney.Ball(1.0, [0.0] * d) if is_unit else (-1, 1)} | asked
        model = getattr(spinney, estimator)(20, **known)
        model.fit(rows[:2000])
        found[name] = float(np.median([cpu_seconds(model.fit, rows) for _ in range(5)]))
    return found


def compare(commit: str, turns: int = 3) -> None:
    """Print the CPU seconds of fits before and now, and their ratios: the least medians of some turns."""
    here = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit, "src"], check=True, capture_output=True, cwd=here).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        found: dict[str, list[dict[str, float]]] = {"before": [], "now": []}
        for _ in range(turns):
            for name, source in {"before": Path(folder), "now": here}.items():
                environment = os.environ | {"PYTHONPATH": f"{source / 'src'}{os.pathsep}{here}", "PYTHONDONTWRITEBYTECODE": ""}
                command = [sys.executable, "-m", "benchmarks.speed", "--timed"]
                out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=here).stdout
                found[name].append(json.loads(out.splitlines()[-1]))
    least = {name: {fit: min(turn[fit] for turn in runs) for fit in FITS} for name, runs in found.items()}
    lines = [
        [f, f"{least['before'][f]:.3f}", f"{least['now'][f]:.3f}", f"{least['now'][f] / least['before'][f]:.2f}"] for f in FITS
    ]
    text = markdown(["CPU seconds", f"at {commit}", "now", "ratio"], lines)
    print(text)
    into_page("speed-before", text)


def fits() -> None:
    """Measure, print the table, write it into the README."""
    from sklearn.cluster import KMeans

    from spinney import PrivateKMeans

    def fit(rows: np.ndarray) -> None:
        PrivateKMeans(20, epsilon=1.0, bounds=(-1, 1)).fit(rows)

    def fit_plain(rows: np.ndarray, seed: int) -> None:
        KMeans(20, n_init=1, random_state=seed).fit(rows)

    fit(blobs(2000, 10))
    fit(blobs(2000, 10, dtype=np.float32))
    rows = unit_box(blobs(1_000_000, 10))
    ours = float(np.median([cpu_seconds(fit, rows) for _ in range(5)]))
    plain = float(np.median([cpu_seconds(fit_plain, rows, seed) for seed in range(5)]))
    rows = unit_box(blobs(10_000_000, 10))
    ten = float(np.median([cpu_seconds(fit, rows) for _ in range(3)]))
    rows = rows.astype(np.float32)
    memory = max(extra_memory(fit, rows) for _ in range(2)) / rows.nbytes
    imported = command_cpu("-c", "import spinney")
    helped = command_cpu("-m", "spinney", "--help")
    table = [
        ["1,000,000 x 10, k = 20: CPU seconds, scikit-learn `KMeans(20, n_init=1)`, median of 5 seeds", f"{plain:.2f}", ""],
        ["the same rows: CPU seconds, `PrivateKMeans(20, epsilon=1.0)`, median of 5", f"{ours:.2f}", ""],
        ["ratio", f"**{ours / plain:.2f}**", "0.5"],
        ["10,000,000 rows over 1,000,000 rows", f"**{ten / ours:.1f}**", "11"],
        ["memory beyond the input at 10,000,000 x 10 float32, over the input's size", f"**{memory:.2f}**", "0.75"],
        ["CPU seconds of `import spinney`", f"**{imported:.2f}**", "1"],
        ["CPU seconds of `python -m spinney --help`", f"**{helped:.2f}**", "1"],
    ]
    text = markdown(["what", "measured", "at most"], table)
    print(text)
    save("speed", {row[0]: row[1].strip("*") for row in table})
    into_page("speed", text)


#: Runs of each case.
STARTS = 3
#: Most CPU seconds beyond those of the second process, and most for the second one.
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


def first_and_second(code: str, *arguments: str) -> tuple[float, float]:
    """Return the CPU seconds of a first and a second process on a copy of the package."""
    import spinney

    with tempfile.TemporaryDirectory() as folder:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(spinney.__file__).parent, Path(folder) / "spinney", ignore=ignored)
        first, second = (process_cpu(["-c", code, *arguments], PYTHONPATH=folder) for _ in range(2))
    return first, second


def start() -> None:
    """Measure, print the table, write it into the README."""
    import polars as pl

    lines, record = [], {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        rows = np.random.default_rng(0).normal(0, 0.3, (1000, 3))
        pl.DataFrame({f"x{i}": rows[:, i] for i in range(3)}).write_parquet(path)
        for title, (code, most_above, most_second) in CASES.items():
            runs = np.array([first_and_second(code, str(path)) for _ in range(STARTS)])
            first, second = np.median(runs, axis=0)
            above = float(np.median(runs[:, 0] - runs[:, 1]))
            record[title] = {"first": float(first), "second": float(second), "above": above}
            bars = [f"{bar:g}" if bar else "" for bar in (most_above, most_second)]
            lines.append([title, f"{first:.2f}", f"**{above:.2f}**", bars[0], f"**{second:.2f}**", bars[1]])
    text = markdown(["fit", "first process", "above the second", "at most", "second process", "at most"], lines)
    print(text)
    save("start", record)
    into_page("start", text)


#: Rows of the CSV file, and names among them.
ROWS = 1_000_000
PEOPLE = 300_000
CSV_RUNS = 8
#: How many times the CPU seconds of reading with polars, which Spinney reads with, a fit may take.
BAR = 3.0
READERS = {
    "polars": "import sys, polars; polars.read_csv(sys.argv[1])",
    "pyarrow": "import sys, pyarrow.csv; pyarrow.csv.read_csv(sys.argv[1])",
}


def fit_cpu(table: Path, *options: str) -> float:
    """Return the CPU seconds of a fit of all columns."""
    asked = ["--k", "10", "--epsilon", "1", "--bounds", "-1", "1", "--out", str(table.with_suffix(".json"))]
    return command_cpu("-m", "spinney", "fit", str(table), *asked, *options, runs=CSV_RUNS)


def csv() -> None:
    """Measure, print the table, write it into the README."""
    import polars as pl

    readers = {name: code for name, code in READERS.items() if importlib.util.find_spec(name)}
    lines, record = [], []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        for d in (5, 10):
            rows = unit_box(blobs(ROWS, d))
            frame = pl.DataFrame({f"column{i}": rows[:, i] for i in range(d)})
            for digits in (None, 6):
                frame.write_csv(table, float_precision=digits)
                read = {name: command_cpu("-c", code, str(table), runs=CSV_RUNS) for name, code in readers.items()}
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


PARTS: dict[str, Callable[[], None]] = {"fits": fits, "start": start, "csv": csv}


def main() -> None:
    """Measure the parts that are named, or all; or compare with a commit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks speed", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--before", metavar="COMMIT")
    parser.add_argument("--timed", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.timed:
        print(json.dumps(timed()))
    elif chosen.before:
        compare(chosen.before)
    else:
        for name in chosen.part or PARTS:
            PARTS[name]()


if __name__ == "__main__":
    main()
