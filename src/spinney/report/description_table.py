"""The description of clusters in texts: its numbers with their margins, cluster by cluster."""

from __future__ import annotations

import math

import numpy as np

from spinney.releases.description import DescriptionRelease
from spinney.report.pages import SHOWN_COLUMNS, aligned, before_lines, made_lines, promise_lines, shortened, spent_lines
from spinney.spaces.column import Column
from spinney.spaces.described import is_measured
from spinney.spaces.plain_values import within

__all__ = ["described_columns", "description_page", "level_names", "mean_texts", "named_texts", "quantile_texts", "share_texts"]

#: Categories that are shown of a column, those with the most rows first.
SHOWN_CATEGORIES = 8
#: What stands where too few rows are seen.
UNTOLD = "-"


def described_columns(release: DescriptionRelease) -> list[int]:
    """Return the columns that are shown: in the order of the release, or as many as fit, those that distinguish clusters most."""
    count = len(release.names)
    if count <= SHOWN_COLUMNS:
        return list(range(count))
    best = np.nan_to_num(release.scores).max(axis=0)
    return sorted(np.argsort(-best, kind="stable")[:SHOWN_COLUMNS].tolist())


def level_names(release: DescriptionRelease) -> list[str]:
    """Return what quantiles are called."""
    return ["median" if level == 0.5 else f"{100 * level:g}%" for level in release.quantile_levels]


def _short(number: float) -> str:
    """Return five digits of a number, and more rather than a power of ten."""
    text = f"{number:,.5g}"
    return f"{number:,.0f}" if "e+" in text and abs(number) < 1e12 else text


def _told(fact: Column, number: float, margin: float = math.nan) -> str:
    return fact.shown(number) or within(number, margin) or _short(number)


def _margin(fact: Column, margin: float) -> str:
    return _short(float(f"{margin:.2g}")) if fact.kind == "number" else fact.shown_margin(margin)


def mean_texts(release: DescriptionRelease, place: int) -> list[str]:
    """Return the means of a column with their margins."""
    fact, exact = release.facts[place], release.noise.is_exact
    texts = []
    for mean, margin in zip(release.means[:, place].tolist(), release.mean_margins[:, place].tolist(), strict=True):
        behind = "" if exact or math.isnan(margin) else f" \N{PLUS-MINUS SIGN} {_margin(fact, margin)}"
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


def named_texts(release: DescriptionRelease) -> list[str]:
    """Return the columns that distinguish each cluster most, with how far they do."""
    scores = [dict(zip(release.names, own, strict=True)) for own in release.scores.tolist()]
    return [
        ", ".join(f"{name} ({own[name]:.2f})" for name in named) or UNTOLD
        for named, own in zip(release.named, scores, strict=True)
    ]


def _numbers(release: DescriptionRelease) -> list[str]:
    """Return the table of clusters."""
    persons = release.persons
    heads = ["cluster", "rows", *([] if persons is None else ["persons"]), "most distinguished by"]
    rows = [
        [str(i), f"{release.rows[i]:.0f}", *([] if persons is None else [f"{persons[i]:.0f}"]), named]
        for i, named in enumerate(named_texts(release))
    ]
    margins = f"rows +- {release.rows_margin:.0f}"
    margins += "" if release.persons_margin is None else f", persons +- {release.persons_margin:.0f}"
    told = "Clusters in the order of the release's centers"
    how = "exact: no noise was added" if release.noise.is_exact else f"noisy: {margins}, with probability 0.95"
    return [f"{told} ({how}):", *shortened(aligned([heads, *rows]), "clusters")]


def _column(release: DescriptionRelease, place: int) -> list[str]:
    """Return the table of one column."""
    if is_measured(release.facts[place]):
        heads, columns = ["cluster", "mean", *level_names(release)], [mean_texts(release, place), *quantile_texts(release, place)]
        rows = [[str(i), *cells] for i, cells in enumerate(zip(*columns, strict=True))]
        more = []
    else:
        titles, texts, _, left = share_texts(release, place)
        heads, rows = ["cluster", *titles], [[str(i), *cells] for i, cells in enumerate(texts)]
        more = [f"... and {left} more categories"] if left else []
    return ["", f"{release.names[place]}:", *shortened(aligned([heads, *rows]), "clusters"), *more]


def description_page(release: DescriptionRelease) -> str:
    """Return what clusters are like and what was spent on it, as one page of text.

    Privacy
    -------
    Post-processing of a release: free.
    """
    shown = described_columns(release)
    left = len(release.names) - len(shown)
    lines = [
        f"description: {len(release.rows)} clusters, {len(release.names)} columns, spinney {release.version}",
        f"Of the release {release.of}.",
        *promise_lines(release),
        "",
        *_numbers(release),
        "The number behind a column says how far its histogram in the cluster is from the one of all rows: 0 same, 1 apart.",
        *([release.faint] if release.looks_empty else []),
        *release.silent,
        *(line for place in shown for line in _column(release, place)),
        *([f"... and {left} more columns"] if left else []),
        "",
        "Behind \N{PLUS-MINUS SIGN}, or in brackets: how far noise moved a number at most, with probability 0.95.",
        *spent_lines(release),
        *before_lines(release),
        *made_lines(release),
    ]
    return "\n".join(lines)
