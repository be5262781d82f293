import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from spinney import Release, ReleaseError
from spinney.privacy.charges import Charge, Measure
from spinney.releases.promise import STATED


def make(**changes):
    fields = {
        "objective": "kmeans",
        "algorithm": "tree",
        "centers": [[0.1, 0.2], [1 / 3, 4.0]],
        "sizes": [10.0, 0.0],
        "sizes_margin": 7.0,
        "summary_points": [[0.0, 1.0]],
        "summary_weights": [3.5],
        "epsilon": 0.4,
        "promised_epsilon": 0.5,
        "delta": 1e-6,
        "adjacency": "add-remove",
        "max_rows_per_group": None,
        "noise": "secure",
        "charges": (
            Charge("a", "counts", Measure.PURE, Fraction(1, 3)),
            Charge("b", "sums", Measure.ZCDP, Fraction(1, 7)),
        ),
        "domain": {"lower": [0.0, 0.0], "upper": [1.0, 5.0]},
        "feature_names": ("x", "y"),
        "version": "0",
    }
    return Release(**{**fields, **changes})


def assert_same(first, second):
    for field in dataclasses.fields(Release):
        one, two = getattr(first, field.name), getattr(second, field.name)
        if isinstance(one, np.ndarray):
            assert one.shape == two.shape
            np.testing.assert_array_equal(one, two)
        else:
            assert one == two, field.name


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "epsilon": math.inf,
            "promised_epsilon": math.inf,
            "charges": (Charge("a", "counts", Measure.PURE, math.inf),),
            "noise": "none: not private",
        },
        {"feature_names": None, "max_rows_per_group": 3, "adjacency": "replace"},
        {"summary_points": np.empty((0, 2)), "summary_weights": np.empty(0)},
        {"domain": {"lower": [-1.0, -1.0], "upper": [1.0, 1.0], "radius": 1.0}},
        {"tightened": {"lower": [0.25, 0.5], "upper": [0.75, 4.0]}},
        {"epsilon": 0.0},
        {"charges": ()},
        {"feature_names": ("größe", "円")},
        {
            "parameters": {"alpha": 3, "beta": 0.5, "consistent": True, "start": "hst", "none": None},
            "random_state": "a generator",
            "noise_seed": 2**70,
            "made": {"date": "2026-01-31", "ledger": "town.ledger", "entry": "1f"},
        },
    ],
    ids=[
        "plain",
        "infinite",
        "groups",
        "no summary",
        "ball",
        "private box",
        "all unspent",
        "nothing spent",
        "any script",
        "record",
    ],
)
def test_a_release_survives_json(tmp_path, changes):
    release = make(**changes)
    text = release.to_json(tmp_path / "release.json")
    again = Release.from_json(tmp_path / "release.json")
    assert_same(release, again)
    assert again.to_json() == text


def test_json_is_strict_and_carries_the_promise(tmp_path):
    text = make(epsilon=math.inf, promised_epsilon=math.inf, noise="none: not private").to_json(tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text(encoding="utf-8") == text

    def refuse(constant):
        raise AssertionError(constant)

    record = json.loads(text, parse_constant=refuse)
    assert record["epsilon"] == record["promised_epsilon"] == "inf"
    assert record["statement"] == "none: not private"
    assert record["format"] == "spinney-release/3"


def test_released_arrays_cannot_be_changed():
    release = make()
    for name in ("centers", "sizes", "summary_points", "summary_weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(release, name)[...] = 0


@pytest.mark.parametrize(
    ("changes", "statement"),
    [
        ({"delta": 0.0}, "(0.5, 0.0)-differentially private for adding or removing one row"),
        ({"promised_epsilon": 1 / 3}, "(0.3333333333333333, 1e-06)-differentially private for adding or removing one row"),
        ({"promised_epsilon": 1234567.5}, "(1234567.5, 1e-06)-differentially private for adding or removing one row"),
        ({"adjacency": "replace"}, "(0.5, 1e-06)-differentially private for replacing one row"),
        (
            {"max_rows_per_group": 4},
            "(0.5, 1e-06)-differentially private for adding or removing one group of at most 4 counted rows",
        ),
        ({"noise": "seeded: not private"}, "seeded: not private"),
        ({"noise": "none: not private"}, "none: not private"),
    ],
)
def test_the_statement_says_what_was_promised(changes, statement):
    release = make(**changes)
    assert release.statement == statement
    assert release.is_private == statement.startswith("(")
    assert statement in repr(release)


@pytest.mark.parametrize("noise", ["", "Secure", "secure: not private", "none", None, 1, ["secure"]])
def test_unknown_noise_is_refused(noise):
    with pytest.raises(ReleaseError, match="damaged"):
        Release.from_dict(make().to_dict() | {"noise": noise})


@pytest.mark.parametrize(
    ("model", "kind", "is_local"),
    [
        ("", "", False),
        ("central: a, b: c", "central", False),
        ("local: d", "local", True),
        ("local, simulated: e", "local, simulated", True),
    ],
)
def test_the_model_says_who_was_trusted(model, kind, is_local):
    release = Release.from_dict(make(model=model).to_dict())
    assert (release.model, release.trust.kind, release.trust.is_local) == (model, kind, is_local)
    assert release.trust.words == model.partition(": ")[2]


@pytest.mark.parametrize("text", ["", "{", "not json", "\x00\x01", "[1, 2]", "null", "3", "{}", '{"format": "other/1"}'])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "release.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match="Hint: "):
        Release.from_json(path)


def test_bytes_that_are_not_text_are_refused(tmp_path):
    path = tmp_path / "release.json"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ReleaseError, match="is not JSON"):
        Release.from_json(path)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Release) if field.name not in STATED])
