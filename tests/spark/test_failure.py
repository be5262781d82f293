"""Tasks that fail are tried again, and a fit that cannot go on says what it spent, and nothing about rows."""

import logging
import math
import traceback

import pandas as pd
import pytest
from sklearn.base import clone

from spark import faulty
from spark.conftest import plain, rows_of
from spinney import DataError, Ledger, PrivateKMeans
from spinney.curators import numbers

MODEL = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1), random_state=0, noise_seed=1)


def told_by(error):
    """All that an error says. It refers to no other, which might say more."""
    assert error.__context__ is None
    assert error.__cause__ is None
    return "".join(traceback.format_exception(error))


def test_tasks_that_fail_once_and_a_lost_worker_change_nothing(frame_of, monkeypatch):
    rows = pd.DataFrame(rows_of(2, 800), columns=["x", "y"])
    model = clone(MODEL).set_params(algorithm="stable")  # it asks for sums, too
    frame, expected = frame_of(rows, 2, ["x", "y"]), plain(model.fit(rows).release_)
    lossy = frame.mapInArrow(faulty.lost_once, frame.schema)
    monkeypatch.setattr(numbers, "sum_offsets", faulty.sum_offsets)
    monkeypatch.setattr(numbers, "count_rings", faulty.count_rings)
    assert plain(model.fit(lossy).release_) == expected


@pytest.mark.parametrize(("kind", "is_shuffled"), [("spark", True), ("remote", False)])
def test_a_fit_that_fails_says_what_it_spent_and_nothing_of_the_rows(kind, request, frame_of, tmp_path, capfd, is_shuffled):
    frame = frame_of(rows_of(2, 50), 2, ["x", "y"], request.getfixturevalue(kind))
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0, adjacency="add-remove")
    model = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1))
    broken = frame.mapInArrow(faulty.lost_for_good, frame.schema)
    with pytest.raises(DataError, match=r"question 'rows'.* epsilon 0.01 of 1") as failure:
        model.fit(broken.repartition(2) if is_shuffled else broken, ledger=ledger)
    told = told_by(failure.value)
    assert faulty.SECRET not in told + "".join(capfd.readouterr())
    assert "keeps the charge" in told
    assert not hasattr(model, "release_")
    assert math.isclose(ledger.spent, 1.0)


def test_a_kernel_that_fails_tells_nothing(frame_of, monkeypatch):
    monkeypatch.setattr(numbers, "count_columns", faulty.count_columns)
    rows = rows_of(2, 50)
    with pytest.raises(DataError) as failure:
        MODEL.fit(frame_of(rows, 2, ["x", "y"]))
    told = told_by(failure.value)
    assert not any(str(number) in told for number in rows.ravel())


@pytest.mark.parametrize(("is_shuffled", "groups"), [(False, None), (True, None), (False, "who")])
@pytest.mark.matrix
def test_a_cell_that_an_expression_quotes_is_not_printed(either, capfd, is_shuffled, groups):
    from pyspark.logger import PySparkLogger

    frame = either.createDataFrame([("SECRET 0.7", "p1")], "a string, who string")
    frame = frame.selectExpr("cast(a as double)", *[groups] * (groups is not None))
    frame = frame.repartition(2) if is_shuffled else frame
    logger = PySparkLogger.getLogger("DataFrameQueryContextLogger")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    heard = []
    handler = logging.StreamHandler()
    handler.emit = lambda record: heard.append(record.getMessage())
    logger.addHandler(handler)
    before = list(logger.filters)
    try:
        with pytest.raises(DataError) as failure:
            PrivateKMeans(1, epsilon=1.0, bounds=(0, 1), max_rows_per_group=2 if groups else None).fit(frame, groups=groups)
        assert "SECRET" not in told_by(failure.value)
        assert heard == []
        assert logger.filters == before
        logger.warning("after the fit")
        assert heard == ["after the fit"]
    finally:
        logger.removeHandler(handler)
    assert "SECRET" not in "".join(capfd.readouterr())
