"""Rule 25: with answers frozen, all that is public is the same for any number of rows, in any container, around any limit.

A sample of ``python -m benchmarks sizes_matrix``, which tries everything with tables of up to a million rows.
"""

import ast
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

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
@pytest.mark.matrix
def test_any_number_of_rows_looks_alike_in_every_container(container, check):
    place = CONTAINERS.index(container)
    for size in (0, (1, 2, 317, 4_000)[place % 4]):
        check(DEFAULT, container, size)


@pytest.mark.parametrize("container", PLACES)
@pytest.mark.matrix
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
@pytest.mark.matrix
def test_both_sides_of_a_limit_look_alike(limit, check):
    place = list(LIMITS).index(limit)
    functions = {"curators.demand": SITES, "spaces.metric": SITES, "curators.draws": "k-means, persons"}
    functions |= {"curators.row_blocks": "k-means, samples with replacement", "local.users": "k-means, local refined"}
    name = functions.get(limit.rsplit(".", 1)[0], DEFAULT)
    for turn, (value, size) in enumerate(zip(LIMITS[limit], (3, 65), strict=True)):
        container = FILES[(2 * place + turn) % len(FILES)] if limit.startswith(OF_PATHS) else "array"
        check(name, container, size, **{limit: value})


#: What is no limit of a number of rows: bounds of cells and columns, sizes of words. tests/spark tries those of Spark.
NO_LIMITS = {
    "curators.row_blocks.FLOOR", "curators.cluster_kernels", "curators.clipping", "curators.demand.NEVER", "curators.entrance",
    "curators.groups.LONGEST_DECIMAL", "curators.kernels", "curators.paths", "curators.slopes", "curators.walks.BLOCK",
    "curators.walks.GRID_BITS", "curators.walks._BIN_SHIFT", "tables.networks", "tables.memory.USUAL_MEMORY",
    "tables.encoding.MOST_DAYS", "tables.letters", "tables.positions",
    "tables.records.LONGEST_CELL", "tables.records._END", "tables.records._QUOTE",
}  # fmt: skip


@pytest.mark.parametrize("room", ["curators", "tables"])
def test_every_number_from_which_on_rows_may_be_treated_otherwise_is_among_the_limits(room):
    for module in iter_modules(import_module(f"spinney.{room}").__path__):
        home = import_module(f"spinney.{room}.{module.name}")
        tree = ast.parse(Path(home.__file__).read_text(encoding="utf-8"))
        assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
        made = {name.id for node in assigned for name in ast.walk(node) if isinstance(name, ast.Name)}
        for name in sorted(made & vars(home).keys()):
            value, full = getattr(home, name), f"{room}.{module.name}.{name}"
            is_size = name.isupper() and isinstance(value, int | float) and (value >= 16 or 0 < value < 1)
            if is_size and not {full, full.rsplit(".", 1)[0]} & NO_LIMITS:
                assert full in LIMITS, full


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
