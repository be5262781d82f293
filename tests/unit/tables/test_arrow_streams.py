"""Rows that come as a stream of Arrow batches: the same release, and nothing left behind."""

import os
import stat
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covering import covering
from spinney import CuratorError, DataError, Ledger, ParameterError, PrivateKMeans, describe, scan, stream
from spinney.spaces.column_facts import column_of
from spinney.spaces.schema import Schema
from spinney.tables.sources import read_source
from spinney.tables.spooled import Spooled
from streamed import SOURCES, duckdb, one_by_one

RNG = np.random.default_rng(0)
N = 400
FRAME = pl.DataFrame(
    {
        "age": RNG.normal(50, 20, N),
        "who": [f"p{i % 90}" if i % 11 else None for i in range(N)],
        "Größe \"x\"": RNG.integers(100, 200, N),
        "kind": RNG.choice(["low", "high", "other"], N),
        "spare": [[1]] * N,
    }
).with_columns(pl.when(pl.col("age") > 20).then("age"))  # fmt: skip
BOUNDS = {"Größe \"x\"": (100, 200), "age": (0, 110), "kind": ["low", "high"]}  # fmt: skip
FLAT = FRAME.drop("spare")  # which SQLite has no type for
BOX = ([0, 100], [110, 200])
CANARY = "canary 30000001"


def model(groups=None, **asked):
    asked = {"bounds": BOUNDS, "random_state": 0, "noise_seed": 1, "scale": "bounds"} | asked
    return PrivateKMeans(3, epsilon=2.0, max_rows_per_group=2 if groups else None, **asked)


@covering("source, spooled, groups", SOURCES, [False, True], [None, "who"])
def test_every_source_gives_the_release_of_memory(source, spooled, groups, tmp_path):
    (tmp_path / "spool").mkdir()
    expected = model(groups).fit(FLAT, groups=groups).release_.to_json()
    rows = source(FLAT, tmp_path, groups=groups, spool=tmp_path / "spool" if spooled else None)
    for _ in range(2):  # a stream may be fitted again
        assert model(groups).fit(rows).release_.to_json() == expected
    assert os.listdir(tmp_path / "spool") == []


def test_sources_are_taken_as_they_are(tmp_path):
    found = duckdb.connect().register("given", FRAME.to_arrow()).table("given")
    FRAME.write_parquet(tmp_path / "rows.parquet")
    files = pa.dataset.dataset(tmp_path / "rows.parquet")
    expected = model("who").fit(FRAME, groups="who").release_
    for rows in (found, files, FRAME.lazy()):
        assert model("who").fit(rows, groups="who").release_.to_json() == expected.to_json()
    labels = model("who").fit(FRAME, groups="who").predict(FRAME)
    assert np.array_equal(model("who").fit(found, groups="who").predict(files), labels)
    asked = {"release": expected, "columns": ["kind", "age"], "epsilon": 1.0, "noise_seed": 3}
    described = describe(table=FRAME, groups="who", **asked).to_json()
    assert describe(table=found, groups="who", **asked).to_json() == described
    assert describe(table=scan(files, groups="who", spool=tmp_path), **asked).to_json() == described


def test_columns_can_be_chosen_and_come_in_their_order(tmp_path):
    expected = model(bounds=BOX).fit(FRAME[["age", 'Größe "x"']]).release_.to_json()
    for spool in (None, tmp_path):
        rows = stream(FRAME.lazy(), columns=["age", 'Größe "x"'], spool=spool)
        assert model(bounds=BOX).fit(rows).release_.to_json() == expected
        with pytest.raises(ParameterError, match="X has no column 'size'"):
            model(bounds=(0, 1)).fit(stream(FRAME, columns=["size"], spool=spool))
        with pytest.raises(ParameterError, match="X has no column 'kind'"):
            model().fit(stream(FRAME, columns=["age", 'Größe "x"'], spool=spool))
        with pytest.raises(ParameterError, match="no column 'age'"):
            model().fit(stream(FRAME.drop("age"), spool=spool))
        with pytest.raises(ParameterError, match=r"must hold numbers\. Column 'kind'"):
            model(bounds=(0, 1)).fit(stream(FRAME.to_arrow(), columns=["age", "kind"], spool=spool))
        twice = pa.Table.from_arrays([pa.array([1.0])] * 2, ["age", "age"])
        with pytest.raises(ParameterError, match="more than one column 'age'"):
            model(bounds=(0, 1)).fit(stream(twice, spool=spool))
    with pytest.raises(ParameterError, match="brings its own groups"):
        model("who").fit(stream(FRAME, groups="who"), groups="who")
    with pytest.raises(ParameterError, match="brings its own groups"):  # whose order is the stream's
        model("who").fit(duckdb.connect().sql("select 1.0 as age"), groups=[1])


