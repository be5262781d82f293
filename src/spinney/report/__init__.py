"""Pages, pictures and cost curves of releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.report.curve import CostCurve, cost_curve, draw_curve
    from spinney.report.map import draw_map
    from spinney.report.pages import page
    from spinney.report.picture import draw
    from spinney.report.site_table import site_rows

__all__ = [
    "CostCurve",
    "cost_curve",
    "draw",
    "draw_curve",
    "draw_map",
    "page",
    "site_rows",
]

__getattr__, __dir__ = lazily(
    "spinney.report",
    {
        "CostCurve": "spinney.report.curve",
        "cost_curve": "spinney.report.curve",
        "draw": "spinney.report.picture",
        "draw_curve": "spinney.report.curve",
        "draw_map": "spinney.report.map",
        "page": "spinney.report.pages",
        "site_rows": "spinney.report.site_table",
    },
)
