"""The questions. Each one states its charge, aggregates exact integers, adds noise to every slot, and only then answers.

This is the one place where exact numbers become private ones. A backend supplies `_map`, which applies a compiled kernel
to all rows batch by batch and adds up the partial results; it never sees a charge or a noise.

Proofs: ``proofs/questions.md``; the mechanisms behind them have pages of their own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney.curators.desk import COUNTING, CountAnswer, Desk
from spinney.curators.gate import (
    KERNELS,
    MOST_THRESHOLD,
    SplitsGate,
    read_centers,
    read_domain,
    read_radii,
    read_threshold,
    whole_number,
)
from spinney.curators.kernels import RADIUS_STEPS, count_cells, count_columns, count_rings, count_rows, sum_costs, sum_offsets
from spinney.curators.partitions import Columns, Partition, Whole
from spinney.mechanisms.additive import Noise, Sensitivity, calibrate, privatize
from spinney.mechanisms.source import IntArray, NoiseSource
from spinney.mechanisms.splitting import split_rule
from spinney.privacy.charges import Charge
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.solvers.nearest import lens
from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import door
from spinney.trees.quadtree import WORD, Cells, Quadtree, Splits

__all__ = ["CostAnswer", "CountAnswer", "Curator", "LevelAnswer", "SumAnswer"]

#: A cost is cut into this many integer steps of its public range.
COST_STEPS = 2**30
#: The share of a `sums` charge that pays for the weights.
WEIGHT_SHARE = Fraction(1, 5)


@dataclass(frozen=True)
class LevelAnswer:
    """A tree of visited cells, and the noisy number of rows in each of them."""

    tree: Quadtree
    private_counts: IntArray
    noise: Noise


@dataclass(frozen=True)
class StepNoise:
    """Public facts about the noise of a `sums` answer, in integer steps and in the answer's own units."""

    vectors: Noise
    weights: Noise
    weight_steps: int

    @property
    def vector_std(self) -> float:
        """Standard deviation of each coordinate of a sum, in radii."""
        return self.vectors.std / RADIUS_STEPS

    @property
    def weight_std(self) -> float:
        """Standard deviation of each weight, in rows."""
        return self.weights.std / self.weight_steps


@dataclass(frozen=True)
class SumAnswer:
    """Noisy sums per cell, in units of the cell's radius, and noisy weights."""

    private_vectors: FloatArray
    private_weights: FloatArray
    noise: StepNoise


@dataclass(frozen=True)
class CostAnswer:
    """A noisy cost, or difference of costs."""

    private_cost: float
    std: float


def count_sensitivity(partition: Partition, n_features: int) -> Sensitivity:
    """Return how far one added row moves the counts: one cell, or one bin of every column."""
    return Sensitivity(n_features, n_features) if isinstance(partition, Columns) else COUNTING


def step_noise(unit: Unit, kernel: str, n_features: int, charge: Charge) -> StepNoise:
    """Return the noise of a `sums` question: one row adds a vector in an L2 ball (and the L1 ball around it) and a weight."""
    square = RADIUS_STEPS**2
    weight_steps = RADIUS_STEPS if kernel == "median" else 1
    price = unit.step_price(charge, WEIGHT_SHARE, weights_are_counts=kernel != "median")
    return StepNoise(
        calibrate(Sensitivity(math.isqrt(n_features * square), square), price.vectors),
        calibrate(Sensitivity(weight_steps, weight_steps**2), price.weights),
        weight_steps,
    )


