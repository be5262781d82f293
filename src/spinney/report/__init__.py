"""Pages, labels, pictures and cost curves of releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.report.curve import CostCurve, cost_curve, draw_curve
    from spinney.report.label import label_page, privacy_label, registry_entry
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
    "label_page",
    "page",
    "privacy_label",
    "registry_entry",
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
        "label_page": "spinney.report.label",
        "page": "spinney.report.pages",
        "privacy_label": "spinney.report.label",
        "registry_entry": "spinney.report.label",
        "site_rows": "spinney.report.site_table",
    },
)
