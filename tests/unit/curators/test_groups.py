import hashlib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spinney import Box
from spinney.curators import groups as groups_module
from spinney.curators.groups import _text, kept_rows
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.pricing import Unit
from spinney.questions.counts import Counts
from spinney.questions.partitions import Whole

KEY = b"0123456789abcdef"


@pytest.mark.parametrize("cap", [1, 2, 3, 100])
def test_every_group_keeps_at_most_the_cap_and_no_less_than_it_can(cap):
    groups = np.random.default_rng(0).integers(0, 20, 300)
    kept = kept_rows(groups, cap, KEY)
    assert kept.dtype == np.uint8
    for group in range(20):
        assert kept[groups == group].sum() == min(cap, (groups == group).sum())


def test_other_groups_do_not_move_a_groups_rows():
    groups = np.random.default_rng(1).integers(0, 20, 300)
    kept = kept_rows(groups, 3, KEY)
    for gone in range(20):
        stay = groups != gone
        np.testing.assert_array_equal(kept_rows(groups[stay], 3, KEY), kept[stay])


def test_the_choice_is_secret():
    groups = np.repeat(np.arange(50), 10)
    first, same, other = kept_rows(groups, 3, KEY), kept_rows(groups, 3, KEY), kept_rows(groups, 3, b"f" * 16)
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    # Not the first rows of each group, nor the same places in all of them.
    assert len({tuple(np.flatnonzero(part)) for part in first.reshape(50, 10)}) > 25


def test_every_row_of_a_group_is_kept_about_equally_often():
    groups = np.repeat(np.arange(3000), 5)
    share = kept_rows(groups, 2, KEY).reshape(3000, 5).mean(axis=0)
    np.testing.assert_allclose(share, 0.4, atol=0.05)  # 5.6 standard deviations


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "a", "a", "b"],
        [1, 2, 1, 1, 2],
        [1.5, 2.5, 1.5, 1.5, 2.5],
        [True, False, True, True, False],
        [("a", 1), None, ("a", 1), ("a", 1), None],
        np.array([None, float("nan"), None, None, "x"], dtype=object),
        pd.Series(["a", "b", "a", "a", "b"], dtype="category"),
        pd.array([1, None, 1, 1, None], dtype="Int64"),
    ],
    ids=["text", "int", "float", "bool", "mixed", "missing", "category", "nullable"],
)
def test_names_may_be_of_any_type(names):
    if isinstance(names, list) and isinstance(names[0], tuple):
        cells = np.empty(len(names), dtype=object)
        cells[:] = names
        names = cells
    kept = kept_rows(names, 1, KEY)
    assert kept.sum() == 2


def test_nobody_keeps_nothing():
    assert kept_rows([], 2, KEY).shape == (0,)


def test_a_number_and_its_text_are_two_groups():
    assert kept_rows(np.array([1, "1", 1, "1"], dtype=object), 1, KEY).sum() == 2


def objects(*names):
    """Return an array of these very objects."""
    cells = np.empty(len(names), dtype=object)
    cells[:] = names
    return cells


MISSING = [
    None,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    np.timedelta64("NaT"),
]


@pytest.mark.parametrize("missing", MISSING, ids=lambda missing: f"{type(missing).__name__} {missing}")
def test_every_kind_of_missing_name_is_one_group(missing):
    assert kept_rows(objects(None, missing, missing, "x"), 1, KEY).sum() == 2


@pytest.mark.parametrize("name", ["missing", "nan", "<NA>", "NaT", "None", ""])
def test_text_is_never_a_missing_name(name):
    assert kept_rows(objects(None, name, float("nan"), name), 1, KEY).sum() == 2


ALIKE = {
    "numbers": [
        np.array([3, 1, 3, 1, 2] * 8),
        np.array([3, 1, 3, 1, 2] * 8, dtype=np.uint8),
        np.array([3, 1, 3, 1, 2] * 8, dtype=np.float32),
        [3, 1, 3, 1, 2] * 8,
        (3.0, 1, 3, True, np.int8(2)) * 8,
        objects(*[3, 1.0, np.float64(3), 1, 2] * 8),
        pd.Series([3, 1, 3, 1, 2] * 8, index=range(40, 0, -1)),
        pd.array([3, 1, 3, 1, 2] * 8, dtype="Int64"),
        pd.Categorical([3, 1, 3, 1, 2] * 8),
    ],
    "text": [
        np.array(["c", "a", "c", "a", "é"] * 8),
        ["c", "a", "c", "a", "é"] * 8,
        objects(*["c", "a", np.str_("c"), "a", "é"] * 8),
        pd.Series(["c", "a", "c", "a", "é"] * 8, dtype="string"),
        pd.Series(["c", "a", "c", "a", "é"] * 8, dtype="category"),
    ],
    "fractions": [np.array([0.5, 0.1, 0.5, 0.1, 7] * 8), [0.5, 0.1, 0.5, 0.1, 7] * 8, pd.Series([0.5, 0.1, 0.5, 0.1, 7] * 8)],
    "some missing": [
        np.array([1, np.nan, 1, np.nan, 2] * 8),
        [1, None, 1, float("nan"), 2] * 8,
        pd.Series([1, None, 1, None, 2] * 8, dtype="Int64"),
        objects(*[1, pd.NA, 1, pd.NaT, 2] * 8),
    ],
}


