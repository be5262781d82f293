"""Lazy frames, Arrow tables and paths: the same release as from an array, and refusals that hold no cell."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spinney import DataError, Ledger, ParameterError, PrivateKMeans
from spinney.tables import files as tables

RNG = np.random.default_rng(1)
ROWS = RNG.choice([0.2, 0.8], (600, 1)) + RNG.normal(0, 0.02, (600, 2))
COLUMNS = {"x": ROWS[:, 0], "y": ROWS[:, 1]}
PEOPLE = [f"p{i // 3}" for i in range(600)]
SETTINGS = {"n_clusters": 2, "epsilon": 1.0, "bounds": (0, 1), "random_state": 0, "noise_seed": 1}


def written(folder, suffix, columns=COLUMNS):
    path = folder / f"t{suffix}"
    if suffix == ".npy":
        np.save(path, np.column_stack(list(columns.values())))
    else:
        getattr(pl.DataFrame(columns), f"write_{suffix[1:]}")(path)
    return path


KINDS = {
    "pandas": lambda folder, c: pd.DataFrame(c),
    "polars": lambda folder, c: pl.DataFrame(c),
    "lazy": lambda folder, c: pl.LazyFrame(c),
    "table": lambda folder, c: pa.table(c),
    "chunks": lambda folder, c: pa.concat_tables([pa.table(c).slice(0, 7), pa.table(c).slice(7)]),
    "no chunks": lambda folder, c: pa.concat_tables([pa.table(c).schema.empty_table(), pa.table(c)]),
    "batch": lambda folder, c: pa.RecordBatch.from_pydict(c),
    "csv": lambda folder, c: written(folder, ".csv", c),
    "parquet": lambda folder, c: str(written(folder, ".parquet", c)),
    "folder": lambda folder, c: written(folder, ".parquet", c).parent,
}


@pytest.mark.parametrize("kind", [*KINDS, "npy"])
def test_every_kind_of_table_gives_the_same_release_and_labels(kind, tmp_path):
    table = written(tmp_path, ".npy") if kind == "npy" else KINDS[kind](tmp_path, COLUMNS)
    model = PrivateKMeans(**SETTINGS)
    labels = model.fit_predict(table)
    expected = PrivateKMeans(**SETTINGS).fit(ROWS)
    names = None if kind == "npy" else ("x", "y")
    assert model.release_.to_dict() == expected.release_.to_dict() | {"feature_names": names}
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(labels, expected.predict(ROWS))
    np.testing.assert_array_equal(model.transform(table), expected.transform(ROWS))
    assert model.score(table) == expected.score(ROWS)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_may_be_the_name_of_a_column(kind, tmp_path, monkeypatch):
    model = PrivateKMeans(**SETTINGS, max_rows_per_group=2)
    expected = model.fit(pd.DataFrame(COLUMNS), groups=PEOPLE).release_
    table = KINDS[kind](tmp_path, {"who": PEOPLE, **COLUMNS})
    assert model.fit(table, groups="who").release_.to_dict() == expected.to_dict()
    by_name = PrivateKMeans(**SETTINGS | {"bounds": {"x": (0, 1), "y": (0, 1)}}, max_rows_per_group=2)
    assert by_name.fit(table, groups="who").cluster_sizes_.tolist() == expected.sizes.tolist()
    with pytest.raises((ParameterError, DataError), match="no column 'whom'"):
        model.fit(table, groups="whom")
    if isinstance(table, str | Path):
        monkeypatch.setattr(tables, "LARGE_SHARE", 0)  # left on disk
        monkeypatch.setattr(tables, "read_table", None)
        assert model.fit(table, groups="who").release_.to_dict() == expected.to_dict()
        with pytest.raises(ParameterError, match="brings its own groups"):
            model.fit(table, groups=PEOPLE)


@pytest.mark.parametrize("names", [pa.array(PEOPLE), pa.chunked_array([PEOPLE[:7], PEOPLE[7:]])], ids=["array", "chunks"])
def test_groups_may_be_an_arrow_column(names):
    model = PrivateKMeans(**SETTINGS, max_rows_per_group=2)
    expected = model.fit(ROWS, groups=PEOPLE).release_.to_dict()
    assert model.fit(ROWS, groups=names).release_.to_dict() == expected
    with pytest.raises(ParameterError, match="groups must be texts or numbers"):
        model.fit(ROWS, groups=pa.array([datetime.date(2020, 1, 1)] * len(ROWS)))


DAY = datetime.datetime(2020, 1, 1)
NO_NUMBERS = {
    "text": pa.array(["SECRET"]),
    "large text": pa.array(["SECRET"], pa.large_string()),
    "text view": pa.array(["SECRET"], pa.string_view()),
    "category": pa.array(["SECRET"]).dictionary_encode(),
    "bytes": pa.array([b"SECRET"]),
    "date": pa.array([DAY.date()]),
    "timestamp": pa.array([DAY]),
    "time": pa.array([DAY.time()]),
    "duration": pa.array([DAY - DAY]),
    "list": pa.array([[1.0]]),
    "struct": pa.array([{"a": 1.0}]),
    "wide decimal": pa.array([1]).cast(pa.decimal256(50, 2)),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("cells", [True, False], ids=["one row", "no row"])
def test_a_declared_column_without_numbers_is_refused_by_name_before_a_charge(kind, cells, tmp_path):
    table = pa.table({"a": [0.5], "bad one": NO_NUMBERS[kind]}).slice(0, int(cells))
    (tmp_path / "rows").mkdir()
    pq.write_table(table, tmp_path / "rows" / "t.parquet")
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    for given in (table, tmp_path / "rows" / "t.parquet", tmp_path / "rows"):
        with pytest.raises((ParameterError, DataError), match=r"'bad one'.*\nHint: leave it out: .*bounds=\{") as caught:
            PrivateKMeans(**SETTINGS | {"noise_seed": None}).fit(given, ledger=ledger)
        assert "SECRET" not in str(caught.value)
        assert caught.value.__context__ is None
    assert ledger.spent == 0


def test_a_declared_column_is_never_refused_for_its_cells():
    cells = [None, float("nan"), float("inf"), -1e308]
    for some in ([], cells[:1], cells):
        PrivateKMeans(**SETTINGS).fit(pa.table({"a": pa.array(some, pa.float64())}))


@pytest.mark.parametrize(
    "text",
    ["nothing.parquet", "age,bmi\n7316,22\n", "7316" * 3000, "a\0b", Path("nothing.csv"), ""],
    ids=["name", "content", "long", "zero", "path", "empty"],
)
@pytest.mark.parametrize("method", ["fit", "predict"])
def test_a_text_that_names_no_file_is_refused_and_not_repeated(text, method, tmp_path, monkeypatch):
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    model = PrivateKMeans(**SETTINGS).fit(ROWS)
    with pytest.raises((ParameterError, DataError), match=r"names no file|folder without tables") as caught:
        getattr(model, method)(text)
    assert "7316" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_lazy_frame_that_fails_tells_nothing(tmp_path):
    lazy = pl.LazyFrame({"a": ["0.1", "SECRET"], "b": [0.1, 0.2]}).with_columns(pl.col("a").cast(pl.Float64))
    PrivateKMeans(**SETTINGS | {"bounds": {"b": (0, 1)}}).fit(lazy)  # only the columns that are used are computed
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    with pytest.raises(DataError, match="lazy frame cannot be computed") as caught:
        PrivateKMeans(**SETTINGS | {"noise_seed": None}).fit(lazy, ledger=ledger)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None
    assert ledger.spent == 0
