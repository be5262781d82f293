"""Tables that stay on disk are read as tables in memory are, batch by batch, again and again."""

import os
import traceback
from datetime import date
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import Ledger, ParameterError, PrivateKMeans
from spinney.exceptions import DataError
from spinney.tables import batches, records, streams
from spinney.tables import files as tables
from spinney.tables.batches import Scan, memory_bytes, scan
from spinney.tables.files import Table, open_table, read_table

RNG = np.random.default_rng(0)


def collect(found):
    parts = list(found.read())
    return np.concatenate([np.empty((0, found.n_features)), *parts])


def assert_same(paths, columns=None, groups=None):
    """Both ways of reading agree bit for bit."""
    found, table = scan(paths, columns, groups), read_table(paths, columns, groups)
    assert isinstance(found, Scan)
    assert found.columns == table.columns
    assert found.has_groups == (groups is not None)
    for _ in range(2):
        rows = collect(found)
        assert rows.shape == table.nonprivate_rows.shape
        np.testing.assert_array_equal(rows, np.asarray(table.nonprivate_rows, dtype=np.float64))
    if groups is not None:
        assert list(found.read_groups()) == list(table.nonprivate_groups)
    return found


@pytest.fixture(params=[1, 7, 1000])
def batch(request, monkeypatch):
    monkeypatch.setattr(streams, "MOST_ROWS", request.param)
    monkeypatch.setattr(records, "BATCH", request.param)
    monkeypatch.setattr(records, "BLOCK", 16 * request.param)
    return request.param


#: Columns of all types that are read, each with missing cells where the type allows it.
TYPES = {
    "float32": pl.Series([1.5, None, float("nan"), float("inf"), -0.0], dtype=pl.Float32),
    "float64": pl.Series([0.1, 1e308, None, -1e-320, float("-inf")], dtype=pl.Float64),
    "int8": pl.Series([1, -2, None, 127, 0], dtype=pl.Int8),
    "int64": pl.Series([2**62 + 1, -(2**53) - 1, None, 3, 4], dtype=pl.Int64),
    "uint64": pl.Series([2**64 - 1, 2**53 + 1, None, 0, 1], dtype=pl.UInt64),
    "uint8": pl.Series([0, 1, 2, 3, 255], dtype=pl.UInt8),
    "bool": pl.Series([True, False, None, True, False]),
    "decimal": pl.Series([Decimal("1.25"), None, Decimal("-3.10"), Decimal(0), Decimal(7)]),
    "null": pl.Series([None] * 5, dtype=pl.Null),
}


@pytest.mark.parametrize("name", TYPES)
def test_parquet_columns_of_every_type_are_read_as_in_memory(tmp_path, batch, name):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"a": TYPES[name], "b": [1.0, 2.0, 3.0, 4.0, 5.0]}).write_parquet(path, row_group_size=3)
    assert_same(path)
    assert_same(path, ["b", "a"])


def test_all_types_together_and_the_columns_asked_for(tmp_path, batch):
    path = tmp_path / "rows.parquet"
    pl.DataFrame(TYPES).write_parquet(path)
    assert_same(path)
    assert assert_same(path, ["int8", "float32"]).columns == ("int8", "float32")


