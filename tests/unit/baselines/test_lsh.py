"""The LSH tree: a coreset of the means of cells, and the walk of rows down a tree of planes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import Box, PrivateKMeans, PrivateKMedian
from spinney.baselines import LSH
from spinney.curators.memory import MemoryBackend
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground
from spinney.questions.planes import PlaneCells

DOMAIN = Box(-1, 1).domain(2)


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(rng.uniform(-0.8, 0.8, (4, 2))[rng.integers(0, 4, n)] + rng.normal(0, 0.05, (n, 2)), -1, 1)


def leaf_of(cells, row):
    """The walk of one row, in plain Python."""
    node = 0
    while cells.first_child[node] >= 0:
        score = float(sum(a * x for a, x in zip(cells.normals[cells.planes[node]], row, strict=True)))
        node = cells.first_child[node] + int(score >= cells.offsets[node])
    return cells.leaves.tolist().index(node)


@given(seed=st.integers(0, 2**32), n=st.sampled_from([0, 1, 255, 300]))
@settings(deadline=None, max_examples=40, derandomize=True)
def test_rows_are_counted_in_the_leaf_that_their_walk_ends_in_whatever_was_asked_before(seed, n):
    rng = np.random.default_rng(seed)
    asked = [PlaneCells.root(rng.normal(size=(3, 2)))]
    for _ in range(rng.integers(0, 8)):
        cells = asked[rng.integers(max(len(asked) - 2, 0), len(asked))]  # mostly the last: else another branch of its growth
        chosen = rng.random(len(cells)) < 0.6
        asked.append(cells.split(chosen, rng.integers(0, 3, int(chosen.sum())), rng.normal(0, 0.5, int(chosen.sum()))))
    rows = rng.uniform(-1, 1, (n, 2))
    backend = MemoryBackend(rows, Ground(DOMAIN), Unit(), lambda: bytes(16))
    for cells in (*asked, asked[rng.integers(0, len(asked))], PlaneCells.root(np.eye(2))):
        expected = np.bincount([leaf_of(cells, row) for row in rows], minlength=len(cells))
        np.testing.assert_array_equal(backend.exact(cells), expected)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_without_noise_the_coreset_is_the_means_of_the_leaves(estimator):
    rows = rows_of(600)
    release = estimator(4, epsilon=math.inf, bounds=(-1, 1), algorithm=LSH(levels=8), random_state=1).fit(rows).release_
    assert release.summary_weights.sum() == len(rows)
    mean = release.summary_weights @ release.summary_points / len(rows)
    np.testing.assert_allclose(mean, rows.mean(axis=0), atol=1e-5)
    assert len(release.summary_points) > 4


def test_no_more_cells_are_cut_than_there_may_be(monkeypatch):
    monkeypatch.setattr("spinney.baselines.lsh.MOST_CELLS", 16)
    rows = np.random.default_rng(0).uniform(-1, 1, (3000, 3))
    model = PrivateKMeans(3, epsilon=1e6, bounds=(-1, 1), algorithm=LSH(levels=20), random_state=0, noise_seed=0).fit(rows)
    assert 8 <= len(model.release_.summary_points) <= 16
