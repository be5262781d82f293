import json
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import PrivateKMeans, PrivateKMedian, Release
from spinney.algorithms import Algorithm, Result
from spinney.algorithms.leaves import are_full
from spinney.algorithms.polish import RingHistogram, WeightedLeaves, ask_rings, completed, step_widths, take_step
from spinney.curators.gate import Curator
from spinney.mechanisms.additive import Noise
from spinney.questions.counts import Counting
from spinney.questions.sums import Summing, Sums
from spinney.report.pages import page


@given(st.lists(st.tuples(st.floats(-50, 50), st.integers(0, 9)), min_size=1, max_size=60))
def test_full_leaves_hold_what_all_leaves_do(leaves):
    signals, levels = (np.array(values) for values in zip(*leaves, strict=True))
    full = are_full(signals, levels)
    assert (signals[full] > 0).all()
    total = signals.sum()
    if (signals > 0).any():
        assert signals[full].sum() >= total - 1e-9
        if full.sum() > 1 and signals[full].min() > 1e-9:  # and not one more than needed, beyond what is lost in rounding
            assert signals[full].sum() - signals[full].min() < total or np.unique(np.minimum(levels[full], 3)).size > 1
    if (signals > 0).all():
        assert full.all() or signals[~full].sum() <= 1e-9 * total


def test_a_leaf_below_decisions_to_split_is_ahead_of_an_equal_one_at_the_start():
    assert are_full(np.array([5.0, 5.0, -5.0]), np.array([0, 3, 0])).tolist() == [False, True, False]


def test_one_far_ring_of_noise_moves_no_radius():
    noise = Noise("laplace", 10.0)
    edges, counts = 2.0 ** np.arange(-10, 1), np.zeros((20, 12))
    counts[:, 3] = 1000
    clean = RingHistogram(edges, counts, noise)
    counts[4, 10] = 3 * noise.std
    assert (RingHistogram(edges, counts, noise).mean_radii(1.0) == clean.mean_radii(1.0)).all()


def test_a_center_without_rings_takes_the_average_of_all():
    counts = np.zeros((3, 5))
    counts[:2, 1] = 900
    rings = RingHistogram(np.arange(1.0, 5.0), counts, Noise("gaussian", 5.0))
    np.testing.assert_array_equal(rings.counts[2], [0, 600, 0, 0])


def test_a_center_without_rings_takes_what_the_summary_expects_of_it():
    edges, counts = np.arange(1.0, 5.0), np.zeros((3, 5))
    counts[0, 1] = 900
    known = WeightedLeaves(np.array([[0.0], [9.0]]), np.array([0.5, 2.5]), np.array([50.0, 40.0]))
    expected = partial(known.rings, np.array([[0.0], [9.0], [99.0]]), edges)
    rings = RingHistogram(edges, counts, Noise("gaussian", 5.0), expected)
    np.testing.assert_array_equal(rings.counts, [[0, 900, 0, 0], [0, 0, 40, 0], [0, 300, 0, 0]])


@pytest.mark.parametrize("power", [1, 2])
def test_missing_centers_are_those_that_lower_the_cost_most(power):
    points, weights = np.array([[0.0], [1.0], [5.0]]), np.array([9.0, 1.0, 4.0])
    found = completed(np.array([[0.2]]), np.array([[0.0], [1.0], [5.0]]), points, weights, power)
    np.testing.assert_array_equal(found[:2], [[0.2], [5.0]])
    assert len(found) == 3


