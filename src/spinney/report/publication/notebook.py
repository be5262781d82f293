"""What notebooks show: parts of the published page, for plans, releases, balls, curves, ledgers and findings about releases."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any

from spinney.algorithms.plan import Plan
from spinney.ledgers.ledger import Ledger
from spinney.releases.ball import OneCluster
from spinney.releases.curve import CostCurve
from spinney.report.publication.assembly import curve_section, summarized
from spinney.report.publication.document import (
    LETTERS,
    SHOWN_LINES,
    Block,
    Document,
    Facts,
    Paragraph,
    Section,
    Sheet,
    Value,
    clean,
    short,
)
from spinney.report.publication.html import to_fragment
from spinney.report.publication.odds import promise_section
from spinney.report.publication.results import column_names
from spinney.report.publication.sections import ledger_blocks, notices, spent_section
from spinney.solvers.separation import Separation
from spinney.verification.report import MARKS, Verification


@singledispatch
def to_html(value: Any) -> str:
    """Return what a notebook shows of a value; of a release what was found, promised and spent."""
    return to_fragment(summarized(value))


@to_html.register
def _ball(ball: OneCluster) -> str:
    names = column_names(ball.release)
    exact = ball.release.noise.is_exact
    margin = "" if exact else f" \N{PLUS-MINUS SIGN} {short(ball.count_margin)} with probability 0.95"
    facts = Facts(
        (
            ("Rows inside", f"{short(ball.count)}{margin}; {ball.wanted:,} were asked for."),
            ("Radius", f"{short(ball.radius)}, in the units of the columns."),
        )
    )
    cells = tuple((Value(name), Value(short(value))) for name, value in zip(names, ball.center.tolist(), strict=True))
    section = Section("What was found", (facts, Sheet("Center of the ball", ("column", "center"), cells[:SHOWN_LINES])))
    rest = (promise_section(ball.release), spent_section(ball.release, None))
    return to_fragment(Document("A ball that holds many rows", ball.statement, notices(ball.release, None), (section, *rest)))


@to_html.register
def _verification(verification: Verification) -> str:
    cells = tuple((Value(clean(one.subject)), Value(MARKS[one.holds]), Value(clean(one.words))) for one in verification.findings)
    section = Section("What was checked", (Sheet("Findings", ("about", "result", "words"), cells, 3),))
    return to_fragment(Document(clean(verification.title), clean(verification.verdict), (), (section,)))


@to_html.register
def _separation(separation: Separation) -> str:
    cells = tuple((Value(name), Value(f"{value:.4g}")) for name, value in separation.notions.items())
    section = Section("Notions of stability", (Sheet("Notions", ("notion", "value"), cells),))
    return to_fragment(Document("Does this number of clusters fit", separation.hint, (), (section,)))


@to_html.register
def _plan(plan: Plan) -> str:
    heads, *rows = plan.rows
    cells = tuple(tuple(Value(clean(cell)) for cell in row) for row in rows)
    table = Sheet("Questions that will be asked of the rows", heads, cells, len(heads))
    blocks: tuple[Block, ...] = (table, *(Paragraph(note) for note in plan.notes))
    return to_fragment(Document(clean(plan.title), clean(plan.promise), (), (Section("What will be asked and spent", blocks),)))


@to_html.register
def _ledger(ledger: Ledger) -> str:
    lead = "What all releases about the same rows may spend together, and what is left of it."
    section = Section("What was spent and what is left", tuple(ledger_blocks(ledger)))
    return to_fragment(Document(f"Ledger {clean(Path(ledger.path).name, LETTERS)}", lead, (), (section,)))


@to_html.register
def _curve(curve: CostCurve) -> str:
    private = curve.statement.startswith("(")
    return to_fragment(Document("Cost curve", clean(curve.statement), (), (curve_section(curve, private),)))
