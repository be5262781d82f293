"""What audits found, as one readable page: what was tried, the bounds, how sure they are, and what each method cannot see."""

from __future__ import annotations

from spinney._version import __version__
from spinney.audit.findings import Finding, Findings
from spinney.questions.catalog import EVERY


def _told(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _coverage(findings: Findings) -> list[str]:
    """Return which questions of the catalog were asked, and which were not; nothing if no method records it."""
    if not any("asked" in finding.tried for finding in findings):
        return []
    asked = {name for finding in findings for name in finding.tried.get("asked", ())}
    left = [name for name in EVERY if name not in asked]
    return [
        f"Questions replayed: {', '.join(sorted(asked))}.",
        f"Questions of the catalog that were not: {', '.join(left) if left else 'none'}.",
    ]


def _section(finding: Finding) -> list[str]:
    sure = "computed, not estimated" if finding.confidence == 1 else f"a lower bound at confidence {finding.confidence:g}"
    tried = ", ".join(f"{name} {_told(value)}" for name, value in finding.tried.items() if name != "asked")
    asked = [f"- Asked: {_told(finding.tried['asked'])}."] if "asked" in finding.tried else []
    verdict = "BROKEN" if finding.broken else "holds, as far as this method sees"
    return [
        f"## {finding.method}: {verdict}",
        "",
        f"- Subject: {finding.subject}.",
        f"- Promised: epsilon {finding.promised_epsilon:g}, delta {finding.promised_delta:g}.",
        f"- Found: epsilon {finding.bound:.4g} ({sure}).",
        f"- Tried: {tried}.",
        *asked,
        *(f"- Fault: {fault}." for fault in finding.faults),
        *(f"- Cannot see: {what}." for what in finding.cannot_see),
        "",
    ]


def audit_page(findings: Findings) -> str:
    """Return findings as a page of Markdown.

    Parameters
    ----------
    findings : Findings
    """
    broken = sum(finding.broken for finding in findings)
    head = "# Audit: a promise is BROKEN" if broken else "# Audit: no promise was broken"
    lines = [
        head,
        "",
        f"spinney {__version__}, {len(findings)} findings, of which {broken} found a broken promise.",
        "All rows were made up: no table was read.",
        *_coverage(findings),
        "A bound below the promised epsilon proves nothing by itself; one above it shows that the promise is broken.",
        "",
    ]
    for finding in findings:
        lines += _section(finding)
    return "\n".join(lines)
