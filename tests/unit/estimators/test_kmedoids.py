import math

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from spinney import FiniteMetric, ParameterError, PrivateKMedoids, ReleaseError
from spinney.algorithms.site_hst import SiteHST

RNG = np.random.default_rng(0)
POINTS = RNG.random((40, 2))
SPACE = FiniteMetric.from_points(POINTS, candidates=np.arange(0, 40, 2))
ROWS = RNG.integers(0, 30, 300)


def model_of(**more):
    return PrivateKMedoids(**{"n_clusters": 3, "epsilon": 1.0, "space": SPACE, "random_state": 0, "noise_seed": 1, **more})


WRONG = {
    "n_clusters": [0, 2.5, 21, "3", None],
    "epsilon": [None, 0, -1.0, "1", math.nan],
    "delta": [-0.1, 1.0, None],
    "space": [None, POINTS, "graph"],
    "algorithm": ["lloyd", 3, SiteHST, None],
    "power": [0, 3, "1", True, None],
    "existing_sites": [[0, 0], [40], [-1], [0.5], ["a"], None, [[0]], [True]],
    "adjacency": ["both", None],
    "max_rows_per_group": [3, 0],
    "noise_seed": [-1, "a"],
    "random_state": [-1, "a"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values], ids=repr)
def test_a_wrong_parameter_is_named_with_a_hint(name, value):
    model = model_of(**{name: value})
    with pytest.raises(ParameterError, match=rf"'{name}'") as error:
        model.fit(ROWS)
    assert "PrivateKMedoids" in str(error.value)
    assert "Hint" in str(error.value)


@pytest.mark.parametrize("algorithm", ["auto", "cells", "coverage", "hst", "local-search"])
@pytest.mark.parametrize("power", [1, 2])
def test_sites_are_sorted_candidates_and_sizes_go_with_them(algorithm, power):
    model = model_of(algorithm=algorithm, power=power, existing_sites=[1, 6]).fit(ROWS)
    chosen = model.medoid_indices_
    assert chosen.tolist() == sorted(set(chosen.tolist()))
    assert np.isin(chosen, SPACE.candidates).all()
    assert 6 not in chosen
    assert model.release_.sites.tolist() == [*chosen, 1, 6]
    assert model.release_.sizes.shape == (5,)
    assert np.array_equal(model.cluster_sizes_, model.release_.sizes[:3])
    assert np.array_equal(model.release_.coordinates, POINTS[model.release_.sites])
    assert (model.release_.algorithm, model.release_.power) == ("cells" if algorithm == "auto" else algorithm, power)


def test_predict_gives_the_nearest_site():
    model = model_of(existing_sites=[5]).fit(ROWS)
    assert np.array_equal(model.predict(np.arange(40)), SPACE.distances(model.release_.sites).argmin(axis=0))
    first = model.predict([0])[0]
    assert model.predict([np.nan, -3, 40, "x", 0.5]).tolist() == [first] * 5
    assert np.array_equal(model.fit_predict(ROWS), model.predict(ROWS))
    with pytest.raises(NotFittedError):
        model_of().predict([0])


def test_from_release_predicts_as_before(tmp_path):
    model = model_of(existing_sites=[1], max_rows_per_group=2, delta=1e-6, adjacency="replace").fit(ROWS, groups=ROWS % 7)
    path = tmp_path / "release.json"
    model.release_.to_json(path)
    for release in (model.release_, path, str(path)):
        twin = PrivateKMedoids.from_release(release, SPACE)
        assert np.array_equal(twin.predict(np.arange(40)), model.predict(np.arange(40)))
        ours, theirs = twin.get_params(deep=False), model.get_params(deep=False)
        same = {"n_clusters", "epsilon", "power", "existing_sites", "adjacency", "max_rows_per_group"}
        assert {name: ours[name] for name in same} == {name: theirs[name] for name in same}
    for space in (FiniteMetric.from_points(POINTS), POINTS, None):
        with pytest.raises(ParameterError, match="space"):
            PrivateKMedoids.from_release(path, space)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ReleaseError):
        PrivateKMedoids.from_release(path, SPACE)


def test_groups_are_one_name_a_row_and_have_a_cap():
    people = np.zeros(300, dtype=int)
    with pytest.raises(ParameterError, match="max_rows_per_group"):
        model_of().fit(ROWS, groups=people)
    for groups in (people[:-1], people[:, None], "people", 3):
        with pytest.raises(ParameterError, match="groups"):
            model_of(max_rows_per_group=2).fit(ROWS, groups=groups)


NAMED = FiniteMetric.from_points(POINTS, candidates=np.arange(0, 40, 2), names=[f"p{i}" for i in range(40)])


def test_the_names_of_a_space_are_in_its_releases():
    model = model_of(space=NAMED, existing_sites=["p7", "p1"]).fit(ROWS)
    assert model.release_.existing_sites.tolist() == [7, 1]
    assert model.release_.names == tuple(f"p{site}" for site in model.release_.sites)
    plain = model_of(existing_sites=[7, 1]).fit(ROWS)
    assert plain.release_.names is None
    assert plain.release_.sizes.tolist() == model.release_.sizes.tolist()
    again = PrivateKMedoids.from_release(model.release_, NAMED)
    assert again.predict([3, 30]).tolist() == model.predict([3, 30]).tolist()


def test_a_release_is_not_read_with_points_in_another_order():
    with pytest.raises(ParameterError, match=r"'existing_sites'.*a name that no point has"):
        model_of(space=NAMED, existing_sites=["q"]).fit(ROWS)
    release = model_of(space=NAMED).fit(ROWS).release_
    turned = FiniteMetric.from_points(POINTS, candidates=np.arange(0, 40, 2), names=[f"p{39 - i}" for i in range(40)])
    with pytest.raises(ParameterError, match="space"):
        PrivateKMedoids.from_release(release, turned)
    PrivateKMedoids.from_release(release, SPACE)