def test_columns_of_32_bits_stay_so(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"a": TYPES["float32"], "b": TYPES["float32"]}).write_parquet(path)
    assert {rows.dtype for rows in assert_same(path).read()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_files_and_folders_are_one_table(tmp_path, batch, kind):
    folder = tmp_path / "rows"
    folder.mkdir()
    for i, name in enumerate(["b", "a", "_c", ".d"]):
        frame = pl.DataFrame({"x": [i + 0.5, i], "who": [f"p{i}", None], "y": [i, None]})
        getattr(frame, f"write_{kind}")(folder / f"{name}.{kind}")
    (folder / "_SUCCESS").touch()
    found = assert_same(folder, ["y", "x"], "who")
    assert collect(found)[:, 1].tolist() == [1.5, 1.0, 0.5, 0.0]  # by name; hidden files do not count
    assert_same([folder / f"b.{kind}", folder], groups="who")
    assert_same(str(folder / f"b.{kind}"), ["x"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_a_partitioned_table_is_read_from_its_root(tmp_path, batch, kind):
    root, files = tmp_path / "rows", []
    for i, folder in enumerate(
        ["ward=Ash Lane/year=2024", "ward=Ash Lane/year=2025", "ward=b/year=2024", "notes", "_old=1", "."]
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
        path = root / folder / f"part.{kind}"
        frame = pl.DataFrame({"x": [i + 0.5, i], "y": [i, None]})
        np.save(path, frame.to_numpy()) if kind == "npy" else getattr(frame, f"write_{kind}")(path)
        files += [] if folder in ("notes", "_old=1") else [path]
    (root / "ward=b" / "_SUCCESS").touch()
    assert np.array_equal(collect(assert_same(root)), collect(scan([files[-1], *files[:-1]])), equal_nan=True)  # by name
    if kind == "npy":
        return
    assert_same(root, ["y"])
    with pytest.raises(DataError, match=r"(?s)has no column 'year'\.\nHint: it is in the names of folders, which are not read"):
        scan(root / "ward=b", ["x", "year"])


@pytest.mark.parametrize("read", [scan, read_table])
def test_an_error_about_a_partitioned_table_tells_no_cell(tmp_path, read):
    (tmp_path / "person=Ann Poe").mkdir()
    path = tmp_path / "person=Ann Poe" / "part.parquet"
    frame = pl.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"], "when": [date(2024, 1, 1)] * 2})
    frame.write_parquet(path)
    wrong = [
        lambda: read(tmp_path),
        lambda: read(tmp_path, ["z"]),
        lambda: read(tmp_path, ["x"], "when"),
        lambda: read(tmp_path, ["t"]),
    ]
    for call in wrong:
        with pytest.raises(DataError) as caught:
            call()
        assert "person=.../part.parquet" in str(caught.value)
        assert "Ann" not in str(caught.value)
    found = scan(tmp_path, ["x"])
    frame.write_csv(path)
    for call in (lambda: read(tmp_path), lambda: list(found.read())):
        with pytest.raises(DataError) as caught:
            call()
        assert "Ann" not in str(caught.value)


def test_files_may_have_other_types_and_orders_of_columns(tmp_path, batch):
    pl.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"b": [2.5], "c": [9], "a": [3.25]}).write_parquet(tmp_path / "2.parquet")
    assert collect(assert_same(tmp_path)).tolist() == [[1, 0.5], [2, 1.5], [3.25, 2.5]]


@pytest.mark.parametrize(
    "array",
    [
        RNG.normal(size=(50, 3)),
        RNG.normal(size=(50, 3)).astype(np.float32),
        np.asfortranarray(RNG.normal(size=(50, 3))),
        RNG.normal(size=(50, 3)).astype(">f8"),
        RNG.normal(size=(50, 3)).astype(np.float16),
        RNG.integers(-(2**62), 2**62, (50, 3)),
        RNG.integers(0, 2, (50, 3)).astype(bool),
        np.asfortranarray(RNG.integers(0, 255, (50, 3)).astype(np.uint8)),
        np.empty((0, 3)),
        RNG.normal(size=(1, 1)),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}{'F' if array.flags.f_contiguous else 'C'}",
)
def test_arrays_are_read_as_in_memory(tmp_path, batch, array):
    np.save(tmp_path / "rows.npy", array)
    np.save(tmp_path / "more.npy", array[:5])
    assert_same(tmp_path / "rows.npy")
    assert_same([tmp_path / "rows.npy", tmp_path / "more.npy"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_may_have_no_rows(tmp_path, kind):
    frame = pl.DataFrame({"a": [1.0], "who": ["p"]}).clear()
    getattr(frame, f"write_{kind}")(tmp_path / f"rows.{kind}")
    assert collect(assert_same(tmp_path / f"rows.{kind}", groups="who")).shape == (0, 1)


PIECES = [b"1.5", b" 2 ", b"x", b"1e400", b"\xff", b"\x00", b"1\r2", b" ", *3 * [b",", b"\n"], b"\r\n", b"\n\n"]


@given(st.lists(st.sampled_from([*PIECES, b'"', b'"a,\n"']), max_size=20).map(b"".join), st.integers(1, 3), st.integers(1, 30))
@settings(deadline=None, derandomize=True, max_examples=80)
def test_blocks_of_a_csv_file_are_read_as_the_whole(tmp_path_factory, body, width, block):
    path = tmp_path_factory.getbasetemp() / "blocks.csv"
    path.write_bytes(b",".join([b"a", b'"b"', b"c"][:width]) + b"\n" + body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", block)
        patch.setattr(records, "BATCH", block)
        assert_same(path)
        assert_same(path, ["a"], "b" if width > 1 else None)


def test_numbers_in_a_csv_file_are_the_same_bits(tmp_path, batch):
    values = RNG.normal(size=(400, 2)) * 10.0 ** RNG.integers(-300, 300, (400, 2))
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "".join(f"{a!r},{b!r} \n" for a, b in values.tolist()))
    assert_same(path)
    path.write_text("a,b\n" + "".join(f'{a!r},"{b!r}"\n' for a, b in values.tolist()))
    assert_same(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: [], "No table is given"),
        (lambda folder: folder / "none.csv", "is not a file"),
        (lambda folder: folder / "empty", "is a folder without tables"),
        (lambda folder: folder / "rows.txt", "is of a kind that cannot be read"),
        (lambda folder: [folder / "a.csv", folder / "a.npy"], "must be of one kind"),
        (lambda folder: [folder / "a.csv", folder / "b.csv"], "has no column 'x'"),
        (lambda folder: [folder / "a.npy", folder / "b.npy"], "another number of columns"),
    ],
)
def test_wrong_files_are_refused_by_their_schema(tmp_path, make, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "rows.txt").write_text("x\n1\n")
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").write_text("y\n1\n")
    np.save(tmp_path / "a.npy", np.ones((2, 2)))
    np.save(tmp_path / "b.npy", np.ones((2, 3)))
    for read in (scan, read_table):
        with pytest.raises(DataError, match=message):
            read(make(tmp_path))


def test_groups_of_other_types_are_refused(tmp_path):
    pl.DataFrame({"a": [1.0], "who": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": [1.0], "who": ["1"]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(DataError, match="another type"):
        read_table(tmp_path, groups="who")
    with pytest.raises(DataError, match="another type"):
        scan(tmp_path, groups="who").read_groups()


#: Texts whose bytes are no UTF-8, and what CSV makes of them.
BROKEN = [b"1.5", b"\xff", None, b"\xe2\x82", b" 2 ", b"\xed\xa0\x80", b"\xf0" * 20, b"7\xff", b"\xc3\xa9" * 9, b""]
BROKEN_NAMES = [None if cell is None else cell.decode("utf-8", "replace") for cell in BROKEN]


def texts(kind, cells):
    """An Arrow array of texts that nobody has checked."""
    if kind == "dictionary":
        values = list(dict.fromkeys(cell for cell in cells if cell is not None))
        indices = pa.array([None if cell is None else values.index(cell) for cell in cells], pa.int32())
        return pa.DictionaryArray.from_arrays(indices, texts("string", values))
    binary, text = {
        "string": (pa.binary(), pa.string()),
        "large_string": (pa.large_binary(), pa.large_string()),
        "string_view": (pa.binary_view(), pa.string_view()),
    }[kind]
    array = pa.array(cells, binary)
    return pa.Array.from_buffers(text, len(array), array.buffers())


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_names_that_are_no_utf8_are_read_as_in_a_csv_file(tmp_path, batch, kind):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"b": np.arange(10.0), "who": texts(kind, BROKEN)}), path, row_group_size=4)
    rows = collect(assert_same(path, groups="who"))
    np.testing.assert_array_equal(rows[:, 0], np.arange(10.0))
    assert list(read_table(path, groups="who").nonprivate_groups) == BROKEN_NAMES


@pytest.mark.parametrize("kind", ["string", "dictionary"])
def test_a_broken_name_changes_no_other_name(tmp_path, kind):
    def read(cell):
        path = tmp_path / "rows.parquet"
        pq.write_table(pa.table({"a": texts(kind, [b"1", b" x ", None, b"2e3", cell]), "b": np.arange(5.0)}), path)
        return list(read_table(path, groups="a").nonprivate_groups)[:-1]

    assert str(read(b"\xff")) == str(read(b"5"))


@pytest.mark.parametrize("kind", ["string", "dictionary"])
def test_names_may_all_be_missing(tmp_path, kind):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": pa.array([None] * 3, pa.float64()), "who": texts(kind, [None] * 3)}), path)
    assert np.isnan(collect(assert_same(path, groups="who"))).all()


def test_one_broken_name_decides_no_error_of_a_fit(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": [0.1, 0.2, 0.3], "who": texts("string", [b"A", b"B", b"\xff"])}), path)
    model = PrivateKMeans(1, epsilon=1.0, bounds=(0, 1), max_rows_per_group=1, noise_seed=1, random_state=0)
    table = read_table(path, groups="who")
    centers = model.fit(table.nonprivate_rows, groups=table.nonprivate_groups).cluster_centers_.tolist()
    assert model.fit(scan(path, groups="who")).cluster_centers_.tolist() == centers


@pytest.mark.parametrize("digits", [20, 50])
def test_wide_decimals_are_refused_by_their_type_before_a_charge(tmp_path, digits):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": pa.array([Decimal("0.5")], pa.decimal256(digits, 2)), "b": [1.0]}), path)
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=3.0, max_rows_per_group=1)
    model = PrivateKMeans(1, epsilon=1.0, bounds=(0, 3), max_rows_per_group=1)
    with pytest.raises(DataError, match="column 'a' does not hold numbers"):
        model.fit(scan(path), ledger=ledger)
    with pytest.raises(DataError, match="column 'a' does not hold names"):
        model.fit(scan(path, groups="a"), ledger=ledger)
    assert ledger.spent == 0
    with pytest.raises(DataError, match="column 'a' does not hold numbers"):
        read_table(path)
    with pytest.raises(DataError, match="column 'a' does not hold names"):
        read_table(path, groups="a")
    assert collect(assert_same(path, ["b"])).tolist() == [[1.0]]


def test_whole_numbers_of_128_bits_are_refused_when_a_table_is_opened(tmp_path):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)}).write_parquet(path)
    for read in (scan, read_table):
        with pytest.raises(DataError, match=r"of a type that cannot be read\.\nHint: "):
            read(path)


