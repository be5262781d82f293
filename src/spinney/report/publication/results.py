"""What was found, for each kind of release: centers, sites, or a cover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.releases.centers import Release
from spinney.releases.clusters import ClusterRelease
from spinney.releases.cover import CoverRelease
from spinney.releases.description import DescriptionRelease
from spinney.releases.objectives import title_of
from spinney.releases.promise import Promise
from spinney.releases.reading import AnyRelease
from spinney.releases.sites import SiteRelease
from spinney.report.frames import site_names
from spinney.report.geography import Geography
from spinney.report.picture import indicators, informative_columns
from spinney.report.publication.described import description_sections
from spinney.report.publication.document import (
    LETTERS,
    SHOWN_COLUMNS,
    SHOWN_LINES,
    Bar,
    Block,
    Notice,
    Paragraph,
    Section,
    Sheet,
    Value,
    clean,
    short,
    shorts,
)
from spinney.report.publication.live import live_map
from spinney.report.publication.odds import promises
from spinney.report.publication.pictures import DRAWN, fraction, map_drawing, pair_drawings
from spinney.spaces.column import Column
from spinney.spaces.plain_values import within

#: Letters of a heading.
HEADS = 24
#: What sites were chosen by, where it is not travel costs alone.
BY_GOAL = {
    "capacities": "{} within limits of sites",
    "reach": "what is within reach",
    "farthest": "the longest travel",
    "opening-costs": "{} and costs of opening",
}
#: What is said of travel.
TRAVEL = (
    " Travel is the mean distance from the rows to their site, and behind it how far noise moved it at most, with probability "
    "0.95; nothing stands there if too few rows are seen to tell."
)
#: How pictures are read.
NUMBERS = "Numbered from 0, in the order of the release file, as labels are."
AREAS = "Areas stand for rows of the summary, colors for the nearest center; numbers are in the table."


def column_names(release: Release, letters: int = LETTERS) -> list[str]:
    """Return what columns are called, in few letters."""
    names = release.feature_names or tuple(f"column {i}" for i in range(release.centers.shape[1]))
    return [clean(name, letters) or "(no name)" for name in names]


def shown_columns(release: Release, count: int = SHOWN_COLUMNS) -> list[int]:
    """Return the columns along which the centers differ most, numbers and dates before shares, in the order of the table."""
    d = release.centers.shape[1]
    if d <= count:
        return list(range(d))
    with np.errstate(all="ignore"):  # of bounds that are next to infinite, any will do
        return list(informative_columns(release, count))


def headline(release: AnyRelease) -> str:
    """Return what was released, in a line."""
    if isinstance(release, Release):
        k, d = release.centers.shape
        d = d if release.facts is None else len(release.facts.columns)
        kind = clean(title_of(release.objective), LETTERS)
        return f"{_many(k, 'cluster')} of {_private(release)}rows in {_many(d, 'column')} ({kind})"
    if isinstance(release, SiteRelease):
        costs = "squared travel costs" if release.power == 2 else "travel costs"
        wanted = BY_GOAL.get((release.goal or {}).get("kind", ""), "{}").format(costs)
        return f"{_many(len(release.medoids), 'new site')} for {_private(release)}demand, by {wanted}"
    if isinstance(release, DescriptionRelease):
        clusters, columns = _many(len(release.rows), "cluster"), _many(len(release.bins), "column")
        return f"What {clusters} of {_private(release)}rows are like in {columns}"
    return f"{_many(len(release.chosen), 'set')} that cover many {_private(release)}rows"


def _private(release: Promise) -> str:
    return "private " if promises(release) else ""


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _bars(release: ClusterRelease, order: NDArray[np.int64]) -> list[Value]:
    exact = release.noise.is_exact
    margin = 0.0 if exact else release.sizes_margin
    sizes = np.maximum(release.sizes[order], 0.0)
    top = max(float(sizes.max()) + margin, 1e-300)
    values = []
    for size in sizes:
        words = short(size, 4) if size < 1000 else f"{size:,.0f}" if size < 1e12 else short(size)
        faint = " (may be noise)" if not exact and size <= margin else ""
        values.append(Value(words + faint, bar=Bar(float(size / top), float(margin / top))))
    return values


def _margin_words(release: ClusterRelease) -> str:
    if release.noise.is_exact:
        return "Sizes are exact: no noise was added."
    margin = release.sizes_margin
    told = f"within {short(margin) if margin < 1000 else f'{margin:,.0f}'} rows of the true one with probability 0.95"
    return f"Each size is {told}. A cluster whose size is within its margin may be nothing but noise."


def _bar_words(release: ClusterRelease) -> str:
    return "" if release.noise.is_exact else "Thin lines at the ends of bars are their margins."


def _left_out(total: int, shown: int, what: str) -> str:
    return f" {total - shown:,} more {what} are in the release file and not shown here." if total > shown else ""


def _chosen_words(release: Release, count: int) -> str:
    """Return which columns are shown, if not all."""
    shares, d = indicators(release).any(), release.centers.shape[1]
    each, order = (", each category being one,", ", numbers and dates before shares") if shares else ("", "")
    return f" Of {d:,} columns{each} these are the {count} along which the centers differ most{order}."


def _told(release: Release, column: int, values: list[float]) -> list[str]:
    """Return the values of a column in the user's units, with their margins if they have some."""
    fact = Column(None, "number") if release.facts is None else release.facts.of_titles[column]
    plain = shorts(values)
    margins = release.center_margins
    if margins is None or release.noise.is_exact:
        return [fact.shown(value) or text for value, text in zip(values, plain, strict=True)]
    known = zip(values, plain, margins[:, column].tolist(), strict=True)
    texts = [fact.shown(value) or within(value, margin) or text for value, text, margin in known]
    sign = " \N{PLUS-MINUS SIGN} "
    behind = ["" if np.isnan(margin) else f"{sign}{fact.shown_margin(margin)}" for margin in margins[:, column].tolist()]
    return [text + more for text, more in zip(texts, behind, strict=True)]


