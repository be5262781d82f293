"""A source may give other rows the next time: one reading decides, and what a fit that read anew would cost.

Proof: ``proofs/streams.md``.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest

from covering import covering
from registered import REGISTERED
from spinney import Box, PrivateKMeans, PrivateKMedian, stream
from spinney.curators import lookahead
from spinney.curators.files import FileBackend
from spinney.curators.kept import KeptBatches
from spinney.fits.run import rows_of
from spinney.mechanisms.source import SeededSource
from spinney.mechanisms.splitting import _log_survival, split_rule
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions import ColumnBins, Rings, TreeCells, Whole
from spinney.questions.arrays import frozen
from spinney.questions.ground import Ground
from spinney.tables.streams import Batches
from spinney.trees.quadtree import Quadtree, Splits

RNG = np.random.default_rng(0)
DOMAIN = Box(0, 1).domain(1)
NAMES = ["x", "y", "who"]


def table_of(n):
    """Return rows of persons that no other table has."""
    return pa.table([RNG.random(n), RNG.random(n), RNG.integers(0, max(n // 3, 1), n)], NAMES)


class Changing:
    """Gives another table each time it is opened; those whose places are named break off before their last batch."""

    def __init__(self, tables, broken=()):
        self.tables, self.broken, self.opened = tables, broken, 0

    def __call__(self):
        place, self.opened = self.opened, self.opened + 1
        table = self.tables[place]
        return pa.RecordBatchReader.from_batches(table.schema, self.batches(table, place in self.broken))

    def batches(self, table, breaks):
        yield from table.slice(0, len(table) // 2).to_batches()
        if breaks:
            raise OSError
        yield from table.slice(len(table) // 2).to_batches()


@covering(
    "algorithm, estimator, groups, spooled, broken",
    REGISTERED["points"], [PrivateKMeans, PrivateKMedian], [None, "who"], [False, True], [(), (0,), (0, 1)],
)  # fmt: skip
def test_a_fit_sees_one_whole_reading_and_nothing_else(algorithm, estimator, groups, spooled, broken, tmp_path):
    tables = [table_of(n) for n in (90, 200, 40, 300, 1)]
    source = Changing(tables, broken)
    model = estimator(
        2, epsilon=3.0, bounds={"x": (0, 1), "y": (0, 1)}, algorithm=algorithm, random_state=0, noise_seed=0,
        max_rows_per_group=2 if groups else None,
    )  # fmt: skip
    found = model.fit(stream(source, groups=groups, spool=tmp_path if spooled else None)).release_
    assert source.opened == len(broken) + 1
    assert found.to_json() == model.fit(tables[len(broken)], groups=groups).release_.to_json()


#: All tables of at most two rows of three values, and what a source gives in two readings.
SMALL = [rows for n in range(3) for rows in combinations_with_replacement((0.0, 0.3, 0.9), n)]
HISTORIES = list(product(SMALL, repeat=2))
SPLITS = Splits.of(DOMAIN)
ASKED = [ColumnBins(), Whole(), TreeCells.grid(SPLITS, 2), Rings(frozen([[0.2], [0.8]])), TreeCells.grid(SPLITS, 4), Whole()]


def are_neighbors(one, other):
    """Whether two tables are equal, or differ by one row added or removed."""
    small, large = sorted((list(one), list(other)), key=len)
    return small == large or any(
        small == [*large[:i], *large[i + 1 :]] for i in range(len(large)) if len(small) == len(large) - 1
    )


def moved(one, other):
    """Return by how much all exact answers of a question moved, of each column for itself."""
    return int(np.abs(np.asarray(one) - np.asarray(other)).reshape(1, -1).sum())


@pytest.mark.parametrize("spooled", [False, True])
def test_no_neighboring_history_moves_an_answer_beyond_its_sensitivity(spooled, tmp_path):
    answers = {}
    for history in HISTORIES:
        source = Changing([pa.table({"x": pa.array(rows, pa.float64())}) for rows in history])
        held = rows_of(
            stream(source, spool=tmp_path if spooled else None), None, None, lambda found: (found.nonprivate_rows, None)
        )
        with held.opened(Ground(DOMAIN), Unit(), SeededSource(0).key) as backend:
            answers[history] = [backend.exact(question) for question in ASKED]
        assert source.opened == 1
    pairs = [(h, g) for h, g in product(HISTORIES, repeat=2) if all(map(are_neighbors, h, g))]
    assert len(pairs) > 500
    for one, other in pairs:
        assert all(moved(a, b) <= 1 for a, b in zip(answers[one], answers[other], strict=True))


class ReadAnew(Batches):
    """What a fit does not do: rows that come from the source in every pass."""

    columns, n_features, has_groups = None, 1, False

    def __init__(self, *tables, names=None):
        self.tables, self.names, self.has_groups = [np.asarray(rows, float)[:, None] for rows in tables], names, names is not None

    def read(self):
        rows = self.tables.pop(0) if len(self.tables) > 1 else self.tables[0]
        yield from (rows[start : start + 2] for start in range(0, len(rows), 2))

    def read_groups(self):
        return self.names


def opened(batches, unit=None):
    return FileBackend(batches, Ground(DOMAIN), unit or Unit(), SeededSource(0).key)


def test_kept_rows_would_count_one_row_three_times():
    """The first rows of one pass and the others of the next one: a row that comes moves two others over the edge."""
    first, second = [0.1, 0.2, 0.3, 0.4], [0.9, 0.8, 0.7, 0.6]
    cells, counts = TreeCells.grid(SPLITS, 4), []
    for row in ([], [0.5]):
        backend = opened(KeptBatches(ReadAnew(row + first, row + second), 4 * 8))
        backend.exact(Rings(frozen([[0.5]])))
        counts.append(backend.exact(cells))
    assert moved(*counts) == 3


def test_groups_named_in_one_pass_would_cap_nobody_in_the_next():
    """Which rows count is known by their places; in another order they are another person's."""
    names = np.array([1, 1, 1, 1, 2, 3, 4, 5])
    counts = []
    for own in ([], [0.5] * 4):  # person 1, who is allowed one row
        others = [0.1] * 4
        batches = ReadAnew(own + others, others + own, names=names[-len(own + others) :])
        counts.append(opened(batches, Unit(Adjacency.ADD_REMOVE, 1)).exact(TreeCells.grid(SPLITS, 4)))
    assert moved(*counts) == 7


