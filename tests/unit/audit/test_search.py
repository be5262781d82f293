"""Neighbor search: planted faults that few tables show are found and made small; sound estimators pass."""

import sys

import numpy as np
import pytest
from hypothesis import strategies as st

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedoids
from spinney.audit import Case, Surroundings, demand_neighbors, neighbors, search, surroundings
from spinney.privacy.pricing import Unit

SPACE = FiniteMetric.from_points(np.random.default_rng(1).random((12, 2)))


def crashing(demand, number=6):
    """A crash that depends on the number of distinct points that demand names."""
    points = np.unique(demand[np.isin(demand, np.arange(12.0))])
    if len(points) == number:
        raise IndexError("index out of bounds")
    return len(points) > 0


def test_a_crash_that_depends_on_the_number_of_demand_points_is_found():
    found = search(crashing, demand_neighbors(12), epsilon=1.0, examples=300)
    assert found.broken
    assert "the error of the function depends on the rows" in found.faults
    assert found.tried["cases"] <= 330


class CrashingSites(PrivateKMedoids):
    """The same, planted in an estimator."""

    def fit(self, demand, groups=None):
        crashing(np.asarray(demand), 3)
        return super().fit(demand, groups=groups)


def test_a_crash_in_an_estimator_is_found():
    model = CrashingSites(2, epsilon=1.0, space=SPACE, algorithm="hst")
    found = search(model, demand_neighbors(12, most=6), examples=150)
    assert any("error of the fit" in fault for fault in found.faults)


class ByChunks(PrivateKMeans):
    """A fit whose warning depends on rows where the table is cut into chunks of two."""

    def fit(self, table, groups=None):
        from spinney.curators import memory

        if memory.CHUNK == 2 and len(table) % 2:
            sys.stdout.write("an odd chunk")
        return super().fit(table, groups=groups)


def test_block_sizes_are_searched_over():
    model = ByChunks(2, epsilon=1.0, bounds=(-1, 1), algorithm="hst")
    around = surroundings().filter(lambda one: one.place == "memory")
    cases = st.builds(Case, st.just(model), neighbors([-1, -1], [1, 1], most=6), around)
    assert any("printed" in fault for fault in search(cases, examples=150).faults)


def test_a_sound_estimator_passes_and_the_worst_loss_is_told():
    @st.composite
    def cases(draw):
        adjacency = draw(st.sampled_from(["add-remove", "replace"]))
        algorithm = draw(st.sampled_from(["hst", "lloyd"]))
        grouped = draw(st.booleans())
        d, k = draw(st.integers(1, 3)), draw(st.integers(1, 4))
        cap = {"max_rows_per_group": 2} if grouped else {}
        epsilon, delta = draw(st.sampled_from([0.1, 1.0, 5.0])), draw(st.sampled_from([0.0, 1e-6]))
        model = PrivateKMeans(k, epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm=algorithm, adjacency=adjacency, **cap)
        pairs = neighbors([-1.0] * d, [1.0] * d, Unit(adjacency, 2 if grouped else 1), grouped=grouped, most=8)
        return Case(model, draw(pairs), draw(surroundings()))

    found = search(cases(), examples=20)
    assert not found.broken
    assert 0 < found.bound <= found.promised_epsilon
    assert found.tried["cases"] >= 15


@pytest.mark.parametrize("place", ["npy", "csv", "parquet"])
def test_rows_in_files_are_the_rows(place, tmp_path):
    from spinney.audit import Pair

    rows = np.array([[0.5, np.nan], [1.0, -1e300], [np.inf, 0.0]])
    placed = Surroundings(place).placed(Pair("given", rows, rows[1:]), tmp_path)
    counted = [
        PrivateKMeans(1, epsilon=1e6, bounds=(-1, 1), algorithm="lloyd", noise_seed=0).fit(side).release_.sizes.sum()
        for side in (placed.first, rows)
    ]
    assert counted[0] == counted[1]
