import math
from fractions import Fraction

import numpy as np
import pytest

from spinney import Box
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.mechanisms.source import SeededSource
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.counts import Counts
from spinney.questions.ground import Ground
from spinney.questions.levels import Levels
from spinney.trees.quadtree import Splits, TreeCells

PLANE = Box(-1, 1).domain(2)
SPLITS = Splits.of(PLANE)
ROWS = np.random.default_rng(0).normal(0, 0.2, (300, 2))


@pytest.mark.parametrize(("start", "depth"), [(0, 0), (0, 6), (3, 3), (2, 7)])
def test_without_a_threshold_every_cell_is_counted(open_curator, start, depth):
    curator, ask, *more = open_curator(ROWS, PLANE, "levels", *["counts"] * (depth - start + 1))
    answer = curator.ask(Levels(SPLITS, start, depth, None), ask)
    whole = [
        curator.ask(Counts(TreeCells.grid(SPLITS, level)), more[level - start]).private_counts
        for level in range(start, depth + 1)
    ]
    assert answer.private_counts.tolist() == np.concatenate(whole).tolist()
    assert np.array_equal(np.bincount(answer.tree.cells.depths)[start:], 2 ** np.arange(start, depth + 1))


@pytest.mark.parametrize("threshold", [-1, 0, 20, 10**6])
def test_children_are_visited_above_the_threshold(open_curator, threshold):
    curator, ask = open_curator(ROWS, PLANE, "levels")
    answer = curator.ask(Levels(SPLITS, 1, 9, threshold), ask)
    tree, counts = answer.tree, answer.private_counts
    assert np.array_equal(tree.first_child >= 0, (counts > threshold) & (tree.cells.depths < 9))
    inner = np.flatnonzero(tree.first_child >= 0)
    assert np.array_equal(counts[inner], counts[tree.first_child[inner]] + counts[tree.first_child[inner] + 1])
    assert counts[:2].sum() == len(ROWS)
    assert len(tree.leaves) == len(counts) - len(inner)


@pytest.mark.parametrize(
    ("adjacency", "max_rows", "measure", "scale"),
    [
        ("add-remove", 1, "epsilon", 5 / 0.5),
        ("replace", 1, "epsilon", 2 * 5 / 0.5),
        ("add-remove", 3, "epsilon", 3 * 5 / 0.5),
        ("add-remove", 1, "rho", math.sqrt(5 / (2 * 0.5))),
        ("replace", 1, "rho", math.sqrt(5 / 0.5)),
        ("replace", 3, "rho", 3 * math.sqrt(5 / 0.5)),
    ],
)
def test_noise_grows_with_the_number_of_levels(adjacency, max_rows, measure, scale):
    charge = Charge("tree", "levels", Measure(measure), Fraction(1, 2))
    ledger = FitLedger(Budget(Fraction(9), Fraction(1, 9)), (charge,))
    unit, source = Unit(Adjacency(adjacency), max_rows), SeededSource(0)
    curator = Curator(MemoryBackend(ROWS, Ground(PLANE), unit, source.key), unit, ledger, source)
    answer = curator.ask(Levels(SPLITS, 2, 6, None), charge)
    assert answer.noise.scale == pytest.approx(scale)
    true = TreeCells(SPLITS, answer.tree.cells.codes, answer.tree.cells.depths)
    noise = answer.private_counts - curator._rows._cell_counts(true)
    assert 0.5 * answer.noise.std < noise.std() < 2 * answer.noise.std
    assert np.count_nonzero(noise) > 0.7 * len(noise)  # empty cells get noise too
