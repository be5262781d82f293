"""Rule 17: work is split by private sizes, into threads, blocks, chunks and tables; no size fails or answers otherwise."""

import os

import numpy as np
import pytest
from scipy.sparse import coo_array

from batches import ArrayBatches
from registered import REGISTERED
from spinney import Box, FiniteMetric, PrivateKMeans, PrivateKMedoids, max_coverage
from spinney.curators.demand import DemandBackend
from spinney.curators.files import FileBackend
from spinney.curators.memory import MemoryBackend
from spinney.privacy import Adjacency, Unit
from spinney.questions import Balls, ColumnBins, Rings, Sets, Swaps, Whole
from spinney.questions.arrays import frozen
from spinney.questions.cost import Costs
from spinney.questions.ground import Ground
from spinney.questions.sums import Offsets
from spinney.tables.files import read_table, scan
from spinney.trees.quadtree import Splits, TreeCells

THREADS = (1, 2, 4, 16)
#: Entries of a block of distances, and bytes of a table of costs: one entry, some rows, everything.
BLOCKS = (1, 500, 3_000, 2**22)
#: All points of a space that has as many demand points as a test asks for, and a few more.
N_POINTS = 210
SIZES = range(201)
#: All sizes with all splits take hours, about one of them for sites; SPINNEY_EVERY_SIZE=1 asks for them. Else splits take turns,
#: and whole fits sizes.
EVERY_SIZE = bool(os.environ.get("SPINNEY_EVERY_SIZE"))
MANY_SIZES = SIZES if EVERY_SIZE else (*range(71), *range(71, 200, 6), 200)
FEW_SIZES = SIZES if EVERY_SIZE else (0, 1, 7, 63, 200)
RNG = np.random.default_rng(17)
PLACES = RNG.random((N_POINTS, 2))
UNIT = Unit(Adjacency.ADD_REMOVE, 1)


def ring_road(whole=False):
    """Return a network; unless lengths are whole numbers, the two directions of a path may differ in their last bit."""
    tails = np.concatenate([np.arange(N_POINTS), RNG.integers(0, N_POINTS, 120)])
    heads = np.concatenate([(np.arange(N_POINTS) + 1) % N_POINTS, RNG.integers(0, N_POINTS, 120)])
    kept = np.unique(np.sort(np.stack([tails, heads]), axis=0), axis=1)
    lengths = np.random.default_rng(3).random(kept.shape[1]) + 0.1
    lengths = np.ceil(20 * lengths) if whole else lengths
    return coo_array((lengths, kept), shape=(N_POINTS, N_POINTS))


SPACES = {
    "points": FiniteMetric.from_points(PLACES, candidates=np.arange(0, N_POINTS, 2)),
    "network": FiniteMetric.from_graph(ring_road()),
    "whole network": FiniteMetric.from_graph(ring_road(whole=True)),
    "matrix": FiniteMetric.from_matrix(np.abs(PLACES[:, :1] - PLACES[:, 0])),
}


