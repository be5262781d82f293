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
from spinney.report.canvas import PALETTE as PALETTE
from spinney.report.geography import look_like_degrees
from spinney.report.publication.document import Drawing, Sheet, Value, clean, short
from spinney.report.publication.scales import Ticks, across, upward, wide
from spinney.spaces.column import Column
from spinney.spaces.nearest import nearest

#: The size of a panel, and the margins of a picture above, to the right and below; to the left stand the values upwards.
PANEL, MARGINS = (320, 300), (10, 18, 38)
#: How far values upwards are from the frame, where their name is, what both take, and values of a map or a curve, at most.
BESIDE, NAME, ROOM, VALUES = 6.0, 11.0, 24.0, 49.0
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


def place(value: float) -> str:
    """Return a coordinate in few letters."""
    return f"{value:.1f}".removesuffix(".0")


def fraction(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return where values are between two bounds, in [0, 1]; halves first, because the widest bounds overflow."""
    width = high / 2 - low / 2
    if not width > 0:
        return np.full(np.shape(values), 0.5)
    return np.clip((np.asarray(values, dtype=np.float64) / 2 - low / 2) / width, 0.0, 1.0)


def label(x: float, y: float, text: object, more: str = "") -> str:
    """Return a text at a place."""
    return f'<text x="{place(x)}" y="{place(y)}"{more}>{escape(clean(text))}</text>'


def axes(box: tuple[float, float, float, float], names: Sequence[str], scales: Sequence[Ticks]) -> str:
    """Return a frame (left, top, right, bottom) with the name and values of the column to the right, and of the one upwards."""
    left, top, right, bottom = box
    parts = [
        f'<rect class="f" x="{place(left)}" y="{place(top)}" width="{place(right - left)}" height="{place(bottom - top)}"/>',
        label((left + right) / 2, bottom + 32, names[0], ' class="v"'),
    ]
    for share, text in scales[0]:
        x = left + share * (right - left)
        parts.append(f'<path class="g" d="M{place(x)} {place(bottom + 4)}V{place(top)}"/>')
        parts.append(label(x, bottom + 16, text, ' class="v"'))
    for share, text in scales[1] if len(scales) > 1 else ():
        y = bottom - share * (bottom - top)
        parts.append(f'<path class="g" d="M{place(left - 4)} {place(y)}H{place(right)}"/>')
        parts.append(label(left - BESIDE, y + 4, text, ' class="u"'))
    if len(names) > 1:
        turned = f' class="v" transform="rotate(-90 {place(NAME)} {place((top + bottom) / 2)})"'
        parts.append(label(NAME, (top + bottom) / 2, names[1], turned))
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


def _box(width: int, height: int, values: float = VALUES) -> tuple[float, float, float, float]:
    """Return the frame of a picture of this size, beside values upwards of this width."""
    top, right, bottom = MARGINS
    return ROOM + values, top, width - right, height - bottom


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


def _fact(release: Release, column: int) -> Column:
    return Column(None, "number") if release.facts is None else release.facts.of_titles[column]


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
    up = upward(_fact(release, second), *_ends(release, second), PANEL[1] - MARGINS[0] - MARGINS[2])
    left, top, right, bottom = box = _box(*PANEL, max((wide(text) for _, text in up), default=0.0))
    aside = across(_fact(release, first), *_ends(release, first), right - left)
    shown, colors = release.centers[order], _colors(len(order))

    points = [_scaled(release, column, release.summary_points[:, column]) for column in (first, second)]
    x, y, weights, kept = lattice(points[0], points[1], release.summary_weights, of, CELLS)
    marks = [_scaled(release, column, shown[:, column]) for column in (first, second)]
    x, a = (left + one * (right - left) for one in (x, marks[0]))
    y, b = (bottom - one * (bottom - top) for one in (y, marks[1]))
    svg = axes(box, (names[first], names[second]), (aside, up))
    svg += _dots(x, y, weights, kept, colors) + _marks(a, b, colors, order)
    kind = "private summary" if release.is_private else "summary"
    told = f"Centers and the {kind} of {len(of):,} weighted points" if len(of) else "Centers"
    words = f"{told}: {names[first]} to the right, {names[second]} upwards."
    return Drawing(f"{names[second]} against {names[first]}", words, svg, PANEL)


def _column(release: Release, order: NDArray[np.int64], name: str) -> Drawing:
    """Return the summary of a single column as bars, and the centers above them."""
    width, height = PAPER, 220
    left, top, right, bottom = box = _box(width, height)
    counts = np.zeros(BARS)
    if len(release.summary_points):
        cells = np.minimum((_scaled(release, 0, release.summary_points[:, 0]) * BARS).astype(np.int64), BARS - 1)
        counts = np.bincount(cells, np.maximum(release.summary_weights, 0), minlength=BARS).astype(np.float64)
    tallest = max(float(counts.max()), 1e-300)
    heights = (bottom - top - 30) * counts / tallest
    step = (right - left) / BARS
    bars = "".join(
        f'<rect x="{place(left + i * step + 0.5)}" y="{place(bottom - h)}" width="{place(step - 1)}" height="{place(h)}"/>'
        for i, h in enumerate(heights)
        if h > 0.05
    )
    x = left + _scaled(release, 0, release.centers[order, 0]) * (right - left)
    lines = "".join(f'<path class="l" d="M{place(a)} {place(bottom)}V{place(top + 12)}"/>' for a in x)
    rows = upward(Column(None, "number"), 0.0, tallest * (bottom - top) / (bottom - top - 30), bottom - top)
    scales = (across(_fact(release, 0), *_ends(release, 0), right - left), rows if counts.any() else [])
    svg = axes(box, (name, "rows"), scales) + f'<g class="s" fill="{PALETTE[0]}">{bars}</g>{lines}'
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
    plain, (left, top, right, bottom) = Column(None, "number"), box
    svg = axes(box, words, (across(plain, *ends[0], right - left), upward(plain, *ends[1], bottom - top))) + squares
    svg += _marks(x, y, [PALETTE[0]] * len(order), order)
    more = "; existing ones stand in a square" if len(release.existing_sites) else ""
    return Drawing("Where the sites are", f"A map of the sites by their numbers{more}.", svg, (width, height))


def curve_drawing(curve: CostCurve) -> Drawing:
    """Return the cost curve."""
    width, height = PAPER, 220
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
    aside = [((x[i] - left) / (right - left), str(int(clusters[i]))) for i in range(0, len(x), every)]
    share = (bottom - top - 8) / (bottom - top)
    up = [(one * share, text) for one, text in upward(Column(None, "number"), 0.0, 1.0, bottom - top)]
    svg = axes((left, top, right, bottom), ("number of clusters", "cost, as a share"), (aside, up))
    svg += f'<path class="c" d="M{path}"/><g fill="{PALETTE[0]}">{dots}</g>'
    names = [f"{k} (chosen)" if k == curve.chosen else str(k) for k in curve.clusters]
    rows = tuple((Value(name), Value(short(cost, 3))) for name, cost in zip(names, costs, strict=True))
    grid = Sheet("Estimated cost", ("clusters", "cost / cost of one cluster"), rows, words=0)
    words = "The estimated cost of the best centers found, by the number of clusters, as a share of the cost of one cluster."
    words += f" A ring is around the number that was chosen, {curve.chosen}." if curve.chosen is not None else ""
    return Drawing("Cost by the number of clusters", words, svg, (width, height), grid)
