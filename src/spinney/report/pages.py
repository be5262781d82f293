"""A release as one readable page of text."""

from __future__ import annotations

import math

import numpy as np

from spinney.releases.centers import Release
from spinney.releases.promise import Promise
from spinney.releases.sites import SiteRelease
from spinney.report.curve import found_curve
from spinney.report.frames import site_names
from spinney.spaces.column import Column
from spinney.spaces.described import is_measured
from spinney.spaces.plain_values import short, within

__all__ = [
    "aligned",
    "before_lines",
    "charge_rows",
    "made_lines",
    "page",
    "promise_lines",
    "schema_lines",
    "shortened",
    "sizes_words",
    "spent_lines",
]

#: Columns shown of each center; a release may have more.
SHOWN_COLUMNS = 8
#: Lines shown of a table, and charges beyond which one kind shares a line.
SHOWN_LINES, SHOWN_CHARGES = 40, 20


def aligned(rows: list[list[str]]) -> list[str]:
    """Return the lines of a table, cells to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _tightened(release: Release, names: list[str]) -> list[str]:
    """Return the private box, if rows were clipped to one."""
    if release.tightened is None:
        return []
    bounds = zip(names, release.tightened["lower"], release.tightened["upper"], strict=False)
    rows = [["column", "from", "to"]] + [[name, short(low, 5), short(high, 5)] for name, low, high in bounds]
    return ["", "The private box that rows were clipped to:", *aligned(rows)]


def promise_lines(release: Promise) -> list[str]:
    """Return what was promised and who was trusted."""
    return [f"Promise: {release.statement}.", f"Noise: {release.noise}. Model: {release.model}."]


def sizes_words(release: Release | SiteRelease, what: str = "", each: str = "") -> str:
    """Return what sizes are, with what they count, and how far each may be off."""
    if release.noise.is_exact:
        return f"size{what} (exact: no noise was added)"
    return f"noisy size{what} ({each}+- {release.sizes_margin:.0f} with probability 0.95)"


def before_lines(release: Promise) -> list[str]:
    """Return what was done to the rows before the questions, rule by rule."""
    return ["Before the questions:", *(f"- {rule}" for rule in release.preprocessing.split("; ") if rule)]


def made_lines(release: Promise) -> list[str]:
    """Return when a release was made and what repeats it; files of earlier versions say less, or nothing."""
    made, lines = release.made, []
    if made.get("date"):
        charged = f", charged to {made['ledger']} as entry {made['entry']}" if made.get("ledger") else ""
        lines.append(f"Made on {made['date']}{charged}.")
    given = {**release.parameters, "random_state": release.random_state, "noise_seed": release.noise_seed}
    listed = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    return [*lines, *([f"To repeat it: {listed}."] if listed else [])]


def shortened(lines: list[str], what: str, whole: bool = False) -> list[str]:
    """Return a heading and at most as many lines as fit on a page, and how many are left out; if it is to be whole, all."""
    left = len(lines) - 1 - SHOWN_LINES
    return lines if left <= 0 or whole else [*lines[: SHOWN_LINES + 1], f"... and {left} more {what}"]


def charge_rows(release: Promise) -> list[tuple[str, str, str]]:
    """Return question, name and price of what was asked; many that differ only by the number in their name are one row."""
    each = [(charge.question, charge.name, f"{charge.measure.value} {float(charge.amount):.6g}") for charge in release.charges]
    if len(each) <= SHOWN_CHARGES:
        return each
    alike: dict[tuple[str, ...], list[str]] = {}
    for question, name, price in each:
        stem, _, number = name.rpartition(" ")
        alike.setdefault((question, stem if stem and number.isdigit() else name, price), []).append(name)
    rows = []
    for (question, _, price), names in alike.items():
        many = f"{names[0]} .. {names[-1].rpartition(' ')[2]}", f"{len(names)} x {price}"
        rows.append((question, *(many if len(names) > 1 else (names[0], price))))
    return rows


def spent_lines(release: Promise, whole: bool = False) -> list[str]:
    """Return what was spent on what."""
    charges = aligned([["question", "for", "charge"], *map(list, charge_rows(release))])
    return [f"Spent (epsilon {release.epsilon:.9g} of {release.promised_epsilon:.9g}):", *shortened(charges, "charges", whole)]


def _coordinate(release: Release, i: int, column: int) -> str:
    """Return a coordinate of a center in the user's units, with its margin if it has one."""
    value, facts, margins = float(release.centers[i, column]), release.facts, release.center_margins
    fact = Column(None, "number") if facts is None else facts.of_titles[column]
    margin = math.nan if margins is None or release.noise.is_exact else float(margins[i, column])
    text = fact.shown(value) or within(value, margin) or short(value, 5)
    return text if math.isnan(margin) else f"{text} +- {fact.shown_margin(margin)}"


