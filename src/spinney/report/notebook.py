"""What notebooks show: parts of the published page, for plans, releases, curves and ledgers."""

from __future__ import annotations

from pathlib import Path

from spinney.algorithms.plan import Plan
from spinney.ledgers.ledger import Ledger
from spinney.releases.centers import Release
from spinney.releases.cover import CoverRelease
from spinney.releases.sites import SiteRelease
from spinney.report.curve import CostCurve
from spinney.report.publication.assembly import curve_section, summarized
from spinney.report.publication.blocks import LETTERS, Block, Document, Paragraph, Section, Sheet, Value, clean
from spinney.report.publication.html import to_fragment
from spinney.report.publication.sections import ledger_blocks

__all__ = ["curve_html", "ledger_html", "plan_html", "release_html"]


def release_html(release: Release | SiteRelease | CoverRelease) -> str:
    """Return what was found, promised and spent."""
    return to_fragment(summarized(release))


def plan_html(plan: Plan) -> str:
    """Return every question with its charge and noise."""
    heads, *rows = plan.rows
    cells = tuple(tuple(Value(clean(cell)) for cell in row) for row in rows)
    table = Sheet("Questions that will be asked of the rows", heads, cells, len(heads))
    blocks: tuple[Block, ...] = (table, *(Paragraph(note) for note in plan.notes))
    return to_fragment(Document(clean(plan.title), clean(plan.promise), (), (Section("What will be asked and spent", blocks),)))


def ledger_html(ledger: Ledger) -> str:
    """Return what is left in a ledger, and its last releases."""
    lead = "What all releases about the same rows may spend together, and what is left of it."
    section = Section("What was spent and what is left", tuple(ledger_blocks(ledger)))
    return to_fragment(Document(f"Ledger {clean(Path(ledger.path).name, LETTERS)}", lead, (), (section,)))


def curve_html(curve: CostCurve) -> str:
    """Return a cost curve, with how to read it."""
    private = curve.statement.startswith("(")
    return to_fragment(Document("Cost curve", clean(curve.statement), (), (curve_section(curve, private),)))
