import math
from fractions import Fraction

import numpy as np
import pytest

from covering import covering
from spinney import Ball, Box, ParameterError
from spinney.algorithms.hst import HST
from spinney.algorithms.plan import Plan
from spinney.algorithms.problem import PointProblem, planned
from spinney.algorithms.step import NEAR_SHARE, RING_EDGES
from spinney.algorithms.tree_program import spread
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.curators.purse import Purse
from spinney.mechanisms.source import SeededSource
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Measure
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground
from spinney.trees.quadtree import Splits, TreeCells


def rows_of(d, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(middle, 0.1, (60, d)) for middle in rng.uniform(-1, 1, (4, d))])


def fit(algorithm, rows, space, k, power, epsilon=math.inf, delta=0.0, unit=None, seed=0):
    domain = space.domain(rows.shape[1])
    problem = PointProblem(k=k, power=power, domain=domain, budget=Budget.of(epsilon, delta), unit=unit or Unit())
    source = SeededSource(seed)
    backend = MemoryBackend(rows, Ground(domain), problem.unit, source.key)
    curator = Curator(backend, problem.unit, FitLedger(problem.budget, planned(algorithm, problem)), source)
    return algorithm.run(Purse(curator), problem, np.random.default_rng(seed))


class Cell:
    """A cell of the published tree, with the rows in it."""

    def __init__(self, lower, upper, rows, depth):
        self.lower, self.upper, self.rows, self.depth = lower, upper, rows, depth
        self.children = []

    @property
    def diameter(self):
        return math.dist(self.lower, self.upper)

    @property
    def center(self):
        return tuple((a + b) / 2 for a, b in zip(self.lower, self.upper, strict=True))


def make_tree(cell, fractions):
    """Algorithm 2 without noise: a cell with rows has children, down to the last level."""
    if not cell.rows or cell.depth == len(fractions):
        return cell
    j = cell.depth % len(cell.lower)
    cut = cell.lower[j] + fractions[cell.depth] * (cell.upper[j] - cell.lower[j])
    below, above = list(cell.upper), list(cell.lower)
    below[j] = above[j] = cut
    left, right = [row for row in cell.rows if row[j] <= cut], [row for row in cell.rows if row[j] > cut]
    cell.children = [
        make_tree(Cell(cell.lower, below, left, cell.depth + 1), fractions),
        make_tree(Cell(above, cell.upper, right, cell.depth + 1), fractions),
    ]
    return cell


def dynamic_program(cell, k, power):
    """Algorithm 3: values and solutions for 0 .. k centers; of equal values the one with the fewest copies, then k1, wins."""
    values, solutions = [len(cell.rows) * cell.diameter**power], [[]]
    if not cell.children:
        return values + [0.0] * k, solutions + [[cell.center] * count for count in range(1, k + 1)]
    (v1, s1), (v2, s2) = (dynamic_program(child, k, power) for child in cell.children)
    for count in range(1, k + 1):
        options = [(v1[k1] + v2[count - k1], s1[k1] + s2[count - k1], k1) for k1 in range(count + 1)]
        value, solution, _ = min(options, key=lambda option: (option[0], len(option[1]) - len(set(option[1])), option[2]))
        values.append(value)
        solutions.append(solution)
    return values, solutions


def plain_rounds(rows, centers, rounds, power, domain):
    """Lloyd rounds, or Weiszfeld rounds that take the nearest share of a cluster's rows as equally near."""
    edges = 2 * domain.half_diagonal * 2.0 ** (-np.arange(RING_EDGES)[::-1] / 2.0)
    for _ in range(rounds):
        distances = np.sqrt(((rows[:, None] - centers) ** 2).sum(axis=2))
        labels = distances.argmin(axis=1)
        moved = centers.copy()
        for j in range(len(centers)):
            mine, far = rows[labels == j], distances[labels == j, j]
            if len(mine):
                radius = next(edge for edge in edges if (far <= edge).mean() >= NEAR_SHARE)
                moved[j] = mine.mean(axis=0) if power == 2 else np.average(mine, axis=0, weights=1 / np.maximum(far, radius))
        centers = domain.clip(moved)
    return centers


