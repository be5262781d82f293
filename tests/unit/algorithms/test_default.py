"""The default: every row and every budget has k centers, and every planned charge is spent, alone or with others."""

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spinney import Ball, Box, FewRowsWarning, PrivateKMeans, PrivateKMedian, Release, SeededNoiseWarning, UnitsWarning
from spinney.algorithms.schedule import FEW_COLUMNS, RADII, STEPS
from spinney.privacy.charges import Measure
from spinney.report.publication import page
from spinney.verification.asked import misasked

BOTH = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])


def blobs(d, k=4, n=500, std=0.05, seed=0):
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-0.8, 0.8, (k, d))
    return middles, np.concatenate([rng.normal(middle, std, (n, d)) for middle in middles])


def assert_found(centers, middles, tolerance):
    gaps = np.linalg.norm(centers[:, None] - middles, axis=2)
    assert sorted(gaps.argmin(axis=1)) == list(range(len(middles)))
    assert gaps.min(axis=1).max() < tolerance


def fit(model, rows, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        warnings.simplefilter("ignore", SeededNoiseWarning)
        warnings.simplefilter("ignore", UnitsWarning)  # where one cluster was found
        return model.fit(rows, **more).release_


def names_of(release):
    return [charge.name for charge in release.charges]


def unspent(model, release, d):
    """Return planned charges that neither were spent nor are part of one that was, once each was looked for."""
    planned = {charge.name: charge for charge in model.plan(d).charges}
    for charge in release.charges:
        parts = [planned.pop(name) for name in charge.name.split(" + ")]
        assert charge.amount == sum((part.amount for part in parts), start=Fraction(0))
        assert {part.measure for part in parts} == {charge.measure}
        assert charge.question == parts[-1].question
    return planned


#: What gets the budget of a summary that is not made.
HEIRS = {"columns": RADII[0], "splits": STEPS[0], "leaves": RADII[0]}
ASKED = {"n_clusters": 5, "epsilon": 2.0, "delta": 1e-6, "bounds": Box(-1, 1)}


@settings(max_examples=40)
@example(0, 4, PrivateKMeans, ASKED, False, 0)  # found by chance: what a charge with delta leaves
@given(
    st.sampled_from([0, 1, 5, 60, 800]),
    st.integers(1, 40),
    st.sampled_from([PrivateKMeans, PrivateKMedian]),
    st.fixed_dictionaries(
        {
            "n_clusters": st.sampled_from([1, 2, 5, 17]),
            "epsilon": st.sampled_from([0.01, 0.3, 2.0, 9.0, math.inf]),
            "delta": st.sampled_from([0.0, 1e-6]),
            "adjacency": st.sampled_from(["add-remove", "replace"]),
            "tighten": st.booleans(),
            "bounds": st.sampled_from([Box(-1, 1), Ball(1.5)]),
            "max_rows_per_group": st.sampled_from([None, 2]),
        }
    ),
    st.booleans(),
    st.integers(0, 99),
)
def test_every_planned_charge_is_spent_or_cannot_lawfully_pay(n, d, estimator, asked, is_auto, seed):
    rows = np.random.default_rng(n).uniform(-0.5, 0.5, (n, d))
    k, epsilon, space = (asked[name] for name in ("n_clusters", "epsilon", "bounds"))
    tighten, grouped = asked.get("tighten", False), asked.get("max_rows_per_group")
    count = {"n_clusters": "auto", "max_clusters": k} if is_auto else {}
    model = estimator(**{**asked, **count}, random_state=0, noise_seed=None if epsilon == math.inf else seed)
    groups = {"groups": np.arange(n) // 2} if grouped else {}
    release = fit(model, rows, **groups)
    domain = space.domain(d)
    found = len(release.centers)
    assert found == (release.sizes.size if is_auto else k)
    assert 1 <= found <= k
    assert ((release.centers >= domain.lower) & (release.centers <= domain.upper)).all()
    names = names_of(release)
    left = unspent(model, release, d)
    # A pure charge, as PrivTree's always is, cannot pay for Gaussian noise, nor rho for pure noise. Nothing else may be left.
    is_unseen = not any(name.split(" + ")[-1] == "leaves" for name in names)
    measures = {charge.name: charge.measure for charge in model.plan(d).charges}
    for one in left.values():
        assert is_unseen
        assert {one.measure, measures[HEIRS[one.name]]} == {Measure.PURE, Measure.ZCDP}
    assert (release.k_costs is not None) == is_auto
    if is_unseen:
        assert not is_auto
        assert release.supported_centers == 1
        assert d >= FEW_COLUMNS
    assert (release.supported_centers is None) == (d < FEW_COLUMNS)
    assert release.epsilon <= release.promised_epsilon
    if epsilon < math.inf:
        assert misasked(json.loads(release.to_json()), "release", d) is None
    assert names[-1] == "sizes"
    assert names.index("rows") == int(tighten)


@BOTH
@pytest.mark.parametrize(("d", "space"), [(2, Ball(9.0)), (3, Box(-1, 1)), (4, Ball(9.0)), (40, Box(-1, 1))])
def test_without_noise_blobs_are_found(estimator, d, space):
    middles, rows = blobs(d)
    release = fit(estimator(4, epsilon=math.inf, bounds=space, random_state=0), rows)
    assert_found(release.centers, middles, 0.05)
    np.testing.assert_array_equal(release.sizes, [500] * 4)
    assert release.noise == "none: not private"


def test_all_centers_are_moved_or_their_mean_alone():
    supported = set()
    rows = np.random.default_rng(0).uniform(-1, 1, (1000, 12))
    for epsilon in (0.01, 0.3, 1.0, math.inf):
        seeded = {"random_state": 0} | ({} if epsilon == math.inf else {"noise_seed": 0})
        release = fit(PrivateKMeans(30, epsilon=epsilon, bounds=(-1, 1), **seeded), rows)
        assert release.centers.shape == (30, 12)
        assert np.isnan(release.center_margins[release.supported_centers :]).all()
        supported.add(release.supported_centers)
    assert supported == {1, 30}


@pytest.mark.parametrize(("d", "delta"), [(2, 0.0), (6, 0.0), (14, 1e-6), (50, 1e-6)])
def test_a_release_says_how_many_centers_rest_on_a_step_and_the_plan_foresees_it(d, delta):
    rows = np.random.default_rng(0).uniform(-1, 1, (1_000, d))
    model = PrivateKMeans(20, epsilon=0.3, delta=delta, bounds=(-1, 1), random_state=0, noise_seed=0)
    release, plan = model.fit(rows).release_, model.plan(d, n_guess=1_000)
    text, words = page(release), "centers rest on a private step"
    if d < FEW_COLUMNS:
        assert release.supported_centers is None
        assert plan.forecast(1_000) is None
        assert words not in text + str(plan)
        return
    assert release.supported_centers == plan.forecast(1_000).centers in (1, 20)
    is_one = release.supported_centers == 1
    assert is_one == (f"1 of 20 {words}" in text)
    assert is_one == ("Too few for 20 clusters: 1 of their centers would rest on a private step" in str(plan))
    assert Release.from_dict(json.loads(release.to_json())).supported_centers == release.supported_centers
