import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.solvers.exchanges import Exchanges
from spinney.solvers.reverse_greedy import thin_out
from spinney.solvers.weighted import improve, seed, solve, total_cost
from spinney.spaces.nearest import nearest

FLOOR = 1e-9


def blobs(n=300, k=4, d=2, seed=0):
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-50, 50, (k, d))
    return np.concatenate([middle + rng.normal(size=(n // k, d)) for middle in middles]), rng.integers(1, 5, n // k * k).astype(
        float
    )


def cost_of(points, weights, centers, power):
    return float((weights * np.sqrt(nearest(points, centers)[0]) ** power).sum())


def fillers(k, d=2):
    return np.random.default_rng(99).uniform(-50, 50, (k, d))


@pytest.mark.parametrize("power", [1, 2])
def test_seeding_draws_points_of_positive_weight(power):
    points, weights = blobs()
    weights[::2] = 0
    draws = np.random.default_rng(0).random((12, 3))
    centers = seed(points, weights, 12, power, draws, fillers(12))
    allowed = {tuple(point) for point in points[weights > 0]}
    assert {tuple(center) for center in centers} <= allowed
    assert len({tuple(center) for center in centers}) == 12


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(
    ("points", "weights", "distinct"),
    [
        (np.empty((0, 2)), np.empty(0), 0),
        (np.ones((5, 2)), np.zeros(5), 0),
        (np.ones((5, 2)), np.ones(5), 1),
        (np.array([[0.0, 0], [1, 1], [1, 1]]), np.ones(3), 2),
    ],
    ids=["no points", "no weight", "all equal", "two places"],
)
def test_fillers_stand_in_where_points_are_fewer_than_centers(points, weights, distinct, power):
    spare = fillers(4)
    centers = seed(points, weights, 4, power, np.random.default_rng(0).random((4, 3)), spare)
    assert len({tuple(center) for center in centers[:distinct]}) == distinct
    np.testing.assert_array_equal(centers[distinct:], spare[distinct:])
    solution = solve(points, weights, 4, power, np.random.default_rng(0), spare, restarts=3)
    assert solution.centers.shape == (4, 2)
    assert np.isfinite(solution.centers).all()
    assert solution.cost == 0


@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([1, 2]), st.integers(0, 12), st.booleans())
def test_columns_in_which_points_are_equal_change_nothing(start, d, power, distinct, has_start):
    """The same centers are found as without them, to the last bit; what stands in for a center keeps all of its columns."""
    rng, k = np.random.default_rng(start), 4
    points = rng.normal(size=(distinct, d))[rng.integers(distinct, size=60)] if distinct else np.empty((0, d))
    is_own = rng.permutation(np.repeat([True, False], [d, 3]))
    wide, spare = np.tile(rng.normal(size=d + 3), (len(points), 1)), rng.normal(size=(k, d + 3))
    wide[:, is_own] = points
    weights, starts = rng.random(len(points)), (wide[:k],) if has_start and distinct else ()
    known = solve(points, weights, k, power, np.random.default_rng(1), spare[:, is_own], 2, tuple(s[:, is_own] for s in starts))
    found = solve(wide, weights, k, power, np.random.default_rng(1), spare, 2, starts)
    if distinct > 1 and (np.ptp(points, axis=0) > 0).all():
        np.testing.assert_array_equal(found.centers[:, is_own], known.centers)
        assert found.cost == known.cost
    fills = (found.centers == spare).all(axis=1)
    assert fills.sum() >= k - distinct - len(starts) * k
    if distinct:
        assert np.abs(found.centers[~fills][:, ~is_own] - wide[0, ~is_own]).max(initial=0) < 1e-12


@pytest.mark.parametrize("power", [1, 2])
def test_a_step_is_the_textbook_one(power):
    """Lloyd's for means, Weiszfeld's off the points for medians; a center that serves nobody stays."""
    points, weights = blobs()
    weights[::3] = 0
    start = np.vstack([fillers(4), [[1e6, 1e6]]])
    squares, labels = nearest(points, start)
    pulls, expected = weights if power == 2 else weights / np.sqrt(squares), start.copy()
    for j in set(labels.tolist()):
        expected[j] = np.average(points[labels == j], axis=0, weights=pulls[labels == j])
    moved = improve(points, weights, start, power, 1, -1.0, FLOOR)
    np.testing.assert_allclose(moved.centers, expected, rtol=1e-10)
    assert moved.cost == pytest.approx(cost_of(points, weights, expected, power))


@pytest.mark.parametrize(("weight", "median"), [(1.0, [10.0, 0.0]), (9.0, [0.0, 0.0])])
def test_weiszfeld_stays_on_a_data_point_only_if_it_is_the_median(weight, median):
    points = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 1.0], [10.0, -1.0], [11.0, 0.0]])
    solution = improve(points, np.array([weight, 1, 1, 1, 1]), points[:1].copy(), 1, 500, 0.0, FLOOR)
    np.testing.assert_allclose(solution.centers, [median], atol=1e-2)


