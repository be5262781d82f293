"""Which steps of the default are worth their charges, and how many centers each of them moves.

Letters: k clusters, n rows, m centers that a step moves.

Predicted loss decides, from public noise and the noisy n: what centers cost too much, in costs. An exact step of m centers would
take off a part of it, the gain, the larger the more centers it moves. Noise costs more the more it moves, for each of them has
n / m rows; shrinkage leaves gain^2 / (gain + noise) of the gain. A step moves as many centers as keep its noise below its gain,
and one whose charge is worth more to the next step is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from spinney.algorithms.forecast import Preview
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.reading import NOTHING
from spinney.questions.sums import Summing

#: Steps at most. With fewer columns there are none: leaves are then so small that their points are near their rows.
MOST_STEPS, FEW_COLUMNS = 3, 4
#: What centers cost too much, in costs, where the summary sees nothing within its cells; and what a step of all leaves of that.
BLIND, LEFT = 2, 0.2

#: Names of the steps, and of the questions for their clipping radii.
STEPS = tuple(f"step {i}" for i in range(1, MOST_STEPS + 1))
RADII = tuple(f"radii {i}" for i in range(1, MOST_STEPS + 1))


@dataclass(frozen=True)
class Schedule:
    """Which steps are worth their charges for n rows."""

    problem: PointProblem
    preview: Preview  # (kind, *names): the noise of a question that these charges pay for together
    n: float  # a noisy number of rows, or a guess

    def noise(self, *steps: str) -> float:
        """Return the length of the noise in a sum that these steps pay for together, in clipping radii."""
        kind = Summing(self.problem.kernel, self.problem.n_features)
        return math.sqrt(self.problem.n_features) * float(self.preview(kind, *steps).vector_std)

    @property
    def is_seen(self) -> bool:
        """Whether a summary is made: if all steps together are worth no more than one center, what it costs is better spent.

        But clusters are counted on it.
        """
        return self.problem.n_features < FEW_COLUMNS or self.problem.is_counted or self._after(BLIND, *STEPS)[1] > 1

    def of_one(self) -> Schedule:
        """Return the schedule of the mean of all rows."""
        return replace(self, problem=replace(self.problem, k=1))

    def counts(self, blind: float) -> tuple[int, ...]:
        """Return how many centers each step moves; none if it is left out, which only the first steps are.

        Parameters
        ----------
        blind : float
            The part of the cost that the summary does not see.
        """
        return min(self._predicted(first, blind) for first in range(MOST_STEPS))[1]

    def _predicted(self, first: int, blind: float) -> tuple[float, tuple[int, ...]]:
        """Return the loss after all steps, and how many centers each moves, if those before this one pay for it."""
        over, counts = BLIND * blind, [0] * first
        for place in range(first, MOST_STEPS):
            over, count = self._after(over, *STEPS[: first + 1] if place == first else STEPS[place : place + 1])
            counts.append(count)
        return over, tuple(counts)

    def _after(self, over: float, *paying: str) -> tuple[float, int]:
        """Return the loss after a step that these charges pay for, and how many centers it moves."""
        k, gain = self.problem.k, (1 - LEFT) * over
        noise = (self.noise(*paying) / self.n) ** 2 * (1 + over)  # if one center moves; radii are as long as rows are far
        count = max(round(min(gain / k / noise, k)), 1) if noise > 0 else k
        gain, noise = gain * count / k, noise * count**2
        return over - gain**2 / max(gain + noise, NOTHING), count
