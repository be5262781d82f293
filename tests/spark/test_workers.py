"""Workers without the package are noticed before anything is charged, and the message says what to set."""

import os
import sys
import sysconfig

import pytest

from spark.conftest import rows_of
from spinney import Ledger, ParameterError, PrivateKMeans
from spinney.curators.spark import workers

MODEL = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1))


@pytest.fixture
def unchecked(spark, monkeypatch):
    monkeypatch.setattr(workers, "_CHECKED", set())
    return spark


def bare(folder):
    """The interpreter that the environment was made from, with its packages and without the sources, which PYTHONPATH has."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nPYTHONPATH={sysconfig.get_path("purelib")} exec {sys._base_executable} "$@"\n')
    path.chmod(0o755)
    return os.fspath(path)


@pytest.mark.parametrize("words", ["cannot import spinney", "do not start", "another version"])
def test_workers_that_cannot_work_are_refused_before_a_charge(frame_of, unchecked, monkeypatch, tmp_path, words):
    if words == "another version":
        monkeypatch.setattr(workers, "__version__", "0.0.1")
    else:
        interpreter = bare(tmp_path) if words == "cannot import spinney" else os.fspath(tmp_path / "nothing")
        monkeypatch.setattr(unchecked.sparkContext, "pythonExec", interpreter)
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    with pytest.raises(ParameterError, match=rf"{words}.*Nothing was charged\.\nHint: .*PYSPARK_PYTHON.*install") as caught:
        MODEL.fit(frame_of(rows_of(2, 50), 2), ledger=ledger)
    assert caught.value.__context__ is None
    assert ledger.spent == 0


def test_workers_are_asked_once(unchecked, monkeypatch):
    workers.check_workers(unchecked)
    monkeypatch.setattr(type(unchecked), "range", None)
    workers.check_workers(unchecked)
