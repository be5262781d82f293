"""Demand by name: unknown names are missing, and only a declared type can be refused."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from spinney import FiniteMetric, Ledger, ParameterError, PrivateKMedoids
from spinney.tables.sources import place_column

WORDS = ("Mill", "Hill", "Dock", "School")
NUMBERS = ("10", "20", "Mill", "2")


def space_of(names=None):
    return FiniteMetric.from_points(np.arange(4.0)[:, None], names=names)


def model_of(names=None, **changes):
    return PrivateKMedoids(2, **{"epsilon": 1.0, "space": space_of(names), "random_state": 0, "noise_seed": 0, **changes})


DEMAND = [0, 1, 1, 3, 3, 3, 0] * 40
NAMED = [WORDS[place] for place in DEMAND]
COLUMNS = {
    "list": lambda cells: cells,
    "rows": lambda cells: [[cell] for cell in cells],
    "array": np.array,
    "array of one column": lambda cells: np.array(cells)[:, None],
    "objects": lambda cells: np.array(cells, dtype=object),
    "strings": lambda cells: np.array(cells, dtype=np.dtypes.StringDType()),
    "bytes": lambda cells: np.array([cell.encode() for cell in cells]),
    "series": pd.Series,
    "category": lambda cells: pd.Series(cells, dtype="category"),
    "frame": lambda cells: pd.DataFrame({"site": cells}),
    "polars": pl.Series,
    "polars frame": lambda cells: pl.DataFrame({"site": cells}),
    "lazy": lambda cells: pl.LazyFrame({"site": cells}),
    "arrow": pa.array,
    "arrow chunks": lambda cells: pa.chunked_array([cells[:5], cells[5:]]),
    "arrow codes": lambda cells: pa.array(cells).dictionary_encode(),
    "arrow table": lambda cells: pa.table({"site": cells}),
}
DECLARED = ("array", "array of one column", "strings", "bytes", "arrow", "arrow chunks", "arrow codes", "arrow table")


@pytest.mark.parametrize("kind", COLUMNS)
def test_names_are_indices_in_other_words(kind):
    model, other = model_of(WORDS), model_of()
    labels = model.fit_predict(COLUMNS[kind](NAMED))
    np.testing.assert_array_equal(labels, other.fit_predict(DEMAND))
    assert model.release_.names == tuple(WORDS[site] for site in model.medoid_indices_)
    assert model.release_.to_dict() | {"names": None} == other.release_.to_dict()


@pytest.mark.parametrize("kind", [kind for kind in COLUMNS if kind != "bytes"])
def test_numbers_are_taken_as_they_were(kind):
    given = COLUMNS[kind](DEMAND) if kind not in ("strings", "category") else DEMAND
    expected = model_of().fit(DEMAND).release_.to_dict()
    assert model_of().fit(given).release_.to_dict() == expected
    assert model_of(WORDS).fit(given).release_.to_dict() | {"names": None} == expected  # no point is named by a number


@pytest.mark.parametrize("kind", COLUMNS)
def test_text_is_refused_only_where_it_is_declared_and_the_space_has_no_names(kind, tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    model = model_of(noise_seed=None)
    if kind not in DECLARED:
        model.fit(COLUMNS[kind](NAMED), ledger=ledger)  # all of them are missing, in silence but for the warning
        assert model.release_.looks_empty
        return
    with pytest.raises(ParameterError, match=r"space has no names.*\nHint: ") as caught:
        model.fit(COLUMNS[kind](NAMED), ledger=ledger)
    assert not any(name in str(caught.value) for name in WORDS)
    assert ledger.spent == 0


CELLS = {
    "Mill": 2, " Mill ": 2, "mill": None, "10": 0, "10.0": 0, "010": None, 10: 0, np.float32(20): 1, 2: 3, 0: None, 10.5: None,
    float("nan"): None, float("inf"): None, None: None, 10**400: None, b"20": 1, Decimal(2): 3, True: None, (1, 2): None,
    datetime.date(2020, 1, 1): None,
}  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids=repr)
@pytest.mark.parametrize("other", ["Mill", 3, None, [1, 2], 10**400], ids=repr)
def test_how_a_name_is_read_depends_on_it_alone(cell, other):
    expected = np.nan if CELLS[cell] is None else CELLS[cell]
    np.testing.assert_array_equal(place_column([cell, other], NUMBERS)[0], expected)


@pytest.mark.parametrize("names", [None, WORDS])
@pytest.mark.parametrize(
    "column", [np.array(["2020-01-01"], dtype="M8[D]"), pa.array([datetime.date(2020, 1, 1)])], ids=["array", "arrow"]
)
def test_declared_dates_are_refused_and_those_of_frames_are_not(names, column):
    with pytest.raises(ParameterError, match="must hold numbers") as caught:
        model_of(names).fit(column)
    assert "2020-01" not in str(caught.value)
    model_of(names).fit(pd.Series(pd.to_datetime(["2020-01-01"])))
