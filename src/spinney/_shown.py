"""What values offer to show of themselves, which the room `report` makes of them.

`OFFERED` is the one list of names that lead upward: a value asks for what is offered by its name, it is imported only then, and
nothing below depends on it. ``tests/contract/test_layers.py`` finds no other.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["OFFERED", "Showable", "offered"]

#: What is offered, and where it is made.
OFFERED = {
    "bar": "spinney.report.progress:notebook_bar",
    "frame": "spinney.report.frames:to_frame",
    "html": "spinney.report.publication.notebook:to_html",
    "plot": "spinney.report.plots:plot",
    "recluster": "spinney.report.publication.reclustering:recluster",
}


def offered(name: str) -> Any:
    """Return the function of this name, imported now."""
    module, function = OFFERED[name].split(":")
    return getattr(import_module(module), function)


class Showable:
    """Has a page in notebooks."""

    def _repr_html_(self) -> str:
        text: str = offered("html")(self)
        return text
