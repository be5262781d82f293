"""Margins of centers: they follow from released answers, hold as often as they say, and are told where there are none."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covering import covering
from spinney import PrivateKMeans, PrivateKMedian, Release
from spinney.algorithms.margins import COVER, SLACK, joint_quantile, step_margins
from spinney.mechanisms.additive import Noise
from spinney.questions.sums import RADIUS_STEPS, StepNoise, SumAnswer

SCALES = st.floats(0.3, 50)


@settings(max_examples=25, deadline=None)
@given(SCALES, SCALES, st.floats(-2, 2), st.sampled_from(["laplace", "gaussian"]))
def test_noise_stays_within_its_quantile_as_often_as_it_says(first, second, share, law):
    rng = np.random.default_rng(0)
    reach = joint_quantile(Noise(law, 1000 * first), Noise(law, second), np.array([share]), 1000.0)[0]
    draw = rng.laplace if law == "laplace" else rng.normal
    noise = draw(0, 1000 * first, 100_000) - 1000 * share * draw(0, second, 100_000)
    assert abs((np.abs(noise) <= reach).mean() - COVER) < 0.006  # seeded: some eight standard deviations


def test_no_noise_has_no_margin_and_few_rows_tell_none():
    none = StepNoise(Noise("none", 0.0), Noise("none", 0.0), 1)
    assert not step_margins(SumAnswer(np.ones((2, 3)), np.array([5.0, 2.0]), none), np.ones(2)).any()
    noise = StepNoise(Noise("laplace", 3.0 * RADIUS_STEPS), Noise("laplace", 10.0), 1)
    found = step_margins(SumAnswer(np.zeros((3, 2)), np.array([1000.0, 10.0, -5.0]), noise), np.array([2.0, 2.0, 2.0]))
    assert np.isnan(found[1:]).all()
    assert np.allclose(found[0], SLACK * 2 * 3 * np.log(20) / 1000, rtol=1e-6)
    wide = step_margins(SumAnswer(np.zeros((1, 2)), np.array([1000.0]), noise), np.array([2.0]), np.array([1.0, 10.0]))
    assert np.allclose(wide, found[0] * [1, 10])


@covering("kind, algorithm", [PrivateKMeans, PrivateKMedian], ["tree", "lloyd", "hst", "stable", "sample-aggregate"])
@pytest.mark.matrix
def test_every_algorithm_with_a_step_tells_margins_in_the_users_units(kind, algorithm, tmp_path):
    rng = np.random.default_rng(5)
    rows = np.clip(rng.uniform(-0.7, 0.7, (4, 6))[rng.integers(4, size=8_000)] + rng.normal(0, 0.1, (8_000, 6)), -1, 1)
    units = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    asked = {"algorithm": algorithm, "epsilon": 2.0, "delta": 1e-6, "noise_seed": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = kind(4, bounds=(-1, 1), **asked).fit(rows)
        scaled = kind(4, bounds=(-units, units), scale="bounds", **asked).fit(rows * units)
        hand = kind(4, bounds=(-0.5, 0.5), **asked).fit(rows / 2)
    assert plain.center_margins_.shape == plain.cluster_centers_.shape
    assert np.isfinite(plain.center_margins_).any()
    assert np.array_equal(scaled.center_margins_, hand.center_margins_ * 2 * units, equal_nan=True)
    scaled.release_.to_json(tmp_path / "release.json")
    again = Release.from_json(tmp_path / "release.json")
    assert np.array_equal(again.center_margins, scaled.center_margins_, equal_nan=True)


def test_a_plan_foresees_margins_in_the_users_units():
    bounds = {name: (0, width) for name, width in zip("abcdef", (1, 10, 100, 1, 10, 100), strict=True)}
    plan = PrivateKMeans(4, epsilon=1.0, bounds=bounds, scale="bounds", algorithm="tree").plan(n_guess=10_000)
    margins = plan.expected_margins(10_000)
    assert np.allclose(margins / margins[0], [1, 10, 100, 1, 10, 100])
    assert "95% margins of its center: a +- " in str(plan)
    assert np.allclose(plan.expected_margins(20_000), margins / 2)
    assert PrivateKMeans(4, epsilon=1.0, bounds=(0, 1), algorithm="tree").plan(2).expected_margins(100) is None


def test_margins_hold_the_means_of_clusters_that_are_apart_in_narrow_columns():
    """Clipping is in units of the columns' spreads; rings in plain ones would not see what it takes from a small cluster."""
    rng = np.random.default_rng(1)
    kinds = rng.choice(4, 5000, p=[0.4, 0.3, 0.2, 0.1])
    ages, weights = np.array([3.0, 5.0, 7.0, 8.2]), np.array([2.0, 3.7, 3.0, 1.9])
    wards = np.where(rng.random(5000) < 0.1, rng.integers(0, 4, 5000), kinds)
    numbers = [ages[kinds] + rng.normal(0, 0.5, 5000), weights[kinds] + rng.normal(0, 0.4, 5000), rng.uniform(0, 2, 5000)]
    rows = np.column_stack([*numbers, *(0.7 * (wards == ward) for ward in range(4)), rng.random(5000) < 0.8])
    model = PrivateKMeans(4, epsilon=1.0, bounds=([0.0] * 8, [11.0, 10.0, 2.0, *[0.7] * 4, 1.0]))
    held = []
    for seed in range(12):
        model.set_params(random_state=seed, noise_seed=seed).fit(rows)
        labels = model.predict(rows)
        there = np.unique(labels)  # a center without rows has no mean
        means = np.array([rows[labels == one].mean(axis=0) for one in there])
        held.extend(np.abs(means - model.cluster_centers_[there]) <= model.center_margins_[there])
    assert len(held) >= 46  # of 48
    assert np.mean(held, axis=0)[3:].min() >= 0.85  # 0.6 to 0.8 with rings in plain units
