"""Spark: ``python -m benchmarks spark``; writes the tables of docs/spark.md. Needs ``spinney[connect]`` and Java 17.

Everything runs in one Java machine on two local cores, with a classic session and a Spark Connect server, after both libraries
are warm. CPU seconds are those of the driver, the Java machine and the Python workers together. ``python -m benchmarks spark jobs
bytes`` makes these tables alone; ROWS=2000000 measures a smaller table beside Spark's own k-means.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import blobs, unit_box
from benchmarks.pages import RESULTS, into_page, markdown, save

ROWS, COLUMNS, CLUSTERS = int(os.environ.get("ROWS", "5000000")), 10, 20
FILES = 4
#: The cluster on paper: rows, cores, and rows a task.
PAPER_ROWS, PAPER_CORES, PAPER_TASK = 10**10, 1000, 10**7


def start() -> tuple[Any, Any]:
    """Return a classic session on two cores, and one that speaks to its Spark Connect server."""
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.session import SparkSession as Remote

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "6g")
        .config("spark.log.level", "ERROR")
        .config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
        .config("spark.connect.grpc.binding.port", str(port))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session, Remote.builder.remote(f"sc://127.0.0.1:{port}").create()


def cpu_seconds() -> dict[int, float]:
    """Return the CPU seconds of this process and of all that come from it, each alone."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended meanwhile
            continue
        pid = int(path.parent.name)
        parents[pid], used[pid] = int(fields[1]), sum(map(int, fields[11:13]))
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return {pid: used[pid] / os.sysconf("SC_CLK_TCK") for pid in family & used.keys()}


def measure(task: Callable[[], object]) -> tuple[float, float]:
    """Return wall and CPU seconds of one call."""
    before, wall = cpu_seconds(), time.perf_counter()
    task()
    wall = time.perf_counter() - wall
    return wall, sum(max(used - before.get(pid, 0.0), 0.0) for pid, used in cpu_seconds().items())  # idle workers may end


