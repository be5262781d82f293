import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spinney import Ball, Box, PrivateKMeans, PrivateKMedian, verify
from spinney.algorithms import Stable
from spinney.algorithms.descent import with_more
from spinney.algorithms.leaves import FOLLOWED, MOST_CELLS
from spinney.algorithms.moments import BINNED_SHARES, LAST, OVER, SCHEDULES, SHARES, schedule
from spinney.algorithms.polish import supported, together
from spinney.algorithms.registry import find
from spinney.algorithms.shape import FILLER_SPREAD, MANY_TO_BIN, SPAN, Shape, measure, shallow_leaves
from spinney.algorithms.totals import ask_total
from spinney.verification.asked import misasked

BOTH = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])


def make(estimator=PrivateKMeans, k=4, **changes):
    settings = {"epsilon": math.inf, "bounds": (-2, 2), "algorithm": "moments", "random_state": 0}
    return estimator(k, **{**settings, **changes})


def blobs(d, k=4, n=500, std=0.08, seed=0):
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-1, 1, (k, d))
    return middles, np.concatenate([rng.normal(middle, std, (n, d)) for middle in middles])


def assert_found(centers, middles, tolerance):
    gaps = np.linalg.norm(centers[:, None] - middles, axis=2)
    assert sorted(gaps.argmin(axis=1)) == list(range(len(middles)))
    assert gaps.min(axis=1).max() < tolerance


@BOTH
@pytest.mark.parametrize("space", [Box(-2, 2), Ball(10.0)], ids=["box", "ball"])
def test_without_noise_blobs_in_many_columns_are_found(estimator, space):
    middles, rows = blobs(40)
    release = make(estimator, bounds=space).fit(rows).release_
    assert_found(release.centers, middles, 0.1)
    np.testing.assert_array_equal(release.sizes, [500] * 4)
    assert len(release.summary_points) == len(release.summary_weights) == 4 * OVER
    assert release.noise == "none: not private"


@BOTH
@pytest.mark.parametrize(("delta", "adjacency"), [(0.0, "add-remove"), (1e-6, "add-remove"), (1e-6, "replace")])
@pytest.mark.matrix
def test_with_noise_blobs_in_many_columns_are_found(estimator, delta, adjacency):
    middles, rows = blobs(40, n=10_000)
    model = make(estimator, epsilon=2.0, delta=delta, adjacency=adjacency, noise_seed=1)
    assert_found(model.fit(rows).cluster_centers_, middles, 1.0)


@BOTH
def test_one_cluster_is_the_middle_of_the_rows(estimator):
    _, rows = blobs(15, k=1)
    centers = make(estimator, 1).fit(rows).cluster_centers_
    target = rows.mean(axis=0) if estimator is PrivateKMeans else np.median(rows, axis=0)
    np.testing.assert_allclose(centers, [target], atol=0.02)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("epsilon", [1e-9, 1.0, math.inf])
@pytest.mark.parametrize("d", [1, 3, 50])
@pytest.mark.matrix
def test_few_rows_give_k_centers_inside_the_domain(n, epsilon, d):
    rows = np.random.default_rng(0).uniform(-1, 1, (n, d))
    for bounds in (Box(-1, 1), Ball(0.9)):
        centers = make(k=7, epsilon=epsilon, bounds=bounds).fit(rows).cluster_centers_
        assert centers.shape == (7, d)
        domain = bounds.domain(d)
        assert (centers >= domain.lower).all()
        assert (centers <= domain.upper).all()


@BOTH
def test_constant_columns_do_no_harm(estimator):
    middles, rows = blobs(20)
    wide = np.concatenate([rows, np.full((len(rows), 5), 0.75)], axis=1)
    centers = make(estimator).fit(wide).cluster_centers_
    assert_found(centers[:, :20], middles, 0.1)
    np.testing.assert_allclose(centers[:, 20:], 0.75, atol=1e-3)


