"""Goals of planners are solved on released answers: what is asked depends on rows through them alone, and no answer raises."""

import json

import numpy as np
import pytest
from cases import SITES, SPACE
from test_no_outcome_raises import ODD_SPACES, OUTCOMES, fit
from test_replay import check_replay

from covering import covering
from spinney import (
    Capacities,
    Farthest,
    FewRowsWarning,
    OpeningCosts,
    ParameterError,
    PrivateKMeans,
    PrivateKMedoids,
    SiteRelease,
    Travel,
    WithinReach,
    verify,
)

GOALS = {
    "capacities": (Capacities(60.0), False),
    "reach": (WithinReach(0.2), False),
    "fewest": (WithinReach(0.3, 0.9), True),
    "farthest": (Farthest(0.1), False),
    "opening costs": (OpeningCosts(20.0), True),
    "auto": (Travel(0.1), True),
    "weights": (None, False),
}


def options(name, space):
    goal, is_counted = GOALS[name]
    weights = np.linspace(0.5, 2, space.n_points) if name in ("weights", "capacities") else None
    return is_counted, {"goal": goal, "weights": weights, "max_clusters": 5 if is_counted else None}


@covering("name, adjacency, delta", GOALS, ["add-remove", "replace"], [0.0, 1e-6])
@pytest.mark.matrix
def test_goals_ask_the_same_of_other_rows(name, adjacency, delta):
    is_counted, more = options(name, SPACE)
    model = SITES["cells"].model(PrivateKMeans, "auto" if is_counted else 3, delta=delta, adjacency=adjacency, **more)
    assert len(check_replay(SITES["cells"], model, adjacency, delta)) == 3


@covering("outcome, space, name", OUTCOMES, ODD_SPACES, GOALS)
@pytest.mark.matrix
def test_no_answer_makes_a_goal_raise(outcome, space, name, monkeypatch):
    seed = (list(OUTCOMES).index(outcome) + list(ODD_SPACES).index(space)) % 4
    where = ODD_SPACES[space]
    is_counted, more = options(name, where)
    existing = [0] if where.n_points > 1 and seed % 2 else []
    model = PrivateKMedoids(
        "auto" if is_counted else min(2, len(where.candidates)), epsilon=(1.0, 1e-9)[seed % 2], space=where,
        power=1 + seed % 2, existing_sites=existing, random_state=seed, **more,
    )  # fmt: skip
    release = fit(model, np.arange(where.n_points).repeat(seed), outcome, seed, monkeypatch)
    again = SiteRelease.from_dict(json.loads(release.to_json()))
    assert again.to_json() == release.to_json()
    assert 1 <= len(again.medoids) <= 5
    assert np.isin(again.medoids, where.candidates).all()
    assert again.assignment is None or again.assignment.shape == (where.n_points,)


@pytest.mark.parametrize("name", GOALS)
def test_releases_of_goals_are_checked(name, tmp_path):
    is_counted, more = options(name, SPACE)
    demand = np.random.default_rng(0).integers(0, 60, 2000)
    model = PrivateKMedoids("auto" if is_counted else 3, epsilon=1.0, space=SPACE, **more)
    if name == "capacities":
        with pytest.warns(FewRowsWarning, match="more than all sites can take"):
            model.fit(demand)
    else:
        model.fit(demand)
    path = tmp_path / "release.json"
    record = json.loads(model.release_.to_json(path))
    assert verify(path).holds
    assert (PrivateKMedoids.from_release(path, SPACE).predict(np.arange(60)) == model.predict(np.arange(60))).all()
    if record.get("assignment"):
        for broken in (record["assignment"][:-1], [len(record["sizes"]), *record["assignment"][1:]]):
            path.write_text(json.dumps({**record, "assignment": broken}))
            assert not verify(path).holds


def test_what_a_goal_cannot_be_is_refused_before_anything_is_asked():
    for n, more in (
        ("auto", {"goal": Capacities(5.0)}), (3, {"goal": OpeningCosts(5.0)}), (3, {"goal": "capacities"}),
        (3, {"goal": Capacities(np.ones(7))}), (3, {"weights": np.zeros(60)}), (3, {"weights": [1.0]}),
        (3, {"goal": Farthest(), "algorithm": "hst"}), ("auto", {"algorithm": "local-search"}), (3, {"max_clusters": 4}),
    ):  # fmt: skip
        with pytest.raises(ParameterError):
            PrivateKMedoids(n, epsilon=1.0, space=SPACE, **more).plan()
