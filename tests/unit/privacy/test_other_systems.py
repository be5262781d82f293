"""What works on a system without the file locks of Unix, and what says that it does not."""

import subprocess
import sys

#: Take away what such a system lacks, before anything is imported.
WITHOUT_UNIX = """
import os, sys
for module in ("fcntl", "resource", "pwd", "grp"):
    sys.modules[module] = None
import numpy, polars, sklearn.base, opendp.mod  # theirs is another matter
for name in ("O_CLOEXEC", "pread", "pwrite", "sysconf", "sched_getaffinity", "fork", "getuid"):
    if hasattr(os, name):
        delattr(os, name)
"""

FITS = """
import numpy as np
from spinney import FiniteMetric, PrivateKMeans, PrivateKMedoids, Release
from spinney.tables.files import scan
model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(np.random.default_rng(0).random((4000, 2)))
model.release_.to_json("release.json")
assert Release.from_json("release.json").statement == model.release_.statement
assert PrivateKMeans.from_release("release.json").predict([[0.1, 0.9]]).shape == (1,)
polars.DataFrame({"a": [0.1, 0.9] * 2000}).write_parquet("rows.parquet")
PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(scan("rows.parquet"))
PrivateKMedoids(1, epsilon=1.0, space=FiniteMetric.from_graph([(0, 1, 1.0)])).fit([0, 1, 1] * 1000)
"""

LEDGER = """
from pathlib import Path
from click.testing import CliRunner
from spinney import Ledger
from spinney.cli.main import main
from spinney.exceptions import DataError
for how in ({"epsilon": 1}, {}):
    try:
        Ledger("a.ledger", **how)
    except DataError as error:
        text = str(error)
    assert "has no file locks (fcntl)" in text and "Nothing was written or charged" in text, text
    assert "\\nHint: keep the ledger on Linux, macOS or in WSL" in text
ran = CliRunner().invoke(main, ["ledger", "open", "a.ledger", "--epsilon", "1"])
assert ran.exit_code == 3 and "no file locks" in ran.output and ran.output.count("\\n") == 1, ran.output
assert not Path("a.ledger").exists()
"""


def run(code, folder):
    subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:Several private fits", "-c", WITHOUT_UNIX + code], check=True, cwd=folder
    )


def test_fits_need_no_unix(tmp_path):
    run(FITS, tmp_path)


def test_a_ledger_says_that_it_needs_file_locks(tmp_path):
    run(LEDGER, tmp_path)