@pytest.mark.parametrize("scale", [1e-95, 1e-30, 1.0, 1e30, 1e95])
def test_a_result_scales_with_its_domain(scale):
    middles, rows = blobs(16)
    model = make(epsilon=5.0, delta=1e-6, bounds=(-2 * scale, 2 * scale), noise_seed=2)
    plain = make(epsilon=5.0, delta=1e-6, noise_seed=2).fit(rows).cluster_centers_
    assert_found(plain, middles, 0.5)
    np.testing.assert_allclose(model.fit(rows * scale).cluster_centers_ / scale, plain, atol=1e-3)


def test_one_column_does():
    _, rows = blobs(1, k=1, n=50, std=0.01)
    rows = np.concatenate([rows - 0.5, rows + 0.5])
    centers = make(k=2).fit(rows).cluster_centers_
    np.testing.assert_allclose(np.sort(centers.ravel()), [rows[:50].mean(), rows[50:].mean()], atol=0.01)


@pytest.fixture
def opened(open_curator):
    """Return a function that opens a curator without noise for the questions of a plan."""

    def make_curator(rows, bounds=(-2, 2), **changes):
        plan = make(bounds=bounds, **changes).plan(rows.shape[1])
        questions = [charge.question for charge in plan.charges]
        curator, *charges = open_curator(rows, plan.problem.domain, *questions)
        names = [charge.name for charge in plan.charges]
        return curator, plan.problem, dict(zip(names, charges, strict=True))

    return make_curator