def test_a_type_that_polars_does_not_take_is_refused(tmp_path, monkeypatch):
    def panic(column):
        raise pl.exceptions.PanicException("no such type")

    path = tmp_path / "rows.parquet"
    pl.DataFrame({"a": [1.0]}).write_parquet(path)
    monkeypatch.setattr(pl, "from_arrow", panic)
    for read in (scan, read_table):
        with pytest.raises(DataError, match="column 'a' does not hold numbers"):
            read(path)


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
@pytest.mark.parametrize("error", [ValueError, pl.exceptions.PanicException])
def test_an_error_of_a_reader_leaves_nothing_behind(tmp_path, monkeypatch, kind, error):
    def fail(*arguments, **options):
        raise error("SECRET 0.7")

    path = tmp_path / f"rows.{kind}"
    if kind == "npy":
        np.save(path, np.ones((3, 2)))
    else:
        getattr(pl.DataFrame({"a": [1], "who": ["A"]}), f"write_{kind}")(path)
    found = scan(path, groups=None if kind == "npy" else "who")
    monkeypatch.setattr(np, "fromfile", fail)
    monkeypatch.setattr(np.lib.format, "open_memmap", fail)
    monkeypatch.setattr(pl, "scan_csv", fail)
    monkeypatch.setattr(pl, "from_arrow", fail)
    reads = [lambda: collect(found)]
    if kind == "parquet":
        monkeypatch.setattr(pl, "scan_parquet", fail)
    if kind != "npy":
        reads.append(found.read_groups)
    for read in [*reads, lambda: read_table(path)]:
        with pytest.raises(DataError, match="cannot be read") as caught:
            read()
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        assert "SECRET" not in "".join(traceback.format_exception(caught.value))


