"""Tables in files are read alike in memory and batch by batch, again and again, and nothing is said about a cell."""

import gzip
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

from spinney import DataError, Ledger, PrivateKMeans
from spinney.spaces.column_facts import column_of
from spinney.spaces.schema import Schema
from spinney.tables import files, memory, records, streams
from spinney.tables.batches import Scan, opened, scan
from spinney.tables.files import Table, open_table, read_table
from spinney.tables.memory import memory_bytes
from spinney.tables.records import Csv

RNG = np.random.default_rng(0)


def collect(found):
    return np.concatenate([np.empty((0, found.n_features)), *found.read()])


def assert_read(paths, expected, columns=None, groups=None, names=None):
    """Both ways of reading give these rows and these names of groups, again and again."""
    found, table = scan(paths, columns, groups), read_table(paths, columns, groups)
    assert found.columns == table.columns
    assert columns is None or found.columns == tuple(columns)
    assert found.has_groups == (groups is not None)
    for rows in (table.nonprivate_rows, collect(found), collect(found)):
        np.testing.assert_array_equal(np.asarray(rows, dtype=np.float64), expected)
    if groups is not None:
        assert list(found.read_groups()) == list(table.nonprivate_groups) == names
    return found


def write(frame, path, **options):
    getattr(frame, f"write_{path.suffix[1:]}")(path, **options)
    return path


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
    "bool": pl.Series([True, False, None, True, False]),
    "decimal": pl.Series([Decimal("1.25"), None, Decimal("-3.10"), Decimal(0), Decimal(7)]),
    "null": pl.Series([None] * 5, dtype=pl.Null),
}


