import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covering import covering
from spinney import PrivateKMeans, PrivateKMedian, verify
from spinney.algorithms import descent
from spinney.algorithms.descent import undecided, with_more
from spinney.algorithms.moments import BINNED_SHARES
from spinney.algorithms.moments import SHARES as MOMENTS_SHARES
from spinney.algorithms.polish import RingHistogram
from spinney.algorithms.problem import MORE
from spinney.algorithms.tree import MANY_COLUMNS_SHARES, ONE_STEP_SHARES, SHARES
from spinney.mechanisms.additive import Noise
from spinney.privacy.charges import Measure


def rows_of(apart, n=6000, d=6, k=8, seed=0):
    rng = np.random.default_rng(seed)
    if not apart:
        return rng.uniform(-1, 1, (n, d)) ** 3
    return np.clip(rng.uniform(-0.8, 0.8, (k, d))[rng.integers(0, k, n)] + rng.normal(0, 0.02, (n, d)), -1, 1)


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 100), max_size=6), st.integers(0, 100))
def test_steps_before_the_last_take_from_its_share_alone(others, share):
    found = with_more({**others, "the last": share, "sizes": 3}, "the last")
    assert sum(found[name] for name in (*MORE, "the last") if name in found) == share
    assert {name: part for name, part in found.items() if name not in (*MORE, "the last")} == others | {"sizes": 3}
    assert found["the last"] >= share / 2


@pytest.mark.parametrize(
    ("shares", "last"),
    [
        (SHARES, "polish 2"),
        (ONE_STEP_SHARES, "polish"),
        (MANY_COLUMNS_SHARES, "polish 2"),
        (MOMENTS_SHARES, "step 3"),
        (BINNED_SHARES, "step 3"),
    ],
)
def test_they_are_paid_for_before_the_last(shares, last):
    names = list(with_more(shares, last))
    assert names[names.index(MORE[0]) : names.index(last) + 1] == [*MORE, last]


@given(st.integers(1, 9), st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_rows_between_centers_are_a_share_that_follows_no_scale(k, d, seed, scale):
    rng = np.random.default_rng(seed)
    centers, counts = rng.normal(size=(k, d)), rng.integers(0, 50, (k, 25)).astype(float)
    edges = 2.0 ** (-np.arange(24)[::-1] / 2) * 8
    none = Noise("none", 0.0)
    shares = [undecided(by * centers, RingHistogram(by * edges, counts, none)) for by in (1.0, scale)]
    assert 0 <= shares[0] <= 1
    assert shares[1] == pytest.approx(shares[0])
    if k == 1:
        assert shares[0] == 0


def fit(estimator, d, delta, apart, tmp_path, epsilon=8.0):
    model = estimator(8, epsilon=epsilon, delta=delta, bounds=(-1, 1))
    model.fit(rows_of(apart, d=d))
    plan, release = model.plan(d), model.release_
    assert {name for charge in release.charges for name in charge.name.split(" + ")} <= {charge.name for charge in plan.charges}
    (tmp_path / "release.json").write_text(release.to_json(), encoding="utf-8")
    assert verify(tmp_path / "release.json").holds
    return [charge.name for charge in release.charges]


@covering("estimator, d, delta", [PrivateKMeans, PrivateKMedian], [5, 12, 30], [0.0, 1e-6])
@pytest.mark.matrix
def test_clusters_that_overlap_get_more_steps_and_others_one_with_less_noise(estimator, d, delta, tmp_path, monkeypatch):
    monkeypatch.setattr(descent, "LEAST_GAIN", 0.0)
    assert set(MORE) <= set(fit(estimator, d, delta, False, tmp_path))
    for epsilon, apart in ((8.0, True), (0.02, False)):
        assert not set(MORE) & set(fit(estimator, d, delta, apart, tmp_path, epsilon))
    monkeypatch.setattr(descent, "MOST_WORK", 6000)
    assert not set(MORE) & set(fit(estimator, d, delta, False, tmp_path))


def test_steps_end_where_centers_stay_and_the_rest_pays_for_the_last(tmp_path, monkeypatch):
    monkeypatch.setattr(descent, "LEAST_GAIN", 1e9)
    names = fit(PrivateKMeans, 30, 1e-6, False, tmp_path)
    assert "more 1" in names
    assert "more 2 + more 3 + step 3" in names


@pytest.mark.parametrize("d", [5, 30])
def test_what_is_left_of_a_descent_is_gained(d, monkeypatch):
    rows = np.minimum(np.exp(np.random.default_rng(0).normal(0, 0.7, (20_000, d))), 8)

    def cost():
        fits = (PrivateKMeans(30, epsilon=4.0, delta=1e-6, bounds=(0, 8), noise_seed=i, random_state=i) for i in range(3))
        return -sum(model.fit(rows).score(rows) for model in fits)

    now = cost()
    monkeypatch.setattr(descent, "MOST_LOST", dict.fromkeys(Measure, 0.0))
    assert now < 0.999 * cost()
