"""Rule 2: exact integer aggregates that move by no more than is declared, whatever the row, and ignore the order of rows."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spinney import Ball, Box
from spinney.questions import ColumnBins, Counts, Levels, PlaneCells, Rings
from spinney.questions.cost import COST_STEPS, Cost
from spinney.questions.sums import KERNELS, RADIUS_STEPS, Sums
from spinney.spaces.grid import GRID_BITS
from spinney.trees.quadtree import Splits, TreeCells


@dataclasses.dataclass
class World:
    """A domain, public centers with radii, some rows and two further rows."""

    domain: object
    centers: np.ndarray
    radii: np.ndarray
    rows: np.ndarray
    added: np.ndarray
    other: np.ndarray
    adjacency: str

    def moves(self, spy, charge, question, ask):
        """Return how one added row, and one replaced row, move the exact answers to a question."""
        d = self.rows.shape[1]

        def exact(rows):
            draws = spy(ask, np.ascontiguousarray(rows), charge(question), domain=self.domain, adjacency=self.adjacency)
            return [np.array(values, dtype=object) for _, _, values in draws]

        middle = len(self.rows) // 2
        insert = [np.concatenate([self.rows[:middle], row.reshape(1, d), self.rows[middle:]]) for row in (self.added, self.other)]
        before, first, second = (exact(rows) for rows in (self.rows, *insert))
        added = [after - old for after, old in zip(first, before, strict=True)]
        # What a row adds depends on that row alone: not on the others, nor on its place among them.
        assert all(np.array_equal(move, own) for move, own in zip(added, exact(self.added.reshape(1, d)), strict=True))
        return added, [a - b for a, b in zip(first, second, strict=True)]


def adversarial_row(draw, centers, radii, dtype):
    """A row on the edge of a clipping ball, just above half a step in every column, huge, broken, or anywhere."""
    j = draw(st.integers(0, len(centers) - 1))
    d = centers.shape[1]
    signs = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=d, max_size=d)))
    kind = draw(st.sampled_from(["edge", "half steps", "axis", "anywhere", "far", "broken", "center"]))
    if kind == "edge":
        offset = signs * radii[j] / math.sqrt(d) * draw(st.sampled_from([1 - 1e-9, 1 - 1e-16, 1.0, 1 + 1e-15, 1 + 1e-9]))
    elif kind == "half steps":
        steps = draw(st.integers(0, int(RADIUS_STEPS / math.sqrt(d))))
        offset = signs * (steps + 0.5 + draw(st.sampled_from([-1e-6, 0.0, 1e-6]))) * radii[j] / RADIUS_STEPS
    elif kind == "axis":
        offset = np.eye(d)[draw(st.integers(0, d - 1))] * signs * radii[j]
    elif kind == "anywhere":
        offset = np.array(draw(st.lists(st.floats(-2, 2), min_size=d, max_size=d)))
    elif kind == "far":
        offset = signs * draw(st.sampled_from([5.0, 1e30, 3.0e38]))
    elif kind == "broken":
        offset = np.where(np.arange(d) == j % d, draw(st.sampled_from([np.nan, np.inf, -np.inf])), 0.0)
    else:
        offset = np.zeros(d)
    return (centers[j] + offset).astype(dtype)


@st.composite
def worlds(draw):
    d, k = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    domain = draw(st.sampled_from([Box(-1, 1), Box(-3, 0.7), Ball(1.3, 0.2)])).domain(d)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    centers = domain.sample(k, rng)
    radii = draw(st.sampled_from([1e-3, 0.1, 1.0, 3.0])) * rng.uniform(0.5, 1, k)
    rows = domain.sample(draw(st.sampled_from([0, 1, 3, 255, 256, 300])), rng).astype(dtype)
    added, other = (adversarial_row(draw, centers, radii, dtype) for _ in range(2))
    return World(domain, centers, radii, rows, added, other, draw(st.sampled_from(["add-remove", "replace"])))


def norms(arrays):
    flat = [abs(int(step)) for array in arrays for step in np.ravel(array)]
    return sum(flat), sum(step * step for step in flat)


examples = settings(
    deadline=None,
    max_examples=120,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # the fixtures are functions without a state
)


def some_widths(seed, d):
    """Return no widths, or widths of columns far apart."""
    return None if seed == 0 else 10.0 ** np.random.default_rng(seed).uniform(-seed * 3, seed * 3, d)


@given(world=worlds(), kernel=st.sampled_from(KERNELS), widths=st.integers(0, 3), over_planes=st.booleans())
@examples
def test_one_row_moves_a_sum_by_at_most_its_clipping_radius(world, kernel, widths, over_planes, spy, charge):
    d = world.centers.shape[1]
    cells, anchors, radii = world.centers, None, world.radii
    if over_planes:
        cells = some_planes(world, widths, np.random.default_rng(widths))
        radii, anchors = np.full(len(cells), radii[0]), np.repeat(world.centers[:1], len(cells), axis=0)
    sums = Sums(cells, kernel, radii, anchors, some_widths(widths, d))
    added, replaced = world.moves(spy, charge, "sums", lambda c, a: c.ask(sums, a))
    unit = RADIUS_STEPS if kernel == "median" else 1
    for (vectors, weights), times in ((added, 1), (replaced, 2)):
        own = np.reshape(vectors, (-1, d)).astype(object)
        assert norms([weights])[0] <= times * unit
        if kernel == "box":
            assert np.abs(own).max(axis=1).sum() <= times * RADIUS_STEPS
            continue
        lengths = (own**2).sum(axis=1).tolist()
        assert norms([own])[0] <= times * math.isqrt(d * RADIUS_STEPS**2)
        assert sum(math.isqrt(one - 1) + 1 for one in lengths if one) <= times * RADIUS_STEPS  # of cells, added up
        assert sum(lengths) <= times**2 * RADIUS_STEPS**2
    assert np.count_nonzero(np.abs(added[0].reshape(-1, d)).sum(axis=1) + np.abs(added[1])) <= 1


def some_planes(world, depth, rng):
    """A random tree of planes: some through the rows' domain, some far off it, some without a direction."""
    normals = rng.choice([0.0, 1.0, 1e-200, 1e140], (3, world.rows.shape[1])) * rng.normal(size=(3, world.rows.shape[1]))
    cells = PlaneCells.root(normals)
    for _ in range(depth):
        chosen = rng.random(len(cells)) < 0.7
        offsets = rng.choice([-np.inf, 0.0, 0.3, 1e130, np.inf], int(chosen.sum()))
        cells = cells.split(chosen, rng.integers(0, 3, int(chosen.sum())), offsets)
    return cells


