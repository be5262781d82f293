"""A private step around released centers: clipped Lloyd or Weiszfeld, shrunk by its signal-to-noise ratio.

Everything here but the question itself is post-processing of noisy answers and public noise levels.

Proof: ``proofs/polish.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.margins import least_weight, step_margins
from spinney.algorithms.problem import Charges, PointProblem
from spinney.curators.gate import Curator
from spinney.mechanisms.additive import Noise
from spinney.privacy.charges import Charge, Measure
from spinney.questions.counts import Counts
from spinney.questions.partitions import Rings
from spinney.questions.sums import Summing, Sums
from spinney.solvers.nearest import nearest
from spinney.spaces.box import FloatArray

__all__ = [
    "Moved",
    "RingHistogram",
    "WeightedLeaves",
    "ask_rings",
    "completed",
    "noise_length",
    "polish",
    "shrunk",
    "step_widths",
    "supported",
    "take_step",
    "together",
]

#: Distance rings: radii from the domain's diagonal down by factors of sqrt(2).
RING_EDGES = 24
#: A Weiszfeld step treats the nearest rows, up to this share of a cluster, as equally near.
NEAR_SHARE = 0.4
#: A ring of all centers together counts if it holds so many standard deviations of its noise.
POOLED_STDS = 3.0
#: A step is supported if its noise is at most this part of its clipping radius.
SUPPORT = 0.5
#: This part of its noise shortens a step of several centers. A row takes the nearest of them, so errors that part centers cost
#: less than those that draw them together. Where noise is pure, more of them are moved by noise alone: all of it has to go.
SHORTENS = {Measure.ZCDP: 0.7, Measure.PURE: 1.0}
#: A column is taken to spread at least this part of the one that spreads most.
NARROWEST = 1e-9


class RingHistogram:
    """Noisy numbers of rows by center and distance, in units of the widths if there are any.

    ``expected`` are those that a summary tells, asked for where needed.
    """

    def __init__(
        self,
        edges: FloatArray,
        private_counts: FloatArray,
        noise: Noise,
        expected: Callable[[], FloatArray] | None = None,
        widths: FloatArray | None = None,
    ) -> None:
        self.edges, self._private_counts, self._noise, self.widths = edges, private_counts, noise, widths
        # A ring that does not stand out of the noise of all rings is taken as empty: one far ring that is only noise would blow
        # up a radius. In plain units no row lies beyond the last edge; in others one that does is left out.
        cut = noise.quantile(1 - 1 / private_counts.size)
        counts = np.where(private_counts < cut, 0.0, private_counts)[:, :-1]
        # A center of which no ring stands out takes the average of all centers, or better what is expected of its own rows: those
        # of a small cluster often lie further away than most.
        pooled, least = private_counts[:, :-1].sum(axis=0), POOLED_STDS * noise.std * math.sqrt(len(counts))
        unknown = counts.sum(axis=1) == 0
        counts[unknown] = np.where(pooled < least, 0.0, pooled) / len(counts)
        if expected is not None and unknown.any():
            known = expected()
            unknown &= known.sum(axis=1) > 0
            counts[unknown] = known[unknown]
        self.counts = counts
        self.totals = np.maximum(counts.sum(axis=1), 1.0)

    def step_radii(self, problem: PointProblem, charge: Charge, widths: FloatArray | None = None) -> FloatArray:
        """Return the clipping radii for a step that this charge pays for."""
        return self.median_radii() if problem.power == 1 else self.mean_radii(noise_length(problem, charge, widths))

    def squared_lengths(self, offsets: FloatArray) -> FloatArray:
        """Return the squared lengths of offsets, in the units of these distances."""
        squares: FloatArray = ((offsets if self.widths is None else offsets / self.widths) ** 2).sum(axis=1)
        return squares

    def typical_distance(self) -> float:
        """Return the root mean square distance of all rows from their centers; that of the domain if nothing stands out."""
        squares = (self.edges / 2**0.25) ** 2
        total = self.counts.sum()
        return math.sqrt(float((self.counts @ squares).sum() / total) if total > 0 else float(squares[-1]))

    def mean_squares(self) -> FloatArray:
        """Return the mean squared distance of each center's rows."""
        squares: FloatArray = self.counts @ (self.edges / 2**0.25) ** 2 / self.totals
        return squares

    def seem_empty(self, stds: float) -> NDArray[np.bool_]:
        """Say of which centers no ring stands out, nor all of them together by so many standard deviations of their noise."""
        standing = (self._private_counts[:, :-1] >= self._noise.quantile(1 - 1 / self._private_counts.size)).any(axis=1)
        noise = self._noise.std * math.sqrt(self._private_counts.shape[1])
        empty: NDArray[np.bool_] = ~standing & (self._private_counts.sum(axis=1) < stds * noise)
        return empty

    def likely_distance(self, n: float) -> float:
        """Return the root mean square distance that is likely if so many rows lie in two rings beside each other.

        Where no ring stands out of its noise all of them together still tell, by the law of Gaussian noise.
        """
        squares, counts = (self.edges / 2**0.25) ** 2, self._private_counts[:, :-1].sum(axis=0)
        pairs, variance = counts[1:] + counts[:-1], max(self._noise.std, 1.0) ** 2 * len(self._private_counts)
        chances = np.exp(n * (pairs - pairs.max()) / (2 * variance))
        return math.sqrt(float(chances @ (squares[1:] + squares[:-1]) / (2 * chances.sum())))

    def mean_radii(self, sum_std: float) -> FloatArray:
        """Return the radii at which what clipping can lose balances noise of this length per unit radius."""
        middles = self.edges / 2**0.25
        excess = np.maximum(middles[None, :] - self.edges[:, None], 0.0)  # candidate radius x ring
        lost = self.counts @ excess.T / self.totals[:, None]
        noise = sum_std * self.edges[None, :] / self.totals[:, None]
        radii: FloatArray = self.edges[np.argmin(lost**2 + noise**2, axis=1)]
        return radii

    def kept(self, radii: FloatArray) -> FloatArray:
        """Return the part of the offsets from each center that clipping to these radii leaves on average; all if none are seen.

        Rows in many columns lie at much the same distance, so that clipping shortens all offsets, and with them their mean.
        """
        parts = np.minimum(radii[:, None] / (self.edges / 2**0.25), 1.0)
        sums = self.counts.sum(axis=1)
        kept: FloatArray = np.where(sums > 0, (self.counts * parts).sum(axis=1) / np.maximum(sums, 1e-300), 1.0)
        return kept

    def of(self, sources: NDArray[np.int64]) -> RingHistogram:
        """Return the histogram of other centers, each of which stands for one of these."""
        other = copy(self)
        other._private_counts, other.counts, other.totals = (
            self._private_counts[sources],
            self.counts[sources],
            self.totals[sources],
        )
        return other

    def median_radii(self) -> FloatArray:
        """Return the radii that hold the nearest share of each cluster's rows."""
        shares = self.counts.cumsum(axis=1) / self.totals[:, None]
        radii: FloatArray = self.edges[np.argmax(shares >= NEAR_SHARE, axis=1)]
        return radii


