"""How a record of a CSV file is read depends on that record alone, and nothing is said about it."""

import csv
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.tables.records import Csv, as_names, read_header, read_records, reader_parts, stream_records

#: Cells with their values; None is missing.
CELLS = {
    b"1.5": 1.5, b" 1.5": 1.5, b"1.5 ": 1.5, b"\t1.5\t": 1.5, b"1\xc2\xa0": 1.0, b"\x0c1": 1.0, b"": None, b"  ": None,
    b"NA": None, b"null": None, b"None": None, b"nan": np.nan, b"-NaN": np.nan, b"inf": np.inf, b"-Infinity": -np.inf,
    b"1e400": np.inf, b"-1e400": -np.inf, b"1e-400": 0.0, b"5e-324": 5e-324, b"9007199254740993": 2.0**53, b"1" * 400: np.inf,
    b"0.1000000000000000055511151231257827": 0.1, b"0x10": None, b"0b1": None, b"true": None, b"TRUE": None, b"1_000": None,
    b"+1.5": 1.5, b"++1": None, b"-0": -0.0, b"1.": 1.0, b".5": 0.5, b".": None, b"-": None, b"1e5": 1e5, b"1E+5": 1e5,
    b"1e": None, b"1d5": None, b"007": 7.0, b"1 2": None, b"1;5": None, b"$1": None, b"1%": None, b"'1'": None, b"#1": None,
    b"1.5\x00": None, b"\x00": None, b"\xef\xbc\x91": None, b"\xef\xbb\xbf1": None, b"\xff": None, b"1\xff": None,
    b"1.5\xc2": None, b"1\r2": None, b"\r1": 1.0, b"1\r": 1.0,
}  # fmt: skip
QUOTED = {
    b'"1.5"': 1.5, b'" 1.5 "': 1.5, b'"1.5" ': 1.5, b'""': None, b'"1,5"': None, b'"1\n5"': None, b'"a""b"': None, b'a"b': None,
    b'1.5"': None, b' "1.5"': None, b'"x" y': None,
}  # fmt: skip


def read(path, body, header=b"a,b\n", numbers=("a",), texts=()):
    path.write_bytes(header + body)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_records(path, read_header(path), list(numbers), list(texts))


def same(found, expected):
    return (found is None and expected is None) or found == expected or (found != found and expected != expected)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("others", [b"", b"x,\xff\n", b'"2","3"\n', b'2,5" pipe\n', b"2\n2,3,4\n\n"], ids=repr)
def test_a_cell_is_read_alike_whatever_the_other_records_are(path, others):
    cells = CELLS | (QUOTED if b'"' in others else {})
    body = others + b"".join(cell + b",7\n" for cell in cells)
    numbers, _ = read(path, body, numbers=("b", "a"))
    assert numbers.columns == ["b", "a"]
    found = numbers["a"].to_list()[-len(cells) :]
    assert [
        (cell, value) for (cell, expected), value in zip(cells.items(), found, strict=True) if not same(value, expected)
    ] == []
    assert numbers["b"].to_list()[-len(cells) :] == [7.0] * len(cells)


PIECES = [*CELLS, b",", b",", b",", b"\n", b"\n", b"\n", b"\r\n", b"1", b" "]


LINES = st.lists(st.lists(st.sampled_from([*CELLS, *QUOTED, b'","', b'""']), max_size=4).map(b",".join), max_size=4)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join) | LINES.map(b"\n".join), st.integers(1, 3))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_both_ways_of_reading_agree(tmp_path_factory, body, width):
    path = tmp_path_factory.getbasetemp() / "agree.csv"
    path.write_bytes(b",".join([b"a", b"b", b"c"][:width]) + b"\n" + body)
    header = read_header(path)
    names = list(header.names)
    plain = list(stream_records(path, header, names, names[-1:]))
    quoted = list(reader_parts([body[:5], body[5:]], header, names, names[-1:]))
    for ours, theirs in zip(zip(*plain, strict=True), zip(*quoted, strict=True), strict=True):
        texts = [pl.concat(parts).with_columns(as_names(pl.col(pl.String))) for parts in (ours, theirs)]
        assert texts[0].equals(texts[1])


@given(st.lists(st.sampled_from([*PIECES, b'"', b'"', b'""', *QUOTED]), max_size=14).map(b"".join))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_no_file_raises_or_warns(tmp_path_factory, body):
    numbers, texts = read(tmp_path_factory.getbasetemp() / "any.csv", body, numbers=("a", "b"), texts=("b",))
    assert numbers.height == texts.height


