"""The question `levels`: noisy counts of a tree's cells, level by level, with early stop.

Proof: ``proofs/questions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms import Noise, NoiseSource, Sensitivity, privatize
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import require, require_number
from spinney.questions.counts import Counting
from spinney.questions.ground import Ground
from spinney.questions.partitions import MOST_CELLS, MOST_START
from spinney.questions.question import Exact, Listed, Question
from spinney.questions.record import AdditiveKind, Answer
from spinney.spaces import IntArray
from spinney.trees.quadtree import Quadtree, Splits, TreeCells


@dataclass(frozen=True)
class LevelAnswer:
    """A tree of visited cells, and the noisy number of rows in each of them."""

    tree: Quadtree
    private_counts: IntArray
    noise: Noise


@dataclass(frozen=True)
class LevelCounting(AdditiveKind):
    """Counts of some levels, each paid for by an equal part of the charge, whether it is reached or not."""

    question, of, shown = "levels", Counting.of, Counting.shown

    levels: int

    def __post_init__(self) -> None:
        require_number(self.levels, "levels")

    @property
    def l1(self) -> float:
        """One count of each level moves by one."""
        return float(self.levels)

    @property
    def l2(self) -> float:
        """The root of their number."""
        return math.sqrt(self.levels)

    @property
    def row(self) -> Sensitivity:
        """One count of one level."""
        return Counting().row

    def answer_for(self, charge: Charge, unit: Unit) -> Answer:
        """Return the counts of one level."""
        return super().answer_for(charge.part(Fraction(1, self.levels)), unit)

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        """Return the answer of one level, and how many there are."""
        return super().record(charge, unit) | {"repeats": self.levels}


@dataclass(frozen=True)
class Levels(Question[LevelAnswer]):
    """Noisy numbers of rows in the cells of a tree, level by level.

    The two children of a cell are visited, and counted, if its own noisy count exceeds the threshold.

    Parameters
    ----------
    splits : Splits
        Public order of splits.
    start, depth : int
        First and last level: all cells of level `start`, at most MOST_START, are visited, none below level `depth`.
    threshold : float or None
        In rows; ``None`` visits every cell.
    most : int
        Below level `start` no more cells are visited than make this number in all: those with the largest noisy counts are split.
    """

    splits: Splits
    start: int
    depth: int
    threshold: float | None
    most: int = MOST_CELLS

    family = TreeCells.family

    def kind(self, ground: Ground) -> LevelCounting:
        """Each level is a partition."""
        return LevelCounting(self.depth - self.start + 1)

    def check(self, ground: Ground) -> None:
        require(ground.domain is not None and type(self.splits) is Splits, "only rows of numbers have such a tree")
        self.splits.check(ground.n_features)
        are_levels = type(self.start) is int and type(self.depth) is int and 0 <= self.start <= self.depth <= self.splits.depth
        require(are_levels and self.start <= MOST_START, "levels must satisfy 0 <= start <= depth <= splits.depth")
        is_number = type(self.threshold) in (int, float) and self.threshold == self.threshold
        require(self.threshold is None or is_number, "the threshold must be a number of rows, or None")
        require(type(self.most) is int and 1 <= self.most <= MOST_CELLS, "a tree has at least one cell, and at most MOST_CELLS")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> LevelAnswer:
        """Count level by level; every visited cell gets noise."""
        kind, depth, threshold = self.kind(ground), self.depth, self.threshold
        noise, moves = kind.noise(charge, unit), kind.moves(unit)
        private_counts: list[IntArray] = []

        def decide(cells: TreeCells, level: int) -> NDArray[np.bool_]:
            private = privatize(rows.exact(cells, depth - level), noise, source, moves)
            private_counts.append(private)
            chosen = np.full(len(cells), level < depth) if threshold is None else (private > threshold) & (level < depth)
            room = max(self.most - sum(map(len, private_counts)), 0) // 2
            if chosen.sum() > room:
                chosen[np.argsort(np.where(chosen, -private, 2**62), kind="stable")[room:]] = False
            return chosen

        tree = Quadtree.visit(self.splits, self.start, decide)
        return LevelAnswer(tree, np.concatenate(private_counts), noise)


LISTED = Listed(
    Levels, LevelCounting, "one count of every level by one",
    ("proofs/questions.md",),
    ("tests/privacy/test_brute_force.py", "tests/privacy/test_sensitivity.py"),
)  # fmt: skip
