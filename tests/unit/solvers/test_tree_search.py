import numpy as np
import pytest

from spinney.exceptions import ParameterError
from spinney.solvers.tree_search import find_leaves, search_medoids, search_subtrees
from spinney.spaces.metric import FiniteMetric
from spinney.trees.metric_hst import MetricHST

SPACE = FiniteMetric.from_points(np.random.default_rng(0).normal(size=(120, 2)))


def ancestors(tree, node):
    while (node := tree.parent[node]) >= 0:
        yield node


def published_rounds(tree, counts, k, power):
    """Algorithm 4 as printed: add the best nodes that are neither chosen nor above chosen ones, then prune, until there are k."""
    score = counts * 2.0 ** (power * tree.heights)
    chosen = set()
    while len(chosen) < k:
        barred = chosen | {up for node in chosen for up in ancestors(tree, node)}
        ranked = [node for node in np.argsort(-score, kind="stable") if node not in barred]
        if not ranked:
            break
        chosen |= set(ranked[: k - len(chosen)])
        chosen -= {up for node in chosen for up in ancestors(tree, node)}
    return sorted(chosen)


@pytest.mark.parametrize("noise", [0.0, 3.0])
@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("power", [1, 2])
def test_one_pass_is_the_published_rounds(noise, k, power):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        tree = MetricHST.build(SPACE, rng, 6)
        counts = tree.counts(rng.random(120) < 0.5) + rng.normal(0, noise, len(tree))
        found = search_subtrees(tree, counts, k, power)
        assert found.tolist() == published_rounds(tree, counts, k, power)
        assert len(found) == k
        assert all(set(ancestors(tree, node)).isdisjoint(found) for node in found)


def test_leaves_are_found_by_the_largest_child():
    tree = MetricHST.build(SPACE, np.random.default_rng(3), 6)
    counts = tree.counts(np.ones(120))
    nodes = search_subtrees(tree, counts, 5)
    for node, leaf in zip(nodes, find_leaves(tree, counts, nodes), strict=True):
        assert tree.n_children[leaf] == 0
        while leaf != node:
            siblings = np.flatnonzero(tree.parent == tree.parent[leaf])
            assert leaf == siblings[counts[siblings].argmax()]
            leaf = tree.parent[leaf]


@pytest.mark.parametrize("existing", [(), (1, 2, 3)])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_centers_are_different_free_candidates(k, existing):
    space = FiniteMetric.from_points(SPACE.source.points, candidates=np.arange(1, 120, 2))
    tree = MetricHST.build(space, np.random.default_rng(0), 6)
    points = search_medoids(space, tree, tree.counts(np.ones(120)), k, existing=existing)
    assert len(set(points)) == k
    assert set(points) <= set(space.candidates) - set(existing)


def test_more_centers_than_leaves_are_filled_up_from_the_largest():
    tree = MetricHST.build(SPACE, np.random.default_rng(0), 1)
    leaves = np.count_nonzero(tree.n_children == 0)
    counts = tree.counts(np.ones(120))
    points = search_medoids(SPACE, tree, counts, leaves + 1)
    assert len(set(points)) == leaves + 1
    assert points[-1] in tree.points(np.argmax(np.where(tree.n_children == 0, counts, 0)))
    assert len(search_medoids(SPACE, tree, counts, 120)) == 120
    with pytest.raises(ParameterError, match="n_clusters"):
        search_medoids(SPACE, tree, counts, 121)
