"""One candidate by the exponential mechanism, exactly sampled.

Proof: ``proofs/selection.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from spinney.mechanisms.drawing import Draw, NoiseSource
from spinney.privacy import Amount, Charge, Measure, round_up
from spinney.spaces import IntArray


def selection_rho(epsilon: Fraction) -> Fraction:
    """Return the rho of an exponential mechanism of range `epsilon`: epsilon^2 / 8. Not valid for permute-and-flip."""
    return epsilon * epsilon / 8


def selection_epsilon(price: Charge) -> Amount:
    """Return the epsilon an exponential mechanism of this price may run at: itself, or the largest with epsilon^2 / 8 <= rho."""
    if price.amount == math.inf or price.measure is Measure.PURE:
        return price.amount
    epsilon = Fraction(math.sqrt(float(8 * price.amount)))
    while selection_rho(epsilon) > price.amount:
        epsilon = Fraction(math.nextafter(float(epsilon), 0.0))
    return epsilon


def choose(scores: IntArray, score_range: int, price: Charge, source: NoiseSource, rows: int | None = None) -> int:
    """Return the index of a high score, with probability proportional to exp(epsilon * score / score_range).

    One row moves any two scores apart by at most `score_range`, which is public. The price is epsilon, or rho: then the mechanism
    runs at epsilon = sqrt(8 rho). One unit moves `rows` rows, both sides of a replacement counted: for who watches; the price has
    them already.
    """
    epsilon = selection_epsilon(price)
    if epsilon == math.inf:
        return int(np.argmax(scores))
    moves = None if rows is None else rows * score_range
    return int(source.draw(scores, Draw("gumbel", round_up(score_range / Fraction(epsilon)), "range", moves)))
