import numpy as np
import pytest

from spinney import ParameterError, PrivateKMeans, PrivateKMedian
from spinney.report.separation import nonprivate_separation, separation, wasserstein_distance

RNG = np.random.default_rng(0)
MIDDLES = np.array([[-0.7, -0.6], [0.6, -0.7], [0.7, 0.6], [-0.5, 0.7]])
ROWS = np.concatenate([RNG.normal(middle, 0.06, (1500, 2)) for middle in MIDDLES])
EVEN = RNG.uniform(-1, 1, (4000, 2))


def release_of(rows=ROWS, estimator=PrivateKMeans, k=4, **changes):
    settings = {"epsilon": 1.0, "bounds": (-1, 1), "random_state": 0, "noise_seed": 0, **changes}
    return estimator(k, **settings).fit(rows).release_


@pytest.mark.parametrize("objective", ["kmeans", "kmedian"])
def test_the_right_number_of_clusters_fits_and_others_do_not(objective):
    found = {k: nonprivate_separation(ROWS, k, objective) for k in (2, 3, 4, 5, 6)}
    assert [k for k, one in found.items() if one.fits] == [4]
    assert "4 clusters fit" in found[4].hint
    assert "More than 3" in found[3].hint
    assert "do not stand out" in found[6].hint
    assert found[4].phi < 0.5 < 0.9 < found[6].phi


@pytest.mark.parametrize("objective", ["kmeans", "kmedian"])
def test_even_points_have_no_number_of_clusters(objective):
    found = [nonprivate_separation(EVEN, k, objective) for k in (3, 5, 8)]
    assert not any(one.fits for one in found)
    assert not any(one.more_may_fit for one in found)
    assert nonprivate_separation(EVEN, 1, objective).fits
    assert not nonprivate_separation(ROWS[:3000], 1, objective).fits


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_a_summary_says_the_same_free_of_charge(estimator):
    release = release_of(estimator=estimator)
    assert separation(release).fits
    assert separation(release).n_clusters == 4
    assert not separation(release, 6).fits
    assert separation(release, 3).more_may_fit
    exact = nonprivate_separation(ROWS, 4, release.objective)
    assert separation(release).phi == pytest.approx(exact.phi, abs=0.15)
    assert separation(release) == separation(release)


def test_notions_imply_each_other_as_lemma_3_7_says():
    found = nonprivate_separation(ROWS, 4)
    assert found.deletion >= found.phi**-2 * (1 - 1e-9)
    assert found.center_separation >= found.deletion - 1 - 1e-6
    assert found.approximation_stability >= found.center_separation / 8 - 1
    assert 1 < found.approximation_stability < found.phi**-2
    assert found.proximity > 1
    assert found.misassigned_cost > 1
    assert found.perturbation > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: separation("release"), "'release' parameter of separation must be a Release"),
        (lambda: separation(release_of(), 0), "'n_clusters' parameter of separation"),
        (lambda: nonprivate_separation(ROWS, True), "'n_clusters' parameter of nonprivate_separation"),
        (lambda: nonprivate_separation(ROWS, 3, "kmode"), "'objective' parameter of nonprivate_separation"),
        (lambda: nonprivate_separation([["a", "b"]], 3), "'points' parameter of nonprivate_separation"),
        (lambda: nonprivate_separation(ROWS * np.nan, 3), "'points' parameter of nonprivate_separation"),
        (lambda: wasserstein_distance(MIDDLES, None), "'second' parameter of wasserstein_distance"),
    ],
)
def test_wrong_parameters_are_named(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_releases_and_arrays_of_centers_have_a_distance():
    first, second = release_of(), release_of(noise_seed=1)
    assert wasserstein_distance(first, second) == wasserstein_distance(first.centers, second) > 0
    assert wasserstein_distance(MIDDLES, MIDDLES[::-1]) == 0
    assert wasserstein_distance([[0.0], [5.0]], [[5.0], [1.0]]) == 1.0
    with pytest.raises(ValueError, match="as many centers"):
        wasserstein_distance(MIDDLES, MIDDLES[:3])
