import math
import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from spinney import Ball, Box, ParameterError, PrivateKMeans, PrivateKMedian
from spinney.algorithms.default import Tree
from spinney.algorithms.tighten import Tightened
from spinney.baselines.lloyd import Lloyd
from spinney.curators import memory
from spinney.fits.parameters import check_number, check_points
from spinney.fits.run import generator as public_generator
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.pricing import Unit


class Untouchable:
    """A table that must not even be looked at."""

    def __getattribute__(self, name):
        raise AssertionError(f"the rows were touched: {name}")

    def _touched(self, *arguments):
        raise AssertionError("the rows were touched")

    __len__ = __iter__ = __getitem__ = __array__ = __bool__ = __repr__ = __str__ = __eq__ = _touched
    __hash__ = None


ROWS = np.random.default_rng(0).random((30, 2))

WRONG = {
    "no epsilon": ({"epsilon": None}, "epsilon"),
    "epsilon below the least": ({"epsilon": 9.9e-10}, "epsilon"),
    "zero epsilon": ({"epsilon": 0}, "epsilon"),
    "negative epsilon": ({"epsilon": -1}, "epsilon"),
    "epsilon minus infinity": ({"epsilon": -math.inf}, "epsilon"),
    "epsilon not a number": ({"epsilon": math.nan}, "epsilon"),
    "epsilon as text": ({"epsilon": "1"}, "epsilon"),
    "epsilon as a list": ({"epsilon": [1.0]}, "epsilon"),
    "epsilon as an array": ({"epsilon": np.array([1.0, 2.0])}, "epsilon"),
    "no bounds": ({"bounds": None}, "bounds"),
    "one bound": ({"bounds": (1,)}, "bounds"),
    "bounds as a number": ({"bounds": 3}, "bounds"),
    "lower equals upper": ({"bounds": (1, 1)}, "bounds"),
    "lower above upper": ({"bounds": ([0, 3], [1, 2])}, "bounds"),
    "bounds as text": ({"bounds": ("a", "b")}, "lower"),
    "infinite bounds": ({"bounds": (0, math.inf)}, "upper"),
    "bounds as two lists": ({"bounds": [[0, 0], [1, 1]]}, "bounds"),
    "bounds as an array": ({"bounds": np.array([[0, 0], [1, 1]])}, "bounds"),
    "bounds of unlike lengths": ({"bounds": ([0, 0], [1, 1, 1])}, "upper"),
    "no clusters": ({"n_clusters": 0}, "n_clusters"),
    "negative clusters": ({"n_clusters": -3}, "n_clusters"),
    "half a cluster": ({"n_clusters": 2.5}, "n_clusters"),
    "clusters as a flag": ({"n_clusters": True}, "n_clusters"),
    "clusters as text": ({"n_clusters": "2"}, "n_clusters"),
    "negative delta": ({"delta": -1e-9}, "delta"),
    "delta of one": ({"delta": 1}, "delta"),
    "delta not a number": ({"delta": math.nan}, "delta"),
    "no delta": ({"delta": None}, "delta"),
    "unknown algorithm": ({"algorithm": "kmeans++"}, "algorithm"),
    "no algorithm": ({"algorithm": None}, "algorithm"),
    "algorithms as a list": ({"algorithm": ["tree"]}, "algorithm"),
    "unknown adjacency": ({"adjacency": "swap"}, "adjacency"),
    "no adjacency": ({"adjacency": None}, "adjacency"),
    "tighten as text": ({"tighten": "yes"}, "tighten"),
    "tighten as a number": ({"tighten": 1}, "tighten"),
    "no tighten": ({"tighten": None}, "tighten"),
    "a cap of zero": ({"max_rows_per_group": 0}, "max_rows_per_group"),
    "a cap of a half": ({"max_rows_per_group": 0.5}, "max_rows_per_group"),
    "negative noise seed": ({"noise_seed": -1}, "noise_seed"),
    "noise seed as text": ({"noise_seed": "a"}, "noise_seed"),
    "random state as text": ({"random_state": "a"}, "random_state"),
    "negative random state": ({"random_state": -1}, "random_state"),
    "random state of a half": ({"random_state": 1.5}, "random_state"),
    "random state as a flag": ({"random_state": True}, "random_state"),
}


