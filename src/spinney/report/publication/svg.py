"""Pieces of pictures: text that cannot become markup, and numbers in few letters."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from spinney.report.publication.document import clean

__all__ = ["PALETTE", "axes", "fraction", "label", "lattice", "place"]

#: Colors of clusters: each has a contrast of at least 4.5 with white, for the number on it.
PALETTE = ("#1f5f99", "#a3470a", "#1f7a3a", "#8a2a83", "#8a6100", "#b3243a", "#28707a", "#5c5c9e", "#6b6b1e", "#6d4c41")


def place(value: float) -> str:
    """Return a coordinate in few letters."""
    return f"{value:.1f}".removesuffix(".0")


def fraction(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return where values are between two bounds, in [0, 1]; halves first, because the widest bounds overflow."""
    width = high / 2 - low / 2
    if not width > 0:
        return np.full(np.shape(values), 0.5)
    return np.clip((np.asarray(values, dtype=np.float64) / 2 - low / 2) / width, 0.0, 1.0)


def label(x: float, y: float, text: object, more: str = "", letters: int | None = None) -> str:
    """Return a text at a place."""
    return f'<text x="{place(x)}" y="{place(y)}"{more}>{escape(clean(text, letters))}</text>'


def axes(box: tuple[float, float, float, float], names: Sequence[str], bounds: Sequence[tuple[str, str]]) -> str:
    """Return a frame with the ends of both columns, and their names.

    Parameters
    ----------
    box : tuple of float
        Left, top, right and bottom.
    names : sequence of str
        Of the column to the right, and of the one upwards.
    bounds : sequence of pairs of str
        The ends of both.
    """
    left, top, right, bottom = box
    (low, high), middle, center = bounds[0], (left + right) / 2, (top + bottom) / 2
    turned = f' text-anchor="middle" transform="rotate(-90 {place(left - 9)} {place(center)})"'
    parts = [
        f'<rect class="f" x="{place(left)}" y="{place(top)}" width="{place(right - left)}" height="{place(bottom - top)}"/>',
        label(left, bottom + 16, low),
        label(right, bottom + 16, high, ' text-anchor="end"'),
        label(middle, bottom + 16, names[0], ' text-anchor="middle"', 26),
    ]
    if len(bounds) > 1:
        low, high = bounds[1]
        end = f' text-anchor="end" transform="rotate(-90 {place(left - 9)} {place(top)})"'
        start = f' transform="rotate(-90 {place(left - 9)} {place(bottom)})"'
        parts += [label(left - 9, top, high, end), label(left - 9, bottom, low, start)]
        parts.append(label(left - 9, center, names[1], turned, 22))
    return "".join(parts)


def lattice(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64], colors: NDArray[np.int64], cells: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return points in [0, 1], the points of one cell pooled, in the color of the heaviest, so that pictures stay small."""
    keep = weights > 0
    x, y, weights, colors = x[keep], y[keep], weights[keep] / max(float(weights.max(initial=0.0)), 1e-300), colors[keep]
    codes = np.minimum((x * cells).astype(np.int64), cells - 1) * cells + np.minimum((y * cells).astype(np.int64), cells - 1)
    order = np.lexsort((-weights, codes))
    _, first, inverse = np.unique(codes[order], return_index=True, return_inverse=True)
    x, y, weights, colors = x[order], y[order], weights[order], colors[order]
    total = np.bincount(inverse, weights).astype(np.float64)
    safe = np.maximum(total, 1e-300)
    return np.bincount(inverse, weights * x) / safe, np.bincount(inverse, weights * y) / safe, total, colors[first]