@pytest.fixture
def split(monkeypatch):
    """Return a function that sets how many threads there are, and how much goes into a block or a table."""

    def set_sizes(threads, entries):
        monkeypatch.setattr("spinney.threads._n_cores", lambda: threads)
        for module in ("spaces.metric", "solvers.swaps"):
            monkeypatch.setattr(f"spinney.{module}.BLOCK_ENTRIES", entries)
        monkeypatch.setattr("spinney.curators.demand.TABLE_BYTES", 4 * entries)
        for name in ("curators.memory.CHUNK", "tables.streams.MOST_ROWS", "curators.files.EXACT"):
            monkeypatch.setattr(f"spinney.{name}", min(max(entries // 100, 1), 2**16))
        monkeypatch.setattr("spinney.curators.lookahead.MOST_CELLS", entries)

    return set_sizes


def demand_at(size):
    """Return rows at exactly this many different points."""
    points = np.random.default_rng(size).permutation(N_POINTS)[:size]
    return np.repeat(points, 1 + np.arange(size) % 3)


def key():
    return b"sixteen  letters"


def demand(size, space):
    return DemandBackend(demand_at(size), Ground(None, N_POINTS, SPACES[space]), UNIT, key)


def exact_site_work(backend):
    """Return all exact numbers that questions about sites are answered from."""
    space = backend.ground.space
    swaps = Swaps(space, space.candidates[[1, 5, 9]], np.array([4]), 2)
    balls = Balls(space, space.diameter * np.array([0.05, 0.2, 1.0]), (1, 1, 1))
    uncovered = backend.exact(balls)
    return [
        *backend.exact(swaps),
        *backend.exact(Sets((space.candidates[:2], space.candidates[3:5]))),
        *(uncovered.count(stage) for stage in range(3)),
        uncovered.remove(0, 1),
        *(uncovered.count(stage) for stage in range(3)),
    ]


@pytest.mark.parametrize("space", ["points", "network", "matrix"])
@pytest.mark.matrix
def test_every_number_of_demand_points_gives_the_same_costs_on_all_threads_and_blocks(space, split):
    for size in MANY_SIZES:
        split(1, 2**22)
        expected = exact_site_work(demand(size, space))
        for threads, entries in some_splits(size):
            split(threads, entries)
            found = exact_site_work(demand(size, space))
            assert all(map(np.array_equal, found, expected)), (size, threads, entries)
            assert len(found) == len(expected)


def some_splits(size):
    """Return all splits, or one with each number of threads in turn; blocks of one entry, which take long, for few sizes.

    With more than 70 points there are more blocks of one point than four for each of 16 threads, whatever their number.
    """
    if EVERY_SIZE:
        return [(threads, entries) for threads in THREADS for entries in BLOCKS if size <= 70 or entries > 1]
    return [(THREADS[size % 4], BLOCKS[2 + size // 4 % 2]), *([(THREADS[-size % 4], 1)] if size < 10 else [])]


def releases_are_alike(split, size, release):
    """Whether a release is the same for several splits of the work."""
    split(1, 2**22)
    expected = release()
    for threads, entries in some_splits(size):
        split(threads, entries)
        assert release() == expected, (size, threads, entries)


@pytest.mark.parametrize("algorithm", REGISTERED["sites"])
def test_sites_are_the_same_for_all_numbers_of_demand_points_threads_and_blocks(algorithm, split):
    for size in FEW_SIZES:
        # Public distances along a network add up from the end that a block suggests, so its lengths are whole numbers here.
        space = SPACES[("points", "matrix", "whole network")[size % 3]]
        model = PrivateKMedoids(3, epsilon=1.0, space=space, algorithm=algorithm, random_state=0, noise_seed=1)
        releases_are_alike(split, size, lambda: model.fit(demand_at(size)).release_.to_json())  # noqa: B023


def test_covers_are_the_same_for_all_numbers_of_items_threads_and_blocks(split):
    sets = [[0], [1, 2, 3], list(range(0, N_POINTS, 3)), list(range(N_POINTS))]
    for size in SIZES:
        releases_are_alike(
            split,
            size,
            lambda: max_coverage(demand_at(size), sets, 3, epsilon=1.0, noise_seed=1).to_json(),  # noqa: B023
        )


ROWS = np.random.default_rng(4).normal(0.5, 0.3, (len(SIZES), 2))
CENTERS = frozen([[0.2, 0.3], [0.7, 0.9]])  # as questions have them
DOMAIN = Box(0, 1).domain(2)


CELLS = TreeCells.grid(Splits.of(DOMAIN), 5)
CHILDREN = CELLS.children(np.arange(len(CELLS)) % 3 == 0)
DEEPEST = TreeCells(Splits.random(DOMAIN, 100, np.random.default_rng(0)), np.zeros((1, 2), dtype=np.uint64), np.array([70]))


def exact_row_work(backend):
    """Return all exact numbers that questions about rows are answered from."""
    return [
        *(backend.exact(asked) for asked in (Whole(), ColumnBins(), Rings(CENTERS), Rings(CENTERS, np.array([0.1, 0.5])))),
        backend.exact(CELLS, 4),
        backend.exact(CHILDREN, 3),
        backend.exact(CELLS),
        backend.exact(DEEPEST),
        *backend.exact(Offsets(CENTERS, "mean", frozen(np.ones(2)), CENTERS, frozen(np.ones(CENTERS.shape[1])))),
        *backend.exact(Costs(CENTERS, CENTERS[:0], 2, 2.0**-28)),
    ]


@pytest.mark.parametrize("part", range(4))
@pytest.mark.matrix
def test_every_number_of_rows_gives_the_same_counts_on_all_threads_and_chunks(split, part):
    for size in SIZES[part::4]:
        split(1, 2**22)
        expected = exact_row_work(MemoryBackend(ROWS[:size], Ground(DOMAIN), UNIT, key))
        for threads, entries in some_splits(size):
            split(threads, entries)
            for backend, rows in ((MemoryBackend, ROWS[:size]), (FileBackend, ArrayBatches(ROWS[:size]))):
                found = exact_row_work(backend(rows, Ground(DOMAIN), UNIT, key))
                assert [one.tolist() for one in found] == [one.tolist() for one in expected], (size, threads, entries, backend)


@pytest.mark.parametrize("algorithm", REGISTERED["points"])
@pytest.mark.matrix
def test_clusters_are_the_same_for_all_numbers_of_rows_threads_and_chunks(algorithm, split):
    for size in FEW_SIZES:
        model = PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), algorithm=algorithm, random_state=0, noise_seed=1)
        split(1, 2**22)
        expected = model.fit(ROWS[:size]).release_.to_json()
        for threads, entries in some_splits(size):
            split(threads, entries)
            assert model.fit(ROWS[:size]).release_.to_json() == expected
            assert model.fit(ArrayBatches(ROWS[:size])).release_.to_json() == expected
            assert model.fit(np.asfortranarray(ROWS[:size][::-1])).release_.to_json() == expected  # in any order


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
@pytest.mark.matrix
def test_files_give_the_same_release_for_all_numbers_of_rows_and_blocks(kind, quote, split, tmp_path, monkeypatch):
    import polars as pl

    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd", random_state=0, noise_seed=1)
    for size in (0, 1, 5, 200):
        file = tmp_path / f"rows{size}.{kind}"
        frame = pl.DataFrame({"a": ROWS[:size, 0], "b": ROWS[:size, 1]})
        if kind == "csv":
            file.write_text("a,b\n" + "".join(f"{quote}{a!r}{quote},{b!r}\n" for a, b in ROWS[:size].tolist()))
        elif kind == "parquet":
            frame.write_parquet(file, row_group_size=7 if quote else None)
        else:
            np.save(file, np.asfortranarray(ROWS[:size]) if quote else ROWS[:size])
        split(1, 2**22)
        expected = model.fit(ROWS[:size]).release_.centers
        for block in (1, 3, 50) if size < 200 else (50,):
            split(4, 100 * block)
            monkeypatch.setattr("spinney.tables.records.BATCH", block)
            monkeypatch.setattr("spinney.tables.records.BLOCK", block)
            np.testing.assert_array_equal(model.fit(scan(file)).release_.centers, expected)
            np.testing.assert_array_equal(model.fit(read_table(file).nonprivate_rows).release_.centers, expected)
