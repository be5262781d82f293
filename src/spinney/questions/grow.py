"""The question `grow`: the split decisions of a private tree. The scores never leave.

Proof: ``proofs/splitting.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms import NoiseSource
from spinney.mechanisms.splitting import SplitRule, split_rule, worst_loss
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import require
from spinney.questions.ground import Ground
from spinney.questions.partitions import MOST_START
from spinney.questions.question import Exact, Kind, Listed, Question
from spinney.questions.record import exact_text, record_of
from spinney.trees.quadtree import Quadtree, Splits, TreeCells

#: The largest threshold, in rows: scores fit into 64 bits.
MOST_THRESHOLD = 2**45


@dataclass(frozen=True)
class Splitting(Kind):
    """Split decisions: noise of scale 2.6 / epsilon on every visited cell, by a pure mechanism alone."""

    #: In rows; a plan does not know it, because it follows from released answers, and neither noise nor loss depends on it.
    threshold: int | None = field(default=None, compare=False)

    question = "grow"
    #: The scale of the noise times epsilon; no Gaussian noise serves.
    l1, l2 = 2.6, 0.0

    def noise(self, charge: Charge, unit: Unit) -> SplitRule:
        return split_rule(unit.tree_price(charge), unit.replaces, self.threshold or 0)

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        """Return the constants of the rule, and the most that one row's whole path can lose with them."""
        price, rule = unit.tree_price(charge), self.noise(charge, unit)
        steps = rule.steps_per_row
        loss = worst_loss(rule.scale, rule.decay, steps, unit.replaces) if rule.scale else math.inf
        return record_of(
            charge, "split decisions" if rule.scale else "none", "each level of a path",
            row_sensitivity=str(steps), unit_sensitivity=str(unit.moved_rows * steps), price=exact_text(price.amount),
            scale=exact_text(rule.scale), decay=str(rule.decay), worst_loss=exact_text(loss),
            **({} if self.threshold is None else {"threshold": self.threshold}),
        )  # fmt: skip

    def words(self, charge: Charge, unit: Unit) -> str:
        rule = self.noise(charge, unit)
        return f"split decisions, Laplace scale {rule.scale / rule.steps_per_row:.3g} rows"


@dataclass(frozen=True)
class Grow(Question[Quadtree]):
    """Split decisions of a private tree below a public starting level.

    Parameters
    ----------
    splits : Splits
        Public order of splits.
    start : int
        Level at which the tree starts, at most MOST_START; levels above are split without looking.
    threshold : int
        In rows; a node is split if its noisy, depth-discounted count exceeds it.
    """

    splits: Splits
    start: int
    threshold: int

    family = TreeCells.family

    def kind(self, ground: Ground) -> Splitting:
        """One charge pays for all decisions together."""
        return Splitting(self.threshold)

    def check(self, ground: Ground) -> None:
        require(ground.domain is not None and type(self.splits) is Splits, "only rows of numbers have such a tree")
        self.splits.check(ground.n_features)
        require(type(self.start) is int and 0 <= self.start <= min(self.splits.depth, MOST_START), "start must be a level")
        is_number = type(self.threshold) is int and 0 <= self.threshold <= MOST_THRESHOLD
        require(is_number, "the threshold must be a number of rows")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> Quadtree:
        """Decide level by level; every visited cell gets noise."""
        rule, splits = self.kind(ground).noise(charge, unit), self.splits

        def decide(cells: TreeCells, depth: int) -> NDArray[np.bool_]:
            if depth == splits.depth:
                return np.full(len(cells), False)
            return rule.decide(rows.exact(cells, splits.depth - depth), depth - self.start, source, unit.moved_rows)

        return Quadtree.visit(splits, self.start, decide)


LISTED = Listed(
    Grow, Splitting, "one count of every level by one; only decisions leave, and the worst path is summed exactly",
    ("proofs/splitting.md",),
    ("tests/privacy/test_split_decisions.py",),
)  # fmt: skip
