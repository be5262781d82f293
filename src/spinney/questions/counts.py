"""The question `counts`: the noisy number of rows in each cell of a public partition.

Proof: ``proofs/questions.md`` (partitions of a domain), ``proofs/sites.md`` (partitions of points).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney.mechanisms import Noise, NoiseSource, Sensitivity
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import frozen, frozen_places, require, require_number
from spinney.questions.clusters import ClusterBins
from spinney.questions.ground import Ground
from spinney.questions.partitions import FAMILIES, ColumnBins, Partition, check_partition
from spinney.questions.question import Exact, Listed, Question
from spinney.questions.record import AdditiveKind
from spinney.spaces import IntArray
from spinney.trees.quadtree import TreeCells


@dataclass(frozen=True)
class CountAnswer:
    """Noisy numbers of rows, one per cell of the partition."""

    private_counts: IntArray
    noise: Noise


@dataclass(frozen=True)
class Counting(AdditiveKind):
    """Counts over disjoint cells, or over several families of them at once: a row lies in one cell of each family."""

    question = of = "counts"
    shown = "each count +- {:.3g} rows"

    families: int = 1

    def __post_init__(self) -> None:
        require_number(self.families, "families")

    @property
    def row(self) -> Sensitivity:
        """One count of each family."""
        return Sensitivity(self.families, self.families)


@dataclass(frozen=True)
class Counts(Question[CountAnswer]):
    """Noisy numbers of rows in the cells of a public partition.

    Parameters
    ----------
    partition : Partition
        Its cells are disjoint; a row may lie in none.
    """

    partition: Partition

    def __post_init__(self) -> None:
        if type(self.partition) is TreeCells:
            cells = self.partition
            require(np.asarray(cells.codes).dtype == np.uint64, "a cell of a tree is a code and a depth")
            copied = TreeCells(cells.splits, frozen(cells.codes, np.uint64), frozen_places(cells.depths))
            object.__setattr__(self, "partition", copied)

    @property
    def family(self) -> str:
        return type(self.partition).family

    def kind(self, ground: Ground) -> Counting:
        """One row moves one count, or one of every column."""
        if isinstance(self.partition, ClusterBins):
            return Counting(int(self.partition.bins.size))
        return Counting(ground.n_features) if type(self.partition) is ColumnBins else Counting()

    def check(self, ground: Ground) -> None:
        check_partition(self.partition, ground)

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> CountAnswer:
        return CountAnswer(*self.kind(ground).answered(rows.exact(self.partition), charge, unit, source))


LISTED = Listed(
    Counts, Counting, "one count by one; for bins of columns, one count of every column",
    ("proofs/questions.md", "proofs/sites.md", "proofs/describe.md"),
    (
        "tests/privacy/test_brute_force.py", "tests/privacy/test_sensitivity.py", "tests/privacy/test_site_sensitivity.py",
        "tests/privacy/test_describe.py",
    ),
    parts=tuple(FAMILIES.values()),
)  # fmt: skip
