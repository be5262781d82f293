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

from spinney.mechanisms.additive import Noise, Sensitivity, calibrate, privatize
from spinney.mechanisms.source import NoiseSource
from spinney.privacy.charges import Charge
from spinney.privacy.pricing import Unit
from spinney.questions.arrays import frozen_places, require, require_number
from spinney.questions.clusters import Clusters
from spinney.questions.ground import Ground
from spinney.questions.question import Exact, Kind, Question
from spinney.questions.record import Answer, additive_record
from spinney.questions.sums import RADIUS_STEPS
from spinney.spaces.box import FloatArray

__all__ = ["ColumnTotals", "TotalAnswer", "Totaling", "Totals"]


@dataclass(frozen=True)
class TotalAnswer:
    """Noisy sums, by cluster and column, in half widths of the columns; the noise is in steps of `RADIUS_STEPS` a half width."""

    private_totals: FloatArray
    noise: Noise


@dataclass(frozen=True)
class Totaling(Kind):
    """Sums of columns: a row moves each by at most one half width, in one cluster."""

    question = "totals"

    columns: int

    def __post_init__(self) -> None:
        require_number(self.columns, "columns")

    @property
    def l1(self) -> float:
        """A cube's noise has a sixth of the variance of an L1 ball's."""
        return self.columns / math.sqrt(6)

    @property
    def l2(self) -> float:
        """A vector in a cube is at most as long as its diagonal."""
        return math.sqrt(self.columns)

    @property
    def row(self) -> Sensitivity:
        """How far one row moves the sums."""
        steps = RADIUS_STEPS
        return Sensitivity(self.columns * steps, self.columns * steps**2, steps, self.columns)

    def moves(self, unit: Unit) -> Sensitivity:
        """Return how far one whole unit moves the sums: furthest if a replacement stays in one cluster."""
        row, times = self.row, unit.moved_rows
        return Sensitivity(row.l1 * times, row.l2_squared * times**2, RADIUS_STEPS * times, self.columns)

    def noise(self, charge: Charge, unit: Unit) -> Noise:
        """Return the noise of each sum, in steps."""
        return calibrate(self.row, unit.value_price(charge))

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        """Return one answer; a row that is replaced inside one cluster moves its sums twice as far."""
        answer = Answer("totals", RADIUS_STEPS, self.row, unit.value_price(charge), self.noise(charge, unit))
        return additive_record(charge, unit, [answer], ((4,),), columns=self.columns)

    def words(self, charge: Charge, unit: Unit) -> str:
        """Return the noise of each sum, in half widths of its column."""
        return f"each sum +- {self.noise(charge, unit).std / RADIUS_STEPS:.3g} half widths of its column"


@dataclass(frozen=True, eq=False)
class ColumnTotals:
    """The aggregate: exact sums in steps, by cluster and column."""

    clusters: Clusters
    columns: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Totals(Question):
    """Noisy sums of columns behind those that decide a cluster.

    Parameters
    ----------
    clusters : Clusters
    columns : array of int of shape (m,)
        Which of the columns behind, by their places, each once.
    """

    clusters: Clusters
    columns: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", frozen_places(self.columns))

    @property
    def family(self) -> str:
        """Those of its clusters."""
        return Clusters.family

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
        """Sum, and add noise to every sum."""
        kind = self.kind(ground)
        noise = kind.noise(charge, unit)
        exact = rows.exact(ColumnTotals(self.clusters, self.columns))
        return TotalAnswer(np.asarray(privatize(exact, noise, source, kind.moves(unit)) / RADIUS_STEPS), noise)
