"""Units of columns: a fit with a scale is the fit of rows that were scaled by hand, told in the user's own units."""

import warnings

import numpy as np
import pandas as pd
import pytest

from spinney import Box, PrivateKMeans, PrivateKMedian, UnitsWarning, one_cluster

NAMES = ("age", "income", "visits")
LOWER, UPPER = np.array([0.0, -1_000.0, 0.0]), np.array([110.0, 200_000.0, 20.0])
WIDTHS = UPPER - LOWER
BOUNDS = {name: (low, high) for name, low, high in zip(NAMES, LOWER.tolist(), UPPER.tolist(), strict=True)}
SEEDS = {"epsilon": 2.0, "noise_seed": 5, "random_state": 3}


@pytest.fixture(scope="module")
def rows():
    """Return rows of a few clusters, some of them missing or out of bounds."""
    rng = np.random.default_rng(7)
    rows = LOWER + WIDTHS * (rng.normal(0, 0.05, (900, 3)) + rng.choice(rng.uniform(0, 1, (4, 3)), 900))
    rows[::97] = np.nan
    rows[::89] *= 40
    rows[5, 0] = np.inf
    return rows


@pytest.fixture(autouse=True)
def _seeded():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", UnitsWarning)
        yield


def by_hand(kind, rows, unit, **options):
    return kind(4, bounds=(LOWER / unit, UPPER / unit), **SEEDS, **options).fit(rows / unit)


@pytest.mark.parametrize("kind", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("options", [{"algorithm": "tree"}, {"algorithm": "lloyd", "adjacency": "replace"}, {"tighten": True}])
def test_a_scale_is_scaling_by_hand_bit_for_bit(rows, kind, options):
    expected = by_hand(kind, rows, WIDTHS, **options).release_
    model = kind(4, bounds=BOUNDS, scale="bounds", **SEEDS, **options).fit(pd.DataFrame(rows, columns=NAMES))
    found = model.release_
    assert np.array_equal(found.centers, expected.centers * WIDTHS)
    assert np.array_equal(found.summary_points, expected.summary_points * WIDTHS)
    for name in ("sizes", "summary_weights", "sizes_margin", "charges", "mechanisms", "epsilon", "supported_centers"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    if options == {"algorithm": "tree"}:  # bounds may be nameless
        for bounds in ((LOWER, UPPER), Box(LOWER.tolist(), UPPER.tolist())):
            assert np.array_equal(kind(4, bounds=bounds, scale="bounds", **SEEDS).fit(rows).cluster_centers_, found.centers)
    assert found.domain == {"lower": LOWER.tolist(), "upper": UPPER.tolist(), "columns": list(NAMES)}
    assert (found.tightened is None) == (expected.tightened is None)
    if found.tightened is not None:
        assert np.array_equal(found.tightened["lower"], np.array(expected.tightened["lower"]) * WIDTHS)


def test_what_was_fitted_and_what_was_read_back_speak_in_the_users_units(rows, tmp_path):
    frame = pd.DataFrame(rows, columns=NAMES)
    hand = by_hand(PrivateKMeans, rows, WIDTHS)
    model = PrivateKMeans(4, bounds=BOUNDS, scale="bounds", **SEEDS).fit(frame)
    model.release_.to_json(tmp_path / "release.json")
    again = PrivateKMeans.from_release(tmp_path / "release.json")
    assert again.release_.to_dict() == model.release_.to_dict()
    assert model.release_.in_scale.schema is None
    assert np.allclose(model.release_.in_scale.centers, hand.release_.centers)
    assert again.plan().epsilon == model.plan().epsilon
    clean = rows[np.isfinite(rows).all(axis=1)]
    for one in (model, again):
        assert np.array_equal(one.predict(frame), hand.predict(rows / WIDTHS))
        assert np.array_equal(one.predict(rows), hand.predict(rows / WIDTHS))
        assert np.allclose(one.transform(frame), hand.transform(rows / WIDTHS))
        assert np.isclose(one.score(frame), hand.score(rows / WIDTHS))
    assert again.fit(clean_frame := pd.DataFrame(clean, columns=NAMES)).predict(clean_frame).shape == (len(clean),)


@pytest.mark.parametrize("bounds", [BOUNDS, (LOWER, UPPER)])
def test_uneven_widths_warn_unless_something_is_said(rows, bounds):
    frame = pd.DataFrame(rows, columns=NAMES)
    with pytest.warns(UnitsWarning, match="scale='bounds'"):
        PrivateKMeans(2, bounds=bounds, **SEEDS).fit(frame)
    plain = PrivateKMeans(2, bounds=bounds, scale=1, **SEEDS).fit(frame)
    assert plain.release_.schema is None  # as if nothing had been said
    one_cluster(rows, 5, bounds=(LOWER, UPPER), epsilon=1.0)
