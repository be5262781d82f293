"""Families of cells: which ones a question may be about, and in how many cells of each a row lies."""

from __future__ import annotations

from typing import Any

from spinney.verification.amounts import fraction_of

#: By question; others are about no cells.
FAMILIES: dict[str, set[str]] = {
    "counts": {"whole", "rings", "tree", "planes", "columns", "clusters", "bins", "labels"},
    "grow": {"tree"},
    "levels": {"tree"},
    "minimize": {"centers"},
    "persons": {"clusters"},
    "sums": {"centers", "planes"},
    "totals": {"clusters"},
}


def cells_of_a_row(record: dict[str, Any], columns: int, describes: bool) -> int | None:
    """Return in how many cells a row lies, by the family of its record and the columns; None if there are no such cells."""
    family, question = record.get("family"), record["question"]
    if family is None and question == "counts":  # format 2: its sensitivity tells a bin of every column from one cell
        of_all = record["name"] == "bins" if describes else fraction_of(record["answers"][0]["row_sensitivity"]) == columns
        return columns if of_all else 1
    if family is None or question == "blocks":  # which passes it on to the record inside
        return 1
    there = FAMILIES.get(question, {"none"}) - (set() if describes else {"bins"})
    is_there = family in there and (columns > 0 or question != "counts" or family == "labels")
    return (columns if family in ("columns", "bins") else 1) if is_there else None
