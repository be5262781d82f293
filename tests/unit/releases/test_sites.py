import json
from fractions import Fraction

import pytest

from spinney import ReleaseError, SiteRelease
from spinney.privacy.charges import Charge, Measure

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


#: Values of a field that no release has.
DAMAGED = {
    "medoids": [[], [4, 10], [-1, 7], [4, 4], [4, 2], [4.5, 7], ["4", 7], [True, 7], [[4], [7]], [10**30, 7]],
    "sizes": [[1.0, 2.0], [1.0, 2.0, "nan"]],
    "sizes_margin": ["inf"],
    "summary_weights": [[1.0]],
    "summary_points": [[4, 11]],
    "coordinates": [[[0.0, 1.0]], [[0.0, 1.0], [2.0], [4.0, 5.0]]],
    "names": [["a"], [1, 2, 3]],
    "power": [3],
    "space": ["points", {"kind": "points"}, {"n_points": "10"}, {"n_points": float("nan")}],
    "algorithm": [3],
    "format": ["spinney-release/2"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in DAMAGED.items() for value in values])
def test_a_damaged_file_is_refused(name, value):
    with pytest.raises(ReleaseError):
        SiteRelease.from_dict(RELEASE.to_dict() | {name: value})


@pytest.mark.parametrize("name", [name for name in RELEASE.to_dict() if name != "statement"])
def test_a_missing_field_is_noticed(name):
    record = RELEASE.to_dict()
    del record[name]
    with pytest.raises(ReleaseError):
        SiteRelease.from_dict(record)
