"""Makes the table of patients that the package ships, out of a seed alone: ``python -m tools.patients``; a test repeats it.

Nobody is in it. There are four kinds of patients, several stays of some persons, and the cells that raw tables have: empty ones,
words among numbers, ages of 999, days written in another order.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from spinney.datasets import patients

#: Of the whole table; Python's own generator, whose numbers are the same in every version.
SEED = 2026
PERSONS = 8_000
HEAD = ("person", "age", "income", "visits", "region", "admitted", "smoker", "stay")
FIRST, LAST = date(2021, 1, 1), date(2025, 12, 31)


@dataclass(frozen=True)
class Kind:
    """What the patients of one kind have in common: means and spreads, and how often each region, smoker and stay occurs."""

    share: float
    age: tuple[float, float]
    income: tuple[float, float]
    visits: tuple[float, float]
    regions: tuple[tuple[str, float], ...]
    year: float
    smoker: float
    stay: float


KINDS = (
    Kind(0.30, (29, 5), (31_000, 6_000), (2, 1), (("north", 0.85), ("west", 0.15)), 2022.0, 0.35, 2.5),
    Kind(0.30, (47, 6), (82_000, 11_000), (4, 1.5), (("west", 0.8), ("north", 0.2)), 2024.0, 0.2, 4.0),
    Kind(0.25, (68, 5), (46_000, 8_000), (9, 2), (("south", 0.85), ("west", 0.15)), 2022.5, 0.15, 7.0),
    Kind(0.15, (82, 4), (24_000, 5_000), (15, 2), (("east", 0.85), ("south", 0.15)), 2024.5, 0.05, 12.0),
)


def _picked(chance: Random, choices: list[tuple[object, float]]) -> object:
    """Return one of the choices, by their shares."""
    place, total = chance.random() * sum(share for _, share in choices), 0.0
    for choice, share in choices:
        total += share
        if place < total:
            return choice
    return choices[-1][0]


def _cell(chance: Random, text: str, bad: tuple[str, ...]) -> str:
    """Return a cell, or once in a while one of those that raw tables have."""
    return bad[chance.randrange(len(bad))] if chance.random() < 0.01 else text


def _day(chance: Random, kind: Kind) -> date:
    days = round((kind.year - 2021.0) * 365.25 + chance.gauss(0, 200))
    return FIRST + timedelta(days=min(max(days, 0), (LAST - FIRST).days))


def table() -> str:
    """Return the whole table as CSV."""
    chance = Random(SEED)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    rows = []
    for person in range(PERSONS):
        kind = _picked(chance, [(kind, kind.share) for kind in KINDS])
        assert isinstance(kind, Kind)
        age, income = chance.gauss(*kind.age), max(chance.gauss(*kind.income), 0.0)
        region, smoker = str(_picked(chance, list(kind.regions))), chance.random() < kind.smoker
        for _ in range(1 + (chance.random() < 0.35) + (chance.random() < 0.1)):
            visits, stay = max(round(chance.gauss(*kind.visits)), 0), max(round(chance.gauss(kind.stay, 1.5)), 1)
            rows.append(
                (
                    f"p{person:04}",
                    _cell(chance, f"{age:.0f}", ("", "999", "n/a")),
                    _cell(chance, f"{income:.0f}", ("", "unknown", "-1")),
                    _cell(chance, str(visits), ("", "many")),
                    _cell(chance, region, ("", "North", "?")),
                    _cell(chance, _day(chance, kind).isoformat(), ("", "31.12.2023")),
                    _cell(chance, "yes" if smoker else "no", ("",)),
                    _cell(chance, str(stay), ("",)),
                )
            )
    chance.shuffle(rows)
    writer.writerows(rows)
    return text.getvalue()


def main() -> None:
    """Write the table into the package."""
    patients().write_text(table(), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