CELLS = {
    "whole": pa.array([1, None, 200], pa.int16()),
    "unsigned": pa.array([1, None, 2**64 - 1], pa.uint64()),
    "half": pa.array(np.array([0.5, np.nan, np.inf], np.float16)),
    "short": pa.array([0.1, None, -np.inf], pa.float32()),
    "decimal": pa.array([1, None, 3], pa.decimal128(20, 3)),
    "truth": pa.array([True, None, False]),
    "nothing": pa.nulls(3),
    "names": pa.array([" low", "no", None], pa.string_view()),
    "coded": pa.array(["high", None, "low"]).dictionary_encode(),
    "broken": pa.array([b"low", b"\xff", None]).cast(pa.binary()).view(pa.string()),
    "days": pa.array([0, None, 20000], pa.date32()),
    "times": pa.array([0, None, 2**62], pa.timestamp("ns", "UTC")),
}
FACTS = dict.fromkeys(("whole", "unsigned", "half", "short", "decimal", "truth", "nothing"), (0, 1)) | {
    "names": ["low", "high"], "coded": ["low", "high"], "broken": ["low", "high"],
    "days": ("2020-01-01", "2026-01-01"), "times": ("2020-01-01", "2026-01-01"),
}  # fmt: skip


def spooled(rows, columns, schema):
    """Return a fit's rows of numbers as they come from the folder."""
    held = rows.spooled(columns, lambda table, used: read_source(table, used, schema=schema).nonprivate_rows)
    return np.concatenate([*held.read()])


def test_cells_are_read_as_those_of_a_table(tmp_path):
    table = pa.table(CELLS)
    schema = Schema(tuple(column_of(name, facts, "bounds") for name, facts in FACTS.items()))
    expected = read_source(table, list(FACTS), schema=schema).nonprivate_rows
    batches = [table.slice(0, 1), table.slice(1, 0), table.slice(1, 2)]
    reader = lambda: pa.RecordBatchReader.from_batches(table.schema, [b for one in batches for b in one.to_batches()])  # noqa: E731
    found = read_source(stream(reader), list(FACTS), schema=schema).nonprivate_rows
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(spooled(stream(reader, spool=tmp_path), list(FACTS), schema), expected)
    for name in FACTS:  # alone, as a column of a type of its own
        alone = read_source(table, [name], schema=schema).nonprivate_rows
        found = spooled(stream(reader, spool=tmp_path), [name], schema)
        assert found.dtype == alone.dtype
        np.testing.assert_array_equal(found, alone)
    assert os.listdir(tmp_path) == []


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, N), max_size=12), n=st.sampled_from([0, 1, N]), spooled=st.booleans())
def test_batches_of_any_sizes_give_the_same_release(cuts, n, spooled, tmp_path_factory):
    frame = FRAME[["age", 'Größe "x"']][:n]
    table = frame.to_arrow()
    ends = [0, *sorted(min(cut, n) for cut in cuts), n]
    parts = [table.slice(a, b - a) for a, b in pairwise(ends)]
    batches = [batch for part in parts for batch in part.combine_chunks().to_batches()]
    folder = tmp_path_factory.mktemp("spool") if spooled else None
    rows = stream(lambda: pa.RecordBatchReader.from_batches(table.schema, batches), spool=folder)
    assert model(bounds=BOX).fit(rows).release_.to_json() == model(bounds=BOX).fit(frame).release_.to_json()


@pytest.mark.parametrize("cell", ["7", "x", None])
def test_a_cell_decides_about_no_column(cell, tmp_path):
    """Frames take the types of their columns from the cells: a text among them is read as in a frame, and refused nowhere."""
    frame = pl.DataFrame({"a": [0.5, 0.25, 0.125] * 20, "b": ["0.1", "0.9", cell] * 20})
    expected = model(bounds=(0, 9)).fit(frame).release_.to_json()
    for source in (frame, frame.lazy(), lambda: frame.lazy()):
        for spool in (None, tmp_path):
            assert model(bounds=(0, 9)).fit(stream(source, spool=spool)).release_.to_json() == expected
    pandas = frame.to_pandas().astype(object)
    with pytest.raises(ParameterError, match="source"):
        stream(pandas)
    with pytest.raises(DataError, match="The stream cannot be read"):
        model(bounds=(0, 9)).fit(stream(lambda: pandas))


