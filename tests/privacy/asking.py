"""Questions of every kind about rows in a plane, and what neighbors lose by their answers."""

import functools
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

from spinney.privacy.adjacency import Adjacency
from spinney.questions import ColumnBins, Cost, Counts, Levels, PlaneCells, Rings, Sums, Whole
from spinney.questions.catalog import EVERY
from spinney.spaces.box import Box
from spinney.trees.quadtree import Splits, TreeCells

CENTERS = np.array([[-0.5, -0.5], [0.5, 0.5]])
RADII = np.array([0.25, 0.4])
WIDTHS = np.array([2.0, 0.1])
#: The rows near the first center lie on this radius, and the grid puts them to either side of it; the others are within.
EDGE = np.array([0.4, 0.4 + 1e-8])
SPLITS = Splits.of(Box(-1, 1).domain(2))
#: Three leaves; a row lies on each plane.
PLANES = PlaneCells(np.array([[1.0, 0.5], [0.0, 1.0]]), [0, 1, 0, 0, 0], [0.35, -0.5, 0, 0, 0], [1, 3, -1, -1, -1])
INNER = Box([-0.95, -1], [0.5, 0.5]).domain(2)


def kind_of(question):
    return next(name for name, one in EVERY.items() if type(question) is one.question)


def asking(question, view=None):
    """Return the name of a question, and what asks it of a curator, or of a view of it."""
    return kind_of(question), lambda curator, charge: (curator if view is None else view(curator)).ask(question, charge)


def inside(curator):
    return curator.within(INNER)


ASKED = {
    "whole": Counts(Whole()),
    "cells": Counts(TreeCells.grid(SPLITS, 3)),
    "columns": Counts(ColumnBins()),
    "columns in wide bins": Counts(ColumnBins(2)),
    "voronoi": Counts(Rings(CENTERS)),
    "rings": Counts(Rings(CENTERS, np.array([0.3, 0.5]))),
    "rings, in widths": Counts(Rings(CENTERS, np.array([0.3, 1.0]), WIDTHS)),
    "planes": Counts(PLANES),
    "levels": Levels(SPLITS, 1, 4, None),
    "mean": Sums(CENTERS, "mean", RADII),
    "mean, anchored": Sums(CENTERS, "mean", 4 * RADII, 0 * CENTERS),
    "mean, over planes": Sums(PLANES, "mean", np.full(3, 0.6), np.zeros((3, 2))),
    "mean, in widths": Sums(CENTERS, "mean", RADII, widths=WIDTHS),
    "core": Sums(CENTERS, "core", EDGE),
    "core, anchored": Sums(CENTERS, "core", 4 * RADII, 0 * CENTERS),
    "core, in widths": Sums(CENTERS, "core", EDGE / 2, widths=WIDTHS),
    "median": Sums(CENTERS, "median", RADII),
    "second moment": Sums(CENTERS, "second-moment", RADII),
    "box": Sums(CENTERS, "box", RADII),
    "box, in widths": Sums(CENTERS, "box", RADII, widths=WIDTHS),
    "cost": Cost(CENTERS, 1),
    "squared cost": Cost(CENTERS, 2),
    "cost difference": Cost(CENTERS, 2, -CENTERS[:1]),
    "distance difference": Cost(CENTERS, 1, -CENTERS[:1]),
}
QUESTIONS = {name: asking(question) for name, question in ASKED.items()}
QUESTIONS |= {f"{name}, in a view": asking(ASKED[name], inside) for name in ("core", "mean", "columns")}


def data_of(points, most=3):
    """Return all tables of few of these rows, as places."""
    return [rows for n in range(most + 1) for rows in itertools.combinations_with_replacement(range(len(points)), n)]


def are_neighbors(one, other, adjacency, max_rows):
    """Whether one unit of at most `max_rows` rows leads from one data set to the other."""
    left, right = Counter(one), Counter(other)
    lost, gained = (left - right).total(), (right - left).total()
    return max(lost, gained) <= max_rows and (adjacency is Adjacency.REPLACE or min(lost, gained) == 0)


@functools.cache
def neighbors(data, adjacency, max_rows):
    """Return all pairs of neighbors among these data sets."""
    return [pair for pair in itertools.combinations(data, 2) if are_neighbors(*pair, adjacency, max_rows)]


def distinct_moves(exact, adjacency, max_rows):
    """Return how far exact answers, by data set, of neighbors lie apart: each distance once."""
    pairs = neighbors(tuple(exact), adjacency, max_rows)
    moves = ([np.abs(one - other) for one, other in zip(exact[a], exact[b], strict=True)] for a, b in pairs)
    return list({tuple(gaps.tobytes() for gaps in move): move for move in moves}.values())


def loss(move, noises):
    """Return the pure epsilon or the rho between two exact answers so far apart under these noises."""
    total = Fraction(0)
    for (kind, scale), gaps in zip(noises, move, strict=True):
        if kind == "cube":  # the largest move of a column, of each cell
            total += Fraction(int(gaps.max(axis=1).sum())) / Fraction(scale)
            continue
        gaps = [int(gap) for gap in gaps[gaps > 0]]
        if kind == "laplace":
            total += Fraction(sum(gaps)) / Fraction(scale)
        else:
            total += Fraction(sum(gap * gap for gap in gaps)) / (2 * Fraction(scale) ** 2)
    return total


def shares_of_charge(spy, charge, kind, ask, points, adjacency, caps=(1, 2), **options):
    """Yield what the worst pair of small tables loses, as a share of the charge, for each cap and measure."""
    options = {"adjacency": adjacency, **options}
    exact = {}
    for rows in data_of(points):
        draws = spy(ask, points[list(rows)].reshape(-1, points.shape[1]), charge(kind), **options)
        exact[rows] = [np.array(values) for _, _, values in draws]
    for max_rows, measure in itertools.product(caps, ("epsilon", "rho")):
        asked = charge(kind, measure, Fraction(3, 7))
        noises = [[draw[:2] for draw in spy(ask, points[:n], asked, max_rows=max_rows, **options)] for n in (0, len(points))]
        assert noises[0] == noises[1]  # how much noise there is does not depend on the rows
        yield max(loss(move, noises[0]) for move in distinct_moves(exact, adjacency, max_rows)) / asked.amount