def corrupt(path):
    """Break a file in its middle, with its size, its ends and its time as they were."""
    state, content = path.stat(), bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle - 500 : middle + 500] = b"7" * 1000
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("compression", ["snappy", "zstd"])
def test_a_file_that_is_broken_in_the_middle_is_an_error_without_cells(tmp_path, compression):
    path = tmp_path / "rows.parquet"
    table = pa.table({"a": RNG.normal(size=200_000), "who": np.arange(200_000)})
    pq.write_table(table, path, compression=compression, write_page_checksum=True)
    found = scan(path, ["a"], "who")
    collect(found)
    corrupt(path)
    for read in (lambda: collect(scan(path)), lambda: collect(found)):
        with pytest.raises(DataError, match="cannot be read") as caught:
            read()
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=1)
    with pytest.raises(DataError, match="cannot be read"):
        model.fit(found)
    assert not hasattr(model, "release_")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1"])
def test_what_is_no_parquet_file_is_an_error(tmp_path, content):
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        scan(path)


def test_an_array_that_ends_early_is_an_error(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, RNG.normal(size=(100, 3)))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DataError, match="cannot be read"):
        scan(path)


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
@pytest.mark.parametrize("change", ["written", "touched", "replaced", "removed"])
def test_a_file_that_changes_is_an_error(tmp_path, kind, change):
    path = tmp_path / f"rows.{kind}"

    def write(target):
        if kind == "npy":
            np.save(target, np.ones((100, 2)))
        else:
            getattr(pl.DataFrame({"a": np.ones(100), "b": np.ones(100)}), f"write_{kind}")(target)

    write(path)
    found = scan(path)
    passes = found.read()
    next(passes)
    if change == "written":
        path.write_bytes(path.read_bytes() + b"\n")
    elif change == "touched":
        os.utime(path, ns=(1, 1))
    elif change == "replaced":
        write(tmp_path / f"other.{kind}")
        os.replace(tmp_path / f"other.{kind}", path)
    else:
        path.unlink()
    with pytest.raises(DataError, match="has changed while it was in use"):
        list(passes)
    with pytest.raises(DataError, match="has changed while it was in use"):
        PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).fit(found)


