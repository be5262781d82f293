"""The question `lengths`: noisy sums of a public number of each point, such as its distance, in the cells of a public partition.

Proof: ``proofs/sites.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms import NoiseSource, Sensitivity
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import freeze, require
from spinney.questions.ground import Ground
from spinney.questions.partitions import Labels, check_partition
from spinney.questions.question import Exact, Listed, Question
from spinney.questions.record import AdditiveKind
from spinney.questions.sums import RADIUS_STEPS
from spinney.questions.totals import TotalAnswer


@dataclass(frozen=True)
class Measuring(AdditiveKind):
    """Sums of numbers of points: a row moves that of one cell by at most half the range of such numbers."""

    question = of = "lengths"
    steps = RADIUS_STEPS
    shown = "each sum +- {:.3g} half ranges of its lengths"
    are_counts = False

    @property
    def row(self) -> Sensitivity:
        """A unit moves them furthest if a replacement stays in one cell."""
        return Sensitivity(self.steps, self.steps**2)


@dataclass(frozen=True, eq=False)
class Lengths(Question[TotalAnswer]):
    """Noisy sums of a number of each row's point, in each cell; it is the aggregate, too.

    Parameters
    ----------
    partition : Labels
    steps : array of int of shape (n_points,)
        The number of each point, from -RADIUS_STEPS to RADIUS_STEPS: how far it is from the middle of a range, in such parts of
        half its width.
    """

    partition: Labels
    steps: NDArray[np.int64]

    family = Labels.family

    def __post_init__(self) -> None:
        freeze(self, "steps", as_places=True)

    def kind(self, ground: Ground) -> Measuring:
        """One row moves the sum of one cell."""
        return Measuring()

    def check(self, ground: Ground) -> None:
        """No number is larger than what is paid for."""
        require(type(self.partition) is Labels, "lengths are summed over a partition of points")
        check_partition(self.partition, ground)
        steps = self.steps
        lawful = steps.shape == (ground.n_points,) and ((steps >= -RADIUS_STEPS) & (steps <= RADIUS_STEPS)).all()
        require(lawful, "each point must have one length, of at most RADIUS_STEPS from the middle")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> TotalAnswer:
        totals, noise = self.kind(ground).answered(rows.exact(self), charge, unit, source)
        return TotalAnswer(np.asarray(totals / RADIUS_STEPS), noise)


LISTED = Listed(
    Lengths, Measuring, "the sum of one cell by at most RADIUS_STEPS, half the range of its lengths",
    ("proofs/sites.md",),
    ("tests/privacy/test_site_sensitivity.py",),
)  # fmt: skip
