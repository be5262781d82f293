"""CPU seconds and memory: ``python -m benchmarks.speed``; writes the README's table.

Ratios are within one run, after the kernels were compiled. CPU seconds of all threads together. ``--before COMMIT`` compares fits
with those of another commit instead, in turn, each in processes of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import blobs, unit_box
from benchmarks.tables import into_page, markdown, save


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


def command_cpu(*command: str) -> float:
    """Return the least CPU seconds of five runs of a command, byte code present."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    costs = []
    for _ in range(6):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs[1:])


#: What both commits fit: rows, columns, and how.
FITS: dict[str, tuple[int, int, str, dict[str, object]]] = {
    "k-means, 1,000,000 x 10": (1_000_000, 10, "PrivateKMeans", {}),
    "k-means, 1,000,000 x 3": (1_000_000, 3, "PrivateKMeans", {}),
    "k-median, 200,000 x 10, replace, delta 1e-6": (200_000, 10, "PrivateKMedian", {"adjacency": "replace", "delta": 1e-6}),
    "k-means, 20,000 x 5, lloyd": (20_000, 5, "PrivateKMeans", {"algorithm": "lloyd"}),
}


def timed() -> dict[str, float]:
    """Return the median CPU seconds of five of each of the fits, by whatever package is found."""
    import spinney

    found = {}
    for name, (n, d, estimator, asked) in FITS.items():
        rows = unit_box(blobs(n, d))
        model = getattr(spinney, estimator)(20, epsilon=1.0, bounds=(-1, 1), **asked)
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
    print(markdown(["CPU seconds", f"at {commit}", "now", "ratio"], lines))


def main() -> None:
    """Measure, print the table, write it into the README; or compare with a commit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="COMMIT")
    parser.add_argument("--timed", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.timed:
        print(json.dumps(timed()))
    elif chosen.before:
        compare(chosen.before)
    else:
        measure()


def measure() -> None:
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


if __name__ == "__main__":
    main()