def _noise_words(release: Release) -> str:
    if release.center_margins is None or release.noise.is_exact:
        return ""
    return " Behind each value: how far noise moved it at most, with probability 0.95; nothing stands there if that is not known."


def _center_grid(release: Release, order: NDArray[np.int64], columns: list[int], caption: str) -> Sheet:
    """Return the centers as a table that is a heat map too."""
    names = column_names(release, HEADS)
    k, d = release.centers.shape
    shades, texts = {}, {}
    for column in columns:
        values = release.centers[:, column]
        shades[column] = fraction(values, float(values.min()), float(values.max()))
        texts[column] = _told(release, column, values.tolist())
    rows = []
    for i, size in zip(order, _bars(release, order), strict=True):
        cells = [Value(texts[column][i], shade=float(shades[column][i])) for column in columns]
        rows.append((Value(str(i)), size, *cells))
    note = f"{NUMBERS} In the units of the table. " + _margin_words(release) + _noise_words(release)
    note += _left_out(k, len(order), "centers")
    if d > len(columns):
        note += _chosen_words(release, len(columns))
    heads = ("cluster", "rows", *(names[i] for i in columns))
    look = f"Darker is higher among the centers of a column. {_bar_words(release)}"
    return Sheet(caption, heads, tuple(rows), 1, note, look)


def _summary(release: ClusterRelease) -> Paragraph:
    count = len(release.summary_points)
    return Paragraph(f"The {'private ' if promises(release) else ''}summary has {_many(count, 'weighted point')}.")


def _center_sections(release: Release, whole: bool) -> list[Section]:
    k, d = release.centers.shape
    order = np.argsort(-release.sizes, kind="stable")[: k if whole else SHOWN_LINES]
    columns = shown_columns(release, d if whole else SHOWN_COLUMNS)
    blocks: list[Block] = [_center_grid(release, order, columns, "Centers, largest cluster first"), _summary(release)]
    if release.supported_centers is not None and release.supported_centers < k:
        told = f"{release.supported_centers:,} of {k:,} centers rest on a private step of their own"
        blocks.append(Paragraph(f"{told}, the budget not being enough for more."))
    blocks = [*(Notice(title, text) for title, text in release.doubts.items()), *blocks]
    pictures = pair_drawings(release, order, column_names(release), shown_columns(release, DRAWN))
    title = "One column" if d == 1 else "Pairs of columns"
    summary = AREAS if len(release.summary_points) else "The algorithm made no summary; the centers stand alone."
    if len(release.summary_points) and d == 1:
        summary = "Bars stand for rows of the summary; numbers are in the table."
    if d > DRAWN:
        summary += _chosen_words(release, DRAWN)
    return [Section("What was found", tuple(blocks)), Section(title, (Paragraph(summary), *pictures))]