@covering(
    "power, space, k, rounds, seed", [1, 2], [Box(-1.3, 1.3), Box([-2, -1.5, -1.4], [1.2, 3, 1.4]), Ball(1.4)], [1, 4, 7], [0, 3],
    range(6),
)  # fmt: skip
def test_without_noise_hst_is_the_published_algorithm(power, space, k, rounds, seed):
    d = 3 if len(np.atleast_1d(getattr(space, "lower", (0.0,)))) == 3 else 2
    domain = space.domain(d)
    rows = domain.clip(rows_of(d, seed))
    result = fit(HST(alpha=4, rounds=rounds), rows, space, k, power, seed=seed)
    fractions = np.random.default_rng(seed).uniform(1 / 3, 2 / 3, 4 * d)
    root = make_tree(Cell(domain.lower.tolist(), domain.upper.tolist(), rows.tolist(), 0), fractions)
    centers = domain.clip(np.array(dynamic_program(root, k, power)[1][k]))
    centers = plain_rounds(rows, centers, rounds, power, domain)
    ours, theirs = (np.array(sorted(found.tolist())) for found in (result.centers, centers))
    np.testing.assert_allclose(ours, theirs, atol=3e-6 * domain.half_diagonal)
    sizes = np.bincount(((rows[:, None] - result.centers) ** 2).sum(axis=2).argmin(axis=1), minlength=k)
    np.testing.assert_array_equal(result.private_sizes, sizes)


def test_the_summary_holds_the_leaves_with_rows():
    rows = rows_of(2, 3)
    result = fit(HST(alpha=5, rounds=0), rows, Box(-2, 2), 3, 1)
    assert result.summary_weights.sum() == len(rows)
    assert (result.summary_weights > 0).all()
    assert result.summary_points.shape == (len(result.summary_weights), 2)


@pytest.mark.parametrize("k", [2, 3, 8, 30])
def test_too_few_leaves_are_cut_further_where_they_cost_most(k):
    domain = Box(0, 1).domain(2)
    problem = PointProblem(k=k, power=1, domain=domain, budget=Budget.of(1.0), unit=Unit())
    splits = Splits.random(domain, 10, np.random.default_rng(0))
    cells = spread(TreeCells.grid(splits, 1), np.array([1.0, 100.0]), problem)
    assert len(cells) == k
    assert len({tuple(point) for point in cells.middles()}) == k
    lower, upper = cells.boxes()
    assert np.prod(upper - lower, axis=1).sum() == pytest.approx(1.0)
    cut = splits.route.fractions[0] / 2**31
    assert (cells.middles()[:, 0] > cut).sum() >= k // 2


def test_at_the_last_level_copies_remain():
    domain = Box(0, 1).domain(1)
    problem = PointProblem(k=7, power=2, domain=domain, budget=Budget.of(1.0), unit=Unit())
    cells = spread(TreeCells.grid(Splits.random(domain, 1, np.random.default_rng(0)), 0), np.array([0.0]), problem)
    assert len(cells) == 7
    assert len(np.unique(cells.middles())) == 2


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("epsilon", [0.5, math.inf])
def test_few_rows_give_k_centers(n, epsilon):
    result = fit(HST(), np.full((n, 2), 0.3), Box(-1, 1), 6, 1, epsilon=epsilon)
    assert result.centers.shape == (6, 2)
    assert np.isfinite(result.centers).all()


@pytest.mark.parametrize("consistent", [False, True])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_centers_of_separate_clusters_are_found(consistent, delta):
    rng = np.random.default_rng(0)
    middles = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
    rows = np.concatenate([rng.normal(middle, 0.05, (3000, 2)) for middle in middles])
    result = fit(HST(consistent=consistent), rows, Box(-1, 1), 3, 1, epsilon=2.0, delta=delta, seed=2)
    gaps = np.linalg.norm(middles[:, None] - result.centers, axis=2).min(axis=1)
    assert gaps.max() < 0.05
    np.testing.assert_allclose(result.private_sizes, 3000, atol=300)


