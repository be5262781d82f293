"""Whatever is read letter by letter is what the patterns say, bit for bit, in whatever company a cell stands."""

import inspect
import re
from contextlib import nullcontext
from datetime import date, timedelta
from itertools import permutations, product
from random import Random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from benchmarks.messy import made, schema
from spinney.spaces.column_facts import column_of
from spinney.spaces.schema import Schema
from spinney.tables import letters
from spinney.tables.encoding import codes
from spinney.tables.letters import decided
from spinney.tables.notation import text_cell
from spinney.tables.records import as_names
from spinney.tables.sources import read_source

NUMBERS = [f"1{thousands}234{decimal}5" for thousands in ["", *",. '"] for decimal in ".," if thousands != decimal]
DATES = [
    mark.join(parts)
    for year, month, mark in product(["YYYY", "YY"], ["MMM", "MM"], ["", *"-./ "])
    for parts in permutations([year, month, "DD"])
    if mark.join(parts) != "YYYY-DD-MM"
]
NOTATION, DATE = re.compile("1([,. ']?)234([.,])5"), re.compile("Y+|M+|D+")
SIGNS = ["\N{EURO SIGN}", "EUR", "E", "e", "per kg", "g", "T", "kg", "1\N{FRACTION SLASH}2".strip("12"), "\u00e9\u4e00"]
CATEGORIES = ["north", "N", "n\u00f6rd", "\u0130", "s", "a b", "12", "K", "Stra\u00dfe", "\u03a3", "x" * 40]
BLANKS = [
    " ", "\t", "\n", "\r", "\v", "\f", "\x00", "\x1c", "\x1f", "\x85", "\u00a0", "\u2009", "\u202f", "\u3000", "\u200b",
    "\ufeff",
]  # fmt: skip
PIECES = [
    *"0123456789,.'-+/:TeE_", *BLANKS, *SIGNS, *CATEGORIES, "\u2019", "inf", "nan", "true", "YES", "1.0", "\u0661", "\u212a",
]  # fmt: skip
MONTHS = ["Jan", "feb", "MAR", "apr", "May", "jun", "JUL", "aug", "sep", "oct", "Nov", "dec", "xyz"]
PARTS = {
    "DD": ["1", "01", "9", "28", "29", "30", "31", "32", "00"],
    "MM": ["1", "02", "2", "04", "12", "13", "00"],
    "MMM": MONTHS,
    "YYYY": ["2022", "2024", "1900", "2000", "0000", "0001", "9999"],
    "YY": ["00", "24", "68", "69", "70", "99"],
}
RESTS = ["", "", "", " 10:15", "T1", "t1", " ", " \n", " 1\n2", "T\r1", " \x1f", "x"]


def amount(column, draw):
    """Return a number in some notation, signs around it."""
    thousands, decimal = NOTATION.fullmatch(draw.choice(column.formats or ("1234.5",))).groups()
    sizes = [draw.choice([0, 1, 2, 3, 3, 4]), *(draw.choice([3, 3, 3, 2, 4]) for _ in range(draw.choice([0, 1, 2, 2, 3])))]
    whole = draw.choice([thousands, thousands, "", "\u00a0"]).join(
        f"{draw.randrange(10**size):0{size}}" if size else "" for size in sizes
    )
    text = whole + draw.choice(["", decimal]) + draw.choice(["", str(draw.randrange(10 ** draw.randrange(1, 13)))])
    signs = ["", *column.signs]
    text = draw.choice(["", "", "-", "+"]) + draw.choice(["", "", " "]) + text
    return draw.choice(signs) + draw.choice(["", " ", "\t"]) + text + draw.choice(["", " "]) + draw.choice(signs)


def day(column, draw):
    """Return a day in some notation."""
    notation = draw.choice([*column.formats, "YYYY-MM-DD"])
    return DATE.sub(lambda part: draw.choice(PARTS[part[0]]), notation) + draw.choice(RESTS)


def name(column, draw):
    """Return a name in letters of some case."""
    text = draw.choice([*column.categories, *(alias for alias, _ in column.aliases), "true", "No", "0", "1"])
    return draw.choice([text, text.upper(), text.lower(), text.title(), text + ".0"])


