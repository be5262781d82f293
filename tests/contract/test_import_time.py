import re
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


def test_the_estimators_load_what_they_need_and_no_more():
    packages = loaded("-c", "import spinney; spinney.PrivateKMeans")
    assert {"numba", "numpy", "sklearn"} <= packages
    assert packages.isdisjoint({"matplotlib", "opendp"})


def test_version_is_one_number():
    run = subprocess.run([sys.executable, "-m", "spinney", "--version"], capture_output=True, text=True, check=True)
    assert re.search(r"\d+\.\d+", run.stdout)