@pytest.mark.parametrize("n_features", [1, 3, 10, 60])
def test_the_tree_pays_for_all_its_levels(n_features):
    problem = PointProblem(k=3, power=1, domain=Box(-1, 1).domain(n_features), budget=Budget.of(1.0), unit=Unit())
    algorithm = HST(alpha=12)
    levels = 12 * n_features + 1  # the published depth, 540 and more with many columns
    tree = Plan(algorithm, problem).charges[0]
    assert (tree.name, tree.question) == ("tree", "levels")
    assert Plan(algorithm, problem).noise(tree).std == pytest.approx(math.sqrt(2) * levels / float(tree.amount), rel=1e-3)
    rich = PointProblem(k=3, power=1, domain=Box(-1, 1).domain(n_features), budget=Budget.of(1.0, 1e-6), unit=Unit())
    charge = Plan(algorithm, rich).charges[0]
    if charge.measure is Measure.ZCDP:
        assert Plan(algorithm, rich).noise(charge).std == pytest.approx(math.sqrt(levels / (2 * float(charge.amount))))


def test_a_cell_is_split_above_the_published_threshold_of_the_whole_epsilon():
    problem = PointProblem(k=3, power=1, domain=Box(-1, 1).domain(7), budget=Budget.of(0.5), unit=Unit())
    assert HST(beta=2.0).threshold(problem) == 10 * 2.0 * 7 / 0.5
    assert HST(beta=2.0, rounds=0).threshold(problem) == HST(beta=2.0, rounds=9).threshold(problem)


@pytest.mark.parametrize("rounds", [0, 1, 4, 60])
def test_tree_and_rounds_share_the_budget_evenly(rounds):
    problem = PointProblem(k=3, power=2, domain=Box(-1, 1).domain(2), budget=Budget.of(1.0), unit=Unit())
    parts = {part.name: part.share for part in HST(rounds=rounds).parts(problem)}
    assert sum(parts.values()) == 1
    assert parts["sizes"] == Fraction(3, 100)
    assert all(parts[f"radii {i}"] + parts[f"round {i}"] == parts["tree"] for i in range(1, rounds + 1))
    assert "sizes +- " in str(Plan(HST(rounds=rounds), problem, 1000)).replace("size ", "sizes ")


def test_the_threshold_grows_with_what_is_paid_for_a_unit():
    def threshold(epsilon, unit):
        return HST(beta=8.0).threshold(
            PointProblem(k=3, power=1, domain=Box(-1, 1).domain(2), budget=Budget.of(epsilon), unit=unit)
        )

    assert threshold(0.5, Unit()) == 10 * 8 * 2 / 0.5
    assert threshold(0.5, Unit(Adjacency.REPLACE, 3)) == 6 * threshold(0.5, Unit())
    assert threshold(math.inf, Unit()) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", 0), ("alpha", 2.5), ("alpha", True), ("alpha", "6"), ("beta", 0.0), ("beta", math.inf), ("beta", math.nan),
        ("beta", "8"), ("beta", True), ("consistent", 1), ("consistent", None), ("rounds", -1), ("rounds", 1.0), ("rounds", None),
        ("projection", 0), ("projection", 2.0), ("projection", True), ("projection", "some"), ("projection", 2000),
        ("repairs", -1), ("repairs", 1.5), ("slack", 0.0), ("slack", 1.5), ("slack", None), ("slack", math.nan),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(name, value):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of HST must be .*\nHint: for example HST"):
        HST(**{name: value})


def test_parameters_make_an_algorithm_equal():
    assert HST() == HST(alpha=6, beta=8.0, consistent=True, rounds=4)
    assert HST(alpha=np.int64(5)) == HST(alpha=5)