def measured(curator, problem, charges):
    return measure(curator, problem, charges, ask_total(curator, problem.domain, charges["mean"]))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_moments_without_noise_are_those_of_the_rows(opened, delta):
    rng = np.random.default_rng(3)
    rows = rng.normal(0.3, [0.15, 0.25, 0.2, 0.15, 0.25, 0.2], (4000, 6))
    shape = measured(*opened(rows, delta=delta))
    assert (shape.densities is None) == (delta == 0)
    assert shape.n == 4000
    np.testing.assert_allclose(shape.mean, rows.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(shape.distance, np.sqrt(rows.var(axis=0).sum()), rtol=0.25)
    np.testing.assert_allclose(shape.spread, rows.std(axis=0), rtol=0.15)


def test_a_column_without_spread_keeps_a_little(opened):
    shape = measured(*opened(np.tile([0.3, -0.5], (100, 1))))
    assert (shape.spread >= 4e-6).all()


def test_the_shallow_tree_looks_at_the_columns_of_largest_spread(opened):
    rng = np.random.default_rng(3)
    rows = rng.normal(0, [0.02, 0.5, 0.02, 0.4], (1000, 4))
    curator, problem, charge = opened(rows)
    shape = measured(curator, problem, charge)
    points, weights = shallow_leaves(curator, shape, problem, charge)
    assert weights.sum() == 1000
    assert len(points) <= MOST_CELLS
    reach = SPAN * shape.spread
    assert (np.abs(points - shape.mean) <= reach).all()
    assert len(np.unique(points[:, 1])) >= 4 * len(np.unique(points[:, 0]))
    np.testing.assert_array_equal(curator.ground.domain.lower, problem.domain.lower)  # the tree was counted in a view


def test_fillers_lie_around_the_mean_inside_the_domain():
    domain = Box(-1, 1).domain(3)
    shape = Shape(10.0, np.array([0.0, 0.5, 1.0]), 1.0, np.array([0.1, 0.2, 0.3]))
    fillers = shape.fillers(20_000, domain, np.random.default_rng(0))
    np.testing.assert_allclose(fillers.std(axis=0)[:2], FILLER_SPREAD * shape.spread[:2], rtol=0.05)
    assert (fillers <= 1).all()


def test_the_plan_pays_for_sums_of_three_kernels():
    plan = make(epsilon=1.0).plan(50)
    kernels = {part.name: part.kind.kernel for part in find("moments", "points").parts(plan.problem) if part.question == "sums"}
    assert kernels == {"mean": "box", "spread": "second-moment"} | dict.fromkeys(("step 1", "step 2", *LAST), "mean")
    assert sum(SHARES.values()) == sum(BINNED_SHARES.values()) == 100


@pytest.mark.parametrize(("d", "delta"), [(2, 1e-6), (MANY_TO_BIN - 1, 1e-6), (MANY_TO_BIN, 1e-6), (2, 0.0)])
def test_histograms_are_asked_for_if_columns_are_few_and_noise_is_gaussian(d, delta):
    asked = {}
    for epsilon, n in ((3.0, 2000), (0.3, 100)):
        release = make(k=2, epsilon=epsilon, delta=delta, noise_seed=0).fit(blobs(d, n=n)[1]).release_
        asked[n] = {charge.name: charge.question for charge in release.charges}
    assert asked[2000]["spread"] == ("counts" if delta and d < MANY_TO_BIN else "sums")
    assert asked[100].get("spread", "sums") == "sums"


def test_rows_of_columns_that_go_together_are_followed_and_others_pay_for_leaves(tmp_path):
    rng = np.random.default_rng(1)
    line = np.outer(rng.uniform(-1, 1, 30_000), np.ones(20))
    asked = []
    for rows in (line, rng.normal(0, 0.5, (30_000, 20))):
        release = make(k=5, epsilon=2.0, delta=1e-6).fit(rows).release_
        asked.append({charge.name: charge.question for charge in release.charges})
        path = tmp_path / "release.json"
        path.write_text(release.to_json(), encoding="utf-8")
        assert verify(path).holds
        if "deeper" in asked[-1]:
            record = json.loads(path.read_text(encoding="utf-8"))
            noise = next(one for one in record["mechanisms"] if one["name"] == "deeper")
            assert (misasked(record, "release", 20), noise["repeats"]) == (None, FOLLOWED + 1)
            noise["repeats"] -= 1
            assert misasked(record, "release", 20) == "its tree has other levels than it follows rows down"
    assert asked[0].items() >= {"leaves": "counts", "deeper": "levels"}.items()
    assert asked[1]["leaves + deeper"] == "counts"


def test_cells_of_skewed_columns_have_their_points_where_rows_are(opened):
    rows = np.clip(np.random.default_rng(5).exponential(0.3, (5000, 12)) - 1.5, -2, 2)
    costs = []
    for is_known in (True, False):
        curator, problem, charges = opened(rows, delta=1e-6)
        shape = measured(curator, problem, charges)
        shape = shape if is_known else replace(shape, densities=None)
        points, _ = shallow_leaves(curator, shape, problem, charges)
        costs.append(cdist(rows, points, "sqeuclidean").min(axis=1).mean())
    assert costs[0] < 0.95 * costs[1]


def test_for_medians_the_weights_of_moments_are_counts():
    plan = make(PrivateKMedian, epsilon=1.0, delta=1e-6, adjacency="replace").plan(100)
    stds = {charge.name: plan.noise(charge).vector_std for charge in plan.charges if charge.question == "sums"}
    shares = {name: with_more(SHARES, "step 3")[name] ** 0.5 * std for name, std in stds.items()}
    # A replaced weight of the median kernel costs more than a replaced count.
    # A row may reach a corner of the box, and with it each of 100 columns.
    assert shares["mean"] == pytest.approx(10 * shares["spread"], rel=1e-3)
    assert shares["step 1"] == pytest.approx(shares["step 3"], rel=1e-3)
    assert shares["step 1"] > 1.01 * shares["spread"]


@pytest.mark.parametrize(("d", "delta"), [(100, 0.0), (100, 1e-6), (50, 1e-6)])
def test_a_small_budget_goes_to_the_mean_in_two_steps_or_one_question(d, delta, tmp_path):
    _, rows = blobs(d, n=300)
    release = make(k=6, epsilon=0.05, delta=delta).fit(rows).release_
    names = [charge.name for charge in release.charges]
    one = "spread + cells + leaves + radii 1 + step 1 + radii 2 + step 2 + radii 3 + more 1 + more 2 + more 3 + step 3"
    two = ["step 1 + step 2", "radii 1 + radii 2 + radii 3", "spread + cells + leaves + more 1 + more 2 + more 3 + step 3"]
    assert names == ["mean", "distance", *(two if delta else [one]), "sizes"]
    path = tmp_path / "release.json"
    path.write_text(release.to_json(), encoding="utf-8")
    assert verify(path).holds
    plan = make(k=6, epsilon=0.05, delta=delta).plan(d)
    assert sum(charge.amount for charge in release.charges) == sum(charge.amount for charge in plan.charges)


@BOTH
@pytest.mark.parametrize(("delta", "adjacency"), [(0.0, "add-remove"), (1e-6, "add-remove"), (1e-6, "replace")])
def test_the_more_rows_the_more_steps_and_each_charge_pays_once(estimator, delta, adjacency):
    plan = make(estimator, epsilon=0.5, delta=delta, adjacency=adjacency).plan(50)
    charges = {charge.name: charge for charge in plan.charges}
    steps = [schedule(plan.problem, charges, n) for n in np.geomspace(1, 1e9, 50)]
    assert [len(taken) for taken in steps] == sorted(len(taken) for taken in steps)
    assert {len(taken) for taken in steps} == {1, 2, 3}
    for taken in SCHEDULES:
        assert sorted(name for step in taken for name in step.sums) == sorted(["step 1", "step 2", *LAST])
        assert sorted(name for step in taken for name in step.radii) == ["radii 1", "radii 2", "radii 3"]


@pytest.mark.parametrize(("n", "steps"), [(4_500, 2), (20_000, 3)])
def test_steps_that_noise_would_hide_leave_their_budget_to_the_next(n, steps):
    _, rows = blobs(30, n=n)
    model = make(k=40, epsilon=0.1, delta=1e-6, noise_seed=0)
    release = model.fit(rows).release_
    assert sum("step" in charge.name for charge in release.charges) == steps
    plan = model.plan(30)
    assert sum(charge.amount for charge in release.charges) == sum(charge.amount for charge in plan.charges)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_steps_are_taken_if_they_move_a_part_of_the_clusters_that_is_worth_their_noise(delta):
    for k in (1, 2, 9, 10, 14, 15, 29):
        plan = make(k=k, epsilon=0.5, delta=delta).plan(50)
        charges = {charge.name: charge for charge in plan.charges}
        moved = [plan.algorithm.supports(plan.problem, charges, n) for n in np.geomspace(10, 1e6, 200)]
        assert moved == sorted(moved)
        least = min((m for m in moved if m > 1), default=1)
        last = [supported(plan.problem, n, together(charges, LAST)) for n in np.geomspace(10, 1e6, 200)]
        taken = {m for m, found in zip(last, moved, strict=True) if found > 1}
        assert min(taken, default=1) == min(k, 2 if delta or k < 10 else 3 if k < 15 else 4)
        assert least >= min(taken, default=1)


def test_narrow_columns_get_narrow_noise_in_the_first_sum():
    rows = np.random.default_rng(0).normal(0, [0.1, 1e-5], (2000, 2))
    model = make(k=2, epsilon=0.001, bounds=([-1, -1e-4], [1, 1e-4]), scale=1, noise_seed=1)
    assert (np.abs(model.fit(rows).cluster_centers_[:, 1]) <= 1e-4).all()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("tighten", [False, True])
def test_a_small_budget_spends_no_charge_of_what_is_around_it(tighten, around, delta, tmp_path):
    _, rows = blobs(100, n=15)
    algorithm = Stable(base="moments") if around else "moments"
    release = make(k=20, algorithm=algorithm, tighten=tighten, epsilon=0.1, delta=delta).fit(rows).release_
    assert any(charge.name.startswith("spread + cells + leaves") for charge in release.charges)
    path = tmp_path / "release.json"
    path.write_text(release.to_json(), encoding="utf-8")
    assert verify(path).holds
