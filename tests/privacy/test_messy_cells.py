"""Cells that a schema has to read: with frozen draws, neighbors and tables of any size ask, draw, warn and end alike."""

import dataclasses
import encodings
import gzip
import pkgutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from benchmarks.messy import LEFT, made, schema, with_left
from spinney import DataError, ParameterError, PrivateKMeans, scan, stream
from spinney.audit import compare, record, total_loss
from spinney.spaces.units import schema_of
from spinney.tables.encoding import codes
from spinney.tables.letters import decided

SIZES = (0, 1, 317, 4_000, 66_000)
TABLE = with_left(made(SIZES[-1], seed=6, wrong=0.1).messy)
MODEL = {"epsilon": 1.0, "bounds": schema(), "scale": "bounds", "random_state": 0}
#: Rows that follow no schema, and one that is far away by its notation.
ODD = pl.DataFrame([["1e999"] * 6 + ["$ 1,2", "\ud7ff", "31.02.2022", 'n"roth'], ["1"] * 6 + ["9,999.99", "0", "1.1.2020", "s"]],
                   schema=TABLE.schema, orient="row")  # fmt: skip
#: Files with semicolons: in the encoding of old Windows, in one of two bytes a letter, and with quotes that are letters.
WRITTEN = {
    "semicolons": {"encoding": "cp1252"}, "wide": {"encoding": "utf-16"}, "letters": {"quotes": False},
}  # fmt: skip
PACKED = {"csv": bytes, "csv.gz": gzip.compress, "csv.zst": lambda text: pa.compress(text, "zstd", asbytes=True)}
KINDS = ["pandas", "polars", "arrow", "stream", "parquet", "sheet", *PACKED, *WRITTEN]


def written(kind, frame, folder):
    """Return a table in a container."""
    path, typed = folder / f"{len(list(folder.iterdir()))}", frame.with_columns(pl.col("^x.$").cast(pl.Float64, strict=False))
    if kind == "pandas":
        return frame.to_pandas()
    if kind == "polars":
        return frame
    if kind == "arrow":
        return typed.to_arrow()
    if kind == "stream":
        return stream(lambda: typed.to_arrow().to_reader(max_chunksize=1_000))
    if kind == "parquet":
        typed.write_parquet(path.with_suffix(".parquet"))
        return path.with_suffix(".parquet")
    if kind == "sheet":
        path = path.with_suffix(".xlsx")
        book = pytest.importorskip("openpyxl").Workbook(write_only=True)
        sheet = book.create_sheet()
        for row in (typed.columns, *typed.rows()):
            sheet.append(row)
        book.save(path)
        return path
    if kind in WRITTEN:
        path = path.with_suffix(".csv")
        path.write_bytes(frame.write_csv(separator=";").encode(WRITTEN[kind].get("encoding", "utf-8"), "replace"))
        return scan(path, separator="semicolon", **WRITTEN[kind])
    path = path.with_suffix(f".{kind}")
    path.write_bytes(PACKED[kind](frame.write_csv().encode()))
    return path


def test_some_lawful_cells_are_left_to_patterns():
    for column in schema_of(schema(), None, "here").columns:
        if column.name in LEFT:
            cells = pl.Series([LEFT[column.name]])
            assert decided(cells, column)[1].tolist() == [0], column.name
            assert codes(cells, column).null_count() == 0, column.name


def happened(transcript):
    """Return all of a fit that is not an exact value."""
    draws = [dataclasses.replace(drawn.draw) for drawn in transcript.draws]
    return transcript.asked, draws, transcript.answers, transcript.seen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "changes",
    [{"n_clusters": "auto", "max_clusters": 3}, {"n_clusters": 3, "delta": 1e-6, "adjacency": "replace"}],
    ids=["found", "replace"],
)
@pytest.mark.matrix
def test_a_table_of_any_size_and_state_looks_alike(kind, changes, tmp_path):
    model = PrivateKMeans(**MODEL, **changes)
    first = record(model, written(kind, TABLE[:200], tmp_path))
    assert first.seen["error"] is None
    for size in SIZES[:4] if kind == "sheet" else SIZES:  # sheets are read cell by cell
        source = first.frozen()
        other = record(model, written(kind, TABLE[:size], tmp_path), source=source)
        assert happened(other) == happened(first), size
        assert (source.left, source.faults) == (0, []), size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.matrix
