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
        "charges": (Charge("a", "counts", Measure.PURE, Fraction(1, 3)), Charge("b", "sums", Measure.ZCDP, Fraction(1, 7))),
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


CHANGES = {
    "plain": {},
    "infinite": {
        "epsilon": math.inf, "promised_epsilon": math.inf, "noise": "none: not private",
        "charges": (Charge("a", "counts", Measure.PURE, math.inf),),
    },
    "groups": {"feature_names": None, "max_rows_per_group": 3, "adjacency": "replace"},
    "no summary": {"summary_points": np.empty((0, 2)), "summary_weights": np.empty(0)},
    "ball": {"domain": {"lower": [-1.0, -1.0], "upper": [1.0, 1.0], "radius": 1.0}},
    "private box": {"tightened": {"lower": [0.25, 0.5], "upper": [0.75, 4.0]}},
    "nothing spent": {"epsilon": 0.0, "charges": ()},
    "any script": {"feature_names": ("größe", "円")},
    "record": {
        "parameters": {"alpha": 3, "beta": 0.5, "consistent": True, "start": "hst", "none": None}, "noise_seed": 2**70,
        "random_state": "a generator", "made": {"date": "2026-01-31", "ledger": "town.ledger", "entry": "1f"},
    },
}  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
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


PROMISED = {
    "(0.5, 0.0)-differentially private for adding or removing one row": {"delta": 0.0},
    "(0.3333333333333333, 1e-06)-differentially private for adding or removing one row": {"promised_epsilon": 1 / 3},
    "(1234567.5, 1e-06)-differentially private for adding or removing one row": {"promised_epsilon": 1234567.5},
    "(0.5, 1e-06)-differentially private for replacing one row": {"adjacency": "replace"},
    "(0.5, 1e-06)-differentially private for adding or removing one group of at most 4 counted rows": {"max_rows_per_group": 4},
    "seeded: not private": {"noise": "seeded: not private"},
    "none: not private": {"noise": "none: not private"},
}


@pytest.mark.parametrize(("statement", "changes"), PROMISED.items())
def test_the_statement_says_what_was_promised(changes, statement):
    release = make(**changes)
    assert release.statement == statement
    assert release.is_private == statement.startswith("(")
    assert statement in repr(release)


@pytest.mark.parametrize("model", ["", "central: a, b: c", "local: d", "local, simulated: e"])
def test_the_model_says_who_was_trusted(model):
    kind, is_local = model.partition(": ")[0], model.startswith("local")
    release = Release.from_dict(make(model=model).to_dict())
    assert (release.model, release.trust.kind, release.trust.is_local) == (model, kind, is_local)
    assert release.trust.words == model.partition(": ")[2]


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Release) if field.name not in STATED])
def test_a_missing_field_is_refused(name):
    record = make().to_dict()
    del record[name]
    with pytest.raises(ReleaseError, match="Hint: "):
        Release.from_dict(record)


CHARGE = {"name": "a", "question": "counts", "measure": "rho"}
#: Values of a field that no release has.
DAMAGED = {
    "tightened": [
        {"lower": [0.0], "upper": [1.0]}, {"lower": [0.0, 0.0], "upper": [1.0, math.inf]}, {"lower": [0.0, 0.0]}, 3,
    ],
    "centers": [
        [["a", "b"]], [[1.0, 2.0], [1.0]], [1.0, 2.0], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [[math.nan, 1.0], [1.0, 1.0]], [],
    ],
    "sizes": [[1.0], [[1.0, 2.0]], [math.inf, 1.0], []],
    "sizes_margin": ["inf"],
    "summary_points": [[[1.0, 2.0, 3.0]], [[math.nan, 1.0]]],
    "summary_weights": [[math.inf], []],
    "charges": ["abc", [1], [CHARGE], *([CHARGE | {"amount": amount}] for amount in ("x", "1/0", "1e1000000000")),
                [CHARGE | {"amount": "1", "measure": "x"}]],
    "epsilon": [None, "one", math.nan, -1.0, 0.6],
    "promised_epsilon": ["one", math.nan, -1.0],
    "delta": ["one", math.nan, -1.0, 7.0],
    "domain": [
        None, {}, {"lower": 0.0, "upper": 1.0}, {"lower": [0.0, 0.0], "upper": [1.0]}, {"lower": ["a", "b"], "upper": [1.0, 1.0]},
        {"lower": [math.nan, 0.0], "upper": [1.0, 1.0]}, {"lower": [0.0, 0.0], "upper": [1.0, 1.0], "radius": "x"},
    ],
    "feature_names": [5, ["a"]],
    "k_costs": [[1.0], [1.0, 0.5, "a"], []],
    "adjacency": ["swap"],
    "noise": [5, "", "Secure", "secure: not private", "none", None, 1, ["secure"]],
    "max_rows_per_group": ["x", 0],
    "parameters": [[1], {"alpha": [[1.0]]}],
    "random_state": [[1], True],
    "noise_seed": ["1"],
    "made": ["today", {"date": 5}],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in DAMAGED.items() for value in values])
def test_damage_is_refused(name, value):
    with pytest.raises(ReleaseError, match="incomplete or damaged"):
        Release.from_dict(make().to_dict() | {name: value})