@pytest.mark.parametrize("names", [*([name] for name in TYPES), list(TYPES), ["int8", "float32"]], ids="-".join)
def test_columns_of_every_type_are_read_as_numbers(tmp_path, batch, names):
    path = write(pl.DataFrame(TYPES), tmp_path / "rows.parquet", row_group_size=3)
    expected = pl.DataFrame(TYPES).select(pl.col(names).cast(pl.Float64)).to_numpy()
    found = assert_read(path, expected, names)
    kinds = {np.dtype(np.float32)} if names == ["float32"] else {np.dtype(np.float64)}
    assert {rows.dtype for rows in found.read()} == kinds
    assert read_table(path, names).nonprivate_rows.flags.c_contiguous


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_files_and_folders_are_one_table(tmp_path, batch, kind):
    folder = tmp_path / "rows"
    folder.mkdir()
    for i, name in enumerate(["b", "a", "_c", ".d"]):
        frame = pl.DataFrame({"x": [i + 0.5, i], "who": [f"p{i}", None], "y": [i, None]})
        write(frame if i else frame[["y", "who", "x"]], folder / f"{name}.{kind}")
    (folder / "_SUCCESS").touch()
    first, second = [[0.0, 0.5], [np.nan, 0.0]], [[1.0, 1.5], [np.nan, 1.0]]
    assert_read(folder, second + first, ["y", "x"], "who", ["p1", None, "p0", None])  # by name; hidden files do not count
    assert_read([folder / f"b.{kind}", folder], first + second + first, None, "who", [*["p0", None, "p1", None], "p0", None])
    write(frame.clear(), folder / f"empty.{kind}")
    assert_read(folder / f"empty.{kind}", np.empty((0, 2)), ["y", "x"], "who", [])
    assert_read(str(folder / f"b.{kind}"), np.array(first)[:, 1:], ["x"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_a_partitioned_table_is_read_from_its_root(tmp_path, kind):
    root, expected = tmp_path / "rows", {}
    for i, folder in enumerate(
        ["ward=Ash Lane/year=2024", "ward=Ash Lane/year=2025", "ward=b/year=2024", "notes", "_old=1", "."]
    ):
        (root / folder).mkdir(parents=True, exist_ok=True)
        path, expected[folder] = root / folder / f"part.{kind}", [[i + 0.5, i], [i, np.nan]]
        np.save(path, expected[folder]) if kind == "npy" else write(pl.DataFrame({"x": [i + 0.5, i], "y": [i, None]}), path)
    (root / "ward=b" / "_SUCCESS").touch()
    places = [".", "ward=Ash Lane/year=2024", "ward=Ash Lane/year=2025", "ward=b/year=2024"]  # by name
    assert_read(root, np.concatenate([expected[place] for place in places]))
    if kind != "npy":
        with pytest.raises(
            DataError, match=r"(?s)has no column 'year'\.\nHint: it is in the names of folders, which are not read"
        ):
            scan(root / "ward=b", ["x", "year"])


def test_an_error_about_a_partitioned_table_tells_no_cell(tmp_path):
    (tmp_path / "person=Ann Poe").mkdir()
    path = tmp_path / "person=Ann Poe" / "part.parquet"
    frame = pl.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"], "when": [date(2024, 1, 1)] * 2})
    found = scan(write(frame, path), ["x"])
    wrong = [(), (["z"],), (["x"], "when"), (["t"],)]
    calls = [lambda read=read, given=given: read(tmp_path, *given) for read in (scan, read_table) for given in wrong]
    for call in calls:
        with pytest.raises(DataError, match=r"person=\.\.\./part\.parquet") as caught:
            call()
        assert "Ann" not in str(caught.value)
    frame.write_csv(path)
    for call in (calls[0], lambda: list(found.read())):
        with pytest.raises(DataError) as caught:
            call()
        assert "Ann" not in str(caught.value)


ARRAYS = [
    RNG.normal(size=(50, 3)),
    np.asfortranarray(RNG.normal(size=(50, 3))).astype(np.float32),
    RNG.normal(size=(50, 3)).astype(">f8"),
    RNG.integers(-(2**62), 2**62, (50, 3)),
    np.asfortranarray(RNG.integers(0, 255, (50, 3)).astype(np.uint8)),
    RNG.integers(0, 2, (50, 3)).astype(bool),
    np.empty((0, 3)),
    RNG.normal(size=(1, 1)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str}{array.shape}{array.flags.f_contiguous}")
def test_arrays_are_read_from_disk(tmp_path, batch, array):
    np.save(tmp_path / "rows.npy", array)
    np.save(tmp_path / "more.npy", array[:5])
    assert_read(tmp_path / "rows.npy", array)
    assert_read([tmp_path / "rows.npy", tmp_path / "more.npy"], np.concatenate([array, array[:5]]))
    assert isinstance(read_table(tmp_path / "rows.npy").nonprivate_rows, np.memmap)


PIECES = [b"1.5", b" 2 ", b"x", b"1e400", b"\xff", b"\x00", b"1\r2", b" ", *3 * [b",", b"\n"], b"\r\n", b"\n\n"]


@given(st.lists(st.sampled_from([*PIECES, b'"', b'"a,\n"']), max_size=20).map(b"".join), st.integers(1, 3), st.integers(1, 30))
@settings(deadline=None, derandomize=True, max_examples=80)
def test_blocks_of_a_csv_file_are_read_as_the_whole(tmp_path_factory, body, width, block):
    path, groups = tmp_path_factory.getbasetemp() / "blocks.csv", "b" if width > 1 else None
    path.write_bytes(b",".join([b"a", b'"b"', b"c"][:width]) + b"\n" + body)
    whole, first = read_table(path), read_table(path, ["a"], groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", block)
        patch.setattr(records, "BATCH", block)
        assert_read(path, whole.nonprivate_rows)
        assert_read(path, first.nonprivate_rows, ["a"], groups, None if groups is None else list(first.nonprivate_groups))


def test_numbers_in_a_csv_file_are_the_same_bits(tmp_path, batch):
    values = RNG.normal(size=(200, 2)) * 10.0 ** RNG.integers(-300, 300, (200, 2))
    path = tmp_path / "rows.csv"
    for form in ("{!r},{!r} \n", '{!r},"{!r}"\n'):
        path.write_text("a,b\n" + "".join(form.format(*row) for row in values.tolist()))
        assert_read(path, values)


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
    for name, text in (("rows.txt", "x\n1\n"), ("a.csv", "x\n1\n"), ("b.csv", "y\n1\n")):
        (tmp_path / name).write_text(text)
    np.save(tmp_path / "a.npy", np.ones((2, 2)))
    np.save(tmp_path / "b.npy", np.ones((2, 3)))
    for read in (scan, read_table):
        with pytest.raises(DataError, match=message):
            read(make(tmp_path))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ["a", "z"]}, "no column 'z'"),
        ({"groups": "z"}, "no column 'z'"),
        ({"columns": []}, "no columns to cluster"),
        ({"columns": ["a", "b", "a"]}, "'a' is asked for twice"),
    ],
    ids=["missing", "missing groups", "none", "twice"],
)
def test_columns_that_cannot_be_had_are_refused(tmp_path, kind, options, words):
    with pytest.raises(DataError, match=rf"{words}.*\nHint: "):
        read_table(write(pl.DataFrame({"a": [1.5], "b": [1], "who": ["p"]}), tmp_path / f"rows.{kind}"), **options)


def save(array, **options):
    return lambda path: np.save(path, array, **options)


def save_archive(path):
    with path.open("wb") as file:
        np.savez(file, a=np.zeros((2, 2)))