def cells_of(column, draw):
    """Return cells of a column, some of them spoiled, and others of no kind."""
    made = {"number": amount, "date": day}.get(column.kind, name)
    for _ in range(200):
        text = made(column, draw)
        for _ in range(draw.choice([0, 0, 1, 2])):
            place = draw.randrange(len(text) + 1)
            text = text[:place] + draw.choice(["", *PIECES]) + text[place + draw.randrange(2) :]
        around = ["", "", "", *BLANKS]
        yield draw.choice([None, ""]) if draw.random() < 0.05 else draw.choice(around) + text + draw.choice(around)


ALIASES = {"north": ["12", "K"], "s": ["n\u00f6rd"]}
COLUMNS = st.one_of(
    st.fixed_dictionaries(
        {"bounds": st.just((0, 1))},
        optional={
            "formats": st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3, unique=True),
            "signs": st.lists(st.sampled_from(SIGNS), min_size=1, max_size=4, unique=True),
        },
    ),
    st.fixed_dictionaries(
        {"dates": st.just(("2020-01-01", "2021-01-01"))},
        optional={
            "formats": st.lists(st.sampled_from(DATES), min_size=1, max_size=3, unique=True),
            "epoch": st.just("1900-01-01"),
        },
    ),
    st.sampled_from([{"boolean": True}, {"boolean": True, "aliases": {"true": ["ja", "\u0130"]}}, {"categories": CATEGORIES}]),
    st.builds(
        lambda case, aliases: {"categories": ["north", "s", "Stra\u00dfe"], "ignore_case": case} | aliases,
        st.booleans(),
        st.sampled_from([{}, {"aliases": ALIASES}]),
    ),
).map(lambda facts: column_of("x", facts, "here"))


def by_patterns(cells, column):
    """Return how patterns alone read cells."""
    return cells.to_frame("x").select(as_names(pl.col("x"))).select(text_cell(pl.col("x"), column)).to_series().to_numpy()


def bits(numbers):
    """Return numbers as whole numbers: those below zero are told from others, and whatever is missing is alike."""
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)


@given(COLUMNS, st.integers(0, 2**32).map(Random), st.text(max_size=9), st.integers(0, 200), st.integers(0, 200))
def test_what_is_decided_is_what_patterns_say(column, draw, text, start, end):
    cells = pl.Series("x", [text, *cells_of(column, draw)], pl.String)
    wanted = by_patterns(cells, column)
    found, left = decided(cells, column)
    kept = np.setdiff1d(np.arange(len(cells)), left)
    assert bits(found[kept]).tolist() == bits(wanted[kept]).tolist()
    parts = [cells[:start], cells[start:end], cells[max(start, end) :]]
    whole = pl.concat([parts[0], parts[1], parts[2]], rechunk=False)
    assert bits(codes(whole, column).to_numpy()).tolist() == bits(wanted).tolist()
    assert all(np.array_equal(bits(codes(part, column).to_numpy()), bits(by_patterns(part, column))) for part in parts)
    frames = [pl.DataFrame({"x": cells}), pd.DataFrame({"x": pd.Series(cells.to_list(), dtype=object)})]
    for frame in frames if column.is_coded else []:
        rows = read_source(frame, ("x",), schema=Schema((column,))).nonprivate_rows
        assert bits(rows[:, 0]).tolist() == bits(wanted).tolist()


