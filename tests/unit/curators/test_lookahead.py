"""Counting ahead: the same exact counts, by few passes, whose number depends on released decisions alone."""

import numpy as np
import pytest

from batches import ArrayBatches
from spinney import Box, DataError
from spinney.curators import lookahead
from spinney.curators.files import FileBackend
from spinney.curators.memory import MemoryBackend
from spinney.curators.numbers import NumberBackend
from spinney.mechanisms.source import SeededSource
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground
from spinney.questions.partitions import ColumnBins, Whole
from spinney.trees.quadtree import Splits, TreeCells

CUBE = Box(0, 1).domain(3)  # 93 levels: two words
PLANE = Box([0, 0], [1, 4]).domain(2)  # 62 levels: one word
FIVE = Box(0, 1).domain(5)  # 128 levels


def open_both(rows, domain):
    batches = ArrayBatches(rows, 64)
    common = (Ground(domain), Unit(), SeededSource(0).key)
    return FileBackend(batches, *common), MemoryBackend(rows, *common), batches


@pytest.mark.parametrize("size", [1, 64, 400])
def test_rows_without_a_name_of_a_group_are_an_error(size):
    rows = rows_in(PLANE, 128)
    batches = ArrayBatches(rows, size, list(range(len(rows) - 1)))
    backend = FileBackend(batches, Ground(PLANE), Unit(), SeededSource(0).key)
    with pytest.raises(DataError, match=r"has changed while it was in use\.\nHint: "):
        list(backend._each_batch(lambda rows, mask, start: len(rows)))


def rows_in(domain, n=400, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(domain.lower, domain.upper, (n, domain.n_features))
    rows[n // 3 :] = rows[0] + rng.normal(0, 1e-7, (n - n // 3, domain.n_features))  # a chain of cells far down
    rows[-20:] = rows[0]
    return rows


def all_splits(domain):
    return {"halving": Splits.of(domain), "random": Splits.random(domain, 128, np.random.default_rng(0))}


@pytest.mark.parametrize("most", [1, 20, 2**10, 2**18])
@pytest.mark.parametrize("kind", ["halving", "random"])
@pytest.mark.parametrize("domain", [PLANE, CUBE, FIVE], ids=["plane", "cube", "five columns"])
@pytest.mark.matrix
def test_counts_ahead_are_the_counts(domain, kind, most, monkeypatch):
    monkeypatch.setattr(lookahead, "MOST_CELLS", most)
    splits = all_splits(domain)[kind]
    rows = rows_in(domain)
    ahead, memory, batches = open_both(rows, domain)
    cells, levels = TreeCells.grid(splits, 3), 0
    visited = []
    while True:
        below = splits.depth - int(cells.depths[0])
        expected = memory._cell_counts(cells)
        found = ahead._cell_counts(cells, below)
        assert found.tolist() == expected.tolist()
        assert found.tolist() == NumberBackend._cell_counts(memory, cells).tolist()
        levels += 1
        chosen = (expected > 4) & (below > 0)
        visited.append(cells.take(np.flatnonzero(~chosen)))
        if not chosen.any():
            break
        cells = cells.children(chosen)
    assert levels > 20
    assert batches.passes == levels if most == 1 else batches.passes < levels
    # Leaves of all levels together need no pass, the deepest included.
    passes = batches.passes
    codes = np.concatenate([leaves.codes for leaves in visited])
    order = np.lexsort(codes.T[::-1])
    leaves = TreeCells(splits, codes[order], np.concatenate([leaves.depths for leaves in visited])[order])
    counts = ahead._cell_counts(leaves)
    assert counts.tolist() == memory._cell_counts(leaves).tolist()
    assert counts.sum() == len(rows)
    assert batches.passes == passes + (most == 1)  # counters for the last level are known only if they were counted ahead


def test_cells_that_are_not_known_are_counted_by_one_pass():
    splits = Splits.of(CUBE)
    ahead, memory, batches = open_both(rows_in(CUBE), CUBE)
    cells = TreeCells.grid(splits, 6)
    some = TreeCells(splits, np.concatenate([cells.codes[:5], cells.codes[8:12]]), np.full(9, 6))
    for asked in (cells, some):
        before = batches.passes
        assert ahead._cell_counts(asked).tolist() == memory._cell_counts(asked).tolist()
        assert batches.passes == before + 1
    ahead._cell_counts(cells, 10)
    before = batches.passes
    mixed = TreeCells(splits, cells.codes[:3], np.array([6, 6, 6]))
    assert ahead._cell_counts(mixed).tolist() == memory._cell_counts(mixed).tolist()
    assert batches.passes == before


def test_another_order_of_splits_and_another_box_start_anew():
    rows = rows_in(PLANE)
    ahead, memory, batches = open_both(rows, PLANE)
    for splits in all_splits(PLANE).values():
        cells = TreeCells.grid(splits, 4)
        assert ahead._cell_counts(cells, 8).tolist() == memory._cell_counts(cells).tolist()
    box = Box([0.2, 0.5], [0.7, 2.0]).domain(2)
    inner, expected = ahead.within(box), memory.within(box)
    for partition in (ColumnBins(), Whole(), TreeCells.grid(Splits.of(box), 5)):
        assert np.array_equal(inner.exact(partition, 3), expected.exact(partition, 3))
    assert ahead.exact(ColumnBins()).tolist() == memory.exact(ColumnBins()).tolist()
    assert batches.passes == 5


def test_the_number_of_rows_and_their_columns_take_one_pass():
    rows = rows_in(CUBE)
    rows[::9, 1] = np.nan
    ahead, memory, batches = open_both(rows, CUBE)
    for partition in (Whole(), ColumnBins(3), ColumnBins(), Whole()):
        assert ahead.exact(partition).tolist() == memory.exact(partition).tolist()
    assert batches.passes == 1
