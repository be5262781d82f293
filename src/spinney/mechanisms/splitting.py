"""Split decisions of a private tree whose noise does not grow with depth (PrivTree), on an integer grid.

A node at depth h below the start with c rows gets the score max(threshold - decay, c - h * decay) plus discrete Laplace
noise, and is split if the result exceeds the threshold. Only the decisions are released: the scores never leave.

The printed constant (Zhang, Xiao and Xie 2016) is for continuous noise. Here the worst path's privacy loss is summed
exactly for the discrete noise that is drawn, and the scale is the smallest that keeps it below the price.

Proof: ``proofs/splitting.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms.drawing import Draw, NoiseSource
from spinney.privacy import Charge, Measure, remembered
from spinney.spaces import IntArray

#: Prices above this are not used up: the noise is far below a row already.
MOST_EPSILON = 1024
#: Most offsets that are tried; between them the loss is bounded.
MOST_OFFSETS = 1024
#: Safety factor over rounding in the float sums of `worst_loss`.
MARGIN = 1 + 1e-9


@dataclass(frozen=True)
class SplitRule:
    """Public constants of the split decisions, in grid steps."""

    scale: float
    decay: int
    threshold: int
    steps_per_row: int

    def decide(self, counts: IntArray, depth: int, source: NoiseSource, rows: int | None = None) -> NDArray[np.bool_]:
        """Return which nodes at this depth below the start are split. Every node gets noise, empty or not.

        One unit moves `rows` rows of a level, both sides of a replacement counted: for who watches; the scale has them already.
        """
        steps = np.minimum(counts, 2**61 // self.steps_per_row) * self.steps_per_row
        if self.scale == 0:
            return steps > self.threshold
        scores = np.maximum(self.threshold - self.decay, steps - depth * self.decay)
        moves = None if rows is None else rows * self.steps_per_row
        noisy: IntArray = source.draw(scores, Draw("laplace", self.scale, "l1", moves, rule=self))
        return noisy > self.threshold


def _log_survival(gap: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return log P(noise > gap) for discrete Laplace noise of this scale."""
    log_alpha = -1.0 / scale
    log_norm = math.log1p(math.exp(log_alpha))
    right = (gap + 1) * log_alpha - log_norm
    left = np.log1p(-np.exp(np.maximum(-gap, 0.0) * log_alpha - log_norm))
    return np.where(gap >= 0, right, left)


def worst_loss(scale: float, decay: int, steps: int, replace: bool) -> float:
    """Return the worst privacy loss, over all trees and rows, of one added, removed or (if `replace`) replaced row.

    Along the path of a row the unclamped scores fall by at least `decay` a level and the loss of a split is unimodal in the
    score, so the worst path has scores exactly `decay` apart; only its offset is searched.
    """
    levels = np.arange(-(steps // decay + 2), math.ceil(45 * scale / decay) + 2)
    # Scores relative to the threshold, one row per offset; the clamp, where the loss is largest, lies at -decay.
    offsets = np.unique(np.linspace(0, decay, min(decay, MOST_OFFSETS) + 1).astype(np.int64))
    y = offsets[:, None] + (levels * decay - decay).astype(np.float64)
    before, after = np.maximum(-decay, y), np.maximum(-decay, y + steps)
    losses = _log_survival(-after, scale) - _log_survival(-before, scale)
    if offsets.size <= decay:  # between two offsets each loss is at most the larger of its ends: it has no peak there
        losses = np.maximum(losses[:-1], losses[1:])
    splits = losses.sum(axis=1).max()
    # Beyond the last level the loss of a split is below exp(-43) and falls by exp(-decay / scale) a level.
    worst = float(splits) + math.exp(-43) / -math.expm1(-decay / scale)
    leaf = steps / scale
    return (worst + leaf if replace else max(worst, leaf)) * MARGIN + 1e-13


@remembered(128)
def _calibrated(epsilon: Fraction, replace: bool, gamma: float) -> tuple[float, int, int]:
    """Return a scale whose worst loss is at most epsilon, its decay of gamma scales rounded up, and the steps per row."""
    steps = 2 ** max(0, math.ceil(math.log2(16 * epsilon)))  # keeps the scale near forty steps, so that rounding is small

    def fits(scale: float) -> bool:
        return Fraction(worst_loss(scale, max(1, math.ceil(gamma * scale)), steps, replace)) <= epsilon

    low, high = 0.0, float(8 * steps / epsilon)
    while not fits(high):
        high *= 2
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high, max(1, math.ceil(gamma * high)), steps


def split_rule(price: Charge, replace: bool, threshold: int = 0, gamma: float = math.log(2)) -> SplitRule:
    """Calibrate the split decisions to a price per row, a public threshold in rows, and a decay in units of the noise scale.

    A price in rho runs at the pure epsilon sqrt(2 rho), which implies it.
    """
    if price.amount == math.inf:
        return SplitRule(0.0, 0, threshold, 1)
    epsilon = Fraction(min(price.amount, MOST_EPSILON))
    if price.measure is Measure.ZCDP:
        root = math.sqrt(float(2 * epsilon))
        while Fraction(root) ** 2 > 2 * epsilon:
            root = math.nextafter(root, 0.0)
        epsilon = Fraction(root)
    scale, decay, steps = _calibrated(epsilon, replace, gamma)
    return SplitRule(scale, decay, threshold * steps, steps)
