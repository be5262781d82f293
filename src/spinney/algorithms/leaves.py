"""Leaves of a tree as weighted points: which of them hold rows, and leaves that are counted in two stages or three.

All cells of one level are counted, and those that hold rows are cut further and counted again: rows that lie close together are
followed into small cells, and hardly any budget goes to empty ones. Where columns go together, cells of many levels are few that
hold rows, and each has many: if so, and noise is small, rows are followed down level by level. Everything here but the questions
is post-processing of noisy answers and public noise levels.

Proof: ``proofs/moments.md``, for `are_full` ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.occupancy import Occupancy
from spinney.curators.gate import Curator
from spinney.mechanisms.additive import Noise
from spinney.privacy.charges import Charge
from spinney.questions.counts import Counting, Counts
from spinney.questions.levels import LevelCounting, Levels
from spinney.solvers.nearest import nearest
from spinney.spaces.box import Domain, FloatArray
from spinney.trees.consistent import consistent_counts
from spinney.trees.quadtree import WORD, Splits, TreeCells

__all__ = ["Leaf", "are_full", "chances", "first_stage", "place_halves", "remoteness", "staged_leaves"]

#: A leaf so many levels below the start or deeper is ahead of others in being taken as full, by SURE times log(m) standard
#: deviations for m leaves: the decisions to split have said already that rows are near.
SURE_LEVELS, SURE = 3, 0.3
#: How likely leaves are to have rows is judged among at least so many of like level, and at least this part of them.
FELLOWS, FELLOW_SHARE = 50, 1 / 8
#: Counts are told apart by half a scale of noise up to so many scales, and by a fifth of themselves above.
CERTAIN = 10.0
#: Distances are taken to at most so many leaves that surely have rows; shorter ones, and narrower leaves, are told apart no more.
MOST_SURE, NARROWEST = 2**12, 1e-9
#: Cells of the first stage are expected to hold so many standard deviations of their noise, if rows were spread evenly ...
CELL_STDS = 0.5
#: ... and are those of at most this level.
MAX_LEVELS = 12
#: A cell is cut further, by at most so many levels, if it holds so many standard deviations of its noise.
DEEPER, SPLIT_STDS = 5, 4
#: A half of a column is taken to have at least this share of the rows.
LEAST_HALF = 0.02
#: The second stage counts at most about so many cells: solvers have to cluster them.
MOST_CELLS = 2**12
#: Rows are followed further if a cluster has so many standard deviations of a cell's noise, and there are fewer cells with rows
#: than so many per cluster: ...
CLEAR_STDS, FEW_CELLS = 100.0, 8
#: ... so many levels down, into cells that hold so many standard deviations of their noise there.
FOLLOWED, FOLLOW_STDS = 40, 3.0
#: Of counts without noise these are the standard deviations that they are weighed by.
LEAST_STD = 1e-3


def are_full(signals: FloatArray, levels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which leaves are not taken as empty: the largest ones, as many as hold together what all of them do.

    Noise that is left out below zero would otherwise add rows, so the noisy sum of all leaves says where to cut.

    Parameters
    ----------
    signals : array of float
        Noisy counts, in standard deviations.
    levels : array of int
        Below the start of the tree.
    """
    ahead = SURE * math.log(max(signals.size, 2)) * np.minimum(levels, SURE_LEVELS) / SURE_LEVELS
    order = np.argsort(-np.where(signals > 0, signals + ahead, -np.inf), kind="stable")
    below = np.searchsorted(np.cumsum(np.maximum(signals[order], 0.0)), signals.sum())  # so many do not hold it yet
    full = np.zeros(signals.size, dtype=np.bool_)
    full[order[: int(below) + 1]] = True
    return full & (signals > 0)


def chances(private_counts: NDArray[np.int64], levels: NDArray[np.int64], noise: Noise) -> FloatArray:
    """Return how likely each leaf is to have rows, by the noisy counts of leaves that are alike.

    Where a tree is shallow nearly all leaves are empty, and one that is full by its noise alone may lie far from all rows.

    Parameters
    ----------
    private_counts : array of int
    levels : array of int
        Leaves with near numbers are alike: of like level, or of like `remoteness`.
    noise : Noise
    """
    n, found, cuts = len(levels), np.ones(len(levels)), [0]
    if noise.distribution == "none":
        return found
    signals = private_counts / noise.scale
    rounded = np.exp(np.round(5 * np.log(np.maximum(signals, CERTAIN))) / 5)
    rounded = noise.scale * np.where(signals < CERTAIN, np.round(2 * signals) / 2, rounded)
    order = np.argsort(levels, kind="stable")
    for end in (np.flatnonzero(np.diff(levels[order])) + 1).tolist():
        if min(end - cuts[-1], n - end) >= max(FELLOWS, FELLOW_SHARE * n):
            cuts.append(end)
    for fellows in np.split(order, cuts[1:]):
        found[fellows] = Occupancy.of(rounded[fellows], noise).has_rows
    return found