@pytest.mark.parametrize("columns", ALIKE.values(), ids=ALIKE.keys())
def test_the_type_of_the_column_does_not_change_who_is_kept(columns):
    first, *others = [kept_rows(column, 3, KEY) for column in columns]
    assert first.sum() == 9
    for other in others:
        np.testing.assert_array_equal(other, first)


RNG = np.random.default_rng(3)
BULK = {
    "text": [f"p{i}" for i in RNG.integers(0, 60, 400)],
    "some missing": [None if i % 7 == 0 else f"p{i}" for i in RNG.integers(0, 60, 400).tolist()],
    "numbers": [(int, float, bool)[i % 3](i) for i in RNG.integers(0, 60, 400).tolist()],
    "many kinds": [
        (i, str(i), b"%d" % i, None, float("nan"), i + 0.5, -0.0, 0)[i % 8] for i in RNG.integers(0, 60, 400).tolist()
    ],
    "infinite": [float("inf"), 10**400, -float("inf"), float("inf")] * 20,
}


@pytest.mark.parametrize("names", BULK.values(), ids=BULK.keys())
@pytest.mark.parametrize("cap", [1, 3, 50])
def test_names_in_bulk_keep_what_they_keep_one_by_one(monkeypatch, names, cap):
    bulk = kept_rows(names, cap, KEY)
    np.testing.assert_array_equal(kept_rows(objects(*names), cap, KEY), bulk)
    monkeypatch.setattr(groups_module, "PLAIN", set())
    np.testing.assert_array_equal(kept_rows(names, cap, KEY), bulk)


@pytest.mark.parametrize(
    "names", [BULK["text"], BULK["some missing"], RNG.integers(0, 60, 400).tolist()], ids=["text", "missing", "int"]
)
def test_a_column_of_a_frame_keeps_what_a_list_keeps(names):
    for column in (pl.Series(names), pd.Series(names, dtype="Int64" if isinstance(names[0], int) else "string")):
        np.testing.assert_array_equal(kept_rows(column, 3, KEY), kept_rows(names, 3, KEY))


@pytest.mark.parametrize("number", [0, -1, 7, 2**70, -(2**70), 0.0, -0.0, 0.1, -2.5, 1e300, 5e-324])
def test_a_number_is_written_at_once_as_it_would_be_by_the_rules(number):
    exact = Fraction(number)
    assert groups_module._text(number) == f"number:{exact.numerator:x}/{exact.denominator:x}" == groups_module._text(exact)


def test_kept_rows_are_those_with_the_least_draws_of_their_group():
    names = ["a", "b", "a", "a", "b", "c", "a"]
    seeds = groups_module._seeds(["text:a", "text:b", "text:c"], KEY)
    kept = kept_rows(names, 2, KEY)
    for name, seed in zip("abc", seeds, strict=True):
        rows = [i for i, other in enumerate(names) if other == name]
        draws = groups_module._mix(seed + groups_module._mix(np.arange(len(rows), dtype=np.uint64)))
        assert [rows[i] for i in np.sort(np.argsort(draws)[:2])] == [i for i in rows if kept[i]]


def test_a_seed_is_a_keyed_hash_of_the_name():
    digest = hashlib.blake2b("text:é".encode(), key=KEY, digest_size=8).digest()
    assert groups_module._seeds(["text:é"], KEY).tolist() == [int.from_bytes(digest, "little")]


@pytest.mark.parametrize("names", [[True, False] * 20, [b"a", b"b"] * 20], ids=["flags", "bytes"])
def test_an_array_of_flags_or_bytes_keeps_what_a_list_keeps(names):
    np.testing.assert_array_equal(kept_rows(np.array(names), 3, KEY), kept_rows(names, 3, KEY))


def test_a_name_that_makes_its_column_text_does_not_move_the_others():
    alone = kept_rows(np.repeat([1, 2, 3], 10), 3, KEY)
    joined = kept_rows(objects(*np.repeat([1, 2, 3], 10).tolist(), "Ann"), 3, KEY)
    np.testing.assert_array_equal(joined[:-1], alone)


def test_large_numbers_are_told_apart():
    assert kept_rows(np.array([2**53, 2**53 + 1, 2**63 - 1]), 1, KEY).sum() == 3
    assert kept_rows([2**70, 2**70 + 1, float("inf"), 1e300], 1, KEY).sum() == 4


def test_lone_surrogates_are_names():
    assert kept_rows(["\ud800", "\ud801", "\ud800"], 1, KEY).sum() == 2


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_a_curator_counts_only_kept_rows(open_curator, adjacency):
    rows = np.random.default_rng(2).random((100, 2))
    rows[::7] = np.nan  # a kept row that is missing counts only where replaced units do
    groups = np.arange(100) // 10
    curator, ask = open_curator(rows, Box(0, 1).domain(2), "counts", unit=Unit(adjacency, 3), groups=groups)
    kept = curator._rows._mask.astype(bool)
    expected = kept.sum() if adjacency is Adjacency.REPLACE else (kept & np.isfinite(rows).all(axis=1)).sum()
    assert kept.sum() == 30
    assert curator.ask(Counts(Whole()), ask).private_counts.tolist() == [expected]


def test_a_decimal_with_a_huge_exponent_is_missing_at_once():
    names = [Decimal("1e999999999"), Decimal("-1e-999999999"), None, Decimal("1e40"), 10**40]
    assert list(map(_text, names)) == [*["missing"] * 3, _text(10**40), _text(10**40)]
