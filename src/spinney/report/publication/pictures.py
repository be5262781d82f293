"""Pictures of a report as SVG: pairs of columns with the summary, one column, a map of sites, and the cost curve."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spinney.releases.centers import Release
from spinney.releases.curve import CostCurve
from spinney.releases.sites import SiteRelease
from spinney.report.map import look_like_degrees
from spinney.report.publication.document import Drawing, Sheet, Value, clean, short
from spinney.spaces.nearest import nearest

#: The size of a panel, and its margins: left, top, right, bottom.
PANEL, MARGINS = (320, 290), (24, 10, 8, 24)
#: The width of a single picture.
PAPER = 420
#: Cells to each side that points of a summary are pooled in; bars of a single column.
CELLS, BARS = 40, 40
#: The radius of the heaviest point, and of a center's mark; beyond this many marks they have no numbers.
HEAVIEST, MARK, NUMBERED = 9.0, 8.0, 40
#: Columns that are drawn, each against each other one.
DRAWN = 3
#: The ratio of a map's height to its width, at least and at most.
FLATTEST, TALLEST = 0.4, 0.8
#: Air around what is drawn, as a share of the bounds.
AIR = 0.04
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


def _frame(box: tuple[float, float, float, float]) -> str:
    left, top, right, bottom = box
    return f'<rect class="f" x="{place(left)}" y="{place(top)}" width="{place(right - left)}" height="{place(bottom - top)}"/>'


def axes(box: tuple[float, float, float, float], names: Sequence[str], bounds: Sequence[tuple[str, str]]) -> str:
    """Return a frame (left, top, right, bottom) with the names and ends of the column to the right, and of the one upwards."""
    left, top, right, bottom = box
    (low, high), middle, center = bounds[0], (left + right) / 2, (top + bottom) / 2
    turned = f' text-anchor="middle" transform="rotate(-90 {place(left - 9)} {place(center)})"'
    parts = [
        _frame(box),
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


def _box(width: int, height: int) -> tuple[float, float, float, float]:
    left, top, right, bottom = MARGINS
    return left, top, width - right, height - bottom


def _scaled(release: Release, column: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return fraction(values, *_ends(release, column))


def _ends(release: Release, column: int) -> tuple[float, float]:
    """Return what is drawn of a column: where the summary and the centers are, with some air, within the bounds."""
    box = release.tightened or release.domain
    bounds = float(box["lower"][column]), float(box["upper"][column])
    there = np.concatenate([release.centers[:, column], release.summary_points[release.summary_weights > 0, column]])
    low, high = float(there.min()), float(there.max())
    air = AIR * (bounds[1] / 2 - bounds[0] / 2) + AIR * (high / 2 - low / 2)
    return max(low - air, bounds[0]), min(high + air, bounds[1])


def _end_texts(release: Release, column: int) -> tuple[str, str]:
    """Return the ends of what is drawn of a column as people write them."""
    fact = None if release.facts is None else release.facts.of_titles[column]
    low, high = ((fact and fact.shown(end)) or short(end) for end in _ends(release, column))
    return low, high


def _marks(x: NDArray[np.float64], y: NDArray[np.float64], colors: Sequence[str], numbers: NDArray[np.int64]) -> str:
    """Return the marks of centers, the first one on top, with their numbers if there are few."""
    if len(x) > NUMBERED:
        return "".join(f'<circle class="m" cx="{place(a)}" cy="{place(b)}" r="3"/>' for a, b in zip(x, y, strict=True))
    parts = []
    for i in reversed(range(len(x))):
        parts.append(f'<circle class="m" cx="{place(x[i])}" cy="{place(y[i])}" r="{place(MARK)}" fill="{colors[i]}"/>')
        parts.append(label(x[i], y[i] + 3.5, numbers[i], ' class="n"'))
    return "".join(parts)


def _colors(k: int) -> list[str]:
    """Return the colors of clusters by their numbers; many have one color."""
    return [PALETTE[i % len(PALETTE)] if k <= NUMBERED else PALETTE[0] for i in range(k)]


def _dots(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64], of: NDArray[np.int64], colors: Sequence[str]
) -> str:
    """Return the points of a summary, by color."""
    if not len(x):
        return ""
    radii = np.maximum(HEAVIEST * np.sqrt(weights / max(float(weights.max()), 1e-300)), 0.6)
    groups: dict[str, list[str]] = {}
    for i in np.argsort(-weights, kind="stable"):
        dot = f'<circle cx="{place(x[i])}" cy="{place(y[i])}" r="{place(radii[i])}"/>'
        groups.setdefault(colors[of[i]], []).append(dot)
    return "".join(f'<g class="s" fill="{color}">{"".join(dots)}</g>' for color, dots in sorted(groups.items()))


def _pair(
    release: Release, order: NDArray[np.int64], names: Sequence[str], of: NDArray[np.int64], first: int, second: int
) -> Drawing:
    """Return one column against another one."""
    left, top, right, bottom = box = _box(*PANEL)
    shown, colors = release.centers[order], _colors(len(order))

    def across(share: NDArray[np.float64]) -> NDArray[np.float64]:
        return left + share * (right - left)

    def down(share: NDArray[np.float64]) -> NDArray[np.float64]:
        return bottom - share * (bottom - top)

    points = [_scaled(release, column, release.summary_points[:, column]) for column in (first, second)]
    x, y, weights, kept = lattice(points[0], points[1], release.summary_weights, of, CELLS)
    marks = [_scaled(release, column, shown[:, column]) for column in (first, second)]
    svg = axes(box, (names[first], names[second]), (_end_texts(release, first), _end_texts(release, second)))
    svg += _dots(across(x), down(y), weights, kept, colors) + _marks(across(marks[0]), down(marks[1]), colors, order)
    kind = "private summary" if release.is_private else "summary"
    told = f"Centers and the {kind} of {len(of):,} weighted points" if len(of) else "Centers"
    words = f"{told}: {names[first]} to the right, {names[second]} upwards."
    return Drawing(f"{names[second]} against {names[first]}", words, svg, PANEL)


def _column(release: Release, order: NDArray[np.int64], name: str) -> Drawing:
    """Return the summary of a single column as bars, and the centers above them."""
    width, height = PAPER, 200
    left, top, right, bottom = box = _box(width, height)
    counts = np.zeros(BARS)
    if len(release.summary_points):
        cells = np.minimum((_scaled(release, 0, release.summary_points[:, 0]) * BARS).astype(np.int64), BARS - 1)
        counts = np.bincount(cells, np.maximum(release.summary_weights, 0), minlength=BARS).astype(np.float64)
    heights = (bottom - top - 30) * counts / max(float(counts.max()), 1e-300)
    step = (right - left) / BARS
    bars = "".join(
        f'<rect x="{place(left + i * step + 0.5)}" y="{place(bottom - h)}" width="{place(step - 1)}" height="{place(h)}"/>'
        for i, h in enumerate(heights)
        if h > 0.05
    )
    x = left + _scaled(release, 0, release.centers[order, 0]) * (right - left)
    lines = "".join(f'<path class="l" d="M{place(a)} {place(bottom)}V{place(top + 12)}"/>' for a in x)
    svg = axes(box, (name,), (_end_texts(release, 0),)) + f'<g class="s" fill="{PALETTE[0]}">{bars}</g>{lines}'
    svg += _marks(x, np.full(len(x), top + 12.0), _colors(len(order)), order)
    return Drawing(f"{name}: rows and centers", f"Bars: the summary of {name}. Lines: the centers.", svg, (width, height))


def pair_drawings(release: Release, order: NDArray[np.int64], names: Sequence[str], columns: Sequence[int]) -> list[Drawing]:
    """Return pictures of pairs of columns, or of one: of the centers in `order`, and of up to three of the columns."""
    if release.centers.shape[1] == 1:
        return [_column(release, order, names[0])]
    of = np.zeros(len(release.summary_points), dtype=np.int64)
    if len(of) and len(order) <= NUMBERED:
        with np.errstate(all="ignore"):  # numbers next to infinity have any color
            found = nearest(release.scaled(release.summary_points), release.scaled(release.centers[order]))[1]
            of = np.clip(found.astype(np.int64), 0, len(order) - 1)
    return [_pair(release, order, names, of, first, second) for first, second in combinations(columns[:DRAWN], 2)]


def _projected(
    places: NDArray[np.float64], degrees: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[tuple[float, float]], int]:
    """Return where places are on a map that keeps their proportions, the ends of its frame, and its height."""
    low, high = places.min(axis=0) / 2, places.max(axis=0) / 2  # halves, because the widest spans overflow
    middle, half = low + high, np.maximum(high - low, 1e-9 * np.maximum(np.abs(low + high), 1e-9))
    stretch = float(1 / np.cos(np.radians(middle[1]))) if degrees else 1.0
    height = round(PAPER * float(np.clip(half[1] / half[0] * stretch, FLATTEST, TALLEST)))
    left, top, right, bottom = _box(PAPER, height)
    inner = np.array([(right - left) / 2, (bottom - top) / 2])
    unit = float(np.min((inner - 2 * MARK) / (half * [1.0, stretch])))  # of the picture, for one to the east
    scale = unit * np.array([1.0, stretch])
    x = (left + right) / 2 + (places[:, 0] - middle[0]) * scale[0]
    y = (top + bottom) / 2 - (places[:, 1] - middle[1]) * scale[1]
    return x, y, [(float(middle[i] - inner[i] / scale[i]), float(middle[i] + inner[i] / scale[i])) for i in (0, 1)], height


def map_drawing(release: SiteRelease, order: NDArray[np.int64]) -> Drawing | None:
    """Return a map of the sites that are shown, by their numbers; None if the release does not say where they are."""
    if release.coordinates is None or release.coordinates.shape[1] != 2:
        return None
    degrees = look_like_degrees(release.coordinates)
    x, y, ends, height = _projected(release.coordinates[order], degrees)
    width, box = PAPER, _box(PAPER, height)
    new = order < len(release.medoids)
    squares = "".join(
        f'<rect class="m" x="{place(a - 10)}" y="{place(b - 10)}" width="20" height="20" fill="#fff"/>'
        for a, b in zip(x[~new], y[~new], strict=True)
    )
    words = ("longitude", "latitude") if degrees else ("x", "y")
    svg = axes(box, words, [(short(low), short(high)) for low, high in ends]) + squares
    svg += _marks(x, y, [PALETTE[0]] * len(order), order)
    more = "; existing ones stand in a square" if len(release.existing_sites) else ""
    return Drawing("Where the sites are", f"A map of the sites by their numbers{more}.", svg, (width, height))


def curve_drawing(curve: CostCurve) -> Drawing:
    """Return the cost curve."""
    width, height = PAPER, 210
    left, top, right, bottom = _box(width, height)
    clusters = np.array(curve.clusters, dtype=np.float64)
    costs = np.clip(np.array(curve.costs) / max(float(curve.costs[0]), 1e-300), 0, 1)
    x = left + 12 + fraction(clusters, clusters[0], clusters[-1]) * (right - left - 24)
    y = bottom - costs * (bottom - top - 8)
    path = "L".join(f"{place(a)} {place(b)}" for a, b in zip(x, y, strict=True))
    dots = "".join(f'<circle cx="{place(a)}" cy="{place(b)}" r="3.5"/>' for a, b in zip(x, y, strict=True))
    if curve.chosen in curve.clusters:
        chosen = curve.clusters.index(curve.chosen)
        dots += f'<circle class="e" cx="{place(x[chosen])}" cy="{place(y[chosen])}" r="7.5"/>'
    every = -(-len(clusters) // 12)
    ticks = "".join(label(x[i], bottom + 16, int(clusters[i]), ' text-anchor="middle"') for i in range(0, len(x), every))
    sides = label(left - 6, top + 10, "1", ' text-anchor="end"') + label(left - 6, bottom, "0", ' text-anchor="end"')
    svg = f'{_frame((left, top, right, bottom))}{ticks}{sides}<path class="c" d="M{path}"/><g fill="{PALETTE[0]}">{dots}</g>'
    names = [f"{k} (chosen)" if k == curve.chosen else str(k) for k in curve.clusters]
    rows = tuple((Value(name), Value(short(cost, 3))) for name, cost in zip(names, costs, strict=True))
    grid = Sheet("Estimated cost", ("clusters", "cost / cost of one cluster"), rows, words=0)
    words = "The estimated cost of the best centers found, by the number of clusters, as a share of the cost of one cluster."
    words += f" A ring is around the number that was chosen, {curve.chosen}." if curve.chosen is not None else ""
    return Drawing("Cost by the number of clusters", words, svg, (width, height), grid)
