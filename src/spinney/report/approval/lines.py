"""May this release be published? One page for whoever decides: a policy, line by line, with yes or no and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spinney.releases.centers import Release
from spinney.releases.description import DescriptionRelease
from spinney.releases.reading import AnyRelease, read_release
from spinney.report.approval.comparing import differing
from spinney.report.approval.policy import Policy, read_policy
from spinney.report.publication.declared import declared_columns
from spinney.report.publication.document import Document, Facts, Notice, Section, clean, short
from spinney.report.publication.odds import promises
from spinney.spaces.column import Column
from spinney.spaces.described import is_measured
from spinney.spaces.plain_values import EPOCH
from spinney.verification.amounts import fraction_of
from spinney.verification.checking import verify
from spinney.verification.ledger_lines import read_ledger
from spinney.verification.report import Check

#: By how much an amount may lie above what a plan shows, in six digits.
SHOWN = 1e-5
#: What is said of a page that differs, before the parts that do.
UNLIKE = "is not what the release says, or was written by another version, in: "
_PROMISE = re.compile(
    r"^Promise: epsilon ([0-9.e-]+), delta ([0-9.e-]+); (add or remove|replace) one (row|group of at most (\d+) counted rows)$",
    re.M,
)
_CHARGE = re.compile(r"^\d+ +(\S.*?) {2,}\S+ +(epsilon|rho) ([0-9.e-]+)(?:  .*)?$", re.M)


@dataclass(frozen=True)
class Line:
    """One thing that a policy asks: whether it holds, None if nobody asked, and why."""

    subject: str
    holds: bool | None
    why: str


@dataclass(frozen=True)
class Approval:
    """All lines about one release."""

    file: str
    policy: str
    lines: tuple[Line, ...]

    @property
    def holds(self) -> bool:
        """Whether no line says no."""
        return all(line.holds is not False for line in self.lines)

    def document(self) -> Document:
        """Return the page."""
        words = {True: "Yes", False: "NO", None: "Not asked"}
        refused = [line.subject for line in self.lines if line.holds is False]
        verdict = "YES" if self.holds else "NO"
        lead = "Every line of the policy holds." if self.holds else f"What does not hold: {'; '.join(refused)}."
        items = tuple((line.subject, clean(f"{words[line.holds]}. {line.why}")) for line in self.lines)
        notices = () if self.holds else (Notice("NO", "Do not publish this release under this policy."),)
        return Document(
            clean(f"{verdict}: {self.file} under {self.policy}"),
            clean(lead),
            notices,
            (Section("Line by line", (Facts(items),)),),
        )


def approve(
    release: Path,
    policy: Path,
    *,
    ledger: Path | None = None,
    key: Path | None = None,
    public_key: Path | None = None,
    plan: Path | None = None,
    page: Path | None = None,
) -> Approval:
    """Return whether a release keeps to a policy. Reads files that may be published, and the ledger; no rows."""
    rules, loaded = read_policy(policy), read_release(release)
    alone = verify(release)
    vouched = list(verify(release, ledger=ledger, key=key, public_key=public_key).findings[len(alone.findings) :])
    paid = vouched.pop(0) if ledger is not None else None
    wrong = [one for one in alone.findings if one.holds is False]
    told = "; ".join(f"{one.subject}: {one.words}" for one in wrong) or "The charges add up, and the noise is what they pay for"
    lines = [
        Line("Arithmetic", not wrong, f"{told}."),
        *_limits(loaded, rules),
        *_ledger(rules, ledger, paid),
        _unit(loaded, rules),
        _bounds(loaded, rules),
        _sources(loaded, rules),
        _signature(rules, vouched),
        Line("Audit", _asked(rules, "audit", loaded.audit != "none"), f"The release says of audits: {loaded.audit}."),
        _compared("Plan", rules, "plan", plan, lambda text: _unplanned(text, loaded)),
        _compared("Page", rules, "page", page, lambda text: UNLIKE * bool(found := ", ".join(differing(text, loaded))) + found),
    ]
    return Approval(release.name, rules.name, tuple(lines))


def _asked(rules: Policy, key: str, holds: bool) -> bool | None:
    """Return whether something holds, or None if the policy does not ask for it."""
    return holds if rules.asked.get(key) not in (None, False) else None


def _most(rules: Policy, key: str, value: float) -> tuple[bool | None, str]:
    """Return whether a value is at most what a policy allows, and the words."""
    if key not in rules.asked:
        return None, f"{short(value, 6)}, no limit set"
    return value <= rules.asked[key], f"{short(value, 6)} of at most {short(rules.asked[key], 6)}"


def _all(*each: bool | None) -> bool | None:
    """Return whether all that were asked for hold; None if none was."""
    asked = [one for one in each if one is not None]
    return all(asked) if asked else None


def _limits(release: AnyRelease, rules: Policy) -> Iterator[Line]:
    private = promises(release)
    (first, epsilon), (second, delta) = _most(rules, "epsilon", release.promised_epsilon), _most(rules, "delta", release.delta)
    holds = _all(first, second) if private else False
    yield Line("Promised", holds, f"Epsilon {epsilon}; delta {delta}." if private else "The release promises no privacy.")
    within = release.epsilon <= release.promised_epsilon
    first, epsilon = _most(rules, "epsilon", release.epsilon)
    yield Line(
        "Spent",
        _all(first, second) if within else False,
        f"Epsilon {epsilon}; {short(release.promised_epsilon, 6)} was promised.",
    )


def _ledger(rules: Policy, path: Path | None, found: Check | None) -> Iterator[Line]:
    """Yield whether a ledger paid, and what all of its releases may spend together."""
    asked = rules.asked.keys() & {"total_epsilon", "total_delta"}
    if path is None or found is None:
        holds = False if asked else None
        yield Line("Ledger", holds, "No ledger was named.")
        return
    yield Line("Ledger", found.holds, f"{found.words[0].upper()}{found.words[1:]}.")
    header = read_ledger(path).header
    (first, epsilon), (second, delta) = (
        _most(rules, f"total_{name}", float(fraction_of(header[name]) or 0)) for name in ("epsilon", "delta")
    )
    yield Line("All releases together", _all(first, second), f"The ledger's ceiling is epsilon {epsilon}; delta {delta}.")


def _unit(release: AnyRelease, rules: Policy) -> Line:
    cap = release.max_rows_per_group
    has = {"unit": "row" if cap is None else "group", "adjacency": release.adjacency}
    holds = [has[key] == rules.asked[key] for key in has if key in rules.asked]
    most = rules.asked.get("max_rows_per_group")
    holds += [cap is not None and cap <= most] if most is not None else []
    told = "each row is protected" if cap is None else f"each group of rows is protected, of which at most {cap:,} count"
    change = "being there or not" if release.adjacency == "add-remove" else "what it says"
    wanted = ", ".join(f"{key} {rules.asked[key]}" for key in ("unit", "adjacency", "max_rows_per_group") if key in rules.asked)
    return Line("Unit of privacy", _all(*holds), f"In this release {told}: {change}. The policy: {wanted or 'says nothing'}.")


def _columns(release: AnyRelease) -> tuple[Column, ...] | None:
    """Return the columns of a release as they were declared; None if it has none."""
    if isinstance(release, DescriptionRelease):
        return release.facts
    return tuple(column for column, _ in declared_columns(release)) if isinstance(release, Release) else None


def _ends(column: Column) -> tuple[float, float]:
    """Return bounds that can be compared; dates in days since one day for all."""
    shift = (column.epoch or EPOCH).toordinal() if column.kind == "date" else 0
    return column.lower + shift, column.upper + shift


def _is_inside(column: Column, allowed: Column | None) -> bool:
    """Whether what may be in a column may also be in the one of a policy."""
    if allowed is None or allowed.kind != column.kind:
        return False
    if not is_measured(column):
        return set(column.categories) <= set(allowed.categories)
    (low, high), (least, most) = _ends(column), _ends(allowed)
    return least <= low and high <= most


def _bounds(release: AnyRelease, rules: Policy) -> Line:
    columns = _columns(release)
    if columns is None:
        return Line("Bounds", _asked(rules, "schema", False), "The release has no columns; it is of public sites or sets.")
    outside = [str(column.name) for column in columns if not _is_inside(column, rules.columns.get(str(column.name)))]
    if "schema" not in rules.asked:
        return Line("Bounds", None, "The policy names no schema.")
    told = f"not inside the ones of {rules.asked['schema']}, or not there: {', '.join(outside)}"
    words = told if outside else f"columns inside the ones of {rules.asked['schema']}: all of {len(columns)}"
    return Line("Bounds", not outside, f"{words[0].upper()}{words[1:]}.")


def _sources(release: AnyRelease, rules: Policy) -> Line:
    columns = _columns(release)
    if columns is None:
        return Line("Sources of the bounds", None, "The release has no columns.")
    silent = [str(column.name) for column in columns if not column.source]
    words = f"no source is named for {', '.join(silent)}" if silent else "each column names where its bounds are known from"
    return Line("Sources of the bounds", _asked(rules, "sources", not silent), f"{words[0].upper()}{words[1:]}.")


def _signature(rules: Policy, found: list[Check]) -> Line:
    """Return whether a release was signed with each key that was named."""
    if not found:
        return Line("Signature", _asked(rules, "signature", False), "No key was named to check it with.")
    words = "; ".join(one.words for one in found)
    return Line("Signature", all(one.holds for one in found), f"{words[0].upper()}{words[1:]}.")


def _compared(subject: str, rules: Policy, key: str, path: Path | None, look: Any) -> Line:
    """Return whether a file that was named says what the release does."""
    if path is None:
        return Line(subject, _asked(rules, key, False), "None was named.")
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        wrong = look(text)
    except ValueError:  # what looks like a number and is none
        wrong = "is not what spinney writes"
    return Line(subject, wrong == "", f"The file {path.name} {wrong or 'says what the release does'}.")


def _unplanned(text: str, release: AnyRelease) -> str:
    """Return in words what a release promises or asks that its plan, as it was printed, does not; nothing if it keeps to it."""
    promise = _PROMISE.search(text)
    planned = {name: (measure, float(amount)) for name, measure, amount in _CHARGE.findall(text)}
    if promise is None or not planned:
        return "is no plan as 'spinney plan' prints it"
    cap = None if promise[5] is None else int(promise[5])
    change = "replace" if promise[3] == "replace" else "add-remove"
    if (cap, change) != (release.max_rows_per_group, release.adjacency):
        return "plans another unit of privacy"
    if release.promised_epsilon > float(promise[1]) * (1 + SHOWN) or release.delta > float(promise[2]) * (1 + SHOWN):
        return "promises less epsilon or delta than the release"
    for charge in release.charges:
        parts = [planned.pop(name, ("", 0.0)) for name in charge.name.split(" + ")]  # several may have been pooled
        paid = sum(amount for _, amount in parts)
        if {measure for measure, _ in parts} != {charge.measure.value} or float(charge.amount) > paid * (1 + SHOWN):
            return f"does not plan the question {charge.name!r} as it was asked"
    return ""
