import numpy as np
import pytest

from spinney import Ball, Box
from spinney.questions.grow import Grow
from spinney.spaces.grid import GRID_BITS
from spinney.trees.quadtree import BIN_BITS, MAX_DEPTH, Splits, TreeCells

SPACES = {
    "unit interval": Box(0, 1).domain(1),
    "long rectangle": Box([0, 0], [1, 64]).domain(2),
    "cube": Box(-2, 2).domain(3),
    "five columns": Box([0, 0, 0, 0, 0], [1, 2, 4, 8, 16]).domain(5),
    "ball": Ball(4, [1, 1]).domain(2),
}


def bits(code, depth):
    """Return a code as a string of its first bits."""
    return "".join(f"{int(word):064b}" for word in code)[:depth]


@pytest.mark.parametrize("domain", SPACES.values(), ids=SPACES.keys())
def test_every_level_halves_the_widest_side(domain):
    splits = Splits.of(domain)
    assert splits.depth == min(128, GRID_BITS * domain.n_features)
    assert splits.words == -(-splits.depth // 64)
    cut = np.zeros(domain.n_features, dtype=int)
    for axis, shift in zip(splits.route.axes, splits.route.shifts, strict=True):
        sides = (domain.upper - domain.lower) / 2.0**cut
        widest = max(sides[t] for t in range(len(sides)) if cut[t] < GRID_BITS)
        assert sides[axis] == widest
        cut[axis] += 1
        assert int(shift) == GRID_BITS - cut[axis]


@pytest.mark.parametrize("domain", SPACES.values(), ids=SPACES.keys())
@pytest.mark.parametrize("depth", [0, 1, 5])
def test_a_grid_tiles_the_box(domain, depth):
    cells = TreeCells.grid(Splits.of(domain), depth)
    lower, upper = cells.boxes()
    assert len(cells) == 2**depth
    assert [bits(code, depth) for code in cells.codes] == [f"{i:b}".zfill(depth) if depth else "" for i in range(2**depth)]
    np.testing.assert_allclose(cells.representatives(), cells.middles())  # if nothing is known
    np.testing.assert_allclose(np.prod(upper - lower, axis=1).sum(), np.prod(domain.upper - domain.lower))
    for point in domain.sample(200, np.random.default_rng(depth)):
        assert ((lower <= point) & (point < upper)).all(axis=1).sum() == 1


@pytest.mark.parametrize("domain", SPACES.values(), ids=SPACES.keys())
@pytest.mark.parametrize("kind", ["halving", "random"])
def test_children_cut_their_parent_at_the_share_of_their_level_at_every_depth(domain, kind):
    rng = np.random.default_rng(1)
    splits = Splits.of(domain) if kind == "halving" else Splits.random(domain, 70, rng)
    cells = TreeCells.grid(splits, 1)
    while cells.depths[0] < splits.depth:
        chosen = np.zeros(len(cells), dtype=bool)
        assert len(cells.children(chosen)) == 0
        chosen[rng.integers(len(cells))] = True
        parents, cells = cells.take(np.flatnonzero(chosen)), cells.children(chosen)
        depth = int(cells.depths[0])
        assert depth == parents.depths[0] + 1
        assert [bits(code, depth) for code in cells.codes] == [bits(parents.codes[0], depth - 1) + bit for bit in "01"]
        assert {bits(code, 64 * splits.words)[depth:].strip("0") for code in cells.codes} == {""}  # zero below the depth
        (lower, upper), (parent_lower, parent_upper) = cells.boxes(), parents.boxes()
        axis, share = splits.route.axes[depth - 1], splits.route.fractions[depth - 1] / 2.0**GRID_BITS
        first, second = (parent_lower[0].copy(), parent_upper[0].copy()), (parent_lower[0].copy(), parent_upper[0].copy())
        first[1][axis] = second[0][axis] = (parent_lower + share * (parent_upper - parent_lower))[0, axis]
        exact = 0 if kind == "halving" else 4 * 0.5**GRID_BITS * (domain.upper - domain.lower).max()
        np.testing.assert_allclose(lower, [first[0], second[0]], rtol=1e-15, atol=exact)
        np.testing.assert_allclose(upper, [first[1], second[1]], rtol=1e-15, atol=exact)
        assert np.array_equal(cells.middles(), lower / 2 + upper / 2)
        np.testing.assert_allclose(cells.diameters(), np.linalg.norm(upper - lower, axis=1))


@pytest.mark.parametrize("domain", SPACES.values(), ids=SPACES.keys())
def test_a_grown_tree_is_consistent_and_its_leaves_tile_the_box(open_curator, domain):
    rows = domain.sample(60, np.random.default_rng(2))
    curator, charge = open_curator(rows, domain, "grow")
    tree = curator.ask(Grow(Splits.of(domain), 2, threshold=4), charge)
    inner = np.flatnonzero(tree.first_child >= 0)
    for node in inner:
        first = tree.first_child[node]
        assert tree.parent[first] == tree.parent[first + 1] == node
        assert tree.cells.depths[first] == tree.cells.depths[first + 1] == tree.cells.depths[node] + 1
    assert (tree.parent[:4] == -1).all()
    assert (tree.parent[4:] >= 0).all()
    assert len(tree.cells) == 4 + 2 * len(inner)
    leaves = tree.leaves
    assert len(leaves) == len(tree.cells) - len(inner)
    names = [bits(code, 64 * leaves.splits.words) for code in leaves.codes]
    assert names == sorted(names)
    lower, upper = leaves.boxes()
    np.testing.assert_allclose(np.prod(upper - lower, axis=1).sum(), np.prod(domain.upper - domain.lower))
    inside = ((lower[:, None] <= rows) & (rows < upper[:, None])).all(axis=2)
    assert (inside.sum(axis=0) == 1).all()
    assert (inside.sum(axis=1) <= 4).all()  # no noise: every leaf is at or below the threshold


@pytest.mark.parametrize("domain", SPACES.values(), ids=SPACES.keys())
@pytest.mark.parametrize("depth", [1, 7, 30, 500])
def test_random_splits_take_the_columns_in_turn_and_cut_in_the_middle_third(domain, depth):
    splits = Splits.random(domain, depth, np.random.default_rng(0))
    assert splits.depth == min(depth, MAX_DEPTH)
    assert splits.route.axes.tolist() == [level % domain.n_features for level in range(splits.depth)]
    shares = splits.route.fractions / 2.0**GRID_BITS
    assert ((shares > 1 / 3 - 1e-9) & (shares < 2 / 3)).all()
    assert len(np.unique(shares)) == splits.depth


def test_representatives_and_spreads_of_cells_are_those_of_rows_drawn_by_the_densities():
    rng, domain = np.random.default_rng(0), Box([0, 0], [1, 8]).domain(2)
    densities = rng.dirichlet(np.full(2**BIN_BITS, 0.3), 2)
    splits = Splits.of(domain, densities)
    cells = TreeCells.grid(splits, 3)
    bins = np.column_stack([rng.choice(2**BIN_BITS, 200_000, p=column / column.sum()) for column in splits.densities])
    rows = (bins + rng.random(bins.shape)) / 2**BIN_BITS * [1, 8]
    for low, high, point, spread in zip(*cells.boxes(), *cells.placed(), strict=True):
        inside = rows[((rows >= low) & (rows < high)).all(axis=1)]
        assert spread == pytest.approx(np.sqrt(((inside - point) ** 2).sum(axis=1).mean()), rel=0.05)
        np.testing.assert_allclose(point, inside.mean(axis=0), atol=0.02 * (high - low).max())
