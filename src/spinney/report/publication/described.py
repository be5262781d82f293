"""What a report says of a description of clusters."""

from __future__ import annotations

from spinney.releases.description import DescriptionRelease
from spinney.report.description_table import (
    described_columns,
    level_names,
    mean_texts,
    named_texts,
    quantile_texts,
    share_texts,
)
from spinney.report.pages import SHOWN_LINES
from spinney.report.publication.document import LETTERS, Bar, Block, Notice, Paragraph, Section, Sheet, Value, clean
from spinney.spaces.described import is_measured

#: How numbers are read.
READING = "Behind each number, or in brackets: how far noise moved it at most, with probability 0.95."
UNSEEN = " A dash: too few rows are seen."
SCORES = (
    "The number behind a column says how far its histogram in the cluster is from the one of all rows: 0 same, 1 apart.  "
    "It follows from the noisy histograms in the release file."
)


def _bars(numbers: list[float], margin: float) -> list[Value]:
    top = max(max(numbers) + margin, 1e-300)
    return [Value(f"{number:,.0f}", bar=Bar(number / top, min(margin / top, 1.0))) for number in numbers]


def _clusters(release: DescriptionRelease) -> Sheet:
    """Return the clusters with their numbers of rows and persons, and what distinguishes them."""
    exact = release.noise.is_exact
    columns = [_bars(release.rows.tolist(), 0.0 if exact else release.rows_margin)]
    note = "Sizes are exact: no noise was added." if exact else f"Rows are within {release.rows_margin:,.0f} of the true number"
    if release.persons is not None and release.persons_margin is not None:
        columns.append(_bars(release.persons.tolist(), 0.0 if exact else release.persons_margin))
        note += "" if exact else f", persons within {release.persons_margin:,.0f}"
    note += "" if exact else ", each with probability 0.95."
    note += " Of each person one row counts, drawn in secret." if release.persons is not None else ""
    named = [Value(clean(text)) for text in named_texts(release)]
    rows = [(Value(str(i)), *cells) for i, cells in enumerate(zip(*columns, named, strict=True))]
    heads = ("cluster", "rows", *(("persons",) if release.persons is not None else ()), "most distinguished by")
    look = "" if exact else "Thin lines at the ends of bars are their margins."
    left = len(rows) - SHOWN_LINES
    note += " Numbered from 0, as centers and labels of the described release are."
    note += f" {left:,} more clusters are in the release file." if left > 0 else ""
    return Sheet("Clusters, in the order of the described centers", heads, tuple(rows[:SHOWN_LINES]), 1, note, look)


def _column(release: DescriptionRelease, place: int) -> Sheet:
    """Return what clusters are like in one column."""
    name = clean(release.names[place], LETTERS) or "(no name)"
    if is_measured(release.facts[place]):
        shown = [i for i, level in enumerate(release.quantile_levels) if 0.2 < level < 0.8]  # these fit on paper
        texts, names = quantile_texts(release, place), level_names(release)
        each = zip(mean_texts(release, place), *(texts[i] for i in shown), strict=True)
        rows = [(Value(str(i)), *map(Value, cells)) for i, cells in enumerate(each)]
        heads, more = ("cluster", "mean", *(names[i] for i in shown)), "The release file has more quantiles, and histograms."
        return Sheet(f"{name}: mean and quantiles", heads, tuple(rows[:SHOWN_LINES]), 1, more)
    titles, texts, numbers, left = share_texts(release, place)
    cells = [tuple(map(Value, own, shades)) for own, shades in zip(texts, numbers, strict=True)]
    rows = [(Value(str(i)), *own) for i, own in enumerate(cells)]
    note = f"{left:,} more categories are in the release file." if left else ""
    heads = ("cluster", *(clean(title, LETTERS) for title in titles))
    return Sheet(f"{name}: shares of rows", heads, tuple(rows[:SHOWN_LINES]), 1, note, "Darker is a larger share.")


def description_sections(release: DescriptionRelease) -> list[Section]:
    """Return the clusters, and a table for each column."""
    blocks: list[Block] = [Paragraph(f"The clusters of the release with the digest {clean(release.of)}."), _clusters(release)]
    if release.looks_empty:
        blocks.insert(0, Notice("Numbers no larger than noise", release.faint))
    blocks += [Notice("Nearly all missing", clean(line)) for line in release.silent]
    shown = described_columns(release)
    left = len(release.names) - len(shown)
    told = READING + UNSEEN + (f" {left:,} more columns are in the release file." if left else "")
    tables = tuple(_column(release, place) for place in shown)
    return [
        Section("What was found", (*blocks, Paragraph(SCORES))),
        Section("What the clusters are like", (Paragraph(told), *tables)),
    ]