def some_cells(world, name, size, rng):
    """Return a partition, and in how many of its cells a row lies."""
    d, splits = world.centers.shape[1], Splits.of(world.domain)
    if rng.random() < 0.5:
        splits = Splits.random(world.domain, 20, rng)
    if name == "levels":
        start = int(rng.integers(0, 4))
        return Levels(splits, start, start + size, None), size + 1
    if name == "columns":
        return Counts(ColumnBins()), d
    edges = np.geomspace(0.01, 3.0, size) if size else np.empty(0)
    rings = Rings(world.centers, edges, some_widths(int(rng.integers(0, 4)), d))
    made = {"rings": lambda: rings, "tree": lambda: TreeCells.grid(splits, size), "planes": lambda: some_planes(world, size, rng)}
    return Counts(made[name]()), 1


@pytest.mark.parametrize("name", ["rings", "tree", "planes", "columns", "levels"])
@given(world=worlds(), size=st.integers(0, 6), seed=st.integers(0, 2**32))
@examples
def test_one_row_moves_one_cell_of_each_family(name, world, size, seed, spy, charge):
    question, each = some_cells(world, name, size, np.random.default_rng(seed))
    added, replaced = world.moves(spy, charge, "levels" if name == "levels" else "counts", lambda c, a: c.ask(question, a))
    assert norms(added) in [(0, 0), (each, each)]
    assert max(norms(replaced)) <= 2 * each


@given(place=st.integers(1, 2**10 - 1), d=st.integers(1, 3))
@examples
def test_a_row_on_an_edge_lies_in_one_ring(place, d, spy, charge):
    middle = 2.0**-GRID_BITS  # where a step of the grid begins, a row is seen in its middle
    row, center = np.zeros((1, d)), np.full((1, d), middle)
    row[0, 0] = place / 2**10
    edges = np.unique([row[0, 0], middle, 0.5])  # the row lies on one of them
    counts = spy(lambda c, asked: c.ask(Counts(Rings(center, edges)), asked), row, charge("counts"))[0][2]
    assert sum(counts) == 1


@given(
    world=worlds(), power=st.sampled_from([1, 2]), is_difference=st.booleans(), most=st.sampled_from([None, 1e-100, 0.01, 1e100])
)
@examples
def test_one_row_moves_a_cost_by_at_most_its_public_range(world, power, is_difference, most, spy, charge):
    second = world.domain.clip(world.centers[::-1] * 0.9) if is_difference else None
    question = Cost(world.centers, power, second, most)
    added, replaced = world.moves(spy, charge, "cost", lambda c, asked: c.ask(question, asked))
    assert norms(added)[0] <= COST_STEPS
    assert norms(replaced)[0] <= 2 * COST_STEPS


@given(d=st.integers(1, 30), seed=st.integers(0, 2**32))
@example(d=16, seed=0)
@examples
def test_rounding_never_lengthens_a_vector_on_the_radius(d, seed, spy, charge):
    # Rounding to nearest would exceed the radius by up to sqrt(d) / 2 steps.
    direction = np.random.default_rng(seed).normal(size=d) if seed % 2 else np.ones(d)
    row = (0.5 * direction / np.linalg.norm(direction))[None, :]
    for radius in (0.5, 0.4999999, 0.1):
        draws = spy(lambda c, asked, r=radius: c.ask(Sums(np.zeros((1, d)), "mean", np.array([r])), asked), row, charge("sums"))
        square = norms([draws[0][2]])[1]
        assert square <= RADIUS_STEPS**2
        assert square > 0.999 * RADIUS_STEPS**2 - 2 * d * RADIUS_STEPS
