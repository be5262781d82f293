"""A release as one readable page of text."""

from __future__ import annotations

from spinney.privacy.promise import Promise
from spinney.privacy.release import Release
from spinney.privacy.site_release import SiteRelease

__all__ = ["FAINT", "aligned", "is_faint", "page", "promise_lines", "spent_lines"]

#: What to tell if the sizes are no larger than noise.
FAINT = "These sizes may all be noise. Was a column of words clustered, or is the table empty?"

#: Columns shown of each center; a release may have more.
SHOWN_COLUMNS = 8


def aligned(rows: list[list[str]]) -> list[str]:
    """Return the lines of a table, cells to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _tightened(release: Release, names: list[str]) -> list[str]:
    """Return the private box, if rows were clipped to one."""
    if release.tightened is None:
        return []
    bounds = zip(names, release.tightened["lower"], release.tightened["upper"], strict=False)
    rows = [["column", "from", "to"]] + [[name, f"{low:.5g}", f"{high:.5g}"] for name, low, high in bounds]
    return ["", "The private box that rows were clipped to:", *aligned(rows)]


def is_faint(release: Release | SiteRelease) -> bool:
    """Whether the noisy sizes could be those of an empty table."""
    return bool(release.sizes.sum() <= release.sizes_margin * len(release.sizes) ** 0.5 * 2)


def promise_lines(release: Promise) -> list[str]:
    """Return what was promised and who was trusted."""
    return [f"Promise: {release.statement}.", f"Noise: {release.noise}. Model: {release.model}."]


def spent_lines(release: Promise) -> list[str]:
    """Return what was spent on what."""
    charges = [["question", "for", "charge"]] + [
        [charge.question, charge.name, f"{charge.measure.value} {float(charge.amount):.6g}"] for charge in release.charges
    ]
    return [f"Spent (epsilon {release.epsilon:.9g} of {release.promised_epsilon:.9g}):", *aligned(charges)]


def page(release: Release) -> str:
    """Return what was promised, the centers with their sizes, and what was spent on what.

    Privacy
    -------
    Post-processing of a release: free.
    """
    k, d = release.centers.shape
    names = list(release.feature_names or (f"column {i}" for i in range(d)))
    shown = names[:SHOWN_COLUMNS]
    order = release.sizes.argsort()[::-1]
    centers = [["size", *shown]] + [
        [f"{release.sizes[i]:.0f}", *(f"{value:.5g}" for value in release.centers[i, : len(shown)])] for i in order
    ]
    lines = [
        f"{release.objective}: {k} centers, {d} columns, algorithm {release.algorithm!r}, spinney {release.version}",
        *promise_lines(release),
        "",
        f"Centers by noisy size (each size +- {release.sizes_margin:.0f} with probability 0.95):",
        *aligned(centers),
        *([f"... and {d - len(shown)} more columns"] if d > len(shown) else []),
        *([FAINT] if is_faint(release) else []),
        "",
        *spent_lines(release),
        *_tightened(release, names[:SHOWN_COLUMNS]),
        "",
        f"Summary: {len(release.summary_points)} weighted points. Before the questions: {release.preprocessing}.",
    ]
    return "\n".join(lines)
