"""Which steps of the default are worth their charges.

Letters: k clusters, n rows.

Predicted loss decides, from public noise and the noisy n: what centers cost too much, in costs. An exact step would take off a
part of it, the gain. Noise costs more the more centers there are, for each of them has n / k rows; shrinkage leaves
gain^2 / (gain + noise) of the gain. The first steps are left out where their charges are worth more, or nearly as much, to the
next one.
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
#: What centers cost too much, in costs, where the summary sees nothing within its cells; and what a step leaves of that.
BLIND, LEFT = 2, 0.2
#: Steps are left out if all is predicted to cost no more than this part above what it costs with them: they take time.
NEARLY = 0.03

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
        """Whether a summary is made.

        It is not if a center gains less than the noise in the mean of all rows costs: then only that mean is asked for. But
        clusters are counted on a summary.
        """
        if self.problem.n_features < FEW_COLUMNS or self.problem.is_counted:
            return True
        gain, noise = self._worth(BLIND, *STEPS)
        return self.problem.k > 1 and gain * self.problem.k > noise

    def of_one(self) -> Schedule:
        """Return the schedule of the mean of all rows."""
        return replace(self, problem=replace(self.problem, k=1))

    def first(self, blind: float) -> int:
        """Return which step is the first that is taken: the last one whose loss is nearly the least.

        Parameters
        ----------
        blind : float
            The part of the cost that the summary does not see.
        """
        losses = [self._loss(first, blind) for first in range(MOST_STEPS)]
        return max(first for first, loss in enumerate(losses) if loss <= min(losses) + NEARLY)

    def _loss(self, first: int, blind: float) -> float:
        """Return the loss after all steps, if those before this one pay for it."""
        over = BLIND * blind
        for place in range(first, MOST_STEPS):
            gain, noise = self._worth(over, *STEPS[: first + 1] if place == first else STEPS[place : place + 1])
            over -= gain**2 / max(gain + noise, NOTHING)
        return over

    def _worth(self, over: float, *paying: str) -> tuple[float, float]:
        """Return what an exact step takes off a loss, and what the noise costs that these charges pay for."""
        noise = self.problem.k * self.noise(*paying) / self.n
        return (1 - LEFT) * over, noise**2 * (1 + over)  # radii are as long as rows are far