def test_large_tables_stay_on_disk(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"a": np.ones(1000), "b": np.ones(1000)}).write_parquet(path)
    assert isinstance(open_table(path), Table)
    monkeypatch.setattr(tables, "memory_bytes", lambda: 8 * 16_000)
    assert isinstance(open_table(path), Table)
    monkeypatch.setattr(tables, "memory_bytes", lambda: 8 * 16_000 - 8)
    assert isinstance(open_table(path), Scan)
    assert isinstance(open_table(path, ["a"]), Table)


def test_the_memory_of_a_container_is_its_limit(tmp_path, monkeypatch):
    machine = memory_bytes()
    assert 2**26 < machine < 2**50
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(batches, "LIMITS", (limit, tmp_path / "none"))
    for text, expected in (("123456\n", 123456), ("max\n", None), ("9" * 19, None)):
        limit.write_text(text)
        assert memory_bytes() == (expected or max(machine, memory_bytes()))
    monkeypatch.delattr(os, "sysconf")
    limit.write_text("max")
    assert memory_bytes() == batches.USUAL_MEMORY


def test_batches_are_bounded_in_rows_and_cells():
    assert streams.batch_rows(1) == 2**16
    assert streams.batch_rows(1000) * 1000 <= 2**20
    assert streams.batch_rows(2**21) == 1


def test_the_estimator_takes_a_table_on_disk(tmp_path):
    frame = pl.DataFrame({"a": RNG.normal(0, 0.1, 500), "b": RNG.normal(0, 0.1, 500), "who": np.arange(500) // 2})
    frame.write_parquet(tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", frame[["a", "b"]].to_numpy())
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).fit(scan(tmp_path / "rows.parquet", ["a", "b"]))
    assert (model.n_features_in_, list(model.feature_names_in_)) == (2, ["a", "b"])
    assert model.release_.feature_names == ("a", "b")
    assert model.predict(frame[["a", "b"]]).shape == (500,)
    model.fit(scan(tmp_path / "rows.npy"))
    assert not hasattr(model, "feature_names_in_")
    grouped = scan(tmp_path / "rows.parquet", ["a", "b"], "who")
    assert "rows" not in repr(grouped)
    with pytest.raises(ParameterError, match="max_rows_per_group"):
        model.fit(grouped)
    model.set_params(max_rows_per_group=2)
    assert model.fit(grouped).release_.max_rows_per_group == 2
    with pytest.raises(ParameterError, match="Only fit takes a table on disk"):
        model.fit_predict(grouped)
    with pytest.raises(ParameterError, match="brings its own groups"):
        model.fit(grouped, groups=frame["who"])


def test_parameters_are_checked_before_a_table_is_read(tmp_path, monkeypatch):
    pl.DataFrame({"a": [1.0]}).write_parquet(tmp_path / "rows.parquet")
    found = scan(tmp_path / "rows.parquet")
    monkeypatch.setattr(Scan, "read", None)
    with pytest.raises(ParameterError, match="epsilon"):
        PrivateKMeans(2, epsilon=-1, bounds=(-1, 1)).fit(found)
