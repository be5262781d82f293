"""What all pictures share: a figure without a window, titles that fit, and labels that do not cover each other."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Colors of clusters: each has a contrast of at least 4.5 with white, for the number on it.
PALETTE = ("#1f5f99", "#a3470a", "#1f7a3a", "#8a2a83", "#8a6100", "#b3243a", "#28707a", "#5c5c9e", "#6b6b1e", "#6d4c41")
#: Dots per inch of a picture.
DPI = 110
#: Makes a figure of a given width and height in inches.
NewFigure = Callable[[float, float], Any]
#: The size of a title in points, and how wide a letter is, on average, in its size; a title is broken into lines by it.
TITLE, LETTER = 11, 0.52
#: So often each label looks for its place.
ROUNDS = 3
#: Where a label may be, seen from its point: right, left, above, below and the corners, near and then farther.
DIRECTIONS = ((1, 0.4), (-1, 0.4), (1, -0.6), (-1, -0.6), (0, 1), (0, -1), (1, 1.2), (-1, 1.2), (1, -1.4), (-1, -1.4))
REACHES = (7, 15, 26, 40, 58)


def new_figure(width: float, height: float) -> Any:
    """Return a figure of this width and height in inches; matplotlib is imported only now."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def entitle(figure: Any, width: float, *lines: str) -> None:
    """Write lines above a figure of this width in inches, broken where they are too long."""
    letters, parts = int((width - 0.4) * 72 / (TITLE * LETTER)), list[str]()
    for line in lines:
        even = -(-len(line) // -(-len(line) // letters)) + 6 if line else letters  # lines of about one length
        parts += textwrap.wrap(line, min(letters, even), break_on_hyphens=False)
    figure.suptitle("\n".join(parts), fontsize=TITLE)


def cut(name: str, letters: int) -> str:
    """Return a name in at most this many letters."""
    return name if len(name) <= letters else name[: letters - 3] + "..."


def _overlap(box: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the area that a box (left, bottom, right, top) shares with others."""
    if not len(others):
        return 0.0
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    return float((np.maximum(width, 0) * np.maximum(height, 0)).sum())


def place_labels(axis: Any, points: NDArray[np.float64], texts: Sequence[str], size: float = 8, marker: float = 6) -> None:
    """Write a label beside each point where it covers least of other labels and points; the layout is settled here, and stays.

    Letters have this size, and markers of points twice this width, in points.
    """
    figure = axis.figure
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    pixels, renderer = figure.dpi / 72, figure.canvas.get_renderer()
    places = axis.transData.transform(points)
    window = axis.get_window_extent(renderer)
    half = marker * pixels
    marks, boxes = np.column_stack([places - half, places + half]), np.empty((0, 4))
    labels = [_written(axis, point, text, size) for point, text in zip(points, texts, strict=True)]
    for turn in range(ROUNDS):  # later labels may have left a better place to earlier ones
        for i, (label, place) in enumerate(zip(labels, places, strict=True)):
            others = np.vstack([marks, np.delete(boxes, i, axis=0) if turn else boxes])
            best = _best_box(label.get_window_extent(renderer), place, others, window, pixels)
            boxes = np.vstack([boxes[:i], best, boxes[i + 1 :]])
    for label, box, place in zip(labels, boxes, places, strict=True):
        label.set_position(((box[0] - place[0]) / pixels, (box[1] - place[1]) / pixels))
        _lead(axis, label, box, place, half)


def _written(axis: Any, point: NDArray[np.float64], text: str, size: float) -> Any:
    from matplotlib.patheffects import withStroke

    label = axis.annotate(text, point, xytext=(0, 0), textcoords="offset points", fontsize=size, zorder=5, parse_math=False)
    label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    return label


def _best_box(
    extent: Any, place: NDArray[np.float64], taken: NDArray[np.float64], window: Any, pixels: float
) -> NDArray[np.float64]:
    """Return where around its point a label covers least of what is there, in pixels."""
    width, height = extent.width, extent.height
    best, least = np.zeros(4), np.inf
    for step, reach in enumerate(REACHES):
        for turn, (right, up) in enumerate(DIRECTIONS):
            left = place[0] + right * reach * pixels - (0 if right > 0 else width if right < 0 else width / 2)
            bottom = place[1] + up * reach * pixels - (height / 2 if abs(up) < 1 else 0 if up > 0 else height)
            box = np.array([left, bottom, left + width, bottom + height])
            outside = max(window.x0 - box[0], 0) + max(window.y0 - box[1], 0)
            outside += max(box[2] - window.x1, 0) + max(box[3] - window.y1, 0)
            cost = _overlap(box, taken) + 50 * outside + (3 * step + 0.2 * turn) * pixels
            if cost < least:
                best, least = box, cost
    return best


def _lead(axis: Any, label: Any, box: NDArray[np.float64], place: NDArray[np.float64], half: float) -> None:
    """Draw a thin line from a label that is far from its point."""
    near = np.clip(place, box[:2], box[2:])
    if np.hypot(*(near - place)) > 2.5 * half:
        ends = axis.transData.inverted().transform([near, place])
        axis.plot(ends[:, 0], ends[:, 1], color="0.4", linewidth=0.6, zorder=2.5, scalex=False, scaley=False)


def save(figure: Any, path: str | Path) -> None:
    """Write a PNG, or an SVG if the path ends so, with its words as texts."""
    from matplotlib import rc_context

    is_svg = Path(path).suffix.lower() == ".svg"
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "spinney"}):
        figure.savefig(path, dpi=DPI, **({"format": "svg", "metadata": {"Date": None}} if is_svg else {"format": "png"}))
