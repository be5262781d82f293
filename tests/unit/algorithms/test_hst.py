import math
import re
import tracemalloc

import numpy as np
import pytest

from covering import covering
from opening import purse_over
from spinney import Ball, Box, ParameterError, PrivateKMeans, scan
from spinney.algorithms import HST, Plan
from spinney.algorithms.problem import PointProblem, planned
from spinney.algorithms.step import NEAR_SHARE, RING_EDGES
from spinney.privacy import Adjacency, Budget, Measure, Unit
from spinney.solvers.dynamic_program import _leaves_below, place_centers


def rows_of(d, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(middle, 0.1, (60, d)) for middle in rng.uniform(-1, 1, (4, d))])


SPACE, BUDGET, ROW = Box(-1, 1), Budget.of(1.0), Unit()


def problem_of(d, k=3, power=1, space=SPACE, budget=BUDGET, unit=ROW):
    return PointProblem(k=k, power=power, domain=space.domain(d), budget=budget, unit=unit)


def fit(algorithm, rows, space, k, power, epsilon=math.inf, delta=0.0, seed=0):
    problem = problem_of(rows.shape[1], k, power, space, Budget.of(epsilon, delta))
    purse = purse_over(rows, problem, planned(algorithm, problem), seed)
    return algorithm.run(purse, problem, np.random.default_rng(seed))


def published(domain, rows, fractions, k, power):
    """Algorithms 2 and 3 without noise: the k centers."""
    return solutions_of(domain.lower.tolist(), domain.upper.tolist(), rows.tolist(), 0, fractions, k, power)[1][k]


def solutions_of(lower, upper, rows, depth, fractions, k, power):
    """Values and solutions for 0 .. k centers of a cell; of equal values the one with the fewest copies, then k1, wins."""
    values, solutions = [len(rows) * math.dist(lower, upper) ** power], [[]]
    if not rows or depth == len(fractions):  # a cell with rows has children, down to the last level
        center = tuple((a + b) / 2 for a, b in zip(lower, upper, strict=True))
        return values + [0.0] * k, solutions + [[center] * count for count in range(1, k + 1)]
    j, below, above = depth % len(lower), list(upper), list(lower)
    below[j] = above[j] = cut = lower[j] + fractions[depth] * (upper[j] - lower[j])
    left, right = [row for row in rows if row[j] <= cut], [row for row in rows if row[j] > cut]
    rest = depth + 1, fractions, k, power
    (v1, s1), (v2, s2) = solutions_of(lower, below, left, *rest), solutions_of(above, upper, right, *rest)
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
    centers = domain.clip(np.array(published(domain, rows, fractions, k, power)))
    centers = plain_rounds(rows, centers, rounds, power, domain)
    ours, theirs = (np.array(sorted(found.tolist())) for found in (result.centers, centers))
    np.testing.assert_allclose(ours, theirs, atol=3e-6 * domain.half_diagonal)
    sizes = np.bincount(((rows[:, None] - result.centers) ** 2).sum(axis=2).argmin(axis=1), minlength=k)
    np.testing.assert_array_equal(result.private_sizes, sizes)


@pytest.mark.parametrize("n_features", [1, 3, 10, 60])
def test_the_tree_pays_for_all_its_levels(n_features):
    levels = 12 * n_features + 1  # the published depth, 540 and more with many columns
    for delta in (0.0, 1e-6):
        plan = Plan(HST(alpha=12), problem_of(n_features, budget=Budget.of(1.0, delta)))
        tree = plan.charges[0]
        pure, rho = math.sqrt(2) * levels / float(tree.amount), math.sqrt(levels / (2 * float(tree.amount)))
        assert (tree.name, tree.question) == ("tree", "levels")
        assert plan.noise(tree).std == pytest.approx(pure if tree.measure is Measure.PURE else rho, rel=1e-3)


def test_the_threshold_grows_with_what_is_paid_for_a_unit():
    def threshold(epsilon, unit):
        return HST(beta=8.0).threshold(problem_of(2, budget=Budget.of(epsilon), unit=unit))

    assert threshold(0.5, Unit()) == 10 * 8 * 2 / 0.5
    assert threshold(0.5, Unit(Adjacency.REPLACE, 3)) == 6 * threshold(0.5, Unit())
    assert threshold(math.inf, Unit()) == 0


@pytest.mark.parametrize(("d", "k"), [(3, 7), (20, 2), (12, 60)])
def test_a_plan_says_how_much_memory_the_tree_takes_at_most(d, k, monkeypatch, tmp_path):
    """A tree that reaches its limit on rows on disk; the arrays of the program, which are not traced, are added."""
    from spinney.algorithms import tree_program
    from spinney.curators import lookahead
    from spinney.trees import quadtree

    rows = np.random.default_rng(0).uniform(-1, 1, (5_000, d))
    monkeypatch.setattr(tree_program, "MOST_BYTES", 2**23)
    monkeypatch.setattr(lookahead, "MOST_CELLS", 2**10)  # what does not grow with the tree is small
    monkeypatch.setattr(quadtree, "PART", 2**12)
    model = PrivateKMeans(k, epsilon=math.inf, bounds=(-1, 1), algorithm=HST(alpha=60 // d + 5, rounds=0), random_state=0)
    (said,) = [note for note in model.plan(d).notes if note.startswith("Memory: ")]
    cells, size = (int(text.replace(",", "")) for text in re.findall(r"[\d,]+(?= (?:cells|bytes))", said))
    assert cells * size <= 2**23 < (cells + 1) * size
    tables = []

    def placed(first_child, costs, k):
        tables.append((first_child.size, 8 * int(_leaves_below(first_child, k).sum() + 5 * first_child.size)))
        return place_centers(first_child, costs, k)

    monkeypatch.setattr(tree_program, "place_centers", placed)
    np.save(tmp_path / "rows.npy", rows)
    model.fit(scan(tmp_path / "rows.npy"))  # kernels are compiled
    tracemalloc.start()
    model.fit(scan(tmp_path / "rows.npy"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    visited, table = tables[-1]
    assert cells - 1 <= visited <= cells
    assert cells * size / 3 < max(peak, table) < cells * size


def test_a_tree_that_could_not_hold_its_centers_is_refused():
    with pytest.raises(ParameterError, match="does not fit into 8 GiB"):
        PrivateKMeans(10_000, epsilon=1.0, bounds=(-1, 1), algorithm="hst").plan(30_000)
