"""Messy tables with known truth, and what it costs to read them: ``python -m benchmarks.messy``.

Four of ten columns are messy: aliases and letters of any case, dates in three notations, and two columns of numbers with signs,
marks between thousands and codes that mean missing. The clean table says the same with plain cells.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.pages import into_page, markdown, save
from spinney import fit
from spinney.spaces.schema import Schema
from spinney.spaces.units import schema_of
from spinney.tables.files import read_table

ROWS = 1_000_000
#: How many times the CPU of the clean table a fit of the messy one may take.
BAR = 1.5
FIRST = date(2020, 1, 1)
PLAIN = {f"x{i}": (0, 100) for i in range(6)}
CLEAN = {
    "cost": {"bounds": (0, 10_000)},
    "dose": {"bounds": (0, 5_000)},
    "day": {"dates": ("2020-01-01", "2024-12-31")},
    "ward": {"categories": ("north", "south", "west")},
}
FACTS: dict[str, dict[str, Any]] = {
    "cost": {"formats": ["1,234.5"], "signs": ["\N{EURO SIGN}", "EUR"], "missing": [-1]},
    "dose": {"formats": ["1.234,5"], "signs": ["mg"]},
    "day": {"formats": ["DD.MM.YYYY", "DDMMMYYYY"], "missing": ["2024-12-31"]},
    "ward": {"aliases": {"north": ["N", "nord"], "south": ["S"]}, "ignore_case": True},
}
MESSY = {name: CLEAN[name] | facts for name, facts in FACTS.items()}
#: Cells that follow no schema.
WRONG = {
    "cost": ["", "n/a", "1,23,4", "12.50 USD", "-1"],
    "dose": ["", "?", "1,234.50", "5 kg"],
    "day": ["", "31.02.2022", "2022", "26/06/2022", "31.12.2024"],
    "ward": ["", "nroth", "east", "0"],
}

#: Lawful cells that the compiled reader leaves to patterns.
LEFT = {"cost": "0000000000000012.5", "dose": "\u00a012,5 mg", "day": "2022-01-02 \t10:15", "ward": "north\u00a0"}


@dataclass(frozen=True)
class Made:
    """A messy table of texts, its clean twin, and which rows follow the schema."""

    messy: pl.DataFrame
    clean: pl.DataFrame
    lawful: np.ndarray[Any, Any]
    #: The numbers that the cells mean, missing ones as NaN; a category by its place.
    truth: np.ndarray[Any, Any]


def schema(is_messy: bool = True) -> dict[str, Any]:
    """Return the public schema of a messy table, or of its clean twin."""
    return PLAIN | (MESSY if is_messy else CLEAN)


def made(n: int, seed: int = 0, wrong: float = 0.05) -> Made:
    """Return a table of `n` rows; this share of the cells of each messy column is wrong."""
    rng = np.random.default_rng(seed)
    plain = {name: [f"{x:.3f}" for x in rng.uniform(0, 100, n)] for name in PLAIN}
    cost, dose = rng.uniform(0, 10_000, n).round(2), rng.uniform(0, 5_000, n).round(1)
    days, wards = rng.integers(0, 1826, n), rng.integers(0, 3, n)
    kinds = {name: rng.integers(0, 3, n) for name in MESSY}
    names = [["north", "South", "WEST"], ["N", "s", "west"], [" nord", "S ", "West"]]
    calendar = [FIRST + timedelta(days=one) for one in range(1826)]
    dated = [[day.strftime(form) for day in calendar] for form in ("%d.%m.%Y", "%d%b%Y", "%Y-%m-%d 10:15")]
    euros = ("{:,.2f}", "\N{EURO SIGN} {:,.2f}", "{:,.2f} EUR")
    grams = ("{}", "{} mg", "{}mg")
    messy = {
        "cost": [euros[kind].format(x) for kind, x in zip(kinds["cost"], cost, strict=True)],
        "dose": [
            grams[kind].format(f"{x:,.1f}".translate({44: ".", 46: ","})) for kind, x in zip(kinds["dose"], dose, strict=True)
        ],
        "day": [dated[kind][one] for kind, one in zip(kinds["day"], days, strict=True)],
        "ward": [names[kind][one] for kind, one in zip(kinds["ward"], wards, strict=True)],
    }
    truth = {"cost": cost.copy(), "dose": dose.copy(), "ward": wards.astype(float)}
    truth["day"] = days + float((FIRST - date(1970, 1, 1)).days)
    truth["day"][days == 1826] = np.nan
    for name, cells in messy.items():
        for place in np.flatnonzero(rng.random(n) < wrong):
            cells[place] = WRONG[name][rng.integers(len(WRONG[name]))]
            truth[name][place] = np.nan
    clean = {"cost": [f"{x:.2f}" for x in cost], "dose": [f"{x:.1f}" for x in dose]}
    clean |= {"day": [calendar[one].isoformat() for one in days], "ward": [("north", "south", "west")[one] for one in wards]}
    own = np.column_stack([*(np.array(cells, dtype=float) for cells in plain.values()), *(truth[name] for name in MESSY)])
    return Made(pl.DataFrame(plain | messy), pl.DataFrame(plain | clean), np.isfinite(own).all(axis=1), own)


def work(path: Path, facts: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return what reads a file, and what fits it."""
    public = schema_of(facts, None, "messy")
    assert isinstance(public, Schema)
    return (
        lambda: read_table(path, list(facts), schema=public),
        lambda: fit(path, 8, epsilon=1.0, bounds=facts, scale="bounds", random_state=0),
    )


def with_left(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a messy table in which one of seven cells of each messy column is left to patterns."""
    row = pl.int_range(pl.len()) % 7
    return frame.with_columns(
        pl.when(row == place).then(pl.lit(cell)).otherwise(name).alias(name) for place, (name, cell) in enumerate(LEFT.items())
    )


def cpu_of(works: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the least CPU seconds that each takes; they take turns, so that what else the machine does falls on all alike."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for found, one in zip(seconds, works, strict=True):
            start = time.process_time()
            one()
            found.append(time.process_time() - start)
    return [min(found) for found in seconds]


def main() -> None:
    """Print the CPU of reading a messy table and its clean twin, and of fits of them, and write it into the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repeats", type=int, default=5)
    rows, repeats = (typed := parser.parse_args()).rows, typed.repeats
    table = made(rows, wrong=0.0)
    with TemporaryDirectory() as folder:
        files = {kind: Path(folder) / f"{kind}.csv" for kind in ("clean", "messy")}
        table.clean.write_csv(files["clean"])
        table.messy.write_csv(files["messy"])
        clean, messy = work(files["clean"], schema(is_messy=False)), work(files["messy"], schema())
        lines = []
        for what, bar, *pair in zip(("reading alone", "`fit`"), ("", f"{BAR:g}"), clean, messy, strict=True):
            one, other = cpu_of(pair, repeats)
            lines.append([f"{rows:,} x 10, {what}", f"{one:.2f}", f"{other:.2f}", f"**{other / one:.2f}**", bar])
    text = markdown(["table", "clean", "messy", "messy over clean", "at most"], lines)
    print(text)
    if rows == ROWS:
        save("messy", {line[0]: line[1:4] for line in lines})
        into_page("messy", text)


if __name__ == "__main__":
    main()