class Curator(Desk, ABC):
    """Holds private rows and answers noisy questions about them.

    Privacy
    -------
    Neighbors: as `unit` says. Each question is private at its charge (``proofs/questions.md``); the ledger refuses a charge
    that the plan does not hold. Time and memory use are outside the promise.

    Parameters
    ----------
    domain : Domain
        Public.
    unit : Unit
        Who is protected.
    ledger : FitLedger
    source : NoiseSource
    """

    def __init__(self, domain: Domain, unit: Unit, ledger: FitLedger, source: NoiseSource) -> None:
        super().__init__(unit, ledger, source)
        self.domain = domain
        self._door = door(domain, nan_to_center=unit.replaces)
        self._gate = SplitsGate(domain.n_features)

    @abstractmethod
    def _map(self, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        """Apply ``kernel(rows, mask, door, *arguments)`` to all batches; return the sums of its results, exactly."""

    @abstractmethod
    def _map_nearest(self, centers: FloatArray, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        """As `_map`, for kernels that also take each row's nearest center: ``kernel(rows, mask, door, labels, *arguments)``."""

    def within(self, domain: Domain) -> Self:
        """Return a curator over the same rows, ledger and noise that clips rows to another public domain."""
        domain = read_domain(domain, self.domain.n_features)
        inner = copy(self)
        inner.domain = domain
        inner._door = door(domain, nan_to_center=self.unit.replaces)
        return inner

    def counts(self, partition: Partition, charge: Charge) -> CountAnswer:
        """Answer with the noisy number of rows in each cell of a public partition, cells of a tree in the order of codes."""
        partition = self._gate.partition(partition)
        charge = Charge.copy_of(charge)
        with self._open("counts", charge):
            return self._count(self._exact_counts(partition), count_sensitivity(partition, self.domain.n_features), charge)

    def grow(self, splits: Splits, start: int, threshold: int, charge: Charge) -> Quadtree:
        """Answer with the split decisions of a private tree below a public starting level.

        Parameters
        ----------
        splits : Splits
            Public order of splits.
        start : int
            Level at which the tree starts, 0 .. 63; levels above are split without looking.
        threshold : int
            In rows; a node is split if its noisy, depth-discounted count exceeds it.
        charge : Charge
            Pays for all decisions together.
        """
        splits = self._gate.splits(splits)
        start = whole_number(start, 0, min(splits.depth, WORD - 1), "start must be a level of the splits, below 64")
        threshold = whole_number(threshold, -MOST_THRESHOLD, MOST_THRESHOLD, "a threshold must be a whole number of rows")
        charge = Charge.copy_of(charge)
        with self._open("grow", charge):
            rule = split_rule(self.unit.tree_price(charge), self.unit.replaces, threshold)

            def decide(cells: Cells, depth: int) -> NDArray[np.bool_]:
                if depth == splits.depth:
                    return np.full(len(cells), False)
                return rule.decide(self._exact_counts(cells, splits.depth - depth), depth - start, self._source)

            return Quadtree.visit(splits, start, decide)

    def levels(self, splits: Splits, start: int, depth: int, threshold: float | None, charge: Charge) -> LevelAnswer:
        """Answer with noisy numbers of rows in the cells of a tree, level by level.

        The two children of a cell are visited, and counted, if its own noisy count exceeds the threshold.

        Parameters
        ----------
        splits : Splits
            Public order of splits.
        start, depth : int
            First and last level: all cells of level `start` (0 .. 63) are visited, none below level `depth`.
        threshold : float or None
            In rows; ``None`` visits every cell.
        charge : Charge
            Pays for the ``depth - start + 1`` levels in equal parts, whether they are reached or not.
        """
        splits, threshold = self._gate.splits(splits), read_threshold(threshold)
        what = "levels must satisfy 0 <= start <= depth <= splits.depth, and start <= 63"
        depth = whole_number(depth, 0, splits.depth, what)
        start = whole_number(start, 0, min(depth, WORD - 1), what)
        charge = Charge.copy_of(charge)
        with self._open("levels", charge):
            noise = calibrate(COUNTING, self.unit.count_price(charge.part(Fraction(1, depth - start + 1))))
            private_counts: list[IntArray] = []

            def decide(cells: Cells, level: int) -> NDArray[np.bool_]:
                private = privatize(self._exact_counts(cells, depth - level), noise, self._source)
                private_counts.append(private)
                return np.full(len(cells), level < depth) if threshold is None else (private > threshold) & (level < depth)

            tree = Quadtree.visit(splits, start, decide)
            return LevelAnswer(tree, np.concatenate(private_counts), noise)

    def sums(
        self, centers: FloatArray, kernel: str, radii: FloatArray, charge: Charge, anchors: FloatArray | None = None
    ) -> SumAnswer:
        """Answer with noisy sums of clipped offsets, and noisy weights, over the Voronoi cells of public centers.

        Parameters
        ----------
        centers : array of shape (k, d)
            Public.
        kernel : {"mean", "median", "second-moment"}
            ``mean``: the offset clipped to the cell's radius, with weight 1. ``median``: the offset over the larger of its
            length and the radius, with weight radius / that (a clipped Weiszfeld step). ``second-moment``: the squared
            coordinates of the offset, as a vector clipped to the squared radius and in units of it, with weight 1.
        radii : array of shape (k,)
            Public, positive.
        charge : Charge
        anchors : array of shape (k, d), optional
            Public points that offsets are taken from; the centers by default.
        """
        centers = read_centers(centers, self.domain.n_features)
        anchors = centers if anchors is None else read_centers(anchors, self.domain.n_features)
        radii = read_radii(radii, len(centers))
        if len(anchors) != len(centers):
            raise ValueError("there must be one anchor for each center")
        if type(kernel) is not str or kernel not in KERNELS:
            raise ValueError("the kernel must be one of mean, median and second-moment")
        charge = Charge.copy_of(charge)
        with self._open("sums", charge):
            noise = step_noise(self.unit, kernel, centers.shape[1], charge)
            kinds = kernel == "median", kernel == "second-moment"
            vectors, weights = self._map_nearest(centers, sum_offsets, anchors, radii, *kinds)
            return SumAnswer(
                privatize(vectors, noise.vectors, self._source) / RADIUS_STEPS,
                privatize(weights, noise.weights, self._source) / noise.weight_steps,
                noise,
            )

    def cost(self, first: FloatArray, power: int, charge: Charge, second: FloatArray | None = None) -> CostAnswer:
        """Answer with the noisy cost of public centers, or how much more the first set costs than the second.

        Parameters
        ----------
        first : array of shape (k, d)
        power : {1, 2}
            1 sums distances, 2 squared distances.
        charge : Charge
        second : array of shape (k, d), optional
        """
        first = read_centers(first, self.domain.n_features)
        second = np.empty((0, first.shape[1])) if second is None else read_centers(second, self.domain.n_features)
        power = whole_number(power, 1, 2, "the power must be 1 or 2")
        charge = Charge.copy_of(charge)
        with self._open("cost", charge):
            step = cost_range(self.domain, first, second, power) / COST_STEPS
            glass = lens(second if len(second) else first)
            (total,) = self._map_nearest(first, sum_costs, first, second, glass, power == 1, 1 / step, COST_STEPS)
            noise = calibrate(Sensitivity(COST_STEPS, COST_STEPS**2), self.unit.value_price(charge))
            return CostAnswer(float(privatize(total, noise, self._source)[0]) * step, noise.std * step)

    def _exact_counts(self, partition: Partition, levels_below: int = 0) -> IntArray:
        """Return exact counts: for questions of this class only. Cells of so many levels below may be asked about next."""
        if isinstance(partition, Cells):
            return self._exact_cell_counts(partition, levels_below)
        if isinstance(partition, Columns):
            return self._map(count_columns)[0]
        if isinstance(partition, Whole):
            return self._map(count_rows)[0]
        (counts,) = self._map_nearest(partition.centers, count_rings, partition.centers, partition.edges**2)
        return counts if partition.edges.size else counts[:, 0]

    def _exact_cell_counts(self, cells: Cells, levels_below: int = 0) -> IntArray:
        """Return exact counts of tree cells by one pass over the rows; a backend may know a faster way, or look ahead."""
        words = -(-int(cells.depths.max(initial=1)) // WORD)
        codes = np.ascontiguousarray(cells.codes[:, :words])
        (counts,) = self._map(count_cells, cells.splits.route, codes, cells.depths)
        return counts


def cost_range(domain: Domain, first: FloatArray, second: FloatArray, power: int) -> float:
    """Return a public bound on one row's cost, or on the absolute difference of its two costs.

    A squared difference |x-b|^2 - |x-c|^2 is linear in x, so its maximum over the box is at a corner; for distances the
    triangle inequality bounds the difference by the distance from a center to the nearest center of the other set.
    """
    reach = np.maximum(np.abs(domain.upper - first), np.abs(first - domain.lower))
    farthest = float(np.sqrt((reach**2).sum(axis=1)).min())
    if not len(second):
        return farthest**power
    if power == 1:
        gaps = np.sqrt(((first[:, None] - second[None]) ** 2).sum(axis=2))
        return max(float(gaps.min(axis=0).max()), float(gaps.min(axis=1).max()), 1e-12 * domain.half_diagonal)

    def worst(b: FloatArray, c: FloatArray) -> float:
        """Largest d(x, B)^2 - d(x, C)^2: x is served by some c, and by the b that suits that c's worst x best."""
        slope = 2 * (c[None] - b[:, None])
        corner = np.where(slope > 0, domain.upper, domain.lower)
        gain = ((corner - b[:, None]) ** 2 - (corner - c[None]) ** 2).sum(axis=2)
        return float(gain.min(axis=0).max())

    return max(worst(first, second), worst(second, first), 1e-12 * domain.half_diagonal**2)
