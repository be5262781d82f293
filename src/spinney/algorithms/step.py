"""A private step around released centers: clipped Lloyd or Weiszfeld, shrunk by its signal-to-noise ratio.

1. ``radii``  noisy histogram of distances to the centers: each gets the clipping radius at which loss and noise balance.
2. ``step``   noisy sums of clipped offsets. What clipping took is given back, what noise added is taken off.

All but the questions is post-processing of noisy answers and public noise levels. Proof: ``proofs/polish.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.margins import COVER, least_weight, step_margins
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.reading import NOTHING, Occupancy, Summary
from spinney.curators.purse import Purse
from spinney.mechanisms.additive import Noise
from spinney.questions.counts import Counts
from spinney.questions.partitions import Rings
from spinney.questions.sums import Summing, Sums
from spinney.spaces.box import FloatArray
from spinney.spaces.nearest import nearest

#: Distance rings: radii from the domain's diagonal down by factors of the root of 2.
RING_EDGES = 24
#: A Weiszfeld step treats the nearest rows, up to this share of a cluster, as equally near.
NEAR_SHARE = 0.4
#: A column is taken to spread at least this part of the one that spreads most.
NARROWEST = 1e-9


@dataclass(frozen=True)
class Distances:
    """Numbers of rows by center and distance, in units of the columns if there are any.

    ``sure`` has those alone that stand out of all noise.
    """

    edges: FloatArray
    counts: FloatArray
    sure: FloatArray
    widths: FloatArray | None = None

    @property
    def middles(self) -> FloatArray:
        """The distances that rows of a ring are taken to have."""
        found: FloatArray = self.edges / math.sqrt(math.sqrt(2))
        return found

    @property
    def totals(self) -> FloatArray:
        """Rows of each center, at least one."""
        found: FloatArray = np.maximum(self.counts.sum(axis=1), 1)
        return found

    def mean_radii(self, noise: float) -> FloatArray:
        """Return the radii at which what clipping can lose balances noise of this length per unit radius."""
        excess = np.maximum(self.middles[None, :] - self.edges[:, None], 0)  # candidate radius x ring
        lost = self.counts @ excess.T / self.totals[:, None]
        radii: FloatArray = self.edges[np.argmin(lost**2 + (noise * self.edges[None, :] / self.totals[:, None]) ** 2, axis=1)]
        return radii

    def median_radii(self) -> FloatArray:
        """Return the radii that hold the nearest share of each cluster's rows."""
        shares = self.counts.cumsum(axis=1) / self.totals[:, None]
        radii: FloatArray = self.edges[np.argmax(shares >= NEAR_SHARE, axis=1)]
        return radii

    def kept(self, radii: FloatArray) -> FloatArray:
        """Return the part of the offsets from each center that clipping to these radii leaves on average."""
        parts = np.minimum(radii[:, None] / self.middles, 1)
        sums = self.counts.sum(axis=1)
        kept: FloatArray = np.where(sums > 0, (self.counts * parts).sum(axis=1) / np.maximum(sums, NOTHING), 1)
        return kept


def ring_edges(problem: PointProblem) -> FloatArray:
    """Return the public distances at which clusters are cut into rings."""
    edges: FloatArray = 2 * problem.domain.half_diagonal * 2.0 ** (-np.arange(RING_EDGES)[::-1] / 2)
    return edges


def ask_distances(
    purse: Purse,
    problem: PointProblem,
    centers: FloatArray,
    name: str,
    summary: Summary | None = None,
    widths: FloatArray | None = None,
) -> Distances:
    """Ask how many rows lie at which distance from the nearest center; a summary tells where no ring stands out of its noise.

    Distances are in the units that a step clips in (`step_widths`): rows of a small cluster may lie far off along a column that
    is narrow for all rows.
    """
    edges = ring_edges(problem)
    answer = purse.ask(name, Counts(Rings(centers, edges, widths)))
    expected = np.zeros((len(centers), len(edges))) if summary is None else expected_rings(summary, centers, edges, widths)
    counts = answer.private_counts[:, :-1]  # beyond the last edge no row lies, in plain units
    sure = np.where(counts > answer.noise.quantile(COVER ** (1 / counts.size)), counts, 0).astype(np.float64)
    return Distances(edges, likely_rings(counts, answer.noise, expected), sure, widths)


def expected_rings(summary: Summary, centers: FloatArray, edges: FloatArray, widths: FloatArray | None) -> FloatArray:
    """Return how many rows a summary expects within each ring."""
    k, m = len(centers), len(edges)
    squares, labels = nearest(summary.points, centers)
    if widths is not None:
        squares = (((summary.points - centers[labels]) / widths) ** 2).sum(axis=1)
    places = np.minimum(np.searchsorted(edges, np.sqrt(squares + summary.spreads**2)), m - 1)
    return np.bincount(labels * m + places, summary.weights, k * m).astype(np.float64).reshape(k, m)


