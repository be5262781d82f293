import subprocess
import sys

import pytest

HEAVY = {"matplotlib", "numba", "numpy", "opendp", "pandas", "scipy", "sklearn"}


def loaded(*arguments):
    """Return the top-level packages that a fresh interpreter loads."""
    run = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    return {line.split("|")[-1].strip().split(".")[0] for line in run.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", "import spinney"),
        ("-c", "import spinney; dir(spinney); spinney.__version__; spinney.ParameterError"),
        ("-m", "spinney", "--help"),
        ("-m", "spinney", "--version"),
        ("-m", "spinney", "demo", "--help"),
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_loaded(arguments):
    packages = loaded(*arguments)
    assert "spinney" in packages
    assert packages.isdisjoint(HEAVY)


FITS = """
import sys
import numpy as np
import spinney
rows = np.random.default_rng(0).normal(0, 0.3, (200, 3))
for table in (rows, rows.astype("f4"), (rows * 9).astype(int), rows.tolist(), np.asfortranarray(rows)):
    for objective in ("kmeans", "kmedian"):
        spinney.fit(table, 2, objective=objective, epsilon=1.0, delta=1e-6, bounds=(-1, 1))
spinney.one_cluster(rows, 100, epsilon=1.0, bounds=(-1, 1))
print(*sys.modules)
"""


def test_a_plain_fit_does_not_load_scikit_learn():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", FITS], capture_output=True, text=True, check=True)
    assert {"numba", "numpy"} <= set(run.stdout.split())
    assert {"matplotlib", "pandas", "polars", "pyarrow", "pyspark", "scipy.stats", "sklearn"}.isdisjoint(run.stdout.split())


def test_estimators_wait_for_a_kernel_to_load_numba():
    assert "numba" not in loaded("-c", "from spinney import PrivateKMeans, PrivateKMedian, PrivateKMedoids")