class Breaking:
    """Opens streams of which the first ones break, at once or after some rows."""

    def __init__(self, times, kind=OSError, begun=True, frame=FRAME):
        self.times, self.kind, self.begun, self.table, self.opened = times, kind, begun, frame.to_arrow(), 0

    def __call__(self):
        self.opened += 1
        if self.opened <= self.times and not self.begun:
            raise self.kind(CANARY)
        return pa.RecordBatchReader.from_batches(self.table.schema, self.batches(self.opened <= self.times))

    def batches(self, breaks):
        yield from self.table.slice(0, N // 2).to_batches()
        if breaks:
            raise self.kind(CANARY)
        yield from self.table.slice(N // 2).to_batches()


@pytest.mark.parametrize("spooled", [False, True])
@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("times", range(5))
def test_a_stream_that_breaks_is_read_again_twice_at_most(times, begun, spooled, tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=5.0)
    spool = tmp_path / "spool"
    spool.mkdir()
    source = Breaking(times, begun=begun)
    rows = stream(source, spool=spool if spooled else None)
    if times <= 2:
        assert model().fit(rows).release_.to_json() == model().fit(FRAME).release_.to_json()
        assert source.opened == times + 1
    else:
        with pytest.raises(DataError, match=r"The stream cannot be read\. Nothing was charged") as caught:
            model(noise_seed=None).fit(rows, ledger=ledger)
        assert source.opened == 3
        assert ledger.entries == ()
        error = caught.value
        assert CANARY not in f"{error!r} {error.args} {getattr(error, '__notes__', '')}"
        assert error.__cause__ is error.__context__ is None
    assert os.listdir(spool) == []


@pytest.mark.parametrize("spooled", [False, True])
def test_a_lack_of_memory_and_an_interrupt_end_a_reading(spooled, tmp_path):
    for kind, expected in ((MemoryError, CuratorError), (KeyboardInterrupt, KeyboardInterrupt)):
        source = Breaking(1, kind)
        with pytest.raises(expected) as caught:
            model().fit(stream(source, spool=tmp_path if spooled else None))
        assert source.opened == 1
        assert kind is KeyboardInterrupt or CANARY not in str(caught.value)
        assert os.listdir(tmp_path) == []


def test_a_full_disk_says_what_a_broken_source_says(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, CANARY)

    monkeypatch.setattr(Spooled, "_add", full)
    with pytest.raises(DataError) as caught:
        model().fit(stream(FRAME, spool=tmp_path))
    assert caught.value.said == "The stream cannot be read. Nothing was charged."
    assert CANARY not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_types_are_checked_in_each_reading():
    tables = [FRAME, FRAME.drop("age")]

    def opened():
        frame = tables.pop(0)
        return pa.RecordBatchReader.from_batches(frame.to_arrow().schema, Breaking(len(tables), frame=frame).batches(len(tables)))

    with pytest.raises(ParameterError, match="X has no column 'age'"):
        model().fit(stream(opened))
    assert tables == []


def test_a_reader_is_refused_unless_it_is_spooled(tmp_path):
    read = FRAME.to_arrow().to_reader
    for take in (stream, model().fit):
        with pytest.raises(ParameterError, match="can be read only once"):
            take(read())
    rows = stream(read(), spool=tmp_path)
    assert model().fit(rows).release_.to_json() == model().fit(FRAME).release_.to_json()
    reader = read()
    one = stream(lambda: reader, spool=tmp_path)
    model().fit(one)
    for again in (rows, one):
        with pytest.raises(DataError, match="The stream cannot be read"):
            model().fit(again)  # not of no rows


def test_a_broken_reader_is_not_begun_again(tmp_path):
    source = Breaking(1)
    rows = stream(source(), spool=tmp_path)
    with pytest.raises(DataError, match="The stream cannot be read"):
        model().fit(rows)


def test_what_is_spooled_is_for_its_owner_and_goes_when_the_fit_ends(tmp_path, monkeypatch):
    rows = stream(FRAME, columns=["age"], spool=tmp_path)
    _, held = model(bounds=(0, 110)).prepare(rows)
    home = next(tmp_path.iterdir())
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert (home / "rows").read_bytes() == FRAME["age"].fill_null(np.nan).to_numpy().tobytes()  # and nothing else
    del held
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr("spinney.fits.run.FitLedger", None)  # the fit fails after the rows were read, and before it opens them
    with pytest.raises(TypeError):
        model(bounds=(0, 110)).fit(rows)
    assert os.listdir(tmp_path) == []


def test_what_is_no_source_is_refused_by_its_type(tmp_path):
    for source in (RNG.normal(size=(3, 2)), [1, 2], "rows.parquet", None, 3.5):
        with pytest.raises(ParameterError, match="source"):
            stream(source)
    with pytest.raises(ParameterError, match="connection"):
        stream(FRAME, "select * from held")
    with pytest.raises(ParameterError, match="query"):
        stream(duckdb.connect(), FRAME)
    with pytest.raises(ParameterError, match="spool"):
        stream(FRAME, spool=3)
    with pytest.raises(DataError, match="folder"):
        stream(FRAME, spool=tmp_path / "nowhere")
    with pytest.raises(DataError, match="The stream cannot be read"):
        model().fit(stream(duckdb.connect(), "select * from nowhere"))
    with pytest.raises(DataError, match="The stream cannot be read"):
        model().fit(stream(lambda: [1, 2, 3]))
    assert repr(one_by_one(FRAME, Path())) == "Stream of Arrow batches"
    with pytest.raises(ParameterError, match="Only fit takes"):
        model().fit(FRAME).predict(stream(FRAME, spool=tmp_path))