def make(estimator, **changes):
    return estimator(**{"n_clusters": 2, "epsilon": 1.0, "bounds": (0, 1), **changes})


def formula(name, owner):
    owners = f"(?:{owner}|Box|the domain)" if name in ("bounds", "lower", "upper") else owner
    return re.compile(rf"The '{name}' parameter of {owners} must be .+\. Got .+ instead\.\nHint: .+", flags=re.DOTALL)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize(("changes", "name"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_parameter_says_what_to_type(monkeypatch, estimator, changes, name):
    monkeypatch.setattr(memory, "MemoryBackend", Untouchable._touched)
    with pytest.raises(ParameterError) as caught:
        make(estimator, **changes).fit(ROWS)
    assert formula(name, estimator.__name__).fullmatch(str(caught.value))


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize(("changes", "name"), WRONG.values(), ids=WRONG.keys())
def test_planning_finds_the_same_mistakes(estimator, changes, name):
    with pytest.raises(ParameterError) as caught:
        make(estimator, **changes).plan(2)
    assert formula(name, estimator.__name__).fullmatch(str(caught.value))


@pytest.mark.parametrize(("changes", "name"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_parameter_is_found_before_the_rows_are_touched(changes, name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter"):
        make(PrivateKMeans, **changes).fit(Untouchable())


def test_groups_without_a_cap_are_found_before_the_rows_are_touched():
    with pytest.raises(ParameterError, match="The 'max_rows_per_group' parameter"):
        make(PrivateKMeans).fit(Untouchable(), groups=Untouchable())


def test_the_untouchable_table_explodes_when_touched():
    with pytest.raises(AssertionError, match="the rows were touched"):
        make(PrivateKMeans).fit(Untouchable())


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_groups_without_a_cap_are_refused(estimator):
    with pytest.raises(ParameterError) as caught:
        make(estimator).fit(ROWS, groups=np.arange(30))
    assert formula("max_rows_per_group", estimator.__name__).fullmatch(str(caught.value))


@pytest.mark.parametrize("bounds", [([0, 0, 0], [1, 1, 1]), Box([0, 0, 0], 1), Ball(1, [0, 0, 0])])
@pytest.mark.parametrize("table", [ROWS, pd.DataFrame(ROWS)], ids=["array", "frame"])  # a list has rows of any length
def test_bounds_for_other_columns_are_refused_before_a_curator_is_made(monkeypatch, bounds, table):
    monkeypatch.setattr(memory, "MemoryBackend", Untouchable._touched)
    with pytest.raises(ParameterError) as caught:
        make(PrivateKMeans, bounds=bounds).fit(table)
    assert formula("bounds", "PrivateKMeans").fullmatch(str(caught.value))
    assert "2 numbers" in str(caught.value)


@pytest.mark.parametrize("groups", [[1, 2], np.arange(31), []])
def test_groups_of_another_length_are_refused(groups):
    with pytest.raises(ParameterError, match=r"(?s)'groups' argument of fit must name one group per row\.\nHint: "):
        make(PrivateKMeans, max_rows_per_group=2).fit(ROWS, groups=groups)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_clusters": np.int32(2)},
        {"epsilon": np.float32(0.5)},
        {"epsilon": 1},
        {"epsilon": Fraction(1, 3)},
        {"epsilon": 1e-9},
        {"epsilon": math.inf},
        {"delta": 0},
        {"delta": 0.5},
        {"noise_seed": np.int64(3)},
        {"bounds": [(0, 1), (0, 1)]},
        {"bounds": [0, 1]},
        {"random_state": np.random.default_rng(0)},
        {"random_state": np.random.RandomState(0)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_lawful_parameters_of_other_types_are_taken(changes):
    assert make(PrivateKMeans, **{"noise_seed": 0, **changes}).fit(ROWS).cluster_centers_.shape == (2, 2)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_an_enormous_integer_is_refused(name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter"):
        make(PrivateKMeans, **{name: 10**400}).plan(2)


@pytest.mark.parametrize("number", [0, -1, "a", 2.5, None, True, math.nan])
def test_a_plan_needs_whole_numbers_of_columns_and_rows(number):
    with pytest.raises(ParameterError, match=r"The 'n_features' parameter of PrivateKMeans\.plan must be an int in \[1, inf\)"):
        make(PrivateKMeans).plan(number)
    if number is not None:
        with pytest.raises(ParameterError, match=r"The 'n_guess' parameter of PrivateKMeans\.plan must be an int in \[1, inf\)"):
            make(PrivateKMeans).plan(2, n_guess=number)


@pytest.mark.parametrize("number", [1, np.int8(7), 2**70])
def test_counts_may_be_any_whole_number(number):
    check_number("n", "here", number)


@pytest.mark.parametrize(("objective", "power"), [("kmedian", 1), ("kmeans", 2)])
def test_facts_hold_the_parameters_and_become_a_problem(objective, power):
    asked = {
        "n_clusters": 2, "epsilon": 0.1, "delta": 1e-6, "bounds": (0, 1), "algorithm": "lloyd", "adjacency": "replace",
        "tighten": np.True_, "max_rows_per_group": np.int64(3), "random_state": 4, "noise_seed": 5,
    }  # fmt: skip
    facts = check_points(asked, objective, "here", has_groups=True)
    fit = facts.fit(4)
    assert (fit.problem.objective, fit.problem.k, fit.problem.budget) == (objective, 2, Budget.of(0.1, 1e-6))
    assert (fit.grouped, fit.random_state, fit.noise_seed) == (True, 4, 5)
    assert fit.problem.unit == Unit(Adjacency.REPLACE, 3)
    rows = check_points({**asked, "max_rows_per_group": None}, objective, "here", has_groups=False)
    assert rows.unit == Unit(Adjacency.REPLACE, 1)
    assert fit.problem.domain.n_features == 4
    assert fit.problem.power == power
    assert fit.problem.kernel == {1: "median", 2: "mean"}[power]
    assert (type(fit.algorithm), type(fit.algorithm.inner)) == (Tightened, Lloyd)
    plain = check_points({**asked, "tighten": False}, objective, "here", has_groups=True)
    assert type(plain.fit(4).algorithm) is Lloyd


@pytest.mark.parametrize(
    "algorithm",
    [Tree, int, object(), 3, SimpleNamespace(name="x", plan=None, run=None)],
    ids=["class", "type", "object", "number", "half"],
)
def test_what_is_not_an_algorithm_is_refused(algorithm):
    with pytest.raises(
        ParameterError, match=r"must be one of 'auto', .*, or another algorithm for tables\. Got .+ instead\.\nHint: leave it out"
    ):
        make(PrivateKMeans, algorithm=algorithm).plan(2)


def test_public_randomness_repeats_as_asked():
    first, same, other = (public_generator(state).random(3) for state in (5, 5, 6))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    generator = np.random.default_rng(0)
    assert public_generator(generator) is generator
    legacy = [public_generator(np.random.RandomState(1)).random(3) for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
    assert (public_generator(None).random(3) != public_generator(None).random(3)).any()


@pytest.mark.parametrize("groups", [3, "a" * 30, dict.fromkeys(range(30)), np.zeros((30, 1)), pd.DataFrame({"g": range(30)})])
def test_groups_that_are_not_a_column_are_refused(groups):
    with pytest.raises(ParameterError, match=r"(?s)'groups' argument of fit must name one group per row\.\nHint: "):
        make(PrivateKMeans, max_rows_per_group=2).fit(ROWS, groups=groups)


def test_names_may_be_tuples_beside_others():
    model = make(PrivateKMeans, max_rows_per_group=2, noise_seed=0)
    assert model.fit(ROWS, groups=[("a", 1), None, "b"] * 10).release_.max_rows_per_group == 2


@pytest.mark.parametrize("table", [[0.12345, 0.2], ROWS[:, 0], ROWS * 1j], ids=["a list", "one dimension", "complex"])
def test_no_message_shows_the_rows(table):
    with pytest.raises(ValueError, match=r".") as caught:
        make(PrivateKMeans).fit(table)
    assert not re.search(r"\d\.\d{3,}", str(caught.value))


def test_init_only_stores():
    model = PrivateKMeans(-1, epsilon="x", bounds=object(), delta=9, algorithm=3, adjacency=4, noise_seed="s", random_state="r")
    assert model.get_params()["n_clusters"] == -1
    assert model.get_params()["epsilon"] == "x"
