from collections import Counter
from itertools import cycle

import numpy as np
import pytest

from spinney import Box
from spinney.curators.numbers import NumberBackend
from spinney.curators.walks import walk_codes
from spinney.questions import Counts, Levels
from spinney.spaces.grid import GRID_BITS, door
from spinney.trees.quadtree import Splits, TreeCells

CUBE = Box(0, 1).domain(3)  # 93 levels: two words
UNEVEN = Box([0, 0, 0, 0, 0], [1, 2, 4, 8, 16]).domain(5)  # cut off at 128 levels
PLANE = Box([0, 0], [1, 4]).domain(2)  # 62 levels: one word
DOMAINS = {"plane": PLANE, "cube": CUBE, "five columns": UNEVEN}


def grid_rows(domain, n, seed):
    """Rows on the grid, where halving a side is exact; many share their first word."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 2**GRID_BITS, (n, domain.n_features))
    steps[n // 2 :] = steps[0]
    steps[n // 2 :] ^= rng.integers(0, 4, (n - n // 2, domain.n_features))
    steps[-3:] = steps[0]
    return domain.lower + steps * ((domain.upper - domain.lower) / 2.0**GRID_BITS)


def slow_path(row, splits):
    """Walk down geometrically: in every level, which half of the cell is the row in?"""
    lower, upper = splits.domain.lower.tolist(), splits.domain.upper.tolist()
    path = ""
    for axis in splits.route.axes.tolist():
        middle = (lower[axis] + upper[axis]) / 2
        if row[axis] >= middle:
            lower[axis], path = middle, path + "1"
        else:
            upper[axis], path = middle, path + "0"
    return path


def bits(code, depth):
    return "".join(f"{int(word):064b}" for word in code)[:depth]


def slow_counts(paths, cells):
    names = [bits(code, depth) for code, depth in zip(cells.codes, cells.depths, strict=True)]
    starts = Counter(path[:length] for length in set(map(len, names)) for path in paths)
    return [starts[name] for name in names]


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_path_codes_follow_the_geometry(domain):
    splits = Splits.of(domain)
    rows = grid_rows(domain, 300, 0)
    codes = np.empty((len(rows), splits.words), dtype=np.uint64)
    kept = walk_codes(rows, np.empty(0, np.uint8), door(domain, False), splits.route, splits.words, codes)
    assert kept == len(rows)
    assert [bits(code, splits.depth) for code in codes] == [slow_path(row, splits) for row in rows.tolist()]
    rest = {bits(code, 64 * splits.words)[splits.depth :].strip("0") for code in codes}
    assert rest == {""}


def test_a_partition_with_gaps_leaves_rows_out(open_curator):
    splits = Splits.of(CUBE)
    rows = grid_rows(CUBE, 500, 3)
    grid = TreeCells.grid(splits, 6)
    some = TreeCells(splits, grid.codes[3::5], grid.depths[3::5])
    curator, ask, again = open_curator(rows, CUBE, "counts", "counts")
    everything = curator.ask(Counts(grid), ask).private_counts
    assert curator.ask(Counts(some), again).private_counts.tolist() == everything[3::5].tolist()
    assert NumberBackend._cell_counts(curator._rows, some).tolist() == everything[3::5].tolist()
    assert 0 < everything[3::5].sum() < everything.sum() == len(rows)


def test_deep_cells_of_a_later_tree_are_not_counted_from_an_earlier_ones_codes(open_curator):
    splits = Splits.of(CUBE)
    rows = np.repeat(CUBE.sample(6, np.random.default_rng(4)), 5, axis=0)
    paths = [slow_path(row, splits) for row in (np.floor(rows * 2**31) / 2**31).tolist()]
    curator, *asks = open_curator(rows, CUBE, "counts", "counts", "counts")
    for ask, wanted in zip(asks, ([0], [5, 10], [0, 5, 20]), strict=True):
        names = sorted({paths[i] for i in wanted})
        codes = np.array([[int(name.ljust(128, "0")[i : i + 64], 2) for i in (0, 64)] for name in names], dtype=np.uint64)
        cells = TreeCells(splits, codes, np.full(len(names), splits.depth))
        assert curator.ask(Counts(cells), ask).private_counts.tolist() == [5] * len(names)


def slow_random_path(steps, splits):
    """Walk down in whole grid steps: which side of the cut is the row on?"""
    lower, width = [0] * len(steps), [2**GRID_BITS] * len(steps)
    path = ""
    for axis, fraction in zip(splits.route.axes.tolist(), splits.route.fractions.tolist(), strict=True):
        cut = width[axis] * fraction // 2**GRID_BITS
        if steps[axis] - lower[axis] < cut:
            width[axis], path = cut, path + "0"
        else:
            lower[axis], width[axis], path = lower[axis] + cut, width[axis] - cut, path + "1"
    return path


DEPTHS = list(zip((10, 64, 100, 128, 280, 540), cycle(DOMAINS)))  # the last two are published


@pytest.mark.parametrize(("depth", "name"), DEPTHS)
@pytest.mark.matrix
def test_random_splits_sorted_codes_the_stream_and_brute_force_count_alike(open_curator, name, depth):
    domain = DOMAINS[name]
    splits = Splits.random(domain, depth, np.random.default_rng(depth))
    rows = grid_rows(domain, 70, 5)
    steps = np.floor((rows - domain.lower) * (2.0**GRID_BITS / (domain.upper - domain.lower))).astype(np.int64)
    paths = [slow_random_path(row, splits) for row in steps.tolist()]
    curator, levels, ask = open_curator(rows, domain, "levels", "counts")
    answer = curator.ask(Levels(splits, 0, splits.depth, 0), levels)
    cells = answer.tree.cells
    assert answer.private_counts.tolist() == slow_counts(paths, cells)
    leaves = answer.tree.leaves
    expected = slow_counts(paths, leaves)
    assert curator.ask(Counts(leaves), ask).private_counts.tolist() == expected
    assert NumberBackend._cell_counts(curator._rows, leaves).tolist() == expected
    assert sum(expected) == len(rows)
    # Rows lie in the boxes of their cells.
    lower, upper = leaves.boxes()
    places = rows + 0.5 * (domain.upper - domain.lower) / 2.0**GRID_BITS
    inside = ((lower[:, None] <= places) & (places < upper[:, None])).all(axis=2)
    assert inside.sum(axis=1).tolist() == expected
