import importlib

import pytest

import spinney
from registered import BASELINES
from spinney.algorithms.registry import HOMES, find

NAMES = [
    "Ball", "Box", "BudgetError", "Capacities", "CoverRelease", "CuratorError", "DataError", "DescriptionRelease", "Farthest",
    "FewRowsWarning", "FiniteMetric", "Ledger", "LoosePromiseWarning", "OneCluster", "OpeningCosts", "ParameterError",
    "PrivateKMeans", "PrivateKMedian", "PrivateKMedoids", "PublicEncoder", "PublicScaler", "Release", "ReleaseError",
    "SeededNoiseWarning", "SiteRelease", "SpinneyError", "Travel", "UncountedFitsWarning", "UnfinishedError", "UnitsWarning",
    "WithinReach", "__version__", "describe", "fit", "max_coverage", "one_cluster", "plan_description", "read_network",
    "read_places", "read_release", "scan", "stream", "verify",
]  # fmt: skip


def test_public_names_are_pinned():
    assert spinney.__all__ == dir(spinney) == sorted(NAMES) == NAMES


@pytest.mark.parametrize("room", ["algorithms", "audit", "local", "questions", "report", "verification", ""])
def test_rooms_that_users_import_from_give_their_names(room):
    package = importlib.import_module(f"spinney.{room}".rstrip("."))
    assert sorted(package.__all__) == dir(package)
    assert {name for name in package.__all__ if getattr(getattr(package, name), "__name__", name) != name} == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_errors_form_the_tree_that_is_drawn():
    order = spinney.ParameterError.__mro__
    assert order.index(spinney.SpinneyError) < order.index(ValueError)
    assert issubclass(spinney.ReleaseError, ValueError)
    for error in (spinney.ReleaseError, spinney.BudgetError, spinney.CuratorError):
        assert issubclass(error, spinney.SpinneyError)
    for warning in (spinney.SeededNoiseWarning, spinney.FewRowsWarning):
        assert issubclass(warning, UserWarning)


def test_baselines_are_registered_as_an_outside_package_registers_its_own():
    import spinney.baselines

    registered = {type(find(name, "points")).__name__ for name in BASELINES}
    assert registered == set(spinney.baselines.__all__)
    assert BASELINES.isdisjoint(HOMES["points"])
