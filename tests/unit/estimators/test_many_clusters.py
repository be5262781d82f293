"""Very many clusters are refused from public facts, and many take bounded work."""

import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError, PrivateKMeans, PrivateKMedian, PrivateKMedoids, max_coverage

SPACE = FiniteMetric.from_points(np.random.default_rng(0).random((60, 2)))


class Unread:
    """Rows that nobody may ask about."""

    def __getattr__(self, name):
        raise AssertionError(name)


@pytest.mark.parametrize(
    "ask",
    [
        lambda k: PrivateKMeans(k, epsilon=1.0, bounds=(0, 1)).fit(Unread()),
        lambda k: PrivateKMedian(k, epsilon=1.0, bounds=(0, 1)).plan(2),
        lambda k: PrivateKMedoids(k, epsilon=1.0, space=SPACE).fit(Unread()),
        lambda k: PrivateKMedoids(k, epsilon=1.0, space=SPACE).plan(),
        lambda k: max_coverage(Unread(), [[0], [1]], k, epsilon=1.0),
    ],
)
@pytest.mark.parametrize("k", [10_001, 300_000, 10**30])
def test_more_clusters_than_can_be_had_are_refused_before_rows_are_read(ask, k):
    with pytest.raises(ParameterError, match="must be at most 10000"):
        ask(k)


@pytest.mark.parametrize("algorithm", ["coverage", "local-search"])
def test_choices_among_too_many_options_are_refused_by_the_plan(algorithm, monkeypatch):
    model = PrivateKMedoids(3, epsilon=1.0, space=SPACE, algorithm=algorithm)
    assert model.plan().charges
    monkeypatch.setattr("spinney.algorithms.sites.MOST_OPTIONS", 100)
    for ask in (model.plan, lambda: model.fit(np.zeros(5))):
        with pytest.raises(ParameterError, match="more than 100, and take too long"):
            ask()
    with pytest.raises(ParameterError, match="max_coverage would weigh 120 options"):
        max_coverage([0], [[0]] * 60, 2, epsilon=1.0)