BROKEN_FILES = {
    "no header": ("csv", b"", "no columns to cluster"),
    "blank header": ("csv", b"\n1,2\n", "no columns to cluster"),
    "header of two lines": ("csv", b"a,b\rc\n1,2\n", "cannot be read"),
    "empty": ("parquet", b"", "cannot be read"),
    "half": ("parquet", b"PAR1" + b"x" * 100 + b"PAR1", "cannot be read"),
    "empty array": ("npy", b"", "cannot be read"),
    "half an array": ("npy", b"\x93NUMPY", "cannot be read"),
    "an array of one axis": ("npy", save(np.zeros(3)), "does not hold a two-dimensional array of numbers"),
    "no columns": ("npy", save(np.zeros((2, 0))), "does not hold a two-dimensional array of numbers"),
    "texts": ("npy", save(np.array([["a"]])), "does not hold a two-dimensional array of numbers"),
    "complex": ("npy", save(np.zeros((2, 2), complex)), "does not hold a two-dimensional array of numbers"),
    "objects, not to be unpickled": ("npy", save(np.array([[{}]]), allow_pickle=True), "cannot be read"),
    "an archive": ("npy", save_archive, "cannot be read"),
    "128 bits": ("parquet", pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)}).write_parquet, "of a type that cannot be read"),
}


@pytest.mark.parametrize(("kind", "content", "words"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_a_file_that_is_no_table_is_refused(tmp_path, kind, content, words):
    path = tmp_path / f"rows.{kind}"
    path.write_bytes(content) if isinstance(content, bytes) else content(path)
    for read in (scan, read_table):
        with pytest.raises(DataError, match=rf"(?s){words}.*Hint: "):
            read(path)


def test_names_of_groups_are_texts_or_numbers_of_one_type(tmp_path):
    for i, column in enumerate([[1], ["1"], [date(2020, 1, 1)], [[1]]]):
        write(pl.DataFrame({"a": [1.0], "who": column}), tmp_path / f"{i}.parquet")
    for read in (lambda *given: scan(*given).read_groups(), read_table):
        with pytest.raises(DataError, match="another type"):
            read([tmp_path / "0.parquet", tmp_path / "1.parquet"], None, "who")
        for i in (2, 3):
            with pytest.raises(DataError, match=r"column 'who' does not hold names\.\nHint: "):
                read(tmp_path / f"{i}.parquet", None, "who")


#: Texts whose bytes are no UTF-8, and what CSV makes of them.
BROKEN = [b"1.5", b"\xff", None, b"\xe2\x82", b" 2 ", b"\xed\xa0\x80", b"\xf0" * 20, b"7\xff", b"\xc3\xa9" * 9, b""]


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
@pytest.mark.parametrize("cells", [BROKEN, [None] * 10], ids=["broken", "missing"])
def test_names_that_are_no_utf8_are_read_as_in_a_csv_file(tmp_path, batch, kind, cells):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"b": np.arange(10.0), "who": texts(kind, cells)}), path, row_group_size=4)
    names = [None if cell is None else cell.decode("utf-8", "replace") for cell in cells]
    assert_read(path, np.arange(10.0)[:, None], groups="who", names=names)


def test_wide_decimals_are_refused_by_their_type_before_a_charge(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": pa.array([Decimal("0.5")], pa.decimal256(50, 2)), "b": [1.0]}), path)
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=3.0, max_rows_per_group=1)
    model = PrivateKMeans(1, epsilon=1.0, bounds=(0, 3), max_rows_per_group=1)
    for groups, words in ((None, "does not hold numbers"), ("a", "does not hold names")):
        for read in (scan, read_table):
            with pytest.raises(DataError, match=f"column 'a' {words}"):
                model.fit(read(path, groups=groups), ledger=ledger)
    assert ledger.spent == 0
    assert_read(path, [[1.0]], ["b"])


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
@pytest.mark.parametrize("error", [ValueError, pl.exceptions.PanicException])
def test_an_error_of_a_reader_leaves_nothing_behind(tmp_path, monkeypatch, kind, error):
    def fail(*arguments, **options):
        raise error("SECRET 0.7")

    path = tmp_path / f"rows.{kind}"
    np.save(path, np.ones((3, 2))) if kind == "npy" else write(pl.DataFrame({"a": [1], "who": ["A"]}), path)
    found = scan(path, groups=None if kind == "npy" else "who")
    for owner, name in ((np, "fromfile"), (np.lib.format, "open_memmap"), (pl, "scan_csv"), (pl, "from_arrow")):
        monkeypatch.setattr(owner, name, fail)
    if kind == "parquet":
        monkeypatch.setattr(pl, "scan_parquet", fail)
    for read in [lambda: collect(found), lambda: read_table(path), *([] if kind == "npy" else [found.read_groups])]:
        with pytest.raises(DataError, match="cannot be read") as caught:
            read()
        assert caught.value.__context__ is caught.value.__cause__ is None
        assert "SECRET" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("compression", ["snappy", "zstd"])
