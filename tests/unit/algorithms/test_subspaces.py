import math

import numpy as np
import pytest

from covering import covering
from spinney import Ball, Box
from spinney.algorithms.hst import HST
from spinney.algorithms.subspaces import Subspace
from unit.algorithms.test_hst import fit, plain_rounds, problem_of, published, rows_of


@pytest.mark.parametrize("space", [Box(-1, 1), Box([-2, 0, 0, 1, -1, 0], [2, 1, 9, 2, 1, 3]), Ball(2.0, 0.5)])
@pytest.mark.parametrize("dimensions", [1, 3, 5])
def test_clusters_of_the_subspace_are_those_of_lifted_centers(space, dimensions):
    rng = np.random.default_rng(0)
    domain = space.domain(6)
    subspace = Subspace.random(domain, dimensions, rng)
    rows, centers = domain.sample(500, rng), subspace.domain.sample(8, rng)
    np.testing.assert_allclose(subspace.basis @ subspace.basis.T, np.eye(dimensions), atol=1e-12)
    inside = (rows - domain.center) @ subspace.basis.T
    near = ((inside[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    lifted = ((rows[:, None] - subspace.lift(centers)) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(near, lifted)


@pytest.mark.parametrize("d", [5, 60, 400])
@pytest.mark.parametrize("space", [Box(-1, 1), Ball(1.0)], ids=["box", "ball"])
def test_hardly_any_row_is_clipped_in_the_subspace(d, space):
    rng, domain = np.random.default_rng(1), space.domain(d)
    corners = domain.clip(np.sign(rng.uniform(-1, 1, (300, d))) * (rng.random((300, d)) < rng.random((300, 1))))
    rows = np.concatenate([corners, domain.sample(100, rng), np.eye(d), domain.upper[None], domain.lower[None]])
    beyond = 0
    for _ in range(20):
        subspace = Subspace.random(domain, 3, rng)
        inside = (domain.clip(rows) - domain.center) @ subspace.basis.T
        beyond += (np.abs(inside) > subspace.domain.upper * (1 + 1e-12)).sum()
    assert beyond <= 1e-3 * 20 * rows.size / d * 3
    assert (subspace.domain.upper <= 4 * domain.half_diagonal / math.sqrt(d) + 1e-12).all()


@covering("power, rounds, seed", [1, 2], [0, 2], [0, 1, 2])
def test_without_noise_a_projected_tree_is_the_published_algorithm(power, rounds, seed):
    space, d, m, k = Box(-1.5, 1.5), 4, 2, 3
    domain, rows = space.domain(d), rows_of(d, seed)
    result = fit(HST(alpha=4, rounds=rounds, projection=m), rows, space, k, power, seed=seed)
    rng = np.random.default_rng(seed)
    subspace = Subspace.random(domain, m, rng)
    fractions, inside = rng.uniform(1 / 3, 2 / 3, 4 * m), (rows - domain.center) @ subspace.basis.T
    chosen = np.array(published(subspace.domain, inside, fractions, k, power))
    labels = ((inside[:, None] - chosen) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([rows[labels == j].mean(axis=0) for j in range(k)])
    centers = plain_rounds(rows, domain.clip(means), rounds, power, domain)
    ours, theirs = (np.array(sorted(found.tolist())) for found in (result.centers, centers))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize(("projection", "found"), [(None, None), ("auto", 3), (2, 2), (7, 7), (8, None), (9, None)])
def test_a_projection_keeps_fewer_dimensions_than_columns_or_is_none(projection, found):
    algorithm = HST(projection=projection)
    problem = problem_of(8, k=10)
    assert algorithm.dimensions(problem) == found
    assert algorithm.depth(problem) == 6 * (found or 8)
    assert (algorithm.parts(problem) == HST().parts(problem)) == (found is None)