def ring_edges(problem: PointProblem) -> FloatArray:
    """Return the public distances at which clusters are cut into rings."""
    edges: FloatArray = 2 * problem.domain.half_diagonal * 2.0 ** (-np.arange(RING_EDGES)[::-1] / 2.0)
    return edges


@dataclass(frozen=True)
class WeightedLeaves:
    """A private summary: a point of each leaf of a tree, how far its rows spread around it, and about how many it has."""

    points: FloatArray
    spreads: FloatArray
    weights: FloatArray

    def rings(self, centers: FloatArray, edges: FloatArray, widths: FloatArray | None = None) -> FloatArray:
        """Return how many rows of each center are expected within each ring, in units of the widths."""
        squares, labels = nearest(self.points, centers)
        if widths is not None:
            squares = (((self.points - centers[labels]) / widths) ** 2).sum(axis=1)
        places = np.minimum(np.searchsorted(edges, np.sqrt(squares + self.spreads**2)), len(edges) - 1)
        slots = np.bincount(labels * len(edges) + places, self.weights, len(centers) * len(edges)).astype(np.float64)
        return slots.reshape(len(centers), len(edges))


def ask_rings(
    curator: Curator,
    problem: PointProblem,
    centers: FloatArray,
    charge: Charge,
    known: WeightedLeaves | None = None,
    widths: FloatArray | None = None,
) -> RingHistogram:
    """Ask how many rows lie at which distance from the nearest center; of means a summary tells where no ring stands out.

    Distances are in the units that a step clips in (`step_widths`): rows of a small cluster may lie far off along a column that
    is narrow for all rows. The radius of a median is a quantile of distances, which those of whole leaves do not tell.
    """
    edges = ring_edges(problem)
    answer = curator.ask(Counts(Rings(centers, edges, widths)), charge)
    expected = None
    if known is not None and len(known.points) and problem.power == 2:
        expected = partial(known.rings, centers, edges, widths)
    return RingHistogram(edges, answer.private_counts.astype(np.float64), answer.noise, expected, widths)


def shrunk(steps: FloatArray, variances: FloatArray, widths: FloatArray | None = None) -> FloatArray:
    """Return noisy steps shortened, or moved toward one level for all columns, the more the less they stand out of their noise.

    James and Stein's estimate, around zero or around a common share of the columns' widths.

    Parameters
    ----------
    steps : array of shape (k, d)
    variances : array of shape (k,)
        Of the noise in each coordinate.
    widths : array of shape (d,), optional
        Of the columns, for a level.
    """
    level = np.zeros_like(steps) if widths is None else (steps / widths).mean(axis=1)[:, None] * widths
    noise = variances * max(steps.shape[1] - (0 if widths is None else 1), 0)
    with np.errstate(over="ignore"):  # then nothing is shortened
        square = np.maximum(((steps - level) ** 2).sum(axis=1), noise)
    kept: FloatArray = level + (1 - noise / np.maximum(square, 1e-300))[:, None] * (steps - level)
    return kept


