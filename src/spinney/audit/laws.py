"""The exact laws of the discrete mechanisms: what each draw gives with which probability."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.mechanisms.drawing import Draw

FloatArray = NDArray[np.float64]


def noise_law(distribution: str, scale: float, values: ArrayLike) -> FloatArray:
    """Return the probability that discrete Laplace or Gaussian noise of this scale takes each of these values."""
    values = np.asarray(values, dtype=np.float64)
    if distribution == "laplace":
        shrink = -1 / scale
        law: FloatArray = -math.expm1(shrink) / (1 + math.exp(shrink)) * np.exp(np.abs(values) * shrink)
        return law
    reach = int(40 * scale) + 40
    far = np.arange(-reach, reach + 1)
    law = np.exp(-(values**2) / (2 * scale**2)) / np.exp(-(far**2) / (2 * scale**2)).sum()
    return law


def select_law(scores: ArrayLike, scale: float) -> FloatArray:
    """Return the probability that each score plus Gumbel noise of this scale is the largest: the exponential mechanism."""
    scores = np.asarray(scores, dtype=np.float64)
    weights = np.exp((scores - scores.max()) / scale)
    law: FloatArray = weights / weights.sum()
    return law


def split_law(scores: ArrayLike, scale: float, threshold: int, passes: ArrayLike) -> FloatArray:
    """Return the log probability that each score with discrete Laplace noise passes the threshold, or does not."""
    gap = threshold - np.asarray(scores, dtype=np.float64)
    norm = math.log1p(math.exp(-1 / scale))
    # The smaller tail: P(noise > gap) if the gap is not negative, else P(noise <= gap) = P(noise >= -gap).
    tail = -np.where(gap >= 0, gap + 1, -gap) / scale - norm
    is_tail = (gap >= 0) == np.asarray(passes)
    logs: FloatArray = np.where(is_tail, tail, np.log1p(-np.exp(tail)))
    return logs


def cube_law(scale: float, values: ArrayLike) -> FloatArray:
    """Return the probability that noise shaped like a cube takes each of these values, along the last axis."""
    values = np.asarray(values, dtype=np.float64)
    columns = values.shape[-1]
    radii = np.arange(int(60 * scale * (columns + 1)) + 60)
    # A cube's shell of radius r has (2 r + 1)^d - (2 r - 1)^d points, and the middle is one.
    shells = (2.0 * radii + 1) ** columns - np.where(radii > 0, 2.0 * radii - 1, 0.0) ** columns
    law: FloatArray = np.exp(-np.abs(values).max(axis=-1) / scale) / float(shells @ np.exp(-radii / scale))
    return law


def _cube_law(scale: float, exact: NDArray[np.int64], width: int) -> tuple[list[Any], FloatArray]:
    """Return all values of cells near enough, and the probability of each for each of several data sets."""
    cells = exact.reshape(len(exact), -1, exact.shape[-1])
    grid = np.arange(exact.min() - width, exact.max() + width + 1)
    answers = np.array(list(itertools.product(grid, repeat=exact[0].size)), dtype=np.int64).reshape(-1, *cells.shape[1:])
    law = np.prod([cube_law(scale, answers[:, None, at] - cells[None, :, at]) for at in range(cells.shape[1])], axis=0)
    return list(answers.reshape(-1, *exact.shape[1:])), law


def draw_law(draw: Draw, exact: NDArray[np.int64], reach: float) -> tuple[list[Any], FloatArray]:
    """Return what a draw may give, and the probability of each for each of several data sets, of which `exact` has a row each.

    Additive noise is cut off at `reach` of its scales; what is cut off is missing from the sum.
    """
    if draw.distribution == "gumbel":
        return list(range(exact.shape[1])), np.array([select_law(scores, draw.scale) for scores in exact]).T
    if draw.rule is not None:  # only decisions leave
        threshold = draw.rule.threshold
        choices = np.array(list(itertools.product([False, True], repeat=exact.shape[1])), dtype=bool)
        logs = split_law(exact[None], draw.scale, threshold, choices[:, None, :]).sum(axis=2)
        return [np.where(choice, threshold + 1, threshold) for choice in choices], np.exp(logs)
    width = max(1, int(np.ceil(reach * draw.scale)))
    if draw.distribution == "ball":
        raise ValueError("noise shaped like a ball has no law in closed form")
    if draw.distribution == "cube":
        return _cube_law(draw.scale, exact, width)
    grid = np.arange(exact.min() - width, exact.max() + width + 1)
    single = noise_law(draw.distribution, draw.scale, grid[:, None] - exact.ravel()).reshape(len(grid), *exact.shape)
    places = np.array(list(itertools.product(range(len(grid)), repeat=exact.shape[1])), dtype=np.int64)
    law = np.ones((len(places), len(exact)))
    for slot in range(exact.shape[1]):
        law *= single[places[:, slot], :, slot]
    return list(grid[places].astype(np.int64)), law
