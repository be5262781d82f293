"""Bounds by name say which columns of a table are clustered."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from spinney import DataError, Ledger, ParameterError, PrivateKMeans, PrivateKMedian, Release, ReleaseError, scan
from tests.unit.tables.test_sources import KINDS

RNG = np.random.default_rng(0)
N = 900
ROWS = {"age": RNG.uniform(0, 110, N), "income": RNG.uniform(0, 2e5, N)}
TABLE = {"id": [f"SECRET{i}" for i in range(N)], "income": ROWS["income"], "region": ["north"] * N, "age": ROWS["age"]}
BOUNDS = {"age": (0, 110), "income": (0, 200_000)}
SEEDS = {"random_state": 0, "noise_seed": 1}
MODEL = PrivateKMeans(3, epsilon=1.0, bounds=BOUNDS, scale=1, **SEEDS)
PLAIN = PrivateKMeans(3, epsilon=1.0, bounds=([0, 0], [110, 200_000]), scale=1, **SEEDS)


def expected():
    return PLAIN.fit(pd.DataFrame(ROWS)).release_


TABLES = KINDS | {
    "scan of csv": lambda folder, c: scan(KINDS["csv"](folder, c)),
    "scan of parquet": lambda folder, c: scan(KINDS["parquet"](folder, c), ["income", "age"]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_bounds_name_the_columns_to_use(kind, tmp_path):
    model, table = clone(MODEL), TABLES[kind](tmp_path, TABLE)
    release = model.fit(table).release_
    named = {"lower": [0, 0], "upper": [110, 200_000], "columns": ["age", "income"]}
    assert release.to_dict() == expected().to_dict() | {"domain": named}
    again = PrivateKMeans.from_release(Release.from_dict(release.to_dict()))
    assert (release.feature_names, again.bounds) == (("age", "income"), BOUNDS)
    labels = clone(PLAIN).fit(pd.DataFrame(ROWS)).predict(pd.DataFrame(ROWS))
    for one in () if kind.startswith("scan") else (model, again):
        np.testing.assert_array_equal(one.predict(TABLES[kind](tmp_path, TABLE)), labels)
    ledger = Ledger(tmp_path / "_ledger", epsilon=2.0)
    with pytest.raises((ParameterError, DataError), match="'hieght'") as caught:
        PrivateKMeans(3, epsilon=1.0, bounds={"age": (0, 1), "hieght": (0, 1)}).fit(table, ledger=ledger)
    assert "SECRET" not in str(caught.value)
    assert ledger.spent == 0


def test_a_table_without_names_or_with_repeated_ones_is_refused(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.ones((5, 2)))
    for table in (np.ones((5, 2)), [[1, 2], [3, 4]], path, scan(path)):
        with pytest.raises((ParameterError, DataError), match=r"no (column )?names"):
            clone(MODEL).fit(table)
    frame = pd.DataFrame(np.ones((3, 3)), columns=["age", "income", "age"])
    with pytest.raises(ParameterError, match="more than one column 'age'"):
        clone(MODEL).fit(frame)


def test_wrong_bounds_are_refused_without_showing_a_value():
    ages = [
        3, (0, 110, 5), (110, 0), (0, float("inf")), (0, 10**400), ("0", "110"), (False, True), pd.Series([7316.5, 7316.7]),
        np.array([7316.5, 7316.7]), {"7316": 1},
    ]  # fmt: skip
    for bounds in ({}, {0: (0, 1)}, *({"age": age} for age in ages)):
        with pytest.raises(ParameterError, match=r"'bounds' parameter of Private.*\nHint: bounds=\{'age': ") as caught:
            PrivateKMedian(2, epsilon=1.0, bounds=bounds).fit(pd.DataFrame({"age": [1.0]}))
        assert "7316" not in str(caught.value)


def test_a_plan_needs_no_number_of_columns():
    assert str(MODEL.plan()) == str(PLAIN.plan(2)) == str(MODEL.plan(2))
    with pytest.raises(ParameterError, match="n_features"):
        MODEL.plan(3)
    with pytest.raises(ParameterError, match="n_features"):
        PLAIN.plan()


def test_bounds_of_other_columns_are_no_release(tmp_path):
    record = expected().to_dict()
    for columns in (["age"], ["income", "age"], "ab", [1, 2]):
        with pytest.raises(ReleaseError):
            Release.from_dict(record | {"domain": record["domain"] | {"columns": columns}})