def remoteness(points: FloatArray, spreads: FloatArray, private_counts: NDArray[np.int64], noise: Noise) -> NDArray[np.int64]:
    """Return how far leaves lie from the nearest that surely has rows: fourths of the logarithm of this over their own spread.

    Parameters
    ----------
    points : array of shape (m, d)
        Of the leaves.
    spreads : array of shape (m,)
        Of the leaves' rows around them.
    private_counts : array of int
    noise : Noise
    """
    found = np.zeros(len(points), dtype=np.int64)
    largest = np.argsort(-private_counts, kind="stable")[:MOST_SURE]
    sure = largest[private_counts[largest] > noise.quantile(1 - 1 / max(len(points), 2))]
    if sure.size:
        squares, unsure = np.zeros(len(points)), np.delete(np.arange(len(points)), sure)
        squares[unsure] = nearest(points[unsure], points[sure])[0] / np.maximum(spreads[unsure], NARROWEST) ** 2
        found[:] = np.round(2 * np.log(np.maximum(squares, NARROWEST)))
    return found


@dataclass(frozen=True)
class Leaf:
    """Cells that hold rows, of one level or all below it, and their noisy numbers of rows."""

    cells: TreeCells
    weights: FloatArray


def first_stage(curator: Curator, splits: Splits, n: float, charge: Charge) -> tuple[int, Noise]:
    """Return the level that `staged_leaves` counts first, and the noise of its counts."""
    noise = curator.preview(Counting(), charge)
    levels = int(math.log2(max(n / (CELL_STDS * max(noise.std, 1.0)), 1.0)))
    return min(levels, MAX_LEVELS, splits.depth), noise


def staged_leaves(
    curator: Curator, splits: Splits, n: float, first: Charge, second: Charge, third: Charge | None = None, k: int = 1
) -> tuple[Leaf, ...]:
    """Count all cells of a level, then those below the ones that stand out; return the cells that hold rows.

    Parameters
    ----------
    curator : Curator
        Over the box of the splits.
    splits : Splits
    n : float
        The noisy number of rows.
    first, second : Charge
        Of the two stages; the second stays unspent if no cell stands out.
    third : Charge, optional
        Of a third stage for k clusters; the second gets it if there is none.
    k : int
    """
    levels, noise = first_stage(curator, splits, n, first)
    cells, std = TreeCells.grid(splits, levels), noise.std
    weights, full = _count(curator, cells, first)
    cut = full & (weights > SPLIT_STDS * std)
    if third is not None and not (n >= CLEAR_STDS * k * std and np.count_nonzero(full) < FEW_CELLS * k):
        second, third = curator.pool((second, third), "counts"), None
    if noise.distribution == "gaussian":  # a cell that may be noise alone counts as far as it is likely not to be
        whole = np.clip(weights, -(2.0**62), 2.0**62).astype(np.int64)
        weights = np.where(cut, weights, weights * chances(whole, np.zeros(len(cells), dtype=np.int64), noise))
    deeper = min(DEEPER, splits.depth - int(cells.depths[0]), int(math.log2(MOST_CELLS / max(int(cut.sum()), 1))))
    if deeper == 0 or not cut.any():
        return (_some(cells, weights, full),)
    parents, children = _some(cells, weights, cut), cells.take(np.flatnonzero(cut))
    for _ in range(deeper):
        children = children.children(np.ones(len(children), dtype=np.bool_))
    found, full_children = _count(curator, children, second, parents.weights, std)
    # What the children that are full do not hold of their parent stays at it: a small cluster may lie in several of them.
    rest = parents.weights - np.where(full_children, found, 0.0).reshape(len(parents.weights), -1).sum(axis=1)
    child_std = curator.preview(Counting(), second).std
    small = _some(children, found, full_children)
    ends = (small,) if third is None else _follow(curator, small, n, child_std, third)
    return (_some(cells, weights, full & ~cut), *ends, _some(parents.cells, rest, rest > child_std))