def path_counts(backend):
    """Return the exact counts along the path of the first cells, asked for as a growing tree asks."""
    counts = []

    def decide(cells, depth):
        counts.append(int(backend.exact(cells, SPLITS.depth - depth)[0]))
        return np.arange(len(cells)) == 0 if depth < SPLITS.depth else np.full(len(cells), False)

    Quadtree.visit(SPLITS, 0, decide)
    return np.array(counts)


def test_a_tree_grown_over_two_tables_would_cost_more_than_its_charge(monkeypatch):
    """The decisions of a path are paid for together, because its counts do not grow from a cell to its half."""
    monkeypatch.setattr(lookahead, "MOST_CELLS", 2**12)  # one pass counts twelve levels
    rule = split_rule(Charge("splits", "grow", Measure.PURE, Fraction(1)), False)
    few, many = (levels * rule.decay // rule.steps_per_row for levels in (8, 21))

    def loss(*sizes):
        """Return what one row more in each pass changes in the logarithm of the probability that all cells are split."""

        def logarithm(more):
            counts = path_counts(opened(ReadAnew(*(np.zeros(size + more) for size in sizes))))[: SPLITS.depth]
            scores = np.maximum(-rule.decay, counts * rule.steps_per_row - np.arange(len(counts)) * rule.decay)
            return float(_log_survival(-scores.astype(float), rule.scale).sum())

        return logarithm(1) - logarithm(0)

    assert 0.8 < loss(few) <= 1
    assert loss(few, many) > 1.6