def test_only_supported_centers_are_moved(monkeypatch):
    moved = {}
    ask = Curator.ask

    def spy(self, question, charge):
        if isinstance(question, Sums):
            moved[charge.name.split(" + ")[-1]] = len(question.centers)
        return ask(self, question, charge)

    monkeypatch.setattr(Curator, "ask", spy)
    rows = np.random.default_rng(0).uniform(-1, 1, (2000, 6))
    for epsilon, least, most in [(0.01, 1, 1), (1.0, 2, 30), (math.inf, 30, 30)]:
        model = PrivateKMeans(30, epsilon=epsilon, bounds=(-1, 1), noise_seed=0).fit(rows)
        assert least <= moved["polish"] <= most
        assert model.cluster_centers_.shape == (30, 6)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_no_step_moves_many_more_centers_than_the_last_one_supports(estimator, monkeypatch):
    moved, ask = [], Curator.ask

    def spy(self, question, charge):
        if isinstance(question, Sums) and "step" in charge.name:
            moved.append(len(question.centers))
        return ask(self, question, charge)

    monkeypatch.setattr(Curator, "ask", spy)
    rows = np.random.default_rng(0).uniform(-1, 1, (4000, 60))
    found = set()
    for epsilon in (0.2, 0.4, 1.0, math.inf):
        moved.clear()
        model = estimator(20, epsilon=epsilon, delta=1e-6, bounds=(-1, 1), algorithm="moments", noise_seed=0).fit(rows)
        last = model.release_.supported_centers or 20
        assert moved == [math.ceil(1.5 * last), last, last]
        found.add(last)
    assert len(found) > 2


@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
@settings(derandomize=True, deadline=None)
def test_what_clipping_keeps_is_a_part_that_grows_with_the_radius_and_follows_no_scale(k, seed, scale):
    rng = np.random.default_rng(seed)
    edges, counts = 2.0 ** (-np.arange(24)[::-1] / 2) * 8, rng.integers(-9, 50, (k, 25)) * (rng.random((k, 1)) < 0.8)
    rings, scaled = (RingHistogram(by * edges, counts.astype(float), Noise("laplace", 2.0)) for by in (1.0, scale))
    radii = rng.choice(edges, k)
    kept = rings.kept(radii)
    assert ((kept > 0) & (kept <= 1)).all()
    assert (rings.kept(2 * radii) >= kept).all()
    np.testing.assert_allclose(scaled.kept(scale * radii), kept)
    assert (rings.kept(np.full(k, edges[-1])) == 1).all()
    sources = rng.integers(0, k, 5)
    np.testing.assert_array_equal(rings.of(sources).kept(radii[sources]), kept[sources])


class OneStep(Algorithm):
    """One step around the middle of the domain, its offsets clipped to half of a typical distance."""

    name = "one-step"

    def parts(self, problem):
        half = Fraction(1, 2)
        return Counting().part("rings", half), Summing(problem.kernel, problem.n_features).part("step", half)

    def run(self, curator, problem, charges, rng):
        rings = ask_rings(curator, problem, problem.domain.center[None, :], charges["rings"])
        radii = np.array([rings.typical_distance() / 2])
        step = take_step(curator, problem, problem.domain.center[None, :], radii, charges["step"], kept=rings.kept(radii))
        return Result(step.centers, np.zeros(1, dtype=np.int64), rings._noise, step.centers, step.weights)


def test_a_step_of_clipped_offsets_reaches_the_mean_of_rows_in_many_columns():
    rng = np.random.default_rng(0)
    rows = np.clip(rng.normal(0.1, 0.4, (20_000, 200)), -1, 1)
    model = PrivateKMeans(1, epsilon=50.0, delta=1e-6, bounds=(-1, 1), algorithm=OneStep()).fit(rows)
    mean = rows.mean(axis=0)
    assert np.linalg.norm(model.cluster_centers_[0] - mean) < 0.1 * np.linalg.norm(mean)


@given(st.lists(st.floats(1e-100, 1e100), min_size=1, max_size=30))
@settings(derandomize=True, deadline=None)
def test_units_of_columns_make_all_noise_least_and_keep_a_typical_offset_as_long(spreads):
    spreads = np.array(spreads)
    problem = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1)).plan(spreads.size).problem
    widths = step_widths(problem, spreads)
    floored = np.maximum(spreads, 1e-9 * spreads.max())
    assert math.hypot(*(floored / widths)) == pytest.approx(math.hypot(*floored), rel=1e-9)
    assert (widths**2).sum() <= spreads.size * (1 + 1e-9)  # what it is in plain units
    assert (widths > 0).all()