def ring_priors(expected: FloatArray) -> FloatArray:
    """Return how likely each ring is to have rows before it is counted: half as likely at twice the distance of expected rows."""
    m = expected.shape[1]
    near = expected @ 0.5 ** (np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / 2)
    top = near.max(axis=1, keepdims=True)
    priors: FloatArray = np.where(top > 0, np.maximum(near / np.maximum(top, NOTHING), 1 / m), 1)
    return priors


def likely_rings(private_counts: NDArray[np.int64], noise: Noise, expected: FloatArray) -> FloatArray:
    """Return how many rows each ring is likely to have; of a center without any what is expected, or the average of all."""
    counts = private_counts.astype(np.float64)
    if noise.distribution != "none":
        found = Occupancy.of(private_counts.ravel(), noise, ring_priors(expected).ravel())
        counts = np.where(found.has_rows > 0.5, found.counts, 0).reshape(private_counts.shape)
    unknown, known = counts.sum(axis=1) == 0, expected.sum(axis=1) > 0
    counts[unknown] = np.where(known[unknown, None], expected[unknown], counts.mean(axis=0))
    return counts


def shrunk(steps: FloatArray, variances: FloatArray, sides: FloatArray | None = None) -> FloatArray:
    """Return noisy steps shortened, or moved toward one level of all columns, the more the less they stand out of their noise.

    James and Stein's estimate, around zero or around a common share of the columns' sides: many columns of one kind, such as
    pixels, may have a level to find where none of them stands out. Variances are of the noise in each coordinate of a step.
    """
    level = np.zeros_like(steps) if sides is None else np.outer(steps @ sides / (sides @ sides), sides)
    noise = variances * max(steps.shape[1] - (sides is not None), 0)
    with np.errstate(over="ignore"):  # then nothing is shortened
        square = np.maximum(((steps - level) ** 2).sum(axis=1), noise)
    kept: FloatArray = level + (1 - noise / np.maximum(square, NOTHING))[:, None] * (steps - level)
    return kept


def shrunk_together(steps: FloatArray, variances: FloatArray, centers: FloatArray, sides: FloatArray) -> FloatArray:
    """Return noisy steps moved toward what they have in common: one step, and a contraction of all centers toward their mean.

    If a summary lies beside the rows, all centers have the same way to go; if it sees little, they begin too far apart. What is
    in common has less noise than each step. The common step is believed as far as it stands out of how much steps differ.
    """
    d, parts = steps.shape[1], 1 / np.maximum(variances, NOTHING)
    parts = parts / parts.sum()
    common = parts @ steps
    with np.errstate(over="ignore"):  # then nothing is in common
        differences = np.maximum(((steps - common) ** 2).sum(axis=1) / d, variances)
        common = shrunk(common[None, :], (parts**2 @ differences)[None], sides)
        apart = centers - parts @ centers
        nearer = np.clip(parts @ ((steps - common) * apart).sum(axis=1) / max(parts @ (apart**2).sum(axis=1), NOTHING), -1, 0)
    common = common + nearer * apart
    together: FloatArray = common + shrunk(steps - common, variances)
    return together


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


@dataclass(frozen=True)
class Moved:
    """Moved centers, their noisy weights, none below the least, and how far noise may have moved each coordinate."""

    centers: FloatArray
    weights: FloatArray
    margins: FloatArray
    least_weight: float = 0.0


def take_step(
    purse: Purse, problem: PointProblem, centers: FloatArray, radii: FloatArray, name: str, distances: Distances | None = None
) -> Moved:
    """Ask for one step with these clipping radii, paid by the charge of this name.

    Distances tell the units of columns, and which part of the offsets clipping left: a step toward a mean is lengthened by it.
    """
    widths = None if distances is None else distances.widths
    answer = purse.ask(name, Sums(centers, problem.kernel, radii, widths=widths))
    weights = np.maximum(answer.private_weights, least_weight(answer.noise))
    if distances is not None and problem.power == 2:
        radii = radii / distances.kept(radii)
    sides = (problem.domain.upper - problem.domain.lower) / (1 if widths is None else widths)
    steps, stds = radii[:, None] * answer.private_vectors / weights[:, None], radii * answer.noise.vector_std / weights
    steps = shrunk_together(steps, stds**2, centers / (1 if widths is None else widths), sides)
    if problem.power == 2:  # no mean of offsets is longer than the radius that they were clipped to
        steps *= (radii / np.maximum(np.sqrt((steps**2).sum(axis=1)), radii))[:, None]
    moved = problem.domain.clip(centers + steps * (1 if widths is None else widths))
    return Moved(moved, weights, step_margins(answer, radii, widths), least_weight(answer.noise))


def move(purse: Purse, problem: PointProblem, centers: FloatArray, distances: Distances, name: str) -> Moved:
    """Ask for one step with clipping radii that suit the distances of the rows."""
    if problem.power == 1:
        return take_step(purse, problem, centers, distances.median_radii(), name, distances)
    widths = np.ones(problem.n_features) if distances.widths is None else distances.widths
    noise = purse.preview(Summing(problem.kernel, problem.n_features), name).vector_std
    radii = distances.mean_radii(float(np.linalg.norm(widths)) * noise)
    return take_step(purse, problem, centers, radii, name, distances)
