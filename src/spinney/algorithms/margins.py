"""How far noise may have moved a center: 95% margins for every coordinate, from a released answer and public scales of noise.

A step goes to ``radius (V + x) / (W + y)``, where V is the sum of clipped offsets in radii, W their weight, and x and y are
noise. Without noise it would go to ``radius V / W``. The difference is exactly ``radius / (W + y)`` times ``x - (V / W) y``: the
noisy weight is released, the scales of x and y are public, and V / W is taken from the noisy step. So nothing more is asked.

Proof: ``proofs/polish.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from spinney.mechanisms import Noise
from spinney.questions.sums import RADIUS_STEPS, StepNoise, SumAnswer
from spinney.spaces import FloatArray

#: How often the noise of a coordinate stays within its margin.
COVER = 0.95
#: Margins are a little wider than their law asks for: V / W is known with noise alone.
SLACK = 1.03
#: Halvings of an interval in the search for a quantile: more than a margin shows digits.
HALVINGS = 40


def _laplace_beyond(first: float, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return what tells the probability that the sum of two Laplace variables of these scales lies further out than some t.

    ``(a^2 exp(-t/a) - b^2 exp(-t/b)) / (a^2 - b^2)``, and where the scales are nearly one ``(1 + t/(2a)) exp(-t/a)``.
    """
    apart = np.abs(first - second) > 1e-6 * first
    other = np.where(apart, np.maximum(second, 1e-12 * first), first / 2)
    square, other_square = first**2, other**2
    difference, all_apart = square - other_square, bool(apart.all())

    def beyond(reach: FloatArray) -> FloatArray:
        tail = np.exp(-reach / first)
        each: FloatArray = (square * tail - other_square * np.exp(-reach / other)) / difference
        return each if all_apart else np.where(apart, each, (1 + reach / (2 * first)) * tail)

    return beyond


def joint_quantile(vectors: Noise, weights: Noise, shares: FloatArray, ratio: float) -> FloatArray:
    """Return h such that the noise of a vector, less a share of the noise of a weight, lies within [-h, h] in `COVER` of cases.

    A step of the weight is `ratio` steps of a vector.
    """
    if vectors.distribution == "none":
        return np.zeros_like(shares)
    other = np.abs(shares) * ratio
    if vectors.distribution == weights.distribution == "laplace":
        low = np.zeros_like(shares)
        high = -math.log((1 - COVER) / 4) * (vectors.scale + other * weights.scale)
        beyond = _laplace_beyond(vectors.scale, other * weights.scale)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            is_near = beyond(middle) > 1 - COVER
            low, high = np.where(is_near, middle, low), np.where(is_near, high, middle)
        return np.asarray(high)
    if vectors.distribution == weights.distribution == "gaussian":
        normal = NormalDist().inv_cdf((1 + COVER) / 2)
        return np.asarray(normal * np.hypot(vectors.std, other * weights.std))
    # Shapes that do not mix by a formula: quantiles add up like standard deviations, which is a little wide.
    return np.asarray(np.hypot(vectors.quantile(COVER), other * weights.quantile(COVER)))


def least_weight(noise: StepNoise) -> float:
    """Return the noisy weight that a step is divided by at least; below it nothing is told of a margin."""
    return max(2 * noise.weight_std, 1e-9)


def step_margins(answer: SumAnswer, radii: FloatArray, widths: FloatArray | None = None) -> FloatArray:
    """Return the margin of every coordinate of a noisy step, before it is shortened; NaN where too few rows are seen to tell.

    The answer is in these radii, and in these units of the columns; or the step makes them as long.
    """
    noise, weights = answer.noise, answer.private_weights
    told = weights > least_weight(noise)
    safe = np.where(told, weights, 1.0)[:, None]
    # No mean of clipped offsets is longer than the radius, but for the noise in it; a step toward a median may be.
    longest = 1.0 if noise.weight_steps == 1 else np.inf
    shares = np.clip(answer.private_vectors / safe, -longest, longest)
    reach = joint_quantile(noise.vectors, noise.weights, shares, RADIUS_STEPS / noise.weight_steps) / RADIUS_STEPS
    margins = SLACK * radii[:, None] * reach / safe * (1.0 if widths is None else widths)
    return np.where(told[:, None], margins, np.nan)


def unmoved(margins: FloatArray, k: int) -> FloatArray:
    """Return margins of k centers, of which the last ones were not moved by a step and have none."""
    found = np.full((k, margins.shape[1]), np.nan)
    found[: len(margins)] = margins
    return found
