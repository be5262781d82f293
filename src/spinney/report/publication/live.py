"""A map that moves: its data as one line of JSON, and the elements of a page that its script draws it in."""

from __future__ import annotations

import base64
import json
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from spinney.report.geography import Geography
from spinney.report.publication.document import LETTERS, LiveMap, clean
from spinney.report.publication.pictures import PALETTE, map_drawing

#: Places are whole numbers of this part of the longer side.
UNIT = 2**16 - 1
#: What stands for no site.
NOBODY = UNIT
#: Meters of a degree to the north.
DEGREE = 111_320.0
#: What a layer is called.
LAYERS = {"network": "Network, by site", "demand": "Demand (private summary)", "labels": "Names"}
#: What moves the map, by buttons and keys.
BUTTONS = (("+", "+", "Zoom in"), ("-", "\N{MINUS SIGN}", "Zoom out"), ("0", "All", "Show all"), ("n", "Next site", "Next site"))
HELP = "Drag, pinch, or use the keys: arrows move, + and - zoom, 0 shows all, n and p go from site to site."


@cache
def resource(name: str) -> str:
    """Return the script or the rules of maps."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def _packed(values: NDArray[np.generic], kind: str) -> str:
    """Return numbers of some bytes each, least first, as text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def live_map(where: Geography, order: NDArray[np.int64]) -> LiveMap | None:
    """Return the map of a release and its public space; the drawing for paper shows sites in this order."""
    drawing = map_drawing(where.release, order)
    if drawing is None or where.serving is None:
        return None
    low, high = where.points.min(axis=0), where.points.max(axis=0)
    stretch = np.array([1.0, where.aspect])
    size = (high / 2 - low / 2) * stretch  # halves, because the widest spans overflow
    longest = max(float(size.max()), 1e-300)

    def placed(places: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.clip((places / 2 - low / 2) * stretch / longest, 0.0, 1.0))

    release, heaviest = where.release, max(float(where.weights.max(initial=0.0)), 1e-300)
    demand = [[*place, root] for place, root in zip(placed(where.demand), np.sqrt(where.weights / heaviest), strict=True)]
    sites = [
        {
            "x": round(float(x), 6), "y": round(float(y), 6), "name": clean(name, LETTERS), "rows": f"{rows:,.0f}",
            "isNew": i < len(release.medoids), "color": PALETTE[i % len(PALETTE)],
        }
        for i, ((x, y), name, rows) in enumerate(zip(placed(where.sites), where.names, release.sizes, strict=True))
    ]  # fmt: skip
    data = {
        "size": [round(float(one), 6) for one in size / longest],
        "points": _packed(np.round(placed(where.points) * UNIT), "<u2"),
        "serving": _packed(np.where(where.serving < 0, NOBODY, where.serving), "<u2"),
        "edges": _packed(np.empty(0) if where.edges is None else where.edges, "<u4"),
        "demand": [[round(float(one), 6) for one in row] for row in demand],
        "sites": sites,
        "colors": PALETTE[: max(len(sites), 1)],
        "margin": where.margin_words,
        "length": 2 * longest * (DEGREE / where.aspect if where.degrees else 1.0),
        "meters": where.degrees,
    }
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return LiveMap(drawing.title, drawing.description, drawing.svg, drawing.size, drawing.instead, text)


def written(drawing: LiveMap) -> str:
    """Return the elements of a map; the script that draws it is written once for each page."""
    buttons = "".join(
        f'<button type="button" value="{value}"{"" if text == said else f" aria-label={said!r}"}>{text}</button>'
        for value, text, said in BUTTONS
    )
    boxes = "".join(f'<label><input type="checkbox" value="{kind}" checked>{text}</label>' for kind, text in LAYERS.items())
    label = escape(f"{drawing.description} {HELP}")
    return (
        f'<div class="map"><div class="tools">{buttons}{boxes}</div>'
        f'<canvas tabindex="0" role="application" aria-roledescription="map" aria-label="{label}"></canvas>'
        f'<p role="status"></p><p class="keys"><span>Circles: new sites. Squares: existing ones.</span><span>{HELP}</span></p>'
        f'<script type="application/json">{drawing.data}</script></div>'
    )
