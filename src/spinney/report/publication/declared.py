"""What was public from the start: the columns of the table as they were declared, or what sites and sets were chosen from."""

from __future__ import annotations

from typing import Any

from spinney.releases.centers import Release
from spinney.releases.cover import CoverRelease
from spinney.releases.description import DescriptionRelease
from spinney.releases.reading import AnyRelease
from spinney.releases.sites import SiteRelease
from spinney.report.publication.document import LETTERS, SHOWN_LINES, Paragraph, Section, Sheet, Value, clean, short
from spinney.report.publication.results import column_names
from spinney.spaces.column import Column
from spinney.spaces.described import is_measured

#: Columns shown, so that the longest page prints to four pages; letters of a list of categories, and of a source.
LINES, LISTED, SOURCE = 16, 80, 80


def _public(release: SiteRelease | CoverRelease) -> str:
    """Return what a release without bounds was chosen from."""
    if isinstance(release, CoverRelease):
        return f"A public list of {clean(release.n_sets)} sets of {clean(release.n_items)} items"
    kind, points, candidates = (release.space[name] for name in ("kind", "n_points", "n_candidates"))
    return f"A public space ({clean(kind, LETTERS)}) of {points:,} points, {candidates:,} of them candidates"


def _span(column: Column, low: float, high: float) -> str:
    return f"{column.shown(low) or short(low)} to {column.shown(high) or short(high)}"


def _cells(column: Column) -> str:
    """Return what was declared about the texts of cells."""
    codes = [column.shown(code) or short(code) for code in column.missing]
    facts = {
        "written as": column.formats,
        "with": column.signs,
        "also": [f"{alias} for {name}" for alias, name in column.aliases],
        "unknown:": codes,
    }
    told = [f"; {words} {clean(', '.join(listed), LISTED)}" for words, listed in facts.items() if listed]
    return "".join(told) + ("; letters of any case" if column.ignore_case else "")


def _range(column: Column) -> str:
    """Return what a cell may be, and what a missing one is read as."""
    if column.kind == "category":
        told = clean(", ".join(column.categories), LISTED)
    else:
        told = "true, false" if column.kind == "boolean" else _span(column, column.lower, column.upper)
    told += _cells(column)
    if column.fill is None:
        return told
    if column.kind == "boolean":
        fill = "true" if column.fill else "false"
    else:
        fill = column.fill if isinstance(column.fill, str) else column.shown(column.fill) or short(column.fill)
    return f"{told}; a missing cell counts as {clean(fill, LETTERS)}"


def _kind(column: Column) -> str:
    return f"{len(column.categories):,} categories" if column.kind == "category" else column.kind


def declared_columns(release: Release) -> list[tuple[Column, int]]:
    """Return the columns of the table, each with the place of its first column of the fit."""
    if release.facts is None:
        pairs = zip(column_names(release), release.domain["lower"], release.domain["upper"], strict=True)
        return [(Column(name, "number", low, high), place) for place, (name, low, high) in enumerate(pairs)]
    places, found = 0, []
    for column in release.facts.columns:
        found.append((column, places))
        places += column.width
    return found


def _sheet(release: Release) -> Sheet:
    """Return the columns of the table by their own names, with all that was declared about them."""
    box, stated, columns = release.tightened, release.facts is not None, declared_columns(release)
    heads = ("column", *(("kind",) if stated else ()), "bounds or categories")
    heads += ("private box",) if box else ()
    heads += ("unit or weight", "source") if stated else ()
    rows = [_row(column, place, box, stated) for column, place in columns[:LINES]]
    left = len(columns) - len(rows)
    note = f"{left:,} more columns are in the release file." if left > 0 else ""
    if stated:
        far = "Distances are measured after each number is divided by its unit; two categories are their weight apart."
        note = f"{far} {note}".strip()
    return Sheet("Columns as they were declared", heads, tuple(rows), len(heads), note)


def _row(column: Column, place: int, box: dict[str, Any] | None, stated: bool) -> tuple[Value, ...]:
    texts = [
        clean(column.name or f"column {place}", LETTERS) or "(no name)",
        *([_kind(column)] if stated else []),
        _range(column),
    ]
    if box:
        texts.append(_span(column, box["lower"][place], box["upper"][place]) if column.width == 1 else "one for each category")
    if stated:
        size = column.unit if is_measured(column) else column.weight
        days = " days" if column.kind == "date" else ""
        texts += [f"{short(size)}{days}", clean(column.source, SOURCE) or "not stated"]
    return tuple(map(Value, texts))


def has_sources(release: AnyRelease) -> bool:
    """Whether the source of each declared column is stated, so that nobody has to write it by hand."""
    facts: tuple[Column, ...] = ()
    if isinstance(release, DescriptionRelease):
        facts = release.facts
    elif isinstance(release, Release) and release.facts is not None:
        facts = release.facts.columns
    return bool(facts) and all(column.source for column in facts)


def _described_section(release: DescriptionRelease) -> Section:
    """Return what was public about described columns."""
    words = (
        "Declared as public facts by whoever asked for the description: they must not have been read from the rows, which the "
        "program cannot check. So was the described release, with its centers and the bounds of its columns."
    )
    rows = []
    for fact in release.facts[:SHOWN_LINES]:
        ends = [fact.shown(end) or short(end) for end in (fact.lower, fact.upper)] if is_measured(fact) else ["", ""]
        texts = (fact.name or "(no name)", _kind(fact), *ends, fact.source or "not stated")
        rows.append(tuple(Value(clean(text, LETTERS)) for text in texts))
    table = Sheet("Columns", ("column", "kind", "from", "to", "source"), tuple(rows), 5)
    return Section("What was public", (Paragraph(words), table))


def bounds_section(release: AnyRelease) -> Section:
    """Return what was public from the start, and where it comes from."""
    if isinstance(release, DescriptionRelease):
        return _described_section(release)
    if not isinstance(release, Release):
        told = f"{_public(release)}. It was given by whoever ran the fit, not taken from the rows."
        return Section("What was public", (Paragraph(told),))
    radius = release.domain.get("radius")
    words = "Declared by whoever ran the fit as public facts; values outside were moved to them. Bounds are not protected: "
    words += "they must not have been read from the rows, which the program cannot check."
    words += f" Rows farther than {short(radius)} from the middle were moved in." if radius else ""
    words += " The private box was found from the rows, with noise, and is part of what was spent." if release.tightened else ""
    return Section("Bounds, and where they come from", (Paragraph(words), _sheet(release)))