def _margin_lines(release: Release) -> list[str]:
    """Return what the margins of centers are, if there are some."""
    margins = release.center_margins
    if margins is None or release.noise.is_exact:
        return []
    some = " A center without margins rests on too few steps, or on too few rows." if np.isnan(margins).any() else ""
    return [f"Behind +-: how far the noise of the last private step moved a coordinate, at most, with probability 0.95.{some}"]


def schema_lines(release: Release) -> list[str]:
    """Return the public facts about columns, if more than bounds were given."""
    if release.facts is None:
        return []
    rows = [["column", "kind", "from", "to", "unit or weight", "source"]]
    for column in release.facts.columns:
        measured = is_measured(column)
        ends = [column.shown(end) or short(end, 5) for end in (column.lower, column.upper)] if measured else ["", ""]
        kind = f"one of {len(column.categories)}" if column.kind == "category" else column.kind
        size = column.unit if measured else column.weight
        rows.append([str(column.name or "(no name)"), kind, *ends, short(size, 5), column.source])
    return [
        "",
        "The public schema; distances are measured after each column is divided by its unit:",
        *shortened(aligned(rows), "columns"),
    ]


def _centers(release: Release, whole: bool) -> tuple[list[str], list[str], list[str]]:
    """Return what was clustered, the centers by their sizes, and the private box, if there is one."""
    k, d = release.centers.shape
    names = list(release.feature_names or (f"column {i}" for i in range(d)))
    shown = names if whole else names[:SHOWN_COLUMNS]
    order = np.argsort(-release.sizes, kind="stable")
    centers = [["cluster", "size", *shown]] + [
        [str(i), f"{release.sizes[i]:.0f}", *(_coordinate(release, i, column) for column in range(len(shown)))] for i in order
    ]
    head = f"{release.objective}: {k} centers, {d} columns, algorithm {release.algorithm!r}, spinney {release.version}"
    table = [f"Centers by {sizes_words(release, each='each size ')}:", *shortened(aligned(centers), "centers", whole)]
    left = d - len(shown)
    more = [f"... and {left} more columns"] if left else []
    if release.supported_centers is not None and release.supported_centers < k:
        more += [f"{release.supported_centers} of {k} centers rest on a private step; the others come from the summary."]
    more += _margin_lines(release)
    box = _tightened(release, shown) + schema_lines(release)
    found = [] if release.k_costs is None else [f"Number of clusters: {release.k}, {release.k_source}."]
    return [head, *found], [*table, *more, *([release.doubt] if release.doubt else [])], box


def _sites(release: SiteRelease, whole: bool) -> tuple[list[str], list[str], list[str]]:
    """Return what was chosen, and the sites by their sizes."""
    space, names = release.space, site_names(release)
    costs = "squared travel costs" if release.power == 2 else "travel costs"
    existing = f", {len(release.existing_sites)} existing" if len(release.existing_sites) else ""
    rows = [["number", "size", "site", "kind"]]
    for i in np.argsort(-release.sizes, kind="stable"):
        rows.append([str(i), f"{release.sizes[i]:.0f}", names[i], "new" if i < len(release.medoids) else "existing"])
    head = [
        f"sites: {len(release.medoids)} new{existing}, {costs}, algorithm {release.algorithm!r}, spinney {release.version}",
        f"Space: {space['kind']} of {space['n_points']} points, {space['n_candidates']} of them candidates.",
    ]
    table = [f"Sites by {sizes_words(release, ', the rows each serves')}:", *shortened(aligned(rows), "sites", whole)]
    return head, [*table, *([release.doubt] if release.doubt else [])], []


def page(release: Release | SiteRelease, *, whole: bool = False, curve: bool = True) -> str:
    """Return what was promised, the centers or sites with their sizes, and what was spent on what.

    Clusters have the numbers that labels have: from 0, in the order of the release.

    Privacy
    -------
    Post-processing of a release: free.

    Parameters
    ----------
    release : Release or SiteRelease
    whole : bool
        Whether to show every column, center and charge, and not as many as fit on a page.
    curve : bool
        Whether to show the costs that a number of clusters was found from, if it was.
    """
    head, table, box = _sites(release, whole) if isinstance(release, SiteRelease) else _centers(release, whole)
    costs = found_curve(release) if curve and isinstance(release, Release) else None
    lines = [
        *head,
        *promise_lines(release),
        "",
        *table,
        "",
        *spent_lines(release, whole),
        *box,
        *([] if costs is None else ["", "The estimated costs that this number was found from:", str(costs)]),
        "",
        f"Summary: {len(release.summary_points)} weighted points.",
        *before_lines(release),
        *made_lines(release),
    ]
    return "\n".join(lines)
