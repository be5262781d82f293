"""Spark: ``python -m benchmarks spark``; writes the tables of docs/spark.md. Needs ``spinney[connect]`` and Java 17.

Everything runs in one Java machine on two local cores, with a classic session and a Spark Connect server, after both libraries
are warm. CPU seconds are those of the driver, the Java machine and the Python workers together. ROWS=5000000
measures a larger table.
"""

from __future__ import annotations

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
from benchmarks.pages import into_page, markdown, save

ROWS, COLUMNS, CLUSTERS = int(os.environ.get("ROWS", "2000000")), 10, 20
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


def publish(name: str, text: str, tables: dict[str, str]) -> None:
    """Print a table and write it into the page."""
    tables[name] = text
    print(f"\n{name}\n{text}", flush=True)
    into_page(f"spark {name}", text)


def main(folder: Path) -> None:
    """Measure, print the tables, write them into the page."""
    session, remote = start()
    frames = {n: session.read.parquet(write_tables(folder, n)) for n in (10_000, 200_000, 1_000_000, ROWS)}
    afar = {n: remote.read.parquet(str(folder / str(n))) for n in (10_000, ROWS)}
    watch = Watch(type(frames[ROWS]), type(afar[ROWS]))
    fit(afar[10_000])
    for algorithm in ("auto", "hst", "lloyd"):
        fit(frames[10_000], algorithm)
    fit_plain(frames[10_000])
    fit(frames[ROWS])
    fit_plain(frames[ROWS])

    beside, costs, plain = [], [], (0.0, 0.0)
    for kind in ("read from Parquet files", "the same, over Spark Connect", "cached"):
        frame = afar[ROWS] if "Connect" in kind else frames[ROWS]
        if kind == "cached":
            frame = frame.cache()
            frame.count()
        plain = plain if frame is afar[ROWS] else measure(lambda frame=frame: fit_plain(frame))  # on the classic session
        ours = watch(lambda frame=frame: fit(frame))
        beside.append([kind, *(f"{value:.1f}" for value in (plain[0], ours[0], plain[1], ours[1]))])
        beside[-1] += [f"**{ours[0] / plain[0]:.2f}**", f"**{ours[1] / plain[1]:.2f}**"]
        costs.append(ours)
        frames[ROWS].unpersist()
        print(beside[-1], flush=True)
    head = ["the table", "wall, `KMeans`", "wall, `PrivateKMeans`", "CPU, `KMeans`", "CPU, `PrivateKMeans`"]
    tables: dict[str, str] = {}
    publish("beside", markdown([*head, "ratio of walls", "ratio of CPU"], beside), tables)

    small = {algorithm: watch(lambda a=algorithm: fit(frames[200_000], a)) for algorithm in ("auto", "hst", "lloyd")}
    jobs = [[f"`{name}`", str(found[2]), f"{found[3] / 2**20:.1f}"] for name, found in small.items()]
    publish("jobs", markdown(["algorithm", "actions", "MiB to the driver"], jobs), tables)

    moved = [(n, watch(lambda n=n: fit(frames[n].coalesce(1)))) for n in (10_000, 1_000_000)]
    rows = [[f"{n:,}", str(found[2]), f"{found[3] / 2**20:.1f}", f"{found[3] / found[2] / 2**20:.1f}"] for n, found in moved]
    publish("bytes", markdown(["rows", "actions", "MiB to the driver", "of these an action"], rows), tables)

    spread = []
    for partitions in (1, 2, 7, 64):
        frame = frames[200_000].repartition(partitions).cache()
        frame.count()
        wall, cpu, count, size = watch(lambda frame=frame: fit(frame))
        spread.append([str(partitions), f"{wall:.1f}", f"{cpu:.1f}", str(count), f"{size / 2**20:.1f}"])
        frame.unpersist()
    head = ["partitions", "wall seconds", "CPU seconds", "actions", "MiB to the driver"]
    publish("partitions", markdown(head, spread), tables)

    slope = max(costs[0][1] - small["auto"][1], 0.0) / (ROWS - 200_000)
    tasks = PAPER_ROWS // PAPER_TASK
    paper = [
        ["CPU of all executors, hours", f"{slope * PAPER_ROWS / 3600:.0f}"],
        [f"wall on {PAPER_CORES:,} cores, minutes", f"{slope * PAPER_ROWS / PAPER_CORES / 60:.0f}"],
        ["actions", f"{costs[0][2]}"],
        ["tasks of an action", f"{tasks:,}"],
        ["the executors' copy of the rows, GB", f"{8 * COLUMNS * PAPER_ROWS / 1e9:.0f}"],
        ["MiB to the driver in all, at most", f"{costs[0][2] * 32}"],
        ["GB between executors in a look-ahead, at most", f"{tasks * 2**25 / 1e9:.0f}"],
    ]
    text = markdown([f"{PAPER_ROWS:.0e} rows x {COLUMNS}, k = {CLUSTERS}", "on paper"], paper)
    text += f"\n\nFrom {1e6 * slope:.2f} CPU seconds a million rows, measured between 200,000 and {ROWS:,} rows."
    publish("paper", text, tables)
    save("scale_spark", tables)
    remote.stop()
    session.stop()


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch))
