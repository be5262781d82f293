"""Public arguments that a proof relies on are checked: what is wrong is refused before the ledger is charged or a row is read."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from spinney import Box, CuratorError, FiniteMetric
from spinney.curators.backend import Backend
from spinney.curators.gate import Curator
from spinney.mechanisms.source import SeededSource
from spinney.privacy import Budget, Charge, FitLedger, Measure, Unit
from spinney.questions import Choose, Cost, Counts, Lengths, Levels, Minimize, Persons, PlaneCells, Sets, Sums, Swaps, Totals
from spinney.questions.blocks import MOST_BLOCKS, MOST_POINTS, Blocks
from spinney.questions.catalog import EVERY
from spinney.questions.clusters import MOST_BINS, ClusterBins, Clusters
from spinney.questions.cover import MOST_STAGES, MOST_STEPS, Balls, Cover, Family
from spinney.questions.ground import Ground
from spinney.questions.grow import MOST_THRESHOLD, Grow
from spinney.questions.partitions import MOST_CELLS, MOST_START, ColumnBins, Labels, Rings, Whole
from spinney.spaces.box import Domain
from spinney.trees.quadtree import MAX_DEPTH, Route, Splits, TreeCells

DOMAIN = Box(0, 1).domain(3)
SPACE = FiniteMetric.from_points(np.arange(4.0)[:, None], candidates=[0, 1, 3])
ELSEWHERE = FiniteMetric.from_points(np.arange(4.0)[:, None], candidates=[0, 1, 3])
#: One column that decides a cluster, and two behind it; the same in a ball, and with other bounds behind.
BEHIND = Domain(np.array([-1.0, 0.0, 0.0]), np.array([1.0, 2.0, 2.0]), math.inf)
GROUNDS = {
    "numbers": Ground(DOMAIN),
    "sites": Ground(None, 4, SPACE),
    "items": Ground(None, 4),
    "described": Ground(BEHIND),
    "described in a ball": Ground(dataclasses.replace(BEHIND, radius=1.0)),
    "described otherwise": Ground(dataclasses.replace(BEHIND, upper=np.array([1.0, 2.0, 1.0]))),
}
SPLITS = Splits.of(DOMAIN)  # 93 levels: two words
CENTERS = np.array([[0.2, 0.2, 0.2], [0.7, 0.6, 0.5]])
RADII = np.array([0.1, 0.3])
NONE = np.empty(0, dtype=np.int64)


class Untouchable(Backend):
    """Rows that must not be read."""

    def __init__(self, ground):
        self.ground, self.reads = ground, 0

    def exact(self, aggregate, levels_below=0):
        self.reads += 1
        raise AssertionError("rows were read")


#: What is said of a part that no question is made of, before anything else of it is looked at.
UNLISTED = "made of numbers, plain arrays|the curator's own space|places must be whole numbers"


def gate(ground):
    """Return a curator that pays for any question, and its charges by name."""
    charges = {name: Charge(name, name, Measure.PURE, math.inf) for name in EVERY}
    ledger = FitLedger(Budget.of(math.inf), tuple(charges.values()))
    return Curator(Untouchable(GROUNDS[ground]), Unit(), ledger, SeededSource(0)), charges


def refuse(ground, make, match=r"\w"):
    curator, charges = gate(ground)

    def ask():
        question = make()
        curator.ask(question, charges[next(name for name, entry in EVERY.items() if type(question) is entry.question)])

    with pytest.raises(ValueError, match=rf"{match}|{UNLISTED}"):
        ask()
    assert curator.ledger.entries == ()
    assert curator._rows.reads == 0


def accept(ground, question, name):
    curator, charges = gate(ground)
    with pytest.raises(CuratorError):  # the gate is sealed
        curator.ask(question, charges[name])
    assert curator.ledger.entries == (charges[name],)
    assert curator._rows.reads == 1


def cells(*names, splits=SPLITS):
    """Return the cells of paths, in this order."""
    codes = [[int(name.ljust(64 * splits.words, "0")[64 * i : 64 * (i + 1)], 2) for i in range(splits.words)] for name in names]
    return TreeCells(
        splits, np.array(codes, dtype=np.uint64).reshape(-1, splits.words), np.array(list(map(len, names)), np.int64)
    )


def splits_with(**changes):
    return Splits(DOMAIN, SPLITS.route._replace(**changes), SPLITS.densities)


def made(kind, **values):
    """Return a value of a class without running its constructor."""
    one = object.__new__(kind)
    vars(one).update(values)
    return one


def planes(normals=((1.0, 0.0, 0.0),), own=(0, 0, 0), offsets=(0.5, 0.0, 0.0), links=(1, -1, -1)):
    """Two half-spaces, or what is wrong about them."""
    return Counts(PlaneCells(np.array(normals), np.array(own), np.array(offsets), np.array(links)))


def family(members=None, steps=(1,)):
    return Cover(Family(csr_array(np.eye(4, 3)) if members is None else members, steps))


def broken(part, value):
    """A sparse array whose structure is wrong at one point only."""
    members = csr_array(np.eye(4, 3, dtype=np.int8))
    getattr(members, part)[-1] = value
    return members


BAD_CENTERS = {
    "not a number": np.where(np.arange(6).reshape(2, 3) == 4, np.nan, CENTERS),
    "infinite": np.where(np.arange(6).reshape(2, 3) == 4, -np.inf, CENTERS),
    "too few columns": CENTERS[:, :2],
    "too many columns": np.hstack([CENTERS, CENTERS]),
    "one point": CENTERS[0],
    "no centers": CENTERS[:0],
    "a cube": CENTERS[None],
    "far beyond all domains": 1e160 * CENTERS,
}
ASKS = {
    "counts": lambda bad: Counts(Rings(bad)),
    "rings": lambda bad: Counts(Rings(bad, [0.1, 0.2])),
    "sums": lambda bad: Sums(bad, "mean", RADII),
    "anchors": lambda bad: Sums(CENTERS, "median", RADII, bad),
    "minimize": lambda bad: Minimize(bad, RADII),
    "cost": lambda bad: Cost(CENTERS, 2, bad),
    "first cost": lambda bad: Cost(bad, 1, CENTERS),
}


@pytest.mark.parametrize("bad", BAD_CENTERS.values(), ids=BAD_CENTERS.keys())
@pytest.mark.parametrize("question", ASKS)
def test_centers_that_are_not_points_are_refused_and_cost_nothing(question, bad):
    refuse("numbers", lambda: ASKS[question](bad), "must be finite points with one coordinate per column")


@pytest.mark.parametrize("radius", [np.nan, np.inf, 0.0, -1.0, 5e-324])
@pytest.mark.parametrize("kernel", ["mean", "core", "median", "second-moment", "box"])
def test_radii_that_are_not_lengths_are_refused_and_cost_nothing(kernel, radius):
    refuse("numbers", lambda: Sums(CENTERS, kernel, [0.1, radius]), "radii must be positive and finite")
    refuse("numbers", lambda: Minimize(CENTERS, [0.1, radius]), "radii must be positive and finite")


NUMBERS = {
    "more radii than centers": (lambda: Sums(CENTERS, "mean", np.ones(3)), "one radius per center"),
    "fewer radii than centers": (lambda: Sums(CENTERS, "mean", np.ones(1)), "one radius per center"),
    "one radius for all": (lambda: Sums(CENTERS, "mean", 0.5), "one radius per center"),
    "radii in a column": (lambda: Sums(CENTERS, "mean", np.ones((2, 1))), "one radius per center"),
    "minima with one radius for all": (lambda: Minimize(CENTERS, 0.5), "one radius per center"),
    "minima of too many cells": (lambda: Minimize(np.zeros((2**17, 3)), np.ones(2**17)), "at most 1048576"),
    "minima with more radii than centers": (lambda: Minimize(CENTERS, np.ones(3)), "one radius per center"),
    "fewer anchors than centers": (lambda: Sums(CENTERS, "mean", RADII, CENTERS[:1]), "one anchor per center"),
    "fewer widths than columns": (lambda: Sums(CENTERS, "box", RADII, widths=np.ones(1)), "one width per column"),
    **{
        f"a width of {width}": (lambda w=width: Sums(CENTERS, "box", RADII, widths=np.full(CENTERS.shape[1], w)), "widths")
        for width in (0.0, -1.0, np.inf, np.nan)
    },
    "an unknown kernel": (lambda: Sums(CENTERS, "third-moment", RADII), "kernel"),
    "a kernel that is no text": (lambda: Sums(CENTERS, 1, RADII), "kernel"),
    "a cubic cost": (lambda: Cost(CENTERS, 3), "power"),
    "a power that is no int": (lambda: Cost(CENTERS, 2.0), "power"),
    "a power of True": (lambda: Cost(CENTERS, True), "power"),
    **{
        f"a cost cut off at {most}": (lambda m=most: Cost(CENTERS, 2, None, m), "cut off")
        for most in (0.0, -1.0, np.inf, np.nan, 1, True, "1", 1e-200, np.float64(1.0))
    },
    "falling edges": (lambda: Counts(Rings(CENTERS, [0.2, 0.1])), "edges"),
    "more bins than there are": (lambda: Counts(ColumnBins(8)), "bits"),
    "fewer bins than one": (lambda: Counts(ColumnBins(-1)), "bits"),
    "half a bit": (lambda: Counts(ColumnBins(1.5)), "bits"),
    "equal edges": (lambda: Counts(Rings(CENTERS, [0.2, 0.2])), "edges"),
    "negative edges": (lambda: Counts(Rings(CENTERS, [-0.1, 0.2])), "edges"),
    "edges without a number": (lambda: Counts(Rings(CENTERS, [0.1, np.nan])), "edges"),
    "an edge whose square is infinite": (lambda: Counts(Rings(CENTERS, [0.1, 1e160])), "edges"),
    "an infinite edge": (lambda: Counts(Rings(CENTERS, [0.1, np.inf])), "edges"),
    "edges in a square": (lambda: Counts(Rings(CENTERS, np.ones((1, 1)))), "edges"),
    "fewer widths of rings than columns": (lambda: Counts(Rings(CENTERS, [0.1], np.ones(1))), "one width per column"),
    "a width of rings of zero": (lambda: Counts(Rings(CENTERS, [0.1], np.zeros(CENTERS.shape[1]))), "widths"),
    "planes without normals": (lambda: planes(normals=np.empty((0, 3))), "normals"),
    "planes of another number of columns": (lambda: planes(normals=[[1.0, 0.0]]), "normals"),
    "a normal without a number": (lambda: planes(normals=[[1.0, np.nan, 0.0]]), "normals"),
    "an infinite normal": (lambda: planes(normals=[[1.0, np.inf, 0.0]]), "normals"),
    "an offset without a number": (lambda: planes(offsets=(np.nan, 0.0, 0.0)), "offsets"),
    "fewer planes than nodes": (lambda: planes(own=(0, 0)), "as nodes"),
    "fewer offsets than nodes": (lambda: planes(offsets=(0.5, 0.0)), "as nodes"),
    "no node": (lambda: planes(own=np.empty(0, np.int64), offsets=(), links=np.empty(0, np.int64)), "as nodes"),
    "a plane that is not there": (lambda: planes(own=(1, 0, 0)), "children behind them"),
    "a plane before the first": (lambda: planes(own=(-1, 0, 0)), "children behind them"),
    "a walk in a circle": (lambda: planes(links=(0, -1, -1)), "children behind them"),
    "a walk back": (lambda: planes(own=(0,) * 5, offsets=(0.5,) * 5, links=(1, 0, -1, -1, -1)), "children behind them"),
    "a second child that is not there": (lambda: planes(links=(2, -1, -1)), "children behind them"),
    "a child below -1": (lambda: planes(links=(-2, -1, -1)), "children behind them"),
    "sums over planes without anchors": (lambda: Sums(planes().partition, "mean", RADII), "anchors"),
    "sums over planes with a lone anchor": (lambda: Sums(planes().partition, "mean", RADII, CENTERS[:1]), "anchor"),
    "sums over planes with a lone radius": (lambda: Sums(planes().partition, "mean", RADII[:1], CENTERS), "radius"),
    "sums over wrong planes": (lambda: Sums(planes(links=(0, -1, -1)).partition, "mean", RADII, CENTERS), "children behind them"),
    "no partition": (lambda: Counts(None), "partitions of the list"),
    "a list of partitions": (lambda: Counts([Whole(), Whole()]), "partitions of the list"),
    "labels": (lambda: Counts(Labels([0], 1)), "labels"),
    "overlapping cells": (lambda: Counts(cells("0", "01")), "disjoint"),
    "a repeated cell": (lambda: Counts(cells("01", "01")), "disjoint"),
    "the whole box twice": (lambda: Counts(cells("", "")), "disjoint"),
    "unsorted cells": (lambda: Counts(cells("1", "0")), "sorted"),
    "overlapping cells below the first word": (lambda: Counts(cells("0" * 70, "0" * 70 + "1")), "disjoint"),
    "bits below a depth": (lambda: Counts(TreeCells(SPLITS, cells("01").codes, np.array([1]))), "bits"),
    "bits below a depth, far down": (lambda: Counts(TreeCells(SPLITS, cells("0" * 69 + "1").codes, np.array([66]))), "bits"),
    "a negative depth": (lambda: Counts(TreeCells(SPLITS, cells("").codes, np.array([-1]))), "depths"),
    "a depth below the splits": (lambda: Counts(TreeCells(SPLITS, cells("").codes, np.array([94]))), "depths"),
    "fewer depths than codes": (lambda: Counts(TreeCells(SPLITS, cells("0", "1").codes, np.array([1]))), "a code and a depth"),
    "depths in a square": (lambda: Counts(TreeCells(SPLITS, cells("0").codes, np.array([[1]]))), "a code and a depth"),
    "codes of one word": (lambda: Counts(TreeCells(SPLITS, cells("0").codes[:, :1], np.array([1]))), "a code and a depth"),
    "flat codes": (lambda: Counts(TreeCells(SPLITS, cells("0").codes[0], np.array([1]))), "a code and a depth"),
    "signed codes": (lambda: Counts(TreeCells(SPLITS, cells("0").codes.astype(np.int64), np.array([1]))), "a code and a depth"),
    "depths with a fraction": (lambda: Counts(TreeCells(SPLITS, cells("0").codes, np.array([1.5]))), "whole numbers"),
    "codes that are not words": (
        lambda: made(Counts, partition=TreeCells(SPLITS, cells("0").codes.astype(np.int64), np.array([1]))), "a code and a depth",
    ),
    "depths that are not whole": (
        lambda: made(Counts, partition=TreeCells(SPLITS, cells("0").codes, np.array([1.0]))), "depths",
    ),
    "cells of other columns": (lambda: Counts(cells("0", splits=splits_with(axes=SPLITS.route.axes + 1))), "splits"),
    "a tree of no splits": (lambda: Levels(None, 0, 1, None), "tree"),
    "a start above the first level": (lambda: Grow(SPLITS, -1, 1), "start"),
    "a start below the first word": (lambda: Grow(SPLITS, 64, 1), "start"),
    "a start with too many cells": (lambda: Grow(SPLITS, MOST_START + 1, 1), "start"),
    "a start that is True": (lambda: Grow(SPLITS, True, 1), "start"),
    "a start that is no int": (lambda: Grow(SPLITS, 1.0, 1), "start"),
    "a negative threshold of splits": (lambda: Grow(SPLITS, 0, -1), "threshold"),
    "a huge threshold of splits": (lambda: Grow(SPLITS, 0, MOST_THRESHOLD + 1), "threshold"),
    "a threshold of splits that is no int": (lambda: Grow(SPLITS, 0, 1.5), "threshold"),
    "levels that start above the first": (lambda: Levels(SPLITS, -1, 3, None), "levels"),
    "levels that end before they start": (lambda: Levels(SPLITS, 4, 3, None), "levels"),
    "levels below the splits": (lambda: Levels(SPLITS, 0, 94, None), "levels"),
    "levels that start below the first word": (lambda: Levels(SPLITS, 64, 64, None), "levels"),
    "levels that start with too many cells": (lambda: Levels(SPLITS, MOST_START + 1, 63, None), "levels"),
    "levels that are no ints": (lambda: Levels(SPLITS, 0, 3.0, None), "levels"),
    "a threshold without a number": (lambda: Levels(SPLITS, 0, 3, math.nan), "threshold"),
    "a threshold of True": (lambda: Levels(SPLITS, 0, 3, True), "threshold"),
    "swaps": (lambda: Choose(Swaps(SPACE, [0], NONE)), "centers of a space"),
    "sets": (lambda: Choose(Sets(([0],))), "centers of a space"),
    "a cover": (lambda: family(), "public sets of points"),
    "blocks of no centers": (lambda: Blocks(Counts(Whole()), 0, 3), "blocks and centers"),
    "no blocks": (lambda: Blocks(Counts(Whole()), 2, 0), "blocks and centers"),
    "too many blocks": (lambda: Blocks(Counts(Whole()), 1, MOST_BLOCKS + 1), "blocks and centers"),
    "too many centers of blocks": (lambda: Blocks(Counts(Whole()), MOST_POINTS // 9 + 1, 9), "blocks and centers"),
    "a number of blocks that is not whole": (lambda: Blocks(Counts(Whole()), 2, 3.0), "whole"),
    "a number of centers of True": (lambda: Blocks(Counts(Whole()), True, 3), "whole"),
    "a seed that is none": (lambda: Blocks(Counts(Whole()), 2, 3, seed=None), "whole"),
    "a negative seed": (lambda: Blocks(Counts(Whole()), 2, 3, seed=-1), "seed"),
    "blocks of the third power": (lambda: Blocks(Counts(Whole()), 2, 3, 3), "power"),
    "blocks of power True": (lambda: Blocks(Counts(Whole()), 2, 3, True), "power"),
    "blocks that are drawn otherwise": (lambda: Blocks(Counts(Whole()), 2, 3, 2, "both"), "drawn"),
    "blocks about no question": (lambda: Blocks(Whole(), 2, 3), "questions about rows of numbers"),
    "blocks about blocks": (lambda: Blocks(Blocks(Counts(Whole()), 2, 3), 2, 3), "questions about rows of numbers"),
    "blocks about a choice": (lambda: Blocks(Choose(Sets(([0],))), 2, 3), "questions about rows of numbers"),
    "blocks about a cell twice": (lambda: Blocks(Counts(cells("0", "0")), 2, 3), "disjoint"),
    "blocks about radii of zero": (lambda: Blocks(Sums(CENTERS, "mean", 0 * RADII), 2, 3), "radii"),
}  # fmt: skip
SPLITS_WITH = {
    "another column": {"axes": SPLITS.route.axes + 1},
    "a negative column": {"axes": SPLITS.route.axes - 1},
    "columns as floats": {"axes": SPLITS.route.axes.astype(float)},
    "columns in a square": {"axes": SPLITS.route.axes[:, None]},
    "too many shifts": {"shifts": np.zeros(94, dtype=np.uint64)},
    "signed shifts": {"shifts": SPLITS.route.shifts.astype(np.int64)},
    "shifts beyond the grid": {"shifts": SPLITS.route.shifts + np.uint64(31)},
    "too few fractions": {"fractions": SPLITS.route.fractions[:-1]},
    "a fraction of nothing": {"fractions": 0 * SPLITS.route.fractions},
    "a fraction of all": {"fractions": 0 * SPLITS.route.fractions + 2**31},
    "no levels": {name: getattr(SPLITS.route, name)[:0] for name in Route._fields},
    "too many levels": {name: np.resize(getattr(SPLITS.route, name), MAX_DEPTH + 1) for name in Route._fields},
}
SITES = {
    "swaps of another space": (lambda: Choose(Swaps(ELSEWHERE, [0], NONE)), "own space"),
    "no centers to swap": (lambda: Choose(Swaps(SPACE, NONE, [0])), "different candidates"),
    "a center twice": (lambda: Choose(Swaps(SPACE, [0, 0], NONE)), "different candidates"),
    "a center that is there already": (lambda: Choose(Swaps(SPACE, [0], [0])), "different candidates"),
    "a center that is no candidate": (lambda: Choose(Swaps(SPACE, [2], NONE)), "different candidates"),
    "a center that is no point": (lambda: Choose(Swaps(SPACE, [0, 4], NONE)), "different candidates"),
    "an existing site that is no point": (lambda: Choose(Swaps(SPACE, [0], [-1])), "different candidates"),
    "centers in a square": (lambda: Choose(Swaps(SPACE, [[0]], np.empty((0, 1)))), "different candidates"),
    "stay that is no flag": (lambda: Choose(Swaps(SPACE, [0], NONE, 1, 5)), "stay"),
    "nothing to swap for": (lambda: Choose(Swaps(SPACE, [0, 1, 3], NONE)), "there must be an option"),
    "swaps of the third power": (lambda: Choose(Swaps(SPACE, [0], NONE, 3)), "power"),
    "sets of power True": (lambda: Choose(Sets(([0],), True)), "power"),
    "sets of a negative power": (lambda: Choose(Sets(([0],), -1)), "power"),
    "no options": (lambda: Choose(Sets(())), "there must be an option"),
    "an empty set": (lambda: Choose(Sets(([0], NONE))), "sets must hold points"),
    "a set of no point": (lambda: Choose(Sets(([0, 4],))), "sets must hold points"),
    "a set of a negative point": (lambda: Choose(Sets(([-1],))), "sets must hold points"),
    "a set that is a number": (lambda: Choose(Sets((0,))), "sets must hold points"),
    "a set in a square": (lambda: Choose(Sets(([[0]],))), "sets must hold points"),
    "labels of another length": (lambda: Counts(Labels(np.zeros(3, dtype=int), 1)), "labels"),
    "labels in a square": (lambda: Counts(Labels(np.zeros((4, 1), dtype=int), 1)), "labels"),
    "a label beyond the cells": (lambda: Counts(Labels([0, 1, 2, 0], 2)), "labels"),
    "a label below -1": (lambda: Counts(Labels([0, 1, -2, 0], 2)), "labels"),
    "labels that are not whole": (lambda: Counts(Labels([0, 1, 0.5, 0], 2)), "whole numbers"),
    "a number of cells that is not whole": (lambda: Counts(Labels([0, 1, 0, 0], 2.0)), "number of cells"),
    "no cells": (lambda: Counts(Labels([-1, -1, -1, -1], 0)), "number of cells"),
    "more cells than fit into memory": (lambda: Counts(Labels([0, 1, 0, 0], MOST_CELLS + 1)), "number of cells"),
    "centers that are not whole": (lambda: Choose(Swaps(SPACE, [0.5], NONE)), "whole numbers"),
    "a set that is not whole": (lambda: Choose(Sets(([0.5],))), "whole numbers"),
    "sets that are a text": (lambda: Choose(Sets("ab")), "tuple"),
    "sets of texts": (lambda: Choose(Sets(("ab",))), "whole numbers"),
    "more steps than anyone takes": (lambda: family(steps=(MOST_STEPS + 1,)), "steps"),
    "a negative number of cells": (lambda: Counts(Labels([-1, -1, -1, -1], -1)), "number of cells"),
    "the whole domain": (lambda: Counts(Whole()), "rows of numbers"),
    "blocks": (lambda: Blocks(Counts(Whole()), 2, 3), "rows of numbers"),
    "bins of columns": (lambda: Counts(ColumnBins()), "rows of numbers"),
    "rings": (lambda: Counts(Rings(CENTERS)), "rows of numbers"),
    "cells of a tree": (lambda: Counts(cells("0")), "rows of numbers"),
    "a tree": (lambda: Grow(SPLITS, 0, 1), "tree"),
    "levels of a tree": (lambda: Levels(SPLITS, 0, 1, None), "tree"),
    "sums": (lambda: Sums(CENTERS, "mean", RADII), "summed"),
    "minima": (lambda: Minimize(CENTERS, RADII), "medians"),
    "a cost of points": (lambda: Cost(CENTERS, 2), "cost"),
    "lengths of no partition": (lambda: Lengths(None, [0, 0, 0, 0]), "partition of points"),
    "lengths of a row's place": (lambda: Lengths(Whole(), [0, 0, 0, 0]), "partition of points"),
    "lengths of a cell beyond": (lambda: Lengths(Labels([0, 0, 1, 2], 2), [0, 0, 0, 0]), "give each point"),
    "fewer lengths than points": (lambda: Lengths(Labels([0, 0, 1, 1], 2), [0, 0, 0]), "one length"),
    "lengths in a square": (lambda: Lengths(Labels([0, 0, 1, 1], 2), [[0, 0, 0, 0]]), "one length"),
    "a length beyond its range": (lambda: Lengths(Labels([0, 0, 1, 1], 2), [0, 2**20 + 1, 0, 0]), "one length"),
    "a length below its range": (lambda: Lengths(Labels([0, 0, 1, 1], 2), [0, -(2**20) - 1, 0, 0]), "one length"),
    "the least of all numbers": (lambda: Lengths(Labels([0, 0, 1, 1], 2), [0, -(2**63), 0, 0]), "one length"),
    "lengths that are not whole": (lambda: Lengths(Labels([0, 0, 1, 1], 2), [0, 0.5, 0, 0]), "whole numbers"),
    "lengths that are missing": (lambda: Lengths(Labels([0, 0, 1, 1], 2), [0, math.nan, 0, 0]), "whole numbers"),
    "balls of another space": (lambda: Cover(Balls(ELSEWHERE, [0.5], (1,))), "own space"),
    "falling radii": (lambda: Cover(Balls(SPACE, [0.5, 0.4], (1, 1))), "must grow"),
    "radii without a number": (lambda: Cover(Balls(SPACE, [np.nan], (1,))), "must grow"),
    "fewer radii than stages": (lambda: Cover(Balls(SPACE, [0.5], (1, 1))), "one radius per stage"),
    "no sets at all": (lambda: Cover(None), "public sets of points"),
    "a family about other points": (lambda: family(csr_array(np.eye(3, 3))), "about all points"),
    "a family with two stages": (lambda: family(steps=(1, 1)), "about all points"),
    "a family without sets": (lambda: family(csr_array(np.empty((4, 0)))), "there must be a set"),
    "a family of another form": (lambda: family(coo_array(np.eye(4, 3))), "csr_array"),
    "a family that is dense": (lambda: family(np.eye(4, 3)), "csr_array"),
    "a set that is not there": (lambda: family(broken("indices", 3)), r"ind"),
    "a set of a negative number": (lambda: family(broken("indices", -1)), r"ind"),
    "members beyond the list": (lambda: family(broken("indptr", 99)), r"ind|size"),
    "no steps": (lambda: family(steps=(0,)), "steps"),
    "no stages": (lambda: family(steps=()), "steps"),
    "a negative number of steps": (lambda: Cover(Balls(SPACE, [0.5, 0.6], (3, -1))), "steps"),
    "steps as a list": (lambda: family(steps=[1]), "steps"),
    "steps that are not whole": (lambda: family(steps=(1.0,)), "steps"),
    "too many stages": (lambda: Cover(Balls(SPACE, np.arange(MOST_STAGES + 1), (1,) * (MOST_STAGES + 1))), "steps"),
}  # fmt: skip


MIDDLES = Clusters(np.array([[-0.5], [0.5]]))
DESCRIBED = {
    "no center": (lambda: Counts(Clusters(np.empty((0, 1)))), "centers"),
    "centers without columns": (lambda: Counts(Clusters(np.empty((2, 0)))), "centers"),
    "centers of too many columns": (lambda: Persons(Clusters(np.zeros((2, 4)))), "centers"),
    "a center in no place": (lambda: Persons(Clusters(np.array([[np.nan]]))), "centers"),
    "a center in a line": (lambda: Totals(Clusters(np.zeros(2)), [0]), "centers"),
    "a radius of zero": (lambda: Counts(Clusters(MIDDLES.centers, 0.0)), "radius"),
    "a radius that is none": (lambda: Counts(Clusters(MIDDLES.centers, math.nan)), "radius"),
    "a radius as a text": (lambda: Counts(Clusters(MIDDLES.centers, "1")), "radius"),
    "persons of rings": (lambda: Persons(Rings(MIDDLES.centers)), "counted in clusters"),
    "too few columns with bins": (lambda: Counts(ClusterBins(MIDDLES, [3])), "bins"),
    "too many columns with bins": (lambda: Counts(ClusterBins(MIDDLES, [3, 3, 3])), "bins"),
    "bins of all columns": (lambda: Counts(ClusterBins(Clusters(np.zeros((1, 3))), NONE)), "bins"),
    "no bins": (lambda: Counts(ClusterBins(MIDDLES, [3, 0])), "bins"),
    "too many bins": (lambda: Counts(ClusterBins(MIDDLES, [3, MOST_BINS + 1])), "bins"),
    "bins that are not whole": (lambda: Counts(ClusterBins(MIDDLES, [3, 1.5])), "whole numbers"),
    "bins in a square": (lambda: Counts(ClusterBins(MIDDLES, [[3], [3]])), "bins"),
    "totals of no column": (lambda: Totals(MIDDLES, NONE), "different columns"),
    "totals of a column twice": (lambda: Totals(MIDDLES, [0, 0]), "different columns"),
    "totals of a column that is not there": (lambda: Totals(MIDDLES, [2]), "different columns"),
    "totals of a negative column": (lambda: Totals(MIDDLES, [-1]), "different columns"),
    "totals of columns that are not whole": (lambda: Totals(MIDDLES, [0.5]), "whole numbers"),
    "totals in a square": (lambda: Totals(MIDDLES, [[0]]), "different columns"),
    "blocks about totals": (lambda: Blocks(Totals(MIDDLES, [0]), 2, 3), "questions about rows of numbers"),
    "blocks about persons": (lambda: Blocks(Persons(MIDDLES), 2, 3), "questions about rows of numbers"),
}


@pytest.mark.parametrize("wrong", DESCRIBED)
def test_what_is_wrong_about_rows_that_are_described_is_refused_and_costs_nothing(wrong):
    refuse("described", *DESCRIBED[wrong])


@pytest.mark.parametrize(
    "question", [Counts(MIDDLES), Counts(ClusterBins(MIDDLES, [1, 1])), Totals(MIDDLES, [0]), Persons(MIDDLES)]
)
def test_columns_behind_lie_in_a_box_of_their_own_bounds(question):
    for ground in ("sites", "items", "described in a ball", "described otherwise", "numbers"):
        refuse(ground, lambda: question)
    accept("described", question, next(name for name, entry in EVERY.items() if type(question) is entry.question))


@pytest.mark.parametrize("wrong", NUMBERS)
def test_what_is_wrong_about_rows_of_numbers_is_refused_and_costs_nothing(wrong):
    refuse("numbers", *NUMBERS[wrong])


@pytest.mark.parametrize("wrong", SITES)
def test_what_is_wrong_about_rows_at_points_is_refused_and_costs_nothing(wrong):
    refuse("sites", *SITES[wrong])


@pytest.mark.parametrize("wrong", SPLITS_WITH)
@pytest.mark.parametrize(
    "ask", [lambda s: Grow(s, 0, 1), lambda s: Levels(s, 0, 1, None), lambda s: Counts(TreeCells.grid(s, 0))]
)
def test_splits_that_do_not_fit_the_columns_are_refused_and_cost_nothing(wrong, ask):
    refuse("numbers", lambda: ask(splits_with(**SPLITS_WITH[wrong])), "splits|broadcast")


def test_points_without_distances_have_no_centers():
    refuse("items", lambda: Choose(Sets(([0],))), "centers of a space")
    refuse("items", lambda: Choose(Swaps(SPACE, [0], NONE)), "centers of a space")
    refuse("items", lambda: Cover(Balls(SPACE, [0.5], (1,))), "own space")
    accept("items", family(), "cover")
    accept("items", Counts(Labels([0, 0, 1, -1], 2)), "counts")


def test_what_is_right_is_charged_before_rows_are_read():
    accept("numbers", Counts(cells("00", "010", "1" * 70)), "counts")
    accept("numbers", Counts(TreeCells(SPLITS, np.empty((0, 2), np.uint64), NONE)), "counts")
    accept("numbers", Levels(SPLITS, 5, 93, -math.inf), "levels")
    accept("numbers", Levels(SPLITS, 0, 0, None), "levels")
    accept("numbers", Grow(SPLITS, 5, MOST_THRESHOLD), "grow")
    accept("numbers", Blocks(Grow(SPLITS, 5, 1), 10, 20, 1, "disjoint", 7), "blocks")
    accept("sites", Choose(Swaps(SPACE, [0, 1, 3], NONE, 2, True)), "choose")
    accept("sites", Choose(Sets(([0], [2, 2]))), "choose")
    accept("sites", Cover(Balls(SPACE, [-1.0, 0.5, 0.5], (0, 1, 2))), "cover")


PATHS = st.lists(
    st.builds(str.__add__, st.sampled_from(["", "0" * 62, "0" * 63, "0" * 64, "1" * 64]), st.text("01", max_size=4)), max_size=5
)


@given(paths=PATHS, in_order=st.booleans())
@example(paths=["0", "00"], in_order=False)
@example(paths=["0" * 64, "0" * 64 + "1"], in_order=True)
@example(paths=["0" * 63, "0" * 63 + "1"], in_order=True)
@example(paths=["0" * 65, "0" * 64 + "1"], in_order=True)
@settings(deadline=None, derandomize=True, max_examples=400)
def test_cells_are_accepted_if_they_are_disjoint_and_sorted_and_only_then(paths, in_order):
    paths = sorted(paths) if in_order else paths
    apart = not any(i != j and one.startswith(other) for i, one in enumerate(paths) for j, other in enumerate(paths))
    question = Counts(cells(*paths))
    if apart and paths == sorted(paths):
        question.check(GROUNDS["numbers"])
    else:
        with pytest.raises(ValueError, match="disjoint and sorted"):
            question.check(GROUNDS["numbers"])


def test_rows_at_points_cannot_be_clipped():
    curator, _ = gate("sites")
    with pytest.raises(ValueError, match="only rows of numbers can be clipped"):
        curator.within(DOMAIN)


def test_what_cannot_be_read_is_not_quoted():
    for make in (
        lambda: Counts(Rings([["canary"]])),
        lambda: Sums(CENTERS, "mean", ["canary", "canary"]),
        lambda: Cost([["canary"]], 1),
        lambda: Swaps(SPACE, ["canary"], NONE),
        lambda: Sets((["canary"],)),
        lambda: Balls(SPACE, ["canary"], (1,)),
        lambda: Labels(["canary"], 1),
    ):
        with pytest.raises(ValueError, match="must be") as caught:
            make()
        assert "canary" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_a_domain_that_is_changed_later_changes_nothing():
    domain = Domain(np.zeros(3), np.ones(3), math.inf)
    ground = Ground(domain)
    domain.upper[:] = np.nan
    assert (ground.domain.upper == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        ground.domain.upper[0] = 2


def path_graph(**changes):
    """A path through four points, with one of its arrays replaced."""
    tails = np.arange(3)
    space = FiniteMetric.from_graph(coo_array((np.ones(3), (tails, tails + 1)), shape=(4, 4)))
    return dataclasses.replace(space, source=dataclasses.replace(space.source, **changes))


PATH = path_graph().source
BAD_NETWORKS = {
    "ends of another type": {"ends": PATH.ends.astype(np.int32)},
    "starts of too few points": {"starts": PATH.starts[:-1]},
    "starts beyond the edges": {"starts": PATH.starts + 1},
    "a last start before the last edge": {"starts": np.minimum(PATH.starts, PATH.starts[-1] - 1)},
    "starts that run back": {"starts": PATH.starts[[0, 2, 1, 3, 4]]},
    "lengths of fewer edges": {"lengths": PATH.lengths[1:]},
    "a length that is no number": {"lengths": PATH.lengths * np.nan},
    "lengths that are no array": {"lengths": PATH.lengths.tolist()},
}


@pytest.mark.parametrize("wrong", BAD_NETWORKS)
def test_no_ground_has_a_network_whose_arrays_do_not_fit_together(wrong):
    Ground(None, 4, path_graph())
    with pytest.raises(ValueError, match="a space must be a FiniteMetric"):
        Ground(None, 4, path_graph(**BAD_NETWORKS[wrong]))


def test_a_space_points_at_its_own_points_alone():
    network = FiniteMetric.from_graph([(0, 1, 1.0), (1, 2, 2.0)])
    for space in (FiniteMetric.from_matrix(np.ones((3, 3)) - np.eye(3)), network):
        assert Ground(None, 3, space).given is space
        for wrong in (-1, 3, 4):
            with pytest.raises(ValueError, match="as from_matrix"):
                Ground(None, 3, dataclasses.replace(space, candidates=np.array([0, wrong])))
        for n in (2, 4):
            with pytest.raises(ValueError, match="as from_matrix"):
                Ground(None, n, space)
    source = network.source
    for name, wrong in (("ends", 3), ("ends", -1), ("starts", -1), ("starts", 9), ("lengths", -1.0)):
        for place in range(len(getattr(source, name))):
            array = getattr(source, name).copy()
            array[place] = wrong
            with pytest.raises(ValueError, match="as from_matrix"):
                Ground(None, 3, dataclasses.replace(network, source=dataclasses.replace(source, **{name: array})))