def test_medians_are_stepped_in_plain_units():
    problem = PrivateKMedian(3, epsilon=1.0, bounds=(-1, 1)).plan(2).problem
    assert step_widths(problem, np.array([1.0, 5.0])) is None


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_narrow_column_gets_little_of_the_noise_of_a_wide_one(delta):
    """Of columns a thousand times narrower the noise is some thirty times narrower than it would be in plain units."""
    rng = np.random.default_rng(0)
    lower, upper = np.full(6, -1.0), np.full(6, 1.0)
    lower[3:], upper[3:] = -1e-3, 1e-3
    rows = rng.uniform(lower, upper, (20_000, 6))
    errors = []
    for seed in range(5):
        model = PrivateKMeans(3, epsilon=0.5, delta=delta, bounds=(lower, upper), scale=1, random_state=seed, noise_seed=seed)
        labels = model.fit_predict(rows)
        errors += [np.abs(center - rows[labels == j].mean(axis=0)) for j, center in enumerate(model.cluster_centers_)]
    assert (np.median(errors, axis=0)[3:] < 0.2e-3).all()


@pytest.mark.parametrize(
    ("d", "delta", "algorithm"), [(2, 0.0, "tree"), (6, 0.0, "tree"), (14, 1e-6, "tree"), (50, 1e-6, "moments")]
)
def test_a_release_says_how_many_centers_rest_on_a_step_and_the_plan_foresees_it(d, delta, algorithm):
    rows = np.random.default_rng(0).uniform(-1, 1, (3_000, d))
    model = PrivateKMeans(20, epsilon=0.3, delta=delta, bounds=(-1, 1), algorithm=algorithm, random_state=0, noise_seed=0)
    release = model.fit(rows).release_
    plan = model.plan(d, n_guess=3_000)
    foreseen = plan.algorithm.supports(plan.problem, {charge.name: charge for charge in plan.charges}, 3_000)
    text, words = page(release), "centers rest on a private step"
    if d < 5:
        assert release.supported_centers is None
        assert foreseen is None
        assert words not in text + str(plan)
        return
    assert 1 <= release.supported_centers < 20
    assert abs(foreseen - release.supported_centers) <= 1 + 0.3 * foreseen  # from a noisy number of rows
    assert f"{release.supported_centers} of 20 {words}" in text
    assert f"About {foreseen} of 20 centers would rest on a private step" in str(plan)
    assert Release.from_dict(json.loads(release.to_json())).supported_centers == release.supported_centers


def test_all_rings_together_tell_a_distance_where_none_stands_out():
    """Of 1,800 rows in two rings, and noise of 350 on each: a distance that is far off is rare, and none is beyond the rings."""
    edges, rng = 2.0 ** (np.arange(24) / 2 - 8), np.random.default_rng(0)
    exact, noise = np.zeros(25), Noise("gaussian", 350.0)
    exact[14:16] = 900
    truth = math.sqrt(np.mean((edges[14:16] / 2**0.25) ** 2))
    likely, typical = [], []
    for _ in range(200):
        rings = RingHistogram(edges, exact[None, :] + rng.normal(0, 350, (1, 25)), noise)
        likely.append(abs(math.log(rings.likely_distance(1800.0) / truth)))
        typical.append(abs(math.log(rings.typical_distance() / truth)))
    assert np.median(likely) < 0.1 < np.median(typical)
    assert np.mean(likely) < 0.5 * np.mean(typical)
    assert RingHistogram(edges, exact[None, :], Noise("none", 0.0)).likely_distance(1800.0) == pytest.approx(truth)
    for counts in (np.zeros((1, 25)), np.full((1, 25), -1e15), np.full((3, 25), 1e15)):
        assert edges[0] / 2 <= RingHistogram(edges, counts, noise).likely_distance(1.0) <= edges[-1]
