from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import Box, DataError
from spinney.curators import groups as groups_module
from spinney.curators.demand import DemandBackend
from spinney.curators.groups import kept_rows
from spinney.privacy import Adjacency, Unit
from spinney.questions import Counts, Whole
from spinney.questions.ground import Ground

KEY = b"0123456789abcdef"


def mask_of(names, cap, rows=None, key=KEY, adjacency=Adjacency.ADD_REMOVE):
    """Return which rows count; rows are all different if none are given."""
    rows = np.arange(float(len(names)))[:, None] if rows is None else rows
    return kept_rows(names, lambda: [rows], Unit(adjacency, cap), key)


def test_the_choice_is_secret():
    groups = np.repeat(np.arange(50), 10)
    first, same, other = mask_of(groups, 3), mask_of(groups, 3), mask_of(groups, 3, key=b"f" * 16)
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    # Not the first rows of each group, nor the same places in all of them.
    assert len({tuple(np.flatnonzero(part)) for part in first.reshape(50, 10)}) > 25


def objects(*names):
    """Return an array of these very objects."""
    cells = np.empty(len(names), dtype=object)
    cells[:] = names
    return cells


MISSING = [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT")]


@pytest.mark.parametrize("missing", MISSING, ids=lambda missing: f"{type(missing).__name__} {missing}")
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_rows_with_any_kind_of_missing_name_do_not_count(missing, adjacency):
    assert mask_of(objects(None, missing, "y", "x"), 1, adjacency=adjacency).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("name", ["missing", "nan", "<NA>", "NaT", "None", ""])
def test_text_is_never_a_missing_name(name):
    assert mask_of(objects(None, name, float("nan"), name), 1).sum() == 1


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
    first, *others = [mask_of(column, 3) for column in columns]
    assert first.sum() == (6 if isinstance(columns[1], list) and None in columns[1] else 9)
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
    bulk = mask_of(names, cap)
    np.testing.assert_array_equal(mask_of(objects(*names), cap), bulk)
    monkeypatch.setattr(groups_module, "PLAIN", set())
    np.testing.assert_array_equal(mask_of(names, cap), bulk)


def test_large_numbers_are_told_apart():
    assert mask_of(np.array([2**53, 2**53 + 1, 2**63 - 1]), 1).sum() == 3
    assert mask_of([2**70, 2**70 + 1, float("inf"), 1e300], 1).sum() == 4


def test_lone_surrogates_are_names():
    assert mask_of(["\ud800", "\ud801", "\ud800"], 1).sum() == 2


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_a_curator_counts_only_kept_rows(open_curator, adjacency):
    rows = np.random.default_rng(2).random((100, 2))
    rows[::7] = np.nan  # these are drawn only where they count: where units are replaced
    groups = (np.arange(100) // 10).astype(float)
    groups[groups == 4], rows[50:58] = np.nan, np.nan
    curator, ask = open_curator(rows, Box(0, 1).domain(2), "counts", unit=Unit(adjacency, 3), groups=groups)
    assert not curator._rows._mask[40:50].any()
    expected = 27 if adjacency is Adjacency.REPLACE else 26  # one group has but two complete rows
    assert curator.ask(Counts(Whole()), ask).private_counts.tolist() == [expected]


@pytest.mark.parametrize(("adjacency", "expected"), [("add-remove", [0, 3, 0, 0]), ("replace", [1, 3, 0, 0])])
def test_demand_without_a_name_does_not_count_and_demand_nowhere_counts_only_where_replaced(adjacency, expected):
    rows = np.array([1, 1, 1, np.nan, 2.5, 7, 2, np.nan])
    groups = ["a", "b", "c", "d", "d", "d", None, float("nan")]
    backend = DemandBackend(rows, Ground(None, 4), Unit(Adjacency(adjacency), 1), lambda: KEY, groups)
    assert backend._counts.tolist() == expected


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("values", ["few", "many"])
@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_which_rows_are_kept_does_not_depend_on_their_order(values, adjacency, data):
    numbers = st.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf]) if values == "few" else st.floats(width=32)
    rows = np.array(data.draw(st.lists(st.tuples(numbers, numbers), max_size=25)), dtype=np.float64).reshape(-1, 2)
    names = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=len(rows), max_size=len(rows)))
    cap = data.draw(st.integers(1, 4))
    order = np.array(data.draw(st.permutations(range(len(rows)))), dtype=np.int64)
    expected = multiset(names, rows, mask_of(names, cap, rows, adjacency=adjacency))
    moved = [names[i] for i in order]
    for table in (rows[order], rows[order].astype(np.float32), np.asfortranarray(rows[order])):
        assert multiset(moved, rows[order], mask_of(moved, cap, table, adjacency=adjacency)) == expected


def multiset(names, rows, mask):
    """Return whose rows are kept, and which: all rows that are not complete are alike, and so are the zeros."""
    kept = [(name, *row) for name, row, keep in zip(names, (rows + 0.0).tolist(), mask, strict=True) if keep]
    return Counter((name, *(values if np.isfinite(values).all() else ["missing"])) for name, *values in kept)


def test_order_decides_nothing_even_where_draws_and_halves_of_marks_are_equal(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 30, (200, 1)).astype(np.float64)
    names = [f"p{i}" for i in rng.integers(0, 8, 200)]
    mark_rows = groups_module.mark_rows

    def weak_marks(seeds, rows, key):
        marks, complete = mark_rows(seeds, rows, key)
        return np.stack([marks[:, 0] & np.uint64(3), rows[:, 0].astype(np.uint64)], axis=1), complete

    monkeypatch.setattr(groups_module, "mark_rows", weak_marks)
    monkeypatch.setattr(groups_module, "draw_rows", lambda marks, copies: marks[:, 1] & np.uint64(1))
    expected = multiset(names, rows, mask_of(names, 5, rows))
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(200)
        moved = [names[i] for i in order]
        assert multiset(moved, rows[order], mask_of(moved, 5, rows[order])) == expected


def test_equal_rows_are_kept_as_often_as_different_ones():
    # Nine trips to one place and one to another: a cap of one keeps the one in a tenth of all groups, not in half of them.
    groups, rows = np.repeat(np.arange(4000), 10), np.tile([0.0] * 9 + [1.0], 4000)[:, None]
    kept = mask_of(groups, 1, rows).astype(bool)
    assert abs(rows[kept].mean() - 0.1) < 0.025  # 5.3 standard deviations
    kept = mask_of(groups, 5, rows).astype(bool)
    assert abs(rows[kept].mean() - 0.1) < 0.01


def test_rows_come_in_batches_of_any_size():
    rng = np.random.default_rng(4)
    names, rows = rng.integers(0, 30, 500), rng.random((500, 3))
    expected = mask_of(names, 4, rows)
    for size in (1, 7, 499, 500):
        batches = [rows[start : start + size] for start in range(0, 500, size)]
        np.testing.assert_array_equal(kept_rows(names, lambda b=batches: b, Unit(max_rows=4), KEY), expected)
    for wrong in (rows[:499], np.concatenate([rows, rows[:1]])):
        with pytest.raises(DataError, match="has changed"):
            mask_of(names, 4, wrong)
