"""Private medians as a choice: how the centers of a k-median problem are moved toward the medians of their rows.

- ``"weiszfeld"``: one clipped Weiszfeld step (`spinney.algorithms.step`), the default.
- ``"gradient"``: noisy gradient descent (Bassily, Smith and Thakurta 2014). Equal shares of the charge pay for sums of unit
  vectors toward the rows, steps get shorter, and later points weigh more in the mean that is returned.
- ``"localized"``: a localized warm start, then noisy gradients (Haghifam, Steinke and Ullman 2024). A cheap first step finds a
  small ball, in which the noisy gradient descent stays.
- ``"objective"``: objective perturbation (Iyengar et al. 2019), the question `minimize`. Rows must be in memory, and the promise
  is proved over the reals only.

A unit vector toward a row is its offset clipped to a small radius, in radii: what the ``mean`` kernel of `Sums` adds up. The
cells are the cells of the centers that came in, whatever moves.

Proof: ``proofs/medians.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms.margins import least_weight
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.step import Moved, shrunk, take_step
from spinney.constraints import Constraint, one_of
from spinney.curators.purse import Purse
from spinney.exceptions import ParameterError
from spinney.privacy import Part
from spinney.questions import Minimize, Minimizing, Summing, Sums
from spinney.questions.minimize import MOST_BENDS
from spinney.questions.question import Kind
from spinney.spaces import FloatArray

#: The choices; the first is the default.
MEDIAN_STEPS = ("weiszfeld", "gradient", "localized", "objective")
#: What a `median_step` parameter must be.
MEDIAN_STEP: Constraint = one_of(MEDIAN_STEPS, "'weiszfeld', the default, is the best of most cases.")
#: Gradients that one charge pays for, as hundredths of it: of the descent, of the warm start, and of the descent after that. More
#: of them find a median of many rows no better, and a median of few rows worse.
DESCENT, WARM, LOCAL = (34, 33, 33), (20,), (40, 40)
#: Length of the first step in radii, if all rows lie in one direction. One in the small ball of a warm start, which has half
#: the radius, is as long again.
LENGTH, LOCAL_LENGTH = 2.0, 4.0
#: Steps get shorter by the root of one and this many times the squared length of their noise ...
CAUTION = 8.0
#: ... so that only this part of the noise of their sum is left for shrinkage.
NOISE_LEFT = 0.25


def check_median_step(median_step: str, problem: PointProblem, owner: str) -> None:
    """Raise unless there is a step toward medians to choose."""
    if median_step == MEDIAN_STEPS[0]:
        return
    if problem.power != 1:
        expected = "'weiszfeld' unless the objective is k-median"
        raise ParameterError.wrong("median_step", owner, expected, median_step, "leave it out, or fit PrivateKMedian.")
    if median_step == "objective" and problem.k * problem.n_features**2 > MOST_BENDS:
        expected = f"another step where clusters times squared columns are more than {MOST_BENDS}"
        raise ParameterError.wrong("median_step", owner, expected, median_step, "'weiszfeld' takes any number of columns.")


def median_backends(median_step: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """Return where rows may be: a minimum is asked of rows in memory alone, other steps wherever the `others` allow it."""
    return ("memory",) if median_step == "objective" else others


def _shares(median_step: str) -> Sequence[int]:
    return {"gradient": DESCENT, "localized": (*WARM, *LOCAL)}.get(median_step, (100,))


def _names(name: str, median_step: str) -> tuple[str, ...]:
    """Return the names of the charges that pay for a step of this name."""
    count = len(_shares(median_step))
    return (name,) if count == 1 else tuple(f"{name}, {place}" for place in range(1, count + 1))


def median_parts(name: str, share: Fraction, problem: PointProblem, median_step: str) -> tuple[Part, ...]:
    """Return the parts that a step of this name asks for, one of `MEDIAN_STEPS`: together they have this share."""
    d = problem.n_features
    kernel = problem.kernel if median_step == "weiszfeld" else "mean"
    kind: Kind = Minimizing(d) if median_step == "objective" else Summing(kernel, d)
    parts = zip(_names(name, median_step), _shares(median_step), strict=True)
    return tuple(kind.part(one, share * Fraction(hundredths, 100)) for one, hundredths in parts)


def move_to_medians(
    purse: Purse, problem: PointProblem, centers: FloatArray, radii: FloatArray, name: str, median_step: str
) -> Moved:
    """Ask for one step toward the medians of the centers' cells; only a Weiszfeld step gives weights and margins.

    Within the radii rows are as good as equally near; the name is that of `median_parts`.
    """
    paid = _names(name, median_step)
    if median_step == "weiszfeld":
        return take_step(purse, problem, centers, radii, name)
    if median_step == "objective":
        moved = purse.ask(name, Minimize(centers, radii)).private_points
    else:
        cells = _MedianCells(purse, problem, centers, radii)
        if median_step == "gradient":
            moved = cells.descended(centers, paid, LENGTH * radii, None)
        else:
            warm = cells.warmed(paid[: len(WARM)])
            moved = cells.descended(warm, paid[len(WARM) :], LOCAL_LENGTH * radii / 2, radii)
    return Moved(problem.domain.clip(moved), np.ones(len(centers)), np.full(centers.shape, np.nan))


@dataclass(frozen=True)
class _MedianCells:
    """The cells of public centers, whose medians are looked for."""

    purse: Purse
    problem: PointProblem
    centers: FloatArray
    radii: FloatArray

    def _gradient(self, at: FloatArray, name: str) -> tuple[FloatArray, FloatArray]:
        """Return the noisy mean of unit vectors from points toward the rows of their cells, and the variances of its noise.

        A cell whose noisy size does not stand out of its noise has a mean of nothing, and stays where it is.
        """
        answer = self.purse.ask(name, Sums(self.centers, "mean", self.radii, at))
        weights = np.maximum(answer.private_weights, least_weight(answer.noise))
        vectors = np.where((answer.private_weights >= weights)[:, None], answer.private_vectors, 0.0)
        return vectors / weights[:, None], (answer.noise.vector_std / weights) ** 2

    def warmed(self, names: Sequence[str]) -> FloatArray:
        """Return points nearer to the medians: each step is shrunk by its noise, and half as long as the one before."""
        at, reach = self.centers, LENGTH * self.radii
        for name in names:
            mean, variances = self._gradient(at, name)
            at, reach = self.problem.domain.clip(at + reach[:, None] * shrunk(mean, variances)), reach / 2
        return at

    def descended(self, start: FloatArray, names: Sequence[str], reach: FloatArray, ball: FloatArray | None) -> FloatArray:
        """Return the mean of the points of a noisy gradient descent, later ones weighing more, shrunk by its noise.

        There is a name of a charge for each gradient; the first step is as long as `reach`, and points stay in a ball, if any.
        """
        weights = np.arange(1.0, len(names) + 1) / (len(names) * (len(names) + 1) / 2)
        at, moved, noise = start, np.zeros_like(start), np.zeros(len(start))
        for place, name in enumerate(names):
            mean, variances = self._gradient(at, name)
            length = reach / np.sqrt((place + 1) * (1 + CAUTION * self.problem.n_features * variances))
            offset = at + length[:, None] * mean - start
            if ball is not None:
                offset /= np.maximum(np.sqrt((offset**2).sum(axis=1)) / ball, 1.0)[:, None]
            at = self.problem.domain.clip(start + offset)
            moved += weights[place] * (at - start)
            noise += (length * weights[place:].sum()) ** 2 * variances
        return start + shrunk(moved, NOISE_LEFT * noise)