def _follow(curator: Curator, leaf: Leaf, n: float, std: float, charge: Charge) -> tuple[Leaf, ...]:
    """Count the cells below those of a leaf level by level, as far as they stand out; return those left, and the smallest ones.

    Parameters
    ----------
    curator : Curator
    leaf : Leaf
        Of one level.
    n : float
        The noisy number of rows.
    std : float
        Of the noise in the leaf's weights.
    charge : Charge
    """
    splits, level = leaf.cells.splits, int(leaf.cells.depths.max(initial=0))
    last = min(level + FOLLOWED, splits.depth)
    if last == level or not len(leaf.cells):
        return (leaf,)
    charge = curator.pool((charge,), "levels")
    noise = curator.preview(LevelCounting(last - level + 1), charge)
    answer = curator.ask(Levels(splits, level, last, max(FOLLOW_STDS * noise.std, n / MOST_CELLS)), charge)
    tree, counts = answer.tree, answer.private_counts.astype(np.float64)
    # The tree begins with all cells of the level, in the order of their codes.
    above, tops = ((cells.codes[:, 0] >> np.uint64(WORD - level)).astype(np.int64) for cells in (tree.cells, leaf.cells))
    variances = np.full(len(counts), max(noise.std, LEAST_STD) ** 2)
    known = max(std, LEAST_STD) ** 2
    share = variances[tops] / (variances[tops] + known)  # of what the second stage says
    counts[tops] += share * (leaf.weights - counts[tops])
    variances[tops] = share * known
    counts = consistent_counts(tree, counts, variances)
    is_cut = tree.first_child[tops] >= 0
    below = np.flatnonzero((tree.parent >= 0) & (tree.first_child < 0) & np.isin(above, tops[is_cut]))
    small = tree.cells.take(below)
    full = are_full(counts[below] / max(noise.std, LEAST_STD), small.depths - level)
    return _some(leaf.cells, leaf.weights, ~is_cut), _some(small, counts[below], full)


def place_halves(
    points: list[FloatArray],
    found: Sequence[Leaf],
    domain: Domain,
    mean: FloatArray,
    reach: FloatArray,
    levels: int,
    variance: float,
) -> None:
    """Move points in columns that are cut once to where halves of rows of such a mean, spread and share have theirs.

    Where the domain cuts off the box of the tree its quarters are not there: rows of a column that spreads widely lie near its
    ends. Columns whose box is whole are left alone.

    Parameters
    ----------
    points : list of array of shape (m, d)
        Of the leaves; written to.
    found : sequence of Leaf
    domain : Domain
    mean, reach : array of shape (d,)
        Of all rows, and how far from it halves of equal share are.
    levels : int
        Of the first stage.
    variance : float
        Of noise in how much more of all rows the upper half of a column has than the lower: only what stands out of it counts.
    """
    splits, total = found[0].cells.splits, sum(leaf.weights.sum() for leaf in found)
    inner, axes = splits.domain, splits.route.axes
    is_cut_off = (inner.lower <= domain.lower) | (inner.upper >= domain.upper)
    for axis in np.flatnonzero(is_cut_off & np.isin(np.arange(len(mean)), axes[:levels])) if total > 0 else ():
        level = int(np.argmax(axes == axis))
        lean = 2 * sum(leaf.weights[leaf.cells.are_upper(level)].sum() for leaf in found) / total - 1
        upper = np.clip((1 + lean * max(1 - variance / max(lean**2, 1e-300), 0.0)) / 2, LEAST_HALF, 1 - LEAST_HALF)
        low, high = mean[axis] + reach[axis] * np.array([-np.sqrt(upper / (1 - upper)), np.sqrt((1 - upper) / upper)])
        middle = inner.center[axis]
        low, high = np.clip(low, domain.lower[axis], middle), np.clip(high, middle, domain.upper[axis])
        for leaf, some in zip(found, points, strict=True):
            if np.count_nonzero(axes[: int(leaf.cells.depths.max(initial=0))] == axis) == 1:
                some[:, axis] = np.where(leaf.cells.are_upper(level), high, low)


def _some(cells: TreeCells, weights: FloatArray, chosen: NDArray[np.bool_]) -> Leaf:
    return Leaf(cells.take(np.flatnonzero(chosen)), weights[chosen])


def _count(
    curator: Curator, cells: TreeCells, charge: Charge, parents: FloatArray | None = None, parent_std: float = 0.0
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Ask for the numbers of rows in cells, made consistent with those of their parents, and say which cells are full."""
    answer = curator.ask(Counts(cells), charge)
    std, weights = answer.noise.std, answer.private_counts.astype(np.float64)
    if parents is not None:  # the parent's count and the sum of its children's say the same, each with its own noise
        families = weights.reshape(len(parents), -1)
        together = families.shape[1] * std**2
        missing = (parents - families.sum(axis=1)) * together / max(together + parent_std**2, 1e-300)
        weights = (families + missing[:, None] / families.shape[1]).reshape(-1)
    # The noise of the sum grows with the cells: it must not take away those that stand out of the noise of all of them.
    stands_out = weights > answer.noise.quantile(1 - 1 / len(weights)) if len(weights) > 1 else weights > std
    return weights, stands_out | are_full(weights / max(std, 1e-9), np.zeros(len(weights), dtype=np.int64))