def test_a_file_that_is_broken_in_the_middle_is_an_error_without_cells(tmp_path, compression):
    path = tmp_path / "rows.parquet"
    table = pa.table({"a": RNG.normal(size=200_000), "who": np.arange(200_000)})
    pq.write_table(table, path, compression=compression, write_page_checksum=True)
    found = scan(path, ["a"], "who")
    collect(found)
    state, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2 - 500 : len(content) // 2 + 500] = b"7" * 1000
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # its size, its ends and its time are as they were
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=1)
    for read in (lambda: collect(scan(path)), lambda: collect(found), lambda: read_table(path), lambda: model.fit(found)):
        with pytest.raises(DataError, match="cannot be read") as caught:
            read()
        assert caught.value.__context__ is caught.value.__cause__ is None
    assert not hasattr(model, "release_")


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
@pytest.mark.parametrize("change", ["written", "touched", "replaced", "removed"])
def test_a_file_that_changes_is_an_error(tmp_path, kind, change):
    path, other = tmp_path / f"rows.{kind}", tmp_path / f"other.{kind}"
    for target in (path, other):
        np.save(target, np.ones((9, 2))) if kind == "npy" else write(pl.DataFrame({"a": np.ones(9), "b": np.ones(9)}), target)
    found = scan(path)
    passes = found.read()
    next(passes)
    if change == "written":
        path.write_bytes(path.read_bytes() + b"\n")
    elif change == "touched":
        os.utime(path, ns=(1, 1))
    elif change == "replaced":
        os.replace(other, path)
    else:
        path.unlink()
    for read in (lambda: list(passes), lambda: PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).fit(found)):
        with pytest.raises(DataError, match="has changed while it was in use"):
            read()


def test_large_tables_stay_on_disk(tmp_path, monkeypatch):
    path = write(pl.DataFrame({"a": np.ones(1000), "b": np.ones(1000)}), tmp_path / "rows.parquet")
    for size, kind in ((8 * 16_000, Table), (8 * 16_000 - 8, Scan)):
        monkeypatch.setattr(files, "memory_bytes", lambda size=size: size)
        assert isinstance(open_table(path), kind)
        assert isinstance(open_table(path, ["a"]), Table)


def test_the_memory_of_a_container_is_its_limit(tmp_path, monkeypatch):
    machine = memory_bytes()
    assert 2**26 < machine < 2**50
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "LIMITS", (limit, tmp_path / "none"))
    for text, expected in (("123456\n", 123456), ("max\n", None), ("9" * 19, None)):
        limit.write_text(text)
        assert memory_bytes() == (expected or max(machine, memory_bytes()))
    monkeypatch.delattr(os, "sysconf")
    limit.write_text("max")
    assert memory_bytes() == memory.USUAL_MEMORY


@given(st.integers(1, 2**22))
def test_batches_are_bounded_in_rows_and_cells(width):
    rows = streams.batch_rows(width)
    assert 1 <= rows <= 2**16
    assert rows == 1 or rows * width <= 2**20


def compressed(path, content, ending):
    """Write a compressed file in two parts, one behind the other, as some tools do."""
    with path.open("wb") as file:
        for part in (content[:100], content[100:]):
            file.write(gzip.compress(part) if ending == ".gz" else pa.compress(part, codec="zstd", asbytes=True))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_compressed_csv_file_is_read_as_it_was(tmp_path, batch, ending, encoding):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"Größe": rng.random(60), "kind": rng.choice(["a", "b,c"], 60), "who": rng.integers(0, 9, 60)})
    content = frame.write_csv().encode(encoding)
    plain, path = tmp_path / "rows.csv", tmp_path / f"rows.CSV{ending}"
    plain.write_bytes(content)
    compressed(path, content, ending)
    schema = Schema((column_of("Größe", (0, 1), "bounds"), column_of("kind", ["a", "b,c"], "bounds")))
    written, asked = Csv(encoding=encoding), (["Größe", "kind"], "who", schema)
    expected, found = read_table(plain, *asked, written), read_table(path, *asked, written)
    np.testing.assert_array_equal(found.nonprivate_rows, expected.nonprivate_rows)
    assert found.nonprivate_groups.equals(expected.nonprivate_groups)
    np.testing.assert_array_equal(np.concatenate([*opened(path, *asked, written).read_from(17)]), expected.nonprivate_rows[17:])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"rows.CSV.* cannot be read.") as caught:
        read_table(path, *asked, written)
    assert caught.value.__context__ is None
