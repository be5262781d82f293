"""Which steps of the default are worth their charges, and how many centers they move.

Letters: k clusters, n rows.

A step whose charge is worth more to the next one is left out, and the next one gets it: what centers cost too much is predicted
after each step, from public noise and the noisy n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from spinney.algorithms.forecast import Preview
from spinney.algorithms.problem import PointProblem
from spinney.questions.sums import Summing

__all__ = ["FEW_COLUMNS", "RADII", "STEPS", "Schedule"]

#: Steps at most. Below so many columns there are none: leaves are then so small that their points are near their rows.
MOST_STEPS, FEW_COLUMNS = 3, 4
#: A center may be moved by noise of half its clipping radius.
SUPPORT = 0.5
#: Where more than this part of the cost is within the cells of the summary, so many more centers begin for each one wanted.
NEARLY_BLIND, MORE = 0.75, 0.5
#: What centers cost too much, in costs, where the summary sees nothing within its cells; and what a step leaves of that.
BLIND, LEFT = 2, 0.4

#: Names of the steps, and of the questions for their clipping radii.
STEPS = tuple(f"step {i}" for i in range(1, MOST_STEPS + 1))
RADII = tuple(f"radii {i}" for i in range(1, MOST_STEPS + 1))


@dataclass(frozen=True)
class Schedule:
    """Which steps are worth their charges for so many rows.

    Parameters
    ----------
    problem : PointProblem
    preview : callable
        ``preview(kind, *names)``: the noise of a question that these charges pay for together.
    n : float
        Rows: a noisy number, or a guess.
    """

    problem: PointProblem
    preview: Preview
    n: float

    def noise(self, *steps: str) -> float:
        """Return the length of the noise in a sum that these steps pay for together, in clipping radii."""
        kind = Summing(self.problem.kernel, self.problem.n_features)
        return math.sqrt(self.problem.n_features) * float(self.preview(kind, *steps).vector_std)

    @cached_property
    def supported(self) -> int:
        """How many centers of equal clusters all steps together can move: at least one, and at most k.

        As first asked: what is passed on to a step later lessens its noise, and no center more is known for it.
        """
        length = self.noise(*STEPS)
        return max(int(min(SUPPORT * self.n / length, self.problem.k)), 1) if length > 0 else self.problem.k

    @property
    def is_seen(self) -> bool:
        """Whether a summary is made: if one center is all that steps support, what it costs is better spent.

        But clusters are counted on it.
        """
        return self.problem.n_features < FEW_COLUMNS or self.problem.is_counted or self.supported > 1

    def first_step(self, blind: float) -> int:
        """Return which step comes first; those before it pay for it. Fewer centers than wanted are moved once.

        Parameters
        ----------
        blind : float
            The part of the cost that the summary does not see.
        """
        if 1 < self.supported < self.problem.k:
            return MOST_STEPS - 1
        lost = []
        for first in range(MOST_STEPS):
            over = BLIND * blind
            for place in range(first, MOST_STEPS):
                paying = STEPS[: first + 1] if place == first else STEPS[place : place + 1]
                over = LEFT * over + (self.supported * self.noise(*paying) / self.n) ** 2
            lost.append(over)
        return lost.index(min(lost))

    def starting(self, first: int, blind: float) -> int:
        """Return how many centers take the first step: more than wanted if the summary is nearly blind, and noise bears it.

        Parameters
        ----------
        first : int
            Which step comes first.
        blind : float
            As for `first_step`.
        """
        many = math.ceil((1 + MORE) * self.problem.k)
        is_borne = many * self.noise(*STEPS[: first + 1]) <= SUPPORT * self.n
        is_over = blind > NEARLY_BLIND and first < MOST_STEPS - 1 and self.supported == self.problem.k > 1
        return many if is_over and is_borne else self.supported
