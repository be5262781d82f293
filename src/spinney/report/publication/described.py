"""What a report says of a description of clusters: its numbers with their margins, cluster by cluster."""

from __future__ import annotations

import math

import numpy as np

from spinney.releases.description import DescriptionRelease
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
)
from spinney.spaces.column import Column
from spinney.spaces.described import is_measured
from spinney.spaces.plain_values import within

#: Categories that are shown of a column, those with the most rows first.
SHOWN_CATEGORIES = 8
#: What stands where too few rows are seen.
UNTOLD = "-"
#: How numbers are read.
READING = "Behind each number, or in brackets: how far noise moved it at most, with probability 0.95."
UNSEEN = " A dash: too few rows are seen."
SCORES = (
    "The number behind a column says how far its histogram in the cluster is from the one of all rows: 0 same, 1 apart.  "
    "It follows from the noisy histograms in the release file."
)


def described_columns(release: DescriptionRelease, whole: bool) -> list[int]:
    """Return the columns that are shown: all of them in the order of the release, or those that distinguish clusters most."""
    count = len(release.names)
    if whole or count <= SHOWN_COLUMNS:
        return list(range(count))
    best = np.nan_to_num(release.scores).max(axis=0)
    return sorted(np.argsort(-best, kind="stable")[:SHOWN_COLUMNS].tolist())


def _short(number: float) -> str:
    """Return five digits of a number, and more rather than a power of ten."""
    text = f"{number:,.5g}"
    return f"{number:,.0f}" if "e+" in text and abs(number) < 1e12 else text


def _told(fact: Column, number: float, margin: float = math.nan) -> str:
    return fact.shown(number) or within(number, margin) or _short(number)


def mean_texts(release: DescriptionRelease, place: int) -> list[str]:
    """Return the means of a column with their margins."""
    fact, exact = release.facts[place], release.noise.is_exact
    texts = []
    for mean, margin in zip(release.means[:, place].tolist(), release.mean_margins[:, place].tolist(), strict=True):
        behind = ""
        if not (exact or math.isnan(margin)):
            off = _short(float(f"{margin:.2g}")) if fact.kind == "number" else fact.shown_margin(margin)
            behind = f" \N{PLUS-MINUS SIGN} {off}"
        told = _told(fact, mean, math.nan if exact else margin)
        texts.append(UNTOLD if math.isnan(mean) else told + behind)
    return texts


def quantile_texts(release: DescriptionRelease, place: int) -> list[list[str]]:
    """Return the quantiles of a column, level by level, with where the true ones lie."""
    exact = release.noise.is_exact
    fact, arrays = release.facts[place], (release.quantiles, release.quantiles_lower, release.quantiles_upper)

    def text(told: float, low: float, high: float) -> str:
        middle = _told(fact, told, math.nan if exact else (high - low) / 2)
        return UNTOLD if math.isnan(told) else f"{middle} ({_told(fact, low)} to {_told(fact, high)})"

    levels = zip(*(array[:, place].T.tolist() for array in arrays), strict=True)
    return [[text(*one) for one in zip(*level, strict=True)] for level in levels]


def share_texts(release: DescriptionRelease, place: int) -> tuple[list[str], list[list[str]], list[list[float]], int]:
    """Return the categories that are shown, and of each cluster their shares as texts and as numbers; and how many are left out.

    The last one are rows that do not say the column, unless none can be missing.
    """
    name, fact = release.names[place], release.facts[place]
    shares, margins = release.shares(name)
    titles = [*release.bin_names(name), "(no answer)"]
    order = np.argsort(-release.histogram(name)[:, :-1].sum(axis=0), kind="stable")
    shown = sorted(order[:SHOWN_CATEGORIES].tolist()) + ([] if fact.fill is not None else [len(titles) - 1])
    exact = release.noise.is_exact

    def text(share: float, margin: float) -> str:
        behind = "" if exact else f" \N{PLUS-MINUS SIGN} {100 * margin:.2g}%"
        return UNTOLD if math.isnan(share) else f"{100 * share:.1f}%{behind}"

    each = list(zip(shares.tolist(), margins.tolist(), strict=True))
    texts = [[text(own[i], off[i]) for i in shown] for own, off in each]
    numbers = [[0.0 if math.isnan(own[i]) else own[i] for i in shown] for own, _ in each]
    return [titles[i] for i in shown], texts, numbers, max(len(titles) - 1 - SHOWN_CATEGORIES, 0)


