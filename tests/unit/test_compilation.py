import errno
import os
import pickle
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching

import spinney
from spinney.compilation import KERNELS

PACKAGE = Path(spinney.__file__).parent
KERNEL = """
from spinney.compilation import compiled

@compiled
def double(values):
    for i in range(values.size):
        values[i] *= 2.0
"""
#: Counts compilations, calls a kernel of the package twice, and prints how many there were.
TWICE = """
import numba.core.event as event
import numpy as np
{before}
from spinney.spaces.nearest import nearest

with event.install_recorder("numba:compile") as recorder:
    nearest(np.zeros((3, 2)), np.ones((1, 2)))
    first = len(recorder.buffer)
    nearest(np.zeros((3, 2), np.float32), np.ones((1, 2)))
    print(first, len(recorder.buffer) - first)
"""
#: As a folder that may not be written to: a superuser may write to every one.
NOT_WRITABLE = """
from numba.core.caching import _CacheLocator

def refuse(self):
    raise PermissionError

_CacheLocator.ensure_cache_path = refuse
"""


@pytest.fixture
def copied(tmp_path):
    """A copy of the package without caches, and a way to run code on it."""
    shutil.copytree(PACKAGE, tmp_path / "spinney", ignore=shutil.ignore_patterns("__pycache__"))

    def run(code, **environment):
        kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**kept, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return [int(number) for number in done.stdout.split()]

    return tmp_path, run


def test_kernels_work_where_nothing_may_be_written(copied):
    folder, run = copied
    for room in [folder / "spinney", *(folder / "spinney").iterdir()]:
        if room.is_dir():
            (room / "__pycache__").write_text("in the way of a folder")
    first, second = run(TWICE.format(before=""), XDG_CACHE_HOME="/dev/null/none", HOME="/dev/null/none")
    assert first > 0
    assert second == 0
    assert not list(folder.rglob("*.nb?"))


def test_kernels_of_a_warm_image_are_read_where_they_may_not_be_written(copied):
    folder, run = copied
    assert run(TWICE.format(before=""))[0] > 0
    kept = sorted(folder.rglob("*.nb?"))
    assert kept
    assert run(TWICE.format(before=NOT_WRITABLE)) == [0, 0]
    assert sorted(folder.rglob("*.nb?")) == kept


@pytest.fixture
def kernel_of(tmp_path):
    """Make a module with one kernel, as often as asked: each time as a new process would."""
    path = tmp_path / "doubling.py"
    path.write_text(KERNEL)

    def load():
        spec = spec_from_file_location("doubling", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    before = dict(KERNELS)
    yield load
    KERNELS.clear()
    KERNELS.update(before)


def doubled(kernel):
    values = np.ones(3)
    kernel(values)
    return values.tolist() == [2.0] * 3


def test_a_cached_kernel_is_not_compiled_again(kernel_of):
    first = kernel_of()
    assert doubled(first)
    assert sum(first.stats.cache_misses.values()) == 1
    second = kernel_of()
    assert doubled(second)
    assert sum(second.stats.cache_hits.values()) == 1
    assert second.stats.cache_path == first.stats.cache_path


def test_a_full_disk_ends_nothing(kernel_of, monkeypatch):
    def full(self, key, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert doubled(kernel_of())


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps("another version"), pickle.dumps(caching.numba.__version__)])
def test_a_broken_cache_is_as_good_as_none(kernel_of, tmp_path, content):
    assert doubled(kernel_of())
    for path in tmp_path.rglob("*.nbi"):
        path.write_bytes(content)
    assert doubled(kernel_of())
    mended = kernel_of()
    assert doubled(mended)
    assert sum(mended.stats.cache_hits.values()) == 1
