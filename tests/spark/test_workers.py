"""Workers without the package are noticed before anything is charged, and the message says what to set."""

import math
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


def refused(frame_of, tmp_path, words):
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    with pytest.raises(ParameterError, match=rf"{words}.*Nothing was charged\.\nHint: .*PYSPARK_PYTHON.*install") as caught:
        MODEL.fit(frame_of(rows_of(2, 50), 2), ledger=ledger)
    assert caught.value.__context__ is None
    assert math.isclose(ledger.spent, 0)


def test_workers_without_the_package_are_refused_before_a_charge(frame_of, unchecked, monkeypatch, tmp_path):
    # The interpreter that the environment was made from, with its packages but without the sources, which PYTHONPATH leads to.
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={sysconfig.get_path("purelib")} exec {sys._base_executable} "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(unchecked.sparkContext, "pythonExec", os.fspath(bare))
    refused(frame_of, tmp_path, "cannot import spinney")


def test_workers_that_do_not_start_are_refused_before_a_charge(frame_of, unchecked, monkeypatch, tmp_path):
    monkeypatch.setattr(unchecked.sparkContext, "pythonExec", os.fspath(tmp_path / "nothing"))
    refused(frame_of, tmp_path, "do not start")


def test_workers_of_another_version_are_refused_before_a_charge(frame_of, unchecked, monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "__version__", "0.0.1")
    refused(frame_of, tmp_path, "another version")


def test_workers_are_asked_once(unchecked, monkeypatch):
    workers.check_workers(unchecked)
    monkeypatch.setattr(type(unchecked), "range", None)
    workers.check_workers(unchecked)