def _bars(numbers: list[float], margin: float) -> list[Value]:
    top = max(max(numbers) + margin, 1e-300)
    return [Value(f"{number:,.0f}", bar=Bar(number / top, min(margin / top, 1.0))) for number in numbers]


def _clusters(release: DescriptionRelease, lines: int) -> Sheet:
    exact = release.noise.is_exact
    columns = [_bars(release.rows.tolist(), 0.0 if exact else release.rows_margin)]
    note = "Sizes are exact: no noise was added." if exact else f"Rows are within {release.rows_margin:,.0f} of the true number"
    if release.persons is not None and release.persons_margin is not None:
        columns.append(_bars(release.persons.tolist(), 0.0 if exact else release.persons_margin))
        note += "" if exact else f", persons within {release.persons_margin:,.0f}"
    note += "" if exact else ", each with probability 0.95."
    note += " Of each person one row counts, drawn in secret." if release.persons is not None else ""
    scores = (dict(zip(release.names, own, strict=True)) for own in release.scores.tolist())
    each = (", ".join(f"{name} ({own[name]:.2f})" for name in few) for few, own in zip(release.named, scores, strict=True))
    named = [Value(clean(text or UNTOLD)) for text in each]
    rows = [(Value(str(i)), *cells) for i, cells in enumerate(zip(*columns, named, strict=True))]
    heads = ("cluster", "rows", *(("persons",) if release.persons is not None else ()), "most distinguished by")
    look = "" if exact else "Thin lines at the ends of bars are their margins."
    left = len(rows) - lines
    note += " Numbered from 0, as centers and labels of the described release are."
    note += f" {left:,} more clusters are in the release file." if left > 0 else ""
    return Sheet("Clusters, in the order of the described centers", heads, tuple(rows[:lines]), 1, note, look)


def _column(release: DescriptionRelease, place: int, lines: int) -> Sheet:
    name = clean(release.names[place], LETTERS) or "(no name)"
    if is_measured(release.facts[place]):
        shown = [i for i, level in enumerate(release.quantile_levels) if 0.2 < level < 0.8]  # these fit on paper
        texts = quantile_texts(release, place)
        names = ["median" if level == 0.5 else f"{100 * level:g}%" for level in release.quantile_levels]
        each = zip(mean_texts(release, place), *(texts[i] for i in shown), strict=True)
        rows = [(Value(str(i)), *map(Value, cells)) for i, cells in enumerate(each)]
        heads, more = ("cluster", "mean", *(names[i] for i in shown)), "The release file has more quantiles, and histograms."
        return Sheet(f"{name}: mean and quantiles", heads, tuple(rows[:lines]), 1, more)
    titles, texts, numbers, left = share_texts(release, place)
    cells = [tuple(map(Value, own, shades)) for own, shades in zip(texts, numbers, strict=True)]
    rows = [(Value(str(i)), *own) for i, own in enumerate(cells)]
    note = f"{left:,} more categories are in the release file." if left else ""
    heads = ("cluster", *(clean(title, LETTERS) for title in titles))
    return Sheet(f"{name}: shares of rows", heads, tuple(rows[:lines]), 1, note, "Darker is a larger share.")


def description_sections(release: DescriptionRelease, whole: bool = False) -> list[Section]:
    """Return the clusters, and a table for each column: as many as fit on a page, or the whole."""
    lines = len(release.rows) if whole else SHOWN_LINES
    blocks: list[Block] = [
        Paragraph(f"The clusters of the release with the digest {clean(release.of)}."),
        _clusters(release, lines),
    ]
    blocks = [*(Notice(title, text) for title, text in release.doubts.items()), *blocks]
    blocks += [Notice("Nearly all missing", clean(line)) for line in release.silent]
    shown = described_columns(release, whole)
    left = len(release.names) - len(shown)
    told = READING + UNSEEN + (f" {left:,} more columns are in the release file." if left else "")
    tables = tuple(_column(release, place, lines) for place in shown)
    return [
        Section("What was found", (*blocks, Paragraph(SCORES))),
        Section("What the clusters are like", (Paragraph(told), *tables)),
    ]
