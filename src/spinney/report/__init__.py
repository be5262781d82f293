"""Pages, labels, pictures, cost curves and reports of releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.report.curve import CostCurve, cost_curve, draw_curve
    from spinney.report.label import label_page, privacy_label, registry_entry
    from spinney.report.map import draw_map
    from spinney.report.pages import page
    from spinney.report.picture import draw
    from spinney.report.publication import html_page, markdown_page, write_report
    from spinney.report.site_table import site_rows

__all__ = [
    "CostCurve",
    "cost_curve",
    "draw",
    "draw_curve",
    "draw_map",
    "html_page",
    "label_page",
    "markdown_page",
    "page",
    "privacy_label",
    "registry_entry",
    "site_rows",
    "write_report",
]

__getattr__, __dir__ = lazily(
    "spinney.report",
    {
        "CostCurve": "spinney.report.curve",
        "cost_curve": "spinney.report.curve",
        "draw": "spinney.report.picture",
        "draw_curve": "spinney.report.curve",
        "draw_map": "spinney.report.map",
        "html_page": "spinney.report.publication",
        "label_page": "spinney.report.label",
        "markdown_page": "spinney.report.publication",
        "page": "spinney.report.pages",
        "privacy_label": "spinney.report.label",
        "registry_entry": "spinney.report.label",
        "site_rows": "spinney.report.site_table",
        "write_report": "spinney.report.publication",
    },
)
