"""The question `totals`: noisy sums of columns that are described, in each public cluster.

Each number is taken from the middle of its bounds, in half widths; a row that does not say a column adds nothing to it.

Proof: ``proofs/describe.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms import Noise, NoiseSource, Sensitivity
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import freeze, require, require_number
from spinney.questions.clusters import Clusters
from spinney.questions.ground import Ground
from spinney.questions.question import Exact, Listed, Question
from spinney.questions.record import AdditiveKind
from spinney.questions.sums import RADIUS_STEPS
from spinney.spaces import FloatArray


@dataclass(frozen=True)
class TotalAnswer:
    """Noisy sums, by cluster and column, in half widths of the columns; the noise is in steps of `RADIUS_STEPS` a half width."""

    private_totals: FloatArray
    noise: Noise


@dataclass(frozen=True)
class Totaling(AdditiveKind):
    """Sums of columns: a row moves each by at most one half width, in one cluster."""

    question = of = "totals"
    steps = RADIUS_STEPS
    shown = "each sum +- {:.3g} half widths of its column"
    are_counts = False

    columns: int

    def __post_init__(self) -> None:
        require_number(self.columns, "columns")

    @property
    def l1(self) -> float:
        """A cube's noise has a sixth of the variance of an L1 ball's."""
        return self.columns / math.sqrt(6)

    @property
    def row(self) -> Sensitivity:
        """All sums of one cluster; a unit moves them furthest if a replacement stays in it."""
        return Sensitivity(self.columns * self.steps, self.columns * self.steps**2, self.steps, self.columns)

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        return super().record(charge, unit) | {"columns": self.columns}


@dataclass(frozen=True, eq=False)
class ColumnTotals:
    """The aggregate: exact sums in steps, by cluster and column."""

    clusters: Clusters
    columns: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Totals(Question[TotalAnswer]):
    """Noisy sums of columns behind those that decide a cluster.

    Parameters
    ----------
    clusters : Clusters
    columns : array of int of shape (m,)
        Which of the columns behind, by their places, each once.
    """

    clusters: Clusters
    columns: NDArray[np.int64]

    family = Clusters.family

    def __post_init__(self) -> None:
        freeze(self, "columns", as_places=True)

    def kind(self, ground: Ground) -> Totaling:
        """One row moves each of the sums of one cluster."""
        return Totaling(int(self.columns.size))

    def check(self, ground: Ground) -> None:
        """Columns must be there, and each be summed once: the price is the price of this number of columns."""
        require(type(self.clusters) is Clusters, "totals must be of clusters")
        behind = self.clusters.behind(ground)
        columns = self.columns
        lawful = columns.ndim == 1 and columns.size >= 1 and (columns >= 0).all() and (columns < behind).all()
        require(lawful and len(np.unique(columns)) == columns.size, "totals are of different columns behind those of centers")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> TotalAnswer:
        exact = rows.exact(ColumnTotals(self.clusters, self.columns))
        totals, noise = self.kind(ground).answered(exact, charge, unit, source)
        return TotalAnswer(np.asarray(totals / RADIUS_STEPS), noise)


LISTED = Listed(
    Totals, Totaling, "each column of one cluster by at most RADIUS_STEPS, half its width",
    ("proofs/describe.md",),
    ("tests/privacy/test_describe.py",),
)  # fmt: skip