@pytest.mark.parametrize("power", [1, 2])
def test_solving_finds_the_clusters(power):
    points, weights = blobs(k=6, n=600, seed=4)
    solution = solve(points, weights, 6, power, np.random.default_rng(0), fillers(6))
    truth = np.stack([np.average(points[i : i + 100], axis=0, weights=weights[i : i + 100]) for i in range(0, 600, 100)])
    assert solution.cost <= cost_of(points, weights, truth, power) * (1 + 1e-9)
    assert solution.cost == pytest.approx(cost_of(points, weights, solution.centers, power))
    again = solve(points, weights, 6, power, np.random.default_rng(0), fillers(6))
    np.testing.assert_array_equal(again.centers, solution.centers)
    ghosts = np.concatenate([points, fillers(50)]), np.concatenate([weights, np.zeros(50)])  # points of no weight do not matter
    haunted = solve(*ghosts, 6, power, np.random.default_rng(0), fillers(6))
    np.testing.assert_allclose(np.sort(haunted.centers, axis=0), np.sort(solution.centers, axis=0), rtol=1e-6)
    distances = np.sqrt(((points[:, None] - solution.centers) ** 2).sum(axis=2))
    assert total_cost(points, solution.centers, power) == pytest.approx((distances.min(axis=1) ** power).sum())


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_center_that_goes_is_the_one_whose_loss_costs_least(power, k):
    for start in range(30):
        rng = np.random.default_rng(start)
        points, weights, centers = rng.normal(size=(40, 2)), rng.integers(0, 4, 40).astype(float), rng.normal(size=(k, 2))
        uniforms, exchanges = rng.random(3), Exchanges(points, weights, centers, power)
        found = exchanges.exchanged(uniforms[:1])
        (gone,) = np.flatnonzero((found != centers).any(axis=1))
        come = found[gone]
        assert (points == come).all(axis=1).any()
        others = (np.vstack([np.delete(centers, j, axis=0), come]) for j in range(k))
        costs = [cost_of(points, weights, one, power) for one in others]
        assert costs[gone] == pytest.approx(min(costs))
        each = [cost_of(points, weights, exchanges.exchanged(one[None]), power) for one in uniforms]
        assert cost_of(points, weights, exchanges.exchanged(uniforms), power) == pytest.approx(min(each))


@given(start=st.integers(0, 2**32), m=st.integers(1, 9), k=st.integers(1, 9), power=st.sampled_from([1, 2]))
def test_the_center_that_is_missed_least_goes_first(start, m, k, power):
    rng = np.random.default_rng(start)
    centers, weights = rng.normal(0, 1, (m, 2)), rng.uniform(0, 5, m) * (rng.random(m) < 0.8)
    left = list(range(m))
    while len(left) > k:
        options = [[one for one in left if one != gone] for gone in left]
        left = min(options, key=lambda option: cost_of(centers, weights, centers[option], power))
    kept = thin_out(centers, weights, k, power)
    assert len(kept) == min(m, k)
    assert np.isclose(*(cost_of(centers, weights, centers[some], power) for some in (kept, left)))
