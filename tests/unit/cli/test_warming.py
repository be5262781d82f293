import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from spinney.cli import warming
from spinney.cli.main import main

#: Warms up, then fits a sample of all estimators, algorithms, backends and spaces; prints what was compiled after all.
SAMPLE = """
import tempfile, warnings
from pathlib import Path

import numpy as np

from tools.guard import cover_cases, point_cases, site_cases
from spinney import Ball, PrivateKMeans
from spinney.cli.warming import warm_up
from spinney.compilation import KERNELS

def signatures():
    return {(name, str(signature)) for name, kernel in KERNELS.items() for signature in kernel.signatures}

def is_kept(name, kernel):
    module, function = name.split(".")[-2:]
    return any(Path(kernel._cache.cache_path).glob(f"{module}.{function}-*.nbi"))

warm_up()
warm = signatures()
print(*(name for name, kernel in KERNELS.items() if not is_kept(name, kernel)))
with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name, fit in [*point_cases(Path(folder), None), *site_cases(), *cover_cases()][::61]:
        fit()
    rows = np.random.default_rng(0).uniform(-1, 1, (400, 6))
    for X in (np.asfortranarray(rows), rows[::2, ::2], (9 * rows).astype(int), rows.astype(np.float16), rows.astype(object)):
        PrivateKMeans(2, epsilon=9.0, bounds=Ball(2.0)).fit(X).predict(X.astype(float))
print(*sorted(signatures() - warm))
"""


def test_warm_compiles_all_that_fits_need():
    done = subprocess.run([sys.executable, "-c", SAMPLE], capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["", ""]


def test_warm_says_what_it_does_and_where_kernels_are(monkeypatch):
    monkeypatch.setattr(warming, "STEPS", {"nothing": lambda: None})
    done = CliRunner().invoke(main, ["warm"])
    assert done.exit_code == 0
    assert "Compiling kernels for nothing" in done.stderr
    assert "kernels are compiled" in done.stdout


def test_warm_fails_where_kernels_cannot_be_kept(monkeypatch):
    monkeypatch.setattr(warming, "STEPS", {})
    monkeypatch.setattr(warming, "cache_folders", list)
    done = CliRunner().invoke(main, ["warm"])
    assert done.exit_code == 3
    assert "NUMBA_CACHE_DIR" in done.stderr
