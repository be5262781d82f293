"""What an audit found: the one value that every method of this room returns, and a page of several.

A finding says what was tried, what was promised, the epsilon that was found, how sure that is, and what the method cannot see. It
holds public words and numbers alone, so that it can be written down beside a release.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spinney._version import __version__
from spinney.questions.catalog import EVERY


def _written(number: float) -> float | str:
    """Return a number as JSON has it: what is not finite as a word."""
    return number if math.isfinite(number) else repr(number)


def words_of(fit: Any) -> str:
    """Return what a fit is, in words: its problem, its algorithm, and who is protected."""
    unit = fit.problem.unit
    persons = f", {fit.cap} rows of a person" if fit.grouped else ""
    return f"{fit.problem.title}, algorithm {fit.algorithm.name!r}, {unit.adjacency.value}{persons}"


@dataclass(frozen=True)
class Finding:
    """What one method found about one promise.

    Parameters
    ----------
    method : str
        Such as ``"replay"``, ``"black box"``, ``"one run"``, ``"exact"`` or ``"search"``.
    subject : str
        What was audited, in words.
    promised_epsilon, promised_delta : float
    bound : float
        The largest epsilon that was found, at the promised delta: a privacy loss that was added up (replay, exact), or a lower
        confidence bound (black box, one run). Above the promised epsilon the promise is broken.
    confidence : float
        How sure the bound is; 1 if it was computed.
    tried : mapping
        What was tried: plain words and numbers, such as ``{"pairs": 500, "questions": 7}``.
    faults : tuple of str
        What else breaks the promise, in words: a visible difference, an exact input beyond its declared sensitivity.
    cannot_see : tuple of str
        What this method would not notice.
    """

    method: str
    subject: str
    promised_epsilon: float
    promised_delta: float
    bound: float
    confidence: float = 1.0
    tried: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    cannot_see: tuple[str, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether the promise is broken."""
        return bool(self.faults) or self.bound > self.promised_epsilon

    @property
    def words(self) -> str:
        """One line: the verdict and the bound."""
        verdict = "BROKEN" if self.broken else "holds"
        sure = "" if self.confidence == 1 else f" at confidence {self.confidence:g}"
        more = "".join(f"; {fault}" for fault in self.faults)
        return f"{self.method}, {self.subject}: {verdict}, {self.bound:.4g} of epsilon {self.promised_epsilon:g}{sure}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        numbers = {name: _written(getattr(self, name)) for name in ("promised_epsilon", "bound")}
        plain = {"tried": dict(self.tried), "faults": list(self.faults), "cannot_see": list(self.cannot_see)}
        return {**vars(self), **numbers, "broken": self.broken, **plain}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Finding:
        """Read what `to_dict` wrote; whether it is broken is decided anew."""
        numbers = {name: float(record[name]) for name in ("promised_epsilon", "promised_delta", "bound", "confidence")}
        lists = {name: tuple(record[name]) for name in ("faults", "cannot_see")}
        return cls(record["method"], record["subject"], tried=dict(record["tried"]), **numbers, **lists)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Findings:
    """Several findings: what an audit of one or many promises found together."""

    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Findings:
        """Collect findings."""
        return cls(tuple(findings))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def broken(self) -> bool:
        """Whether any promise is broken."""
        return any(finding.broken for finding in self.findings)

    @property
    def worst(self) -> Finding:
        """The finding that says most: a broken one before others, then the one nearest to its promise."""
        return max(self.findings, key=lambda one: (one.broken, one.bound / one.promised_epsilon if one.promised_epsilon else 0.0))

    @property
    def summary(self) -> str:
        """One short line, for a release's `audit`: the verdict, and the bound of each method with its confidence."""

        def told(one: Finding) -> str:
            sure = "" if one.confidence == 1 else f" at confidence {one.confidence:g}"
            return f"{one.method} {one.bound:.3g}{sure}{' BROKEN' if one.broken else ''}"

        verdict = "a promise is BROKEN" if self.broken else "no promise broken"
        return f"{verdict}, made-up rows; epsilon found: {', '.join(map(told, self.findings))}"

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as JSON has them."""
        return {"broken": self.broken, "findings": [finding.to_dict() for finding in self.findings]}

    def to_json(self) -> str:
        """Return the findings as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Findings:
        """Read what `to_dict` wrote."""
        return cls(tuple(map(Finding.from_dict, record["findings"])))


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
    """Return findings as a page of Markdown."""
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
