import json
from fractions import Fraction

import numpy as np
import pytest

from spinney import ReleaseError
from spinney.privacy.charges import Charge, Measure
from spinney.releases.sites import SiteRelease

RELEASE = SiteRelease(
    epsilon=0.5,
    promised_epsilon=1.0,
    delta=1e-6,
    adjacency="add-remove",
    max_rows_per_group=None,
    noise="secure",
    charges=(
        Charge("cover", "cover", Measure.PURE, Fraction(1, 2), Fraction(1, 10**7)),
        Charge("sizes", "counts", Measure.ZCDP, Fraction(1, 100)),
    ),
    version="0",
    algorithm="coverage",
    power=1,
    medoids=[4, 7],
    existing_sites=[2],
    sizes=[3.0, 0.0, 5.0],
    sizes_margin=4.0,
    summary_points=[4, 9],
    summary_weights=[1.5, 2.0],
    space={"kind": "points", "n_points": 10, "n_candidates": 8},
    coordinates=[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]],
    names=("a", "b", "c"),
)


def test_a_release_survives_its_file(tmp_path):
    path = tmp_path / "release.json"
    text = RELEASE.to_json(path)
    again = SiteRelease.from_json(path)
    assert again.to_json() == text
    assert again.charges == RELEASE.charges
    assert again.sites.tolist() == [4, 7, 2]
    assert again.names == ("a", "b", "c")
    assert again.statement == "(1.0, 1e-06)-differentially private for adding or removing one row"
    assert json.loads(text)["charges"][0]["delta"] == "1/10000000"
    assert "delta" not in json.loads(text)["charges"][1]


def test_arrays_cannot_be_written_to():
    for name in ("medoids", "sizes", "summary_points", "coordinates"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(RELEASE, name)[0] = 1


DAMAGE = {
    "no medoids": {"medoids": [], "sizes": [5.0], "coordinates": None, "names": None},
    "medoid outside": {"medoids": [4, 10]},
    "negative medoid": {"medoids": [-1, 7]},
    "medoid twice": {"medoids": [4, 4]},
    "medoid is a site already": {"medoids": [4, 2]},
    "medoid is a fraction": {"medoids": [4.5, 7]},
    "medoid is a text": {"medoids": ["4", 7]},
    "medoid is a truth value": {"medoids": [True, 7]},
    "nested medoids": {"medoids": [[4], [7]]},
    "huge medoid": {"medoids": [10**30, 7]},
    "too few sizes": {"sizes": [1.0, 2.0]},
    "sizes not finite": {"sizes": [1.0, 2.0, "nan"]},
    "margin not finite": {"sizes_margin": "inf"},
    "summary of other length": {"summary_weights": [1.0]},
    "summary outside": {"summary_points": [4, 11]},
    "coordinates of other length": {"coordinates": [[0.0, 1.0]]},
    "coordinates ragged": {"coordinates": [[0.0, 1.0], [2.0], [4.0, 5.0]]},
    "names of other length": {"names": ["a"]},
    "names are numbers": {"names": [1, 2, 3]},
    "power": {"power": 3},
    "space is a text": {"space": "points"},
    "space without its size": {"space": {"kind": "points"}},
    "size of the space is a text": {"space": {"n_points": "10"}},
    "size of the space is not finite": {"space": {"n_points": float("nan")}},
    "algorithm": {"algorithm": 3},
    "epsilon above the promise": {"epsilon": 2.0},
    "delta": {"delta": 1.0},
    "adjacency": {"adjacency": "both"},
    "cap": {"max_rows_per_group": 0},
    "charges": {"charges": [{"name": "x"}]},
    "charge is no fraction": {"charges": [{"name": "x", "question": "counts", "measure": "epsilon", "amount": "1/0"}]},
    "charges are none": {"charges": None},
    "another format": {"format": "spinney-release/2"},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused(damage):
    with pytest.raises(ReleaseError):
        SiteRelease.from_dict(RELEASE.to_dict() | DAMAGE[damage])


@pytest.mark.parametrize("name", [name for name in RELEASE.to_dict() if name != "statement"])
def test_a_missing_field_is_noticed(name):
    record = RELEASE.to_dict()
    del record[name]
    with pytest.raises(ReleaseError):
        SiteRelease.from_dict(record)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "3"])
def test_a_file_that_is_no_release_is_refused(text, tmp_path):
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError):
        SiteRelease.from_json(path)


def test_a_release_says_when_it_is_not_private():
    record = RELEASE.to_dict() | {"noise": "none: not private", "epsilon": "inf", "promised_epsilon": "inf"}
    release = SiteRelease.from_dict(record)
    assert not release.is_private
    assert release.statement == "none: not private"
    assert np.isinf(release.epsilon)
    assert "2 sites of 10 points" in repr(release)
