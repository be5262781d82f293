import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from spinney import Ball, Box, ParameterError, PrivateKMeans, PrivateKMedian
from spinney.curators import memory
from spinney.fits.parameters import check_number
from spinney.fits.run import generator as public_generator


class Untouchable:
    """A table that must not even be looked at."""

    def __getattribute__(self, name):
        raise AssertionError(f"the rows were touched: {name}")

    def _touched(self, *arguments):
        raise AssertionError("the rows were touched")

    __len__ = __iter__ = __getitem__ = __array__ = __bool__ = __repr__ = __str__ = __eq__ = _touched
    __hash__ = None


ROWS = np.random.default_rng(0).random((30, 2))

#: Values that no parameter of this name may have.
WRONG = {
    "epsilon": [None, 9.9e-10, 0, -1, -math.inf, math.nan, "1", [1.0], np.array([1.0, 2.0]), 10**400],
    "bounds": [
        None, (1,), 3, (1, 1), ([0, 3], [1, 2]), ("a", "b"), (0, math.inf), [[0, 0], [1, 1]], np.array([[0, 0], [1, 1]]),
        ([0, 0], [1, 1, 1]),
    ],
    "n_clusters": [0, -3, 2.5, True, "2"],
    "delta": [-1e-9, 1, math.nan, None, 10**400],
    "algorithm": ["kmeans++", None, ["tree"]],
    "adjacency": ["swap", None],
    "tighten": ["yes", 1, None],
    "max_rows_per_group": [0, 0.5],
    "noise_seed": [-1, "a"],
    "random_state": ["a", -1, 1.5, True],
}  # fmt: skip


def make(estimator, **changes):
    return estimator(**{"n_clusters": 2, "epsilon": 1.0, "bounds": (0, 1), **changes})


def formula(name, owner):
    owners, names = (f"(?:{owner}|Box|the domain)", "(?:bounds|lower|upper)") if name == "bounds" else (owner, name)
    return re.compile(rf"The '{names}' parameter of {owners} must be .+\. Got .+ instead\.\nHint: .+", flags=re.DOTALL)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values], ids=repr)
@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_a_wrong_parameter_says_what_to_type_before_the_rows_are_touched(estimator, name, value):
    model = make(estimator, **{name: value})
    for ask in (lambda: model.fit(Untouchable()), lambda: model.plan(2)):
        with pytest.raises(ParameterError) as caught:
            ask()
        assert formula(name, estimator.__name__).fullmatch(str(caught.value))


def test_groups_without_a_cap_are_refused_before_the_rows_are_touched():
    with pytest.raises(ParameterError) as caught:
        make(PrivateKMeans).fit(Untouchable(), groups=Untouchable())
    assert formula("max_rows_per_group", "PrivateKMeans").fullmatch(str(caught.value))
    with pytest.raises(ParameterError, match="because fit gets no groups"):
        make(PrivateKMeans, max_rows_per_group=7).fit(Untouchable())
    with pytest.raises(AssertionError, match="the rows were touched"):  # else the tests above would show nothing
        make(PrivateKMeans).fit(Untouchable())


@pytest.mark.parametrize("bounds", [([0, 0, 0], [1, 1, 1]), Box([0, 0, 0], 1), Ball(1, [0, 0, 0])])
@pytest.mark.parametrize("table", [ROWS, pd.DataFrame(ROWS)], ids=["array", "frame"])  # a list has rows of any length
def test_bounds_for_other_columns_are_refused_before_a_curator_is_made(monkeypatch, bounds, table):
    monkeypatch.setattr(memory, "MemoryBackend", Untouchable._touched)
    with pytest.raises(ParameterError) as caught:
        make(PrivateKMeans, bounds=bounds).fit(table)
    assert formula("bounds", "PrivateKMeans").fullmatch(str(caught.value))
    assert "2 numbers" in str(caught.value)


LAWFUL = {
    "n_clusters": [np.int32(2)], "epsilon": [np.float32(0.5), 1, Fraction(1, 3), 1e-9, math.inf], "delta": [0, 0.5],
    "noise_seed": [np.int64(3)], "bounds": [[(0, 1), (0, 1)], [0, 1]],
    "random_state": [np.random.default_rng(0), np.random.RandomState(0)],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in LAWFUL.items() for value in values], ids=str)
def test_lawful_parameters_of_other_types_are_taken(name, value):
    assert make(PrivateKMeans, **{"noise_seed": 0, name: value}).fit(ROWS).cluster_centers_.shape == (2, 2)


def test_a_plan_needs_whole_numbers_of_columns_and_rows():
    words = r"parameter of PrivateKMeans\.plan must be an int in \[1, inf\)"
    for number in (0, -1, "a", 2.5, True, math.nan):
        for name in ("n_features", "n_guess"):
            with pytest.raises(ParameterError, match=f"The '{name}' {words}"):
                make(PrivateKMeans).plan(**{"n_features": 2, name: number})
    with pytest.raises(ParameterError, match=f"The 'n_features' {words}"):
        make(PrivateKMeans).plan(None)
    for number in (1, np.int8(7), 2**70):
        check_number("n", "here", number)


def test_public_randomness_repeats_as_asked():
    first, same, other = (public_generator(state).random(3) for state in (5, 5, 6))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    generator = np.random.default_rng(0)
    assert public_generator(generator) is generator
    legacy = [public_generator(np.random.RandomState(1)).random(3) for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
    assert (public_generator(None).random(3) != public_generator(None).random(3)).any()


NO_COLUMNS = [3, "a" * 30, dict.fromkeys(range(30)), np.zeros((30, 1)), pd.DataFrame({"g": range(30)}), [1, 2], np.arange(31), []]


@pytest.mark.parametrize("groups", NO_COLUMNS)
def test_groups_that_are_not_a_column_are_refused(groups):
    with pytest.raises(ParameterError, match=r"(?s)'groups' argument of fit must name one group per row\.\nHint: "):
        make(PrivateKMeans, max_rows_per_group=2).fit(ROWS, groups=groups)