class Watch:
    """Counts the actions of a fit, and the bytes of its messages to the driver."""

    def __init__(self, *kinds: Any) -> None:
        self.actions = self.bytes = 0
        for kind in kinds:
            kind.toArrow = self._counting(kind.toArrow)

    def _counting(self, fetch: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def count(frame: Any) -> Any:
            found = fetch(frame)
            self.actions, self.bytes = self.actions + 1, self.bytes + found.nbytes
            return found

        return count

    def __call__(self, task: Callable[[], object]) -> tuple[float, float, int, int]:
        """Return wall and CPU seconds, actions and bytes of a fit."""
        self.actions = self.bytes = 0
        wall, cpu = measure(task)
        return wall, cpu, self.actions, self.bytes


def write_tables(folder: Path, n: int) -> str:
    """Write blobs as Parquet files and return their folder."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = unit_box(blobs(n, COLUMNS))
    place = folder / str(n)
    place.mkdir()
    for i, part in enumerate(np.array_split(rows, FILES)):
        table = pa.table({f"x{j}": np.ascontiguousarray(part[:, j]) for j in range(COLUMNS)})
        parquet.write_table(table, place / f"{i}.parquet", compression="none")
    return str(place)


def fit(frame: Any, algorithm: str = "auto") -> None:
    """Fit as a user would."""
    from spinney import PrivateKMeans

    PrivateKMeans(CLUSTERS, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm, random_state=0).fit(frame)


def fit_plain(frame: Any) -> None:
    """Fit Spark's own k-means to a vector column, which has to be made first."""
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler

    vectors = VectorAssembler(inputCols=frame.columns, outputCol="features").transform(frame).select("features")
    KMeans(k=CLUSTERS, maxIter=20, seed=0).fit(vectors)


def publish(name: str, text: str) -> None:
    """Print a table, keep it and write it into the page."""
    print(f"\n{name}\n{text}", flush=True)
    kept = RESULTS / "scale_spark.json"
    save("scale_spark", (json.loads(kept.read_text()) if kept.exists() else {}) | {name: text})
    into_page(f"spark {name}", text)


class Bench:
    """The sessions, and what makes tables of the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session, self.remote = start()
        self.watch = Watch(*(type(session.range(1)) for session in (self.session, self.remote)))

    def frame(self, n: int, session: Any = None) -> Any:
        """Return a table of so many rows."""
        place = self.folder / str(n)
        return (session or self.session).read.parquet(str(place) if place.exists() else write_tables(self.folder, n))

    def fit(self, frame: Any, algorithm: str = "auto") -> tuple[float, float, int, int]:
        """Return wall and CPU seconds, actions and bytes of a fit."""
        return self.watch(lambda: fit(frame, algorithm))

    def beside(self) -> None:
        """Compare with Spark's own k-means on the same rows, after both fitted smaller tables, and say what a cluster needs."""
        for n in (10_000, 200_000):
            fit_plain(self.frame(n))
            fit(self.frame(n, self.remote))
            small = self.fit(self.frame(n))
        plain = measure(lambda: fit_plain(self.frame(ROWS)))
        here, afar = self.fit(self.frame(ROWS)), self.fit(self.frame(ROWS, self.remote))
        rows = [["`KMeans`", f"{plain[0]:.1f}", f"{plain[1]:.1f}", "", ""]]
        for name, ours in (("`PrivateKMeans`", here), ("the same, over Spark Connect", afar)):
            rows.append([name, f"{ours[0]:.1f}", f"{ours[1]:.1f}", f"{ours[0] / plain[0]:.2f}", f"**{ours[1] / plain[1]:.2f}**"])
        head = [f"{ROWS:,} rows x {COLUMNS}", "wall", "CPU", "ratio of walls", "ratio of CPU (at most 0.6)"]
        publish("beside", markdown(head, rows))
        on_paper(max(here[1] - small[1], 0.0) / (ROWS - 200_000), here[2])

    def jobs(self) -> None:
        """Count the actions of algorithms, and their bytes."""
        found = {algorithm: self.fit(self.frame(200_000), algorithm) for algorithm in ("auto", "hst", "lloyd")}
        rows = [[f"`{name}`", str(one[2]), f"{one[3] / 2**20:.1f}"] for name, one in found.items()]
        publish("jobs", markdown(["algorithm", "actions", "MiB to the driver"], rows))

    def bytes(self) -> None:
        """Count the bytes of few and of many rows."""
        found = [(n, self.fit(self.frame(n).coalesce(1))) for n in (10_000, 1_000_000)]
        rows = [[f"{n:,}", str(one[2]), f"{one[3] / 2**20:.1f}", f"{one[3] / one[2] / 2**20:.1f}"] for n, one in found]
        publish("bytes", markdown(["rows", "actions", "MiB to the driver", "of these an action"], rows))

    def partitions(self) -> None:
        """Measure few and many partitions."""
        rows = []
        fit(self.frame(200_000))
        for partitions in (1, 2, 7, 64):
            frame = self.frame(200_000).repartition(partitions).cache()
            frame.count()
            wall, cpu, count, size = self.fit(frame)
            rows.append([str(partitions), f"{wall:.1f}", f"{cpu:.1f}", str(count), f"{size / 2**20:.1f}"])
            frame.unpersist()
        publish("partitions", markdown(["partitions", "wall seconds", "CPU seconds", "actions", "MiB to the driver"], rows))


def on_paper(slope: float, actions: int) -> None:
    """Say what a large cluster needs, from CPU seconds a row and the actions of a fit."""
    tasks = PAPER_ROWS // PAPER_TASK
    paper = [
        ["CPU of all executors, hours", f"{slope * PAPER_ROWS / 3600:.0f}"],
        [f"wall on {PAPER_CORES:,} cores, minutes", f"{slope * PAPER_ROWS / PAPER_CORES / 60:.0f}"],
        ["actions", f"{actions}"],
        ["tasks of an action", f"{tasks:,}"],
        ["the executors' copy of the rows, GB", f"{8 * COLUMNS * PAPER_ROWS / 1e9:.0f}"],
        ["MiB to the driver in all, at most", f"{actions * 32}"],
        ["GB between executors in a look-ahead, at most", f"{tasks * 2**25 / 1e9:.0f}"],
    ]
    text = markdown([f"{PAPER_ROWS:.0e} rows x {COLUMNS}, k = {CLUSTERS}", "on paper"], paper)
    publish("paper", f"{text}\n\nFrom {1e6 * slope:.2f} CPU seconds a million rows, measured between 200,000 and {ROWS:,} rows.")


def main(folder: Path) -> None:
    """Make the tables that are named, or all of them."""
    bench = Bench(folder)
    for name in sys.argv[1:] or ("beside", "jobs", "bytes", "partitions"):
        getattr(bench, name)()
    bench.remote.stop()
    bench.session.stop()


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