def test_a_missing_field_is_refused(name):
    record = make().to_dict()
    del record[name]
    with pytest.raises(ReleaseError, match="Hint: "):
        Release.from_dict(record)


def test_a_file_that_knows_no_box_has_none():
    record = make(tightened={"lower": [0.0, 0.1], "upper": [0.5, 0.7]}).to_dict() | {"format": "spinney-release/1"}
    assert Release.from_dict(record).tightened == {"lower": [0.0, 0.1], "upper": [0.5, 0.7]}
    del record["tightened"]
    assert Release.from_dict(record).tightened is None


DAMAGED = {
    "the private box has other columns": {"tightened": {"lower": [0.0], "upper": [1.0]}},
    "the private box is not finite": {"tightened": {"lower": [0.0, 0.0], "upper": [1.0, math.inf]}},
    "the private box has no upper bounds": {"tightened": {"lower": [0.0, 0.0]}},
    "the private box is a number": {"tightened": 3},
    "centers are text": {"centers": [["a", "b"]]},
    "centers are ragged": {"centers": [[1.0, 2.0], [1.0]]},
    "charges are text": {"charges": "abc"},
    "charges are numbers": {"charges": [1]},
    "a charge lacks its amount": {"charges": [{"name": "a", "question": "counts", "measure": "rho"}]},
    "a charge has an unknown measure": {"charges": [{"name": "a", "question": "counts", "measure": "x", "amount": "1"}]},
    "a charge has no number": {"charges": [{"name": "a", "question": "counts", "measure": "rho", "amount": "x"}]},
    "epsilon is missing": {"epsilon": None},
    "epsilon is text": {"epsilon": "one"},
    "the domain is missing": {"domain": None},
    "the domain is empty": {"domain": {}},
    "the summary has other columns": {"summary_points": [[1.0, 2.0, 3.0]]},
    "a charge divides by zero": {"charges": [{"name": "a", "question": "counts", "measure": "rho", "amount": "1/0"}]},
    "delta is text": {"delta": "one"},
    "centers are not a table": {"centers": [1.0, 2.0]},
    "centers have other columns than the domain": {"centers": [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]},
    "sizes are fewer than centers": {"sizes": [1.0]},
    "a center is not a number": {"centers": [[math.nan, 1.0], [1.0, 1.0]]},
    "epsilon is not a number": {"epsilon": math.nan},
    "upper has other columns than lower": {"domain": {"lower": [0.0, 0.0], "upper": [1.0]}},
    "there are no centers": {"centers": [], "sizes": []},
    "sizes are a table": {"sizes": [[1.0, 2.0]]},
    "a size is infinite": {"sizes": [math.inf, 1.0]},
    "the margin is infinite": {"sizes_margin": "inf"},
    "a summary point is not a number": {"summary_points": [[math.nan, 1.0]]},
    "a summary weight is infinite": {"summary_weights": [math.inf]},
    "summary weights are fewer than points": {"summary_weights": []},
    "epsilon is negative": {"epsilon": -1.0},
    "delta is not a number": {"delta": math.nan},
    "the promise is text": {"promised_epsilon": "one"},
    "the domain has a number for bounds": {"domain": {"lower": 0.0, "upper": 1.0}},
    "feature names are a number": {"feature_names": 5},
}
#: Damage that is read without a word today.
UNSEEN = {
    "the promise is not a number": {"promised_epsilon": math.nan},
    "the promise is negative": {"promised_epsilon": -1.0},
    "more was spent than promised": {"epsilon": 0.6},
    "delta is negative": {"delta": -1.0},
    "delta is above one": {"delta": 7.0},
    "the domain's bounds are text": {"domain": {"lower": ["a", "b"], "upper": [1.0, 1.0]}},
    "the domain's bounds are not numbers": {"domain": {"lower": [math.nan, 0.0], "upper": [1.0, 1.0]}},
    "the domain's radius is text": {"domain": {"lower": [0.0, 0.0], "upper": [1.0, 1.0], "radius": "x"}},
    "the adjacency is unknown": {"adjacency": "swap"},
    "the noise is a number": {"noise": 5},
    "the cap is text": {"max_rows_per_group": "x"},
    "feature names are fewer than columns": {"feature_names": ["a"]},
    "parameters are a list": {"parameters": [1]},
    "a parameter is a table": {"parameters": {"alpha": [[1.0]]}},
    "the random state is a list": {"random_state": [1]},
    "the random state is a truth value": {"random_state": True},
    "the noise seed is text": {"noise_seed": "1"},
    "how it was made is text": {"made": "today"},
    "the date is a number": {"made": {"date": 5}},
}


@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED.keys())
def test_damage_is_refused(change):
    with pytest.raises(ReleaseError, match="incomplete or damaged"):
        Release.from_dict({**make().to_dict(), **change})


@pytest.mark.parametrize("change", UNSEEN.values(), ids=UNSEEN.keys())
def test_inconsistent_fields_are_refused(change):
    with pytest.raises(ReleaseError, match="incomplete or damaged"):
        Release.from_dict({**make().to_dict(), **change})
