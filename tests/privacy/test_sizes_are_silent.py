"""Rule 25: with answers frozen, all that is public is the same for any number of rows, in any container, around any limit.

A sample of ``python -m benchmarks.sizes_matrix``, which tries everything with tables of up to a million rows.
"""

import warnings

import pytest

from benchmarks.sizes_matrix import LIMITS, NAMED, NAMELESS, OF_PATHS, PLACES, Matrix
from spinney.curators.memory import ArrayRows, MemoryBackend

DEFAULT, SITES = "k-means, default", "k-medoids, cells"
IN_MEMORY = ("k-median, objective", "k-means, samples with replacement")
CONTAINERS = [*NAMELESS, *NAMED]
FILES = [name for name in CONTAINERS if "csv" in name or "parquet" in name or "npy" in name]


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    return Matrix(tmp_path_factory.mktemp("sizes"))


@pytest.fixture
def check(matrix):
    """Return a function that fits once more, and raises if anything public differs."""

    def once(*what, **limits):
        matrix.faults.clear()
        matrix.check(*what, **limits)
        assert matrix.faults == []

    return once


@pytest.mark.parametrize("container", CONTAINERS)
def test_any_number_of_rows_looks_alike_in_every_container(container, check):
    place = CONTAINERS.index(container)
    for size in (0, (1, 2, 317, 4_000)[place % 4]):
        check(DEFAULT, container, size)


@pytest.mark.parametrize("container", PLACES)
def test_any_demand_looks_alike_in_every_container(container, check):
    for size in (0, 1, 70_000):
        check("max_coverage", container, size)


def test_a_million_rows_look_like_a_hundred(check):
    for size in (2**16, 2**16 + 1, 10**6):
        check(DEFAULT, "array", size)


def test_what_needs_an_array_or_a_frame_refuses_paths_of_any_size(check):
    for function in IN_MEMORY:
        for turn, container in enumerate(("csv", "parquet", "npy", "pandas")):
            check(function, container, (0, 1, 65)[turn % 3], **{"tables.files.LARGE_SHARE": 0.0})


@pytest.mark.parametrize("limit", LIMITS)
def test_both_sides_of_a_limit_look_alike(limit, check):
    place = list(LIMITS).index(limit)
    functions = {"curators.demand": SITES, "spaces.metric": SITES, "curators.draws": "k-means, persons"}
    functions |= {"curators.blocks": "k-median, sample-aggregate", "local.users": "k-means, local refined"}
    name = functions.get(limit.rsplit(".", 1)[0], DEFAULT)
    for turn, (value, size) in enumerate(zip(LIMITS[limit], (3, 65), strict=True)):
        container = FILES[(2 * place + turn) % len(FILES)] if limit.startswith(OF_PATHS) else "array"
        check(name, container, size, **{limit: value})


def test_a_warning_and_a_refusal_that_follow_the_size_are_seen(matrix, monkeypatch):
    exact = MemoryBackend.exact

    def loud(self, *what):
        if len(self._rows) > 300:
            warnings.warn("large", UserWarning, stacklevel=2)
        return exact(self, *what)

    matrix.faults.clear()
    with monkeypatch.context() as planted:
        planted.setattr(MemoryBackend, "exact", loud)
        matrix.check(DEFAULT, "array", 317)
    with monkeypatch.context() as planted:
        planted.setattr(ArrayRows, "of", lambda table: ArrayRows(table.nonprivate_rows, columns=table.columns))
        planted.setattr(matrix, "_known", {})
        matrix.check(IN_MEMORY[0], "csv", 317, **{"tables.files.LARGE_SHARE": 0.0})
    assert [fault["function"] for fault in matrix.faults] == [DEFAULT, IN_MEMORY[0]]