#: Faults of the compiled reader, which the search above must find: what is there, and what might be.
FAULTS = {
    "digits": ("DIGITS = 15", "DIGITS = 18"),
    "century": ("OLDEST_SHORT = 2000, 70", "OLDEST_SHORT = 2000, 69"),
    "first group": ("1 <= place - group <= 3", "1 <= place - group <= 4"),
    "groups": ("place - group == 3 if groups", "place - group >= 2 if groups"),
    "last group": ("(groups and stop - group != 3)", "False"),
    "no digits": ("stop == group or ", ""),
    "sign": ("-number if letters[start] == MINUS", "-number if letters[start] == PLUS"),
    "first notation wins": ("if fits[row] != FAILS or start == end", "if fits[row] == UNSURE or start == end"),
    "leap years": (" and (year % 100 != 0 or year % 400 == 0)", ""),
    "year zero": ("fit == UNSURE or year == 0", "fit == UNSURE"),
    "one digit": ("fewest if kind in (MONTH, DAY) else WIDTHS[kind]", "1"),
    "behind a day": ("letters[place] != BLANK and letters[place] != UPPER_T", "letters[place] > UPPER_T"),
    "line ends": ("letters[rest] >= BLANK", "letters[rest] >= 0"),
    "blanks": (r'b"\t\n\v\f\r "', r'b"\t\n\v\f\r\x00 "'),
    "length": ("- start == end - begin", "- start <= end - begin"),
    "known signs": ("(sides[0] < 0) | (sides[1] < 0)", "sides[0] < 0"),
    "codes": (
        "places = names.places(letters, first, last, is_small(column))",
        "places = names.places(letters, first, last, True)",
    ),
}


@pytest.mark.parametrize("fault", [None, *FAULTS])
@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_the_search_finds_planted_faults(fault):
    """Kernels are run as they are written, by Python, whose letters must be wide."""
    source = inspect.getsource(letters)
    plain = {
        "from spinney.compilation import compiled\n": "compiled = lambda kernel: kernel\n",
        ", np.uint8)": ", np.uint8).astype(int)",
    }
    for there, instead in (*plain.items(), *([FAULTS[fault]] if fault else [])):
        assert source.count(there) >= 1, there
        source = source.replace(there, instead)
    faulty = {"__name__": "faulty"}
    exec(compile(source, "faulty", "exec"), faulty)

    @settings(max_examples=400 if fault else 10, derandomize=True, database=None, phases=[Phase.generate], deadline=None)
    @given(COLUMNS, st.integers(0, 2**32).map(Random))
    def search(column, draw):
        cells = pl.Series("x", [*cells_of(column, draw)], pl.String)
        found, left = faulty["decided"](cells, column)
        kept = np.setdiff1d(np.arange(len(cells)), left)
        if bits(found[kept]).tolist() != bits(by_patterns(cells, column)[kept]).tolist():
            raise LookupError

    with pytest.raises(LookupError) if fault else nullcontext():
        search()


@pytest.mark.parametrize("notation", ["YYYY-MM-DD", *DATES])
def test_every_day_is_read_in_every_notation(notation):
    first = date(1968, 1, 1) if "YYYY" in notation else date(1970, 1, 1)
    days = [first + timedelta(days=step) for step in range(0, 36_500, 7 if "YYYY" in notation else 11)]
    form = notation.replace("YYYY", "%Y").replace("YY", "%y").replace("MMM", "%b").replace("MM", "%m").replace("DD", "%d")
    formats = {} if notation == "YYYY-MM-DD" else {"formats": [notation]}
    column = column_of("x", {"dates": ("2020-01-01", "2021-01-01"), **formats}, "here")
    found, left = decided(pl.Series([f"{day:{form}}" for day in days], dtype=pl.String), column)
    assert left.size == 0
    assert found.tolist() == [(day - date(1970, 1, 1)).days for day in days]


def test_no_lawful_cell_of_a_messy_table_is_left():
    table = made(2_000, seed=3, wrong=0.0).messy
    for name, facts in schema().items():
        if isinstance(facts, dict):
            assert decided(table[name], column_of(name, facts, "here"))[1].size == 0, name


def test_a_thousand_names_and_signs_are_each_found():
    names = [f"{chr(0x4E00 + i)}{i}" for i in range(1_000)]
    column = column_of("x", {"categories": names}, "here")
    found, left = decided(pl.Series([f" {name}\t" for name in names] + [names[0] + "x"]), column)
    assert (found[:-1].tolist(), left.tolist()) == (list(range(1_000)), [1_000])
    signs = [f"{chr(0x4E00 + i)}{chr(0x4E01 + i)}" for i in range(500)]
    column = column_of("x", {"bounds": (0, 9), "signs": signs}, "here")
    found, left = decided(pl.Series([f"{sign} {i}{signs[-i]}" for i, sign in enumerate(signs)] + ["?1"]), column)
    assert (found[:-1].tolist(), left.tolist()) == (list(range(500)), [500])