@given(st.lists(st.lists(st.sampled_from([*CELLS, *QUOTED, b'"', b'"1', b'""1"']), max_size=3).map(b",".join), max_size=6))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_without_quotes_no_line_takes_another_along(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "letters.csv"

    def found(lines):
        path.write_bytes(b"\n".join([b'a,"b', *lines, b"1,last"]))
        header = read_header(path, Csv.of("comma", "utf-8", False, "here"))
        assert header.names == ("a", '"b')
        return pl.concat(read_records(path, header, ["a"], ['"b']), how="horizontal")

    alone = b"\n".join(lines).split(b"\n") if lines else []
    assert found(lines).equals(pl.concat([*(found([line])[0] for line in alone), found([])]))


def test_records_of_other_lengths_are_cut_or_filled(path):
    for quote in (b"", b'"x",9\n', b'9,5" pipe\n'):
        numbers, _ = read(path, b"1\n1,2,3,4\n\n,5\n" + quote + b"7,8\n", numbers=("a", "b"))
        assert numbers.rows()[:4] == [(1.0, None), (1.0, 2.0), (None, None), (None, 5.0)]
        assert numbers.rows()[-1] == (7.0, 8.0)


def test_quotes_hold_commas_line_ends_and_quotes(path):
    quoted, plain = b'1,"Ann, M."\n2,"Bob\nX"\n3,"a ""b"" c"\n4,""\n', b"5, Eve \n6,  \n7\n8,\xff\n"
    for body, expected in ((quoted + plain, ["Ann, M.", "Bob\nX", 'a "b" c', None]), (plain, [])):
        numbers, texts = read(path, body, texts=("b",))
        assert numbers["a"].to_list() == list(range(5 - len(expected), 9))
        assert texts["b"].to_list() == [*expected, "Eve", None, None, "\ufffd"]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (b"a,b\n", ("a", "b")),
        (b"a,b\r\n", ("a", "b")),
        (b"\xef\xbb\xbfa,b\n", ("a", "b")),
        (b'"a","b"\n', ("a", "b")),
        (b'\xef\xbb\xbf"a",b\n', ("a", "b")),
        (b'"dose, mg","b"\n', ("dose, mg", "b")),
        (b"a,b,a,a\n", ("a", "b", "a_duplicated_0", "a_duplicated_1")),
        (b",\n", ("", "_duplicated_0")),
    ],
    ids=repr,
)
@pytest.mark.parametrize("body", [b"1,2\n3,4\n", b'1,"2"\n3,4\n', b"1,2\r\n3,4"], ids=repr)
def test_a_header_names_the_columns(path, header, names, body):
    path.write_bytes(header + body)
    found = read_header(path)
    assert found.names == names
    numbers, _ = read_records(path, found, list(names), [])
    assert numbers.columns == list(names)
    assert [row[:2] for row in numbers.rows()] == [(1.0, 2.0), (3.0, 4.0)]


@pytest.mark.parametrize("quote", [b"", b'"9"\n'], ids=["plain", "quoted"])
@pytest.mark.parametrize(
    ("body", "cells"),
    [(b"", []), (b"1\n2\n3\n", [1, 2, 3]), (b"\n\n1\n2\n", [None, None, 1, 2]), (b"5,note\n6\n", [5, 6])],
    ids=repr,
)
def test_no_record_is_taken_for_a_header_that_has_a_comma_in_its_only_name(path, body, cells, quote):
    path.write_bytes(b'"income, net"\n' + body + quote)
    numbers, _ = read_records(path, read_header(path), ["income, net"], [])
    assert numbers["income, net"].to_list() == cells + ([9.0] if quote else [])


def test_names_that_go_on_in_the_next_line_are_refused(path):
    path.write_bytes(b'a,"b\n1,2\n3,secret\n')
    with pytest.raises(csv.Error) as caught:
        read_header(path)
    assert "secret" not in str(caught.value)


def test_the_end_of_one_reader_does_not_end_another(tmp_path):
    long, short = tmp_path / "long.csv", tmp_path / "short.csv"
    long.write_text('a,b\n1,"' + "x" * 200_000 + '"\n2,y\n')
    short.write_text('a,b\n1,"y"\n')
    before = csv.field_size_limit(131_072)
    try:
        parts = reader_parts([short.read_bytes()[4:]], read_header(short), ["a"], ["b"])
        next(parts)  # the first of two readers is still at work ...
        frames = []
        with ThreadPoolExecutor(2) as pool:
            done = threading.Event()

            def read_short_ones():
                while not done.is_set():
                    read_records(short, read_header(short), ["a"], ["b"])

            other = pool.submit(read_short_ones)
            try:
                for _ in range(60):  # ... while long cells are read beside others that come and go
                    frames.append(read_records(long, read_header(long), ["a"], ["b"])[0])
            finally:
                done.set()
            other.result()
        assert all(frame["a"].to_list() == [1.0, 2.0] for frame in frames)
        assert csv.field_size_limit() >= 2**31 - 1
    finally:
        csv.field_size_limit(before)