def test_one_messy_row_moves_answers_no_further_than_was_paid_for(kind, adjacency, tmp_path):
    model = PrivateKMeans(3, **MODEL, adjacency=adjacency)
    crowd = TABLE[:400]
    first = record(model, written(kind, crowd, tmp_path))
    changed = [crowd[1:], pl.concat([crowd, ODD[:1]]), pl.concat([crowd, ODD[1:]])]
    if adjacency == "replace":
        changed = [pl.concat([crowd[1:], ODD[place : place + 1]]) for place in (0, 1)]
    for other in changed:
        source = first.frozen()
        found = compare(first, record(model, written(kind, other, tmp_path), source=source))
        assert (source.left, found.visible, found.beyond) == (0, (), ())
        assert total_loss(found.losses, 0) <= model.epsilon


@pytest.mark.parametrize("name", sorted(one.name for one in pkgutil.iter_modules(encodings.__path__)))
def test_no_cell_changes_how_an_encoding_reads_others(name, tmp_path):
    """Shifts, escapes and quotes in disguise: whatever one cell holds, other rows stay as they are."""
    path = tmp_path / "rows.csv"
    cells = [
        b"1", b"\x1b$B", b"~{", b"+ACI-", b"+AAo-", b"\\x22", b"\\u0022", b"\\N{QUOTATION MARK}", b"\\q", b"\x0e", b"\xff",
        b"\x81", b"\xe0\x80",
    ]  # fmt: skip
    path.write_bytes(b"a,b\n1,2\n")
    try:
        is_read = scan(path, encoding=name).columns == ("a", "b")
    except (ParameterError, DataError):
        is_read = False
    if not is_read:  # refused, or more than a byte for each letter
        return
    for cell in cells:
        path.write_bytes(b"a,b\n" + cell + b",1\n" + b"1,2\n" * 100)
        _, *others = np.concatenate([*scan(path, encoding=name).read()]).tolist()
        assert others == [[1.0, 2.0]] * 100, cell


def test_a_quote_that_is_open_in_the_header_is_refused_whatever_follows(tmp_path):
    told = set()
    for rows in ("", "1,2,3\n", "1,2,3\n" * 50):
        path = tmp_path / "rows.csv"
        path.write_text('a,b,"c\n' + rows)
        with pytest.raises(DataError) as refused:
            PrivateKMeans(1, epsilon=1.0, bounds={"a": (0, 9), "b": (0, 9)}, scale="bounds").fit(path)
        told.add(str(refused.value))
    assert len(told) == 1


def test_many_signs_are_read_alike_in_numbers_and_texts():
    signs = [f"{chr(0x4E00 + i)}{chr(0x4E01 + i)}" for i in range(500)]
    facts = {"a": {"bounds": (0, 9), "signs": signs, "formats": ["1,234.5", "1.234,5", "1 234,5"]}, "b": (0, 9)}
    for cells in ([1.0, 2.0], [1.0, 2.0, "?"], [1.0, 2.0, f"{signs[-1]} 3"], []):
        rows = pd.DataFrame({"a": pd.Series(cells, dtype=object if len(cells) == 3 else float), "b": 1.0})
        PrivateKMeans(1, epsilon=1.0, bounds=facts, scale="bounds").fit(rows)
    for wrong in (["x" * 33], ["x" * 20 + chr(0x4E00 + i) for i in range(50)]):
        with pytest.raises(ParameterError, match="letters"):
            PrivateKMeans(1, epsilon=1.0, bounds={"a": {"bounds": (0, 9), "signs": wrong}, "b": (0, 9)}).plan()


def test_no_day_lies_before_the_year_one():
    facts = {"a": {"dates": ("2022-01-01", "2023-01-01"), "formats": ["DD.MM.YYYY"]}, "b": (0, 9)}
    rows = pd.DataFrame({"a": ["0000-01-01", "01.01.0000", "2022-06-01", "01.06.2022"], "b": 1.0})
    model = PrivateKMeans(1, epsilon=float("inf"), bounds=facts, scale="bounds").fit(rows)
    assert model.cluster_sizes_.sum() == 2