def step_widths(problem: PointProblem, spreads: FloatArray) -> FloatArray | None:
    """Return the units of columns in which the noise of a step is least, if rows spread so far along each; none for medians.

    Noise and clipping in proportion to the root of a spread: all noise together is then (sum s)^2 instead of d sum s^2. An offset
    that spreads as the rows do is as long in these units as in plain ones. A Weiszfeld step needs plain lengths.
    """
    if problem.power == 1:
        return None
    spreads = np.maximum(spreads, NARROWEST * spreads.max())
    widths: FloatArray = np.sqrt(spreads * spreads.sum() / (spreads**2).sum())
    return widths


def noise_length(problem: PointProblem, charge: Charge, widths: FloatArray | None = None) -> float:
    """Return the length of the noise in a sum that this charge pays for, in radii, from public facts alone."""
    d = problem.n_features
    length = math.sqrt(d if widths is None else float((widths**2).sum()))
    return length * float(Summing(problem.kernel, d).noise(charge, problem.unit).vector_std)


@dataclass(frozen=True)
class Moved:
    """Moved centers, their noisy weights, all positive, how far noise may have moved each coordinate, and that of the weights."""

    centers: FloatArray
    weights: FloatArray
    margins: FloatArray
    weight_std: float


def take_step(
    curator: Curator,
    problem: PointProblem,
    centers: FloatArray,
    radii: FloatArray,
    charge: Charge,
    leveled: bool = False,
    widths: FloatArray | None = None,
    kept: FloatArray | None = None,
) -> Moved:
    """Ask for one step with these clipping radii; return the moved centers, their noisy weights and their margins.

    A step toward a mean is lengthened by the part of its offsets that clipping left each center, if that is known (`kept`). Noisy
    steps are shortened, or if `leveled` moved toward one level of all columns: many columns of one kind, such as pixels, may have
    a level to find where none of them stands out.
    """
    answer = curator.ask(Sums(centers, problem.kernel, radii, widths=widths), charge)
    weights = np.maximum(answer.private_weights, least_weight(answer.noise))
    if kept is not None and problem.power == 2:
        radii = radii / kept
    steps = radii[:, None] * answer.private_vectors / weights[:, None]
    levels = problem.domain.upper - problem.domain.lower if leveled else None
    part = SHORTENS[charge.measure] if len(centers) > 1 else 1.0
    steps = shrunk(steps, part * (radii * answer.noise.vector_std / weights) ** 2, levels)
    if problem.power == 2:  # no mean of offsets is longer than the radius that they were clipped to
        steps *= (radii / np.maximum(np.sqrt((steps**2).sum(axis=1)), radii))[:, None]
    moved = problem.domain.clip(centers + (steps if widths is None else widths * steps))
    return Moved(moved, weights, step_margins(answer, radii, widths), answer.noise.weight_std)


def polish(
    curator: Curator,
    problem: PointProblem,
    centers: FloatArray,
    rings: RingHistogram,
    charge: Charge,
    widths: FloatArray | None = None,
) -> Moved:
    """Ask for one step with clipping radii from a histogram of distances; return what `take_step` does."""
    radii = rings.step_radii(problem, charge, widths)
    return take_step(curator, problem, centers, radii, charge, widths=widths, kept=rings.kept(radii))


def together(charges: Charges, names: Sequence[str]) -> Charge:
    """Return what the charges of these names would pay for together, to look at its noise; nothing is asked or spent."""
    amount = sum((charges[name].amount for name in names), start=Fraction(0))
    return Charge(" + ".join(names), "sums", charges[names[0]].measure, amount)


def supported(problem: PointProblem, n: float, charge: Charge, widths: FloatArray | None = None, most: int | None = None) -> int:
    """Return how many clusters of equal size a step that this charge pays for can move: at least one, and at most k.

    Parameters
    ----------
    problem : PointProblem
    n : float
        Rows: a noisy number, or a guess.
    charge : Charge
    widths : array of shape (d,), optional
        Units of the columns; columns spread alike without them.
    most : int, optional
        At most so many, if not k.
    """
    length, most = noise_length(problem, charge, widths), problem.k if most is None else most
    return int(np.clip(SUPPORT * n / length, 1, most)) if length > 0 else most


def completed(centers: FloatArray, candidates: FloatArray, points: FloatArray, weights: FloatArray, power: int) -> FloatArray:
    """Add candidates until there are as many centers as candidates: each the one that lowers the cost of the points most."""
    if len(centers) >= len(candidates):
        return centers
    costs = (
        np.column_stack([nearest(points, one[None, :])[0] for one in candidates])
        if len(points)
        else np.zeros((0, len(candidates)))
    )
    now = nearest(points, centers)[0] if len(points) else np.zeros(0)
    if power == 1:
        costs, now = np.sqrt(costs), np.sqrt(now)
    left = list(range(len(candidates)))
    while len(centers) < len(candidates):
        totals = weights @ np.minimum(costs[:, left], now[:, None])
        best = left.pop(int(np.argmin(totals)))
        centers, now = np.vstack([centers, candidates[best]]), np.minimum(now, costs[:, best])
    return centers
