import importlib

import pytest

import spinney
from registered import BASELINES
from spinney.algorithms.registry import HOMES, find

NAMES = [
    "Ball",
    "Box",
    "BudgetError",
    "CoverRelease",
    "CuratorError",
    "DataError",
    "DescriptionRelease",
    "FewRowsWarning",
    "FiniteMetric",
    "Ledger",
    "LoosePromiseWarning",
    "OneCluster",
    "ParameterError",
    "PrivateKMeans",
    "PrivateKMedian",
    "PrivateKMedoids",
    "PublicEncoder",
    "PublicScaler",
    "Release",
    "ReleaseError",
    "SeededNoiseWarning",
    "SiteRelease",
    "SpinneyError",
    "UncountedFitsWarning",
    "UnitsWarning",
    "__version__",
    "describe",
    "fit",
    "max_coverage",
    "one_cluster",
    "plan_description",
    "read_release",
    "scan",
    "verify",
]


def test_public_names_are_pinned():
    assert spinney.__all__ == NAMES


def test_public_names_are_sorted():
    assert spinney.__all__ == sorted(spinney.__all__)


@pytest.mark.parametrize("name", spinney.__all__)
def test_every_public_name_is_importable(name):
    value = getattr(spinney, name)
    assert getattr(value, "__name__", name) == name


def test_dir_lists_the_public_names():
    assert dir(spinney) == sorted(spinney.__all__)


@pytest.mark.parametrize("room", ["algorithms", "audit", "local", "questions", "report", "verification"])
def test_rooms_that_users_import_from_give_their_names(room):
    package = importlib.import_module(f"spinney.{room}")
    assert sorted(package.__all__) == dir(package)
    assert {name for name in package.__all__ if getattr(package, name).__name__ != name} == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'PrivateKMeens'"):
        _ = spinney.PrivateKMeens


def test_star_import_gives_the_public_names():
    namespace = {}
    exec("from spinney import *", namespace)
    assert set(spinney.__all__) <= set(namespace)


def test_errors_form_the_tree_that_is_drawn():
    assert issubclass(spinney.ParameterError, (spinney.SpinneyError, ValueError))
    assert spinney.ParameterError.__mro__.index(spinney.SpinneyError) < spinney.ParameterError.__mro__.index(ValueError)
    assert issubclass(spinney.ReleaseError, spinney.SpinneyError)
    assert issubclass(spinney.ReleaseError, ValueError)
    assert issubclass(spinney.BudgetError, spinney.SpinneyError)
    assert issubclass(spinney.CuratorError, spinney.SpinneyError)
    assert issubclass(spinney.SeededNoiseWarning, UserWarning)
    assert issubclass(spinney.FewRowsWarning, UserWarning)


def test_baselines_are_registered_as_an_outside_package_registers_its_own():
    import spinney.baselines

    registered = {type(find(name, "points")).__name__ for name in BASELINES}
    assert registered == set(spinney.baselines.__all__)
    assert BASELINES.isdisjoint(HOMES["points"])