def _goal(release: SiteRelease) -> list[Block]:
    """Return what was asked for, if it is not simply little travel, and how many rows go to nobody."""
    if release.goal is None:
        return []
    numbers = [f"{clean(name, LETTERS)} {value:g}" for name, value in release.goal.items() if type(value) is float]
    weighted = ["weights of points"] if release.goal.get("is_weighted") else []
    words = f"Asked for: {', '.join([clean(str(release.goal['kind']), LETTERS), *numbers, *weighted])}."
    left = "" if release.unserved is None else f" About {release.unserved:,.0f} rows go to no site, with the same margin."
    return [Paragraph(words + left)]


def _travel(release: SiteRelease) -> list[str]:
    """Return the mean travel to each site, as far as it is told."""
    if release.travel is None or release.travel_margins is None:
        return []
    known = zip(release.travel.tolist(), release.travel_margins.tolist(), strict=True)
    each = [(short(mean), within(mean, margin), short(float(f"{margin:.2g}"), 2)) for mean, margin in known]
    exact = release.noise.is_exact
    return ["" if mean == "nan" else mean if exact else f"{text or mean} \N{PLUS-MINUS SIGN} {to}" for mean, text, to in each]


def _site_sections(release: SiteRelease, whole: bool, where: Geography | None) -> list[Section]:
    order = np.argsort(-release.sizes, kind="stable")[: len(release.sizes) if whole else SHOWN_LINES]
    names, travel = site_names(release), _travel(release)
    told = [[Value(travel[i])] if travel else [] for i in order]
    rows = [
        (Value(str(i)), Value(clean(names[i], LETTERS)), Value("new" if i < len(release.medoids) else "existing"), size, *more)
        for i, size, more in zip(order, _bars(release, order), told, strict=True)
    ]
    note = f"{NUMBERS} " + _margin_words(release).replace("A cluster", "A site")
    note += TRAVEL if travel else ""
    note += _left_out(len(release.sizes), len(order), "sites")
    heads = ("no.", "site", "kind", "rows", *(["mean travel"] if travel else []))
    grid = Sheet("Sites, by the rows that each serves", heads, tuple(rows), 3, note, _bar_words(release))
    blocks: list[Block] = [grid, *_goal(release), _summary(release)]
    blocks = [*(Notice(title, text) for title, text in release.doubts.items()), *blocks]
    drawing = (None if where is None else live_map(where, order)) or map_drawing(release, order)
    return [Section("What was found", tuple(blocks)), *([Section("Map", (drawing,))] if drawing else [])]


def _cover_sections(release: CoverRelease, whole: bool) -> list[Section]:
    chosen = release.chosen.tolist()
    listed = chosen if whole else chosen[:SHOWN_LINES]
    rows = tuple((Value(str(i + 1)), Value(f"set {index:,}")) for i, index in enumerate(listed))
    note = "Sets are named by their places in the public list, from 0 on. One that comes again adds nothing. "
    note += "How many rows they cover was not asked, and is not released." + _left_out(len(chosen), len(rows), "choices")
    return [Section("What was found", (Sheet("Sets in the order of choosing", ("no.", "set"), rows, 2, note),))]


def _named(sections: list[Section], names: dict[int, str] | None) -> list[Section]:
    """Return sections whose tables of clusters have names beside their numbers."""
    told = {str(number): name for number, name in (names or {}).items()}

    def with_names(block: Block) -> Block:
        if not isinstance(block, Sheet) or block.heads[0] != "cluster":
            return block
        rows = ((replace(first, name=told.get(first.text, "")), *rest) for first, *rest in block.rows)
        return replace(block, rows=tuple(rows))

    return [replace(section, blocks=tuple(map(with_names, section.blocks))) for section in sections]


def result_sections(
    release: AnyRelease,
    described: Release | None = None,
    whole: bool = False,
    names: dict[int, str] | None = None,
    where: Geography | None = None,
) -> list[Section]:
    """Return the sections of what was found; of a description with the centers, and of sites with the map, if it is given."""
    if isinstance(release, Release):
        return _named(_center_sections(release, whole), names)
    if isinstance(release, DescriptionRelease):
        found = _named(description_sections(release, whole), names)
        if described is None:
            return found
        order = np.arange(min(len(described.centers), SHOWN_LINES))  # as the description has them
        grid = _center_grid(described, order, shown_columns(described), "Centers of the described release")
        return [found[0], *_named([Section("The clusters that are described", (grid,))], names), *found[1:]]
    return _site_sections(release, whole, where) if isinstance(release, SiteRelease) else _cover_sections(release, whole)
