"""One Java machine for all tests here, with a classic session and a Spark Connect server. Without Java they are skipped."""

import os
import shutil
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from spinney.curators import lookahead
from spinney.curators.spark.workers import check_workers

HERE = Path(__file__).parent
HAS_JAVA = shutil.which("java") is not None or "JAVA_HOME" in os.environ


def pytest_collection_modifyitems(items):
    here = f"{HERE}{os.sep}"
    items.sort(key=lambda item: not str(item.path).startswith(here))  # one worker has them all: it begins with them
    for item in items:
        if str(item.path).startswith(here):
            # PySpark says so when it is imported; that a fit does not is tested.
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"))
            item.add_marker(pytest.mark.skipif(not HAS_JAVA, reason="no Java found: Spark is not tested"))


@pytest.fixture(scope="session")
def port():
    """A port for the Spark Connect server."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="session")
def spark(port):
    """A classic session."""
    from pyspark.sql import SparkSession

    paths = [str(HERE.parents[1] / "src"), str(HERE.parent)]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
    session = (
        SparkSession.builder.master("local[2,4]")  # two threads; a task may fail three times
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # a short life: compile fast
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", os.devnull)
        .config("spark.log.level", "OFF")  # tasks fail here on purpose
        .config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
        .config("spark.connect.grpc.binding.address", "127.0.0.1")
        .config("spark.connect.grpc.binding.port", str(port))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    check_workers(session)  # once per session, so that no test counts it
    yield session
    session.stop()


@pytest.fixture(scope="session")
def remote(spark, port):
    """A session of Spark Connect: it speaks to the server and to nothing else."""
    pytest.importorskip("grpc", reason="needs the extra 'connect'")
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    check_workers(session)
    yield session
    session.stop()


@pytest.fixture(params=["spark", "remote"])
def either(request):
    """A session of each kind."""
    return request.getfixturevalue(request.param)


@pytest.fixture(autouse=True)
def few_cells(monkeypatch):
    """Messages of 32 MiB are for large tables."""
    monkeypatch.setattr(lookahead, "MOST_CELLS", 2**14)


@pytest.fixture
def frame_of(spark):
    """Return a function that puts rows on the cluster, in a number of partitions, by the classic session or another one."""
    import pyarrow as pa

    def make(rows, partitions=2, names=None, session=spark):
        rows = np.asarray(rows)
        names = names or [str(i) for i in range(rows.shape[1])]
        table = pa.table([pa.array(column) for column in rows.T], names=names)  # NaN stays NaN
        return session.createDataFrame(table).repartition(partitions)

    return make


def rows_of(d, n=3000):
    rng = np.random.default_rng(7)
    centers = rng.uniform(-0.8, 0.8, (4, d))
    return centers[rng.integers(0, 4, n)] + rng.normal(0, 0.05, (n, d))


def plain(release):
    """A release without what it says about who held the rows."""
    return release.to_dict() | {"model": None}
