"""From files to a release, and from a release to labels. scikit-learn is not needed, and takes long to import."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from spinney.cli.errors import in_options
from spinney.cli.progress import asking, reading
from spinney.cli.results import as_json, wants_json
from spinney.exceptions import DataError, ParameterError, ReleaseError
from spinney.fits.fit import Fit, check_guess
from spinney.fits.parameters import check_points
from spinney.fits.run import opened_rows, run, scaled_rows
from spinney.ledgers.ledger import Ledger
from spinney.releases.assigning import assign
from spinney.releases.centers import Release
from spinney.releases.reading import read_release
from spinney.spaces.schema import Schema
from spinney.tables.files import open_table, read_table
from spinney.tables.records import COMMAS, Csv
from spinney.tables.schema import table_files
from spinney.tables.schema_files import read_schema

#: Whose parameters a message is about.
OWNER = "spinney"
#: What to say without bounds.
BOUNDS = (
    "Public bounds are missing, or given twice.",
    "--schema FILE says them column by column, and 'spinney schema TABLE' writes such a file to fill in; --bounds LO HI is for "
    "columns that all have the same.",
)
#: What cells are read as, by the kind of their column.
KINDS = {"number": "numbers", "date": "dates", "boolean": "truth values", "category": "categories"}
#: Most columns that are listed by their names.
SHOWN_COLUMNS = 20
#: What the name of a file of labels ends in, and the one column of a table of labels.
LABELS, LABEL = (".csv", ".parquet", ".npy"), "label"


def plan_text(
    objective: str,
    n_features: int | None,
    n_guess: int | None,
    ledger: Path | None,
    bounds_file: Path | None,
    scale: str | None,
    **parameters: Any,
) -> str:
    """Return the plan, and what it would leave in a ledger; bounds do not change it, but categories are columns."""
    cap = parameters["max_rows_per_group"]
    bounds: Any = (0, 1) if bounds_file is None else read_schema(bounds_file)
    typed = {"bounds": bounds, "scale": _scale(scale), **parameters}
    facts = check_points(typed, objective, OWNER, cap is not None)
    fit = facts.planned(n_features)
    stated = () if bounds_file is None else (declared(facts.schema, list(bounds)),)
    return told_plan(fit, n_guess, ledger, *stated)


def told_plan(fit: Fit, n_guess: int | None, ledger: Path | None, *stated: str) -> str:
    """Return the plan of a fit, with what is stated of its columns and what it would leave in a ledger: in words, or as JSON."""
    plan = fit.plan(n_guess, f"{OWNER}.plan")
    asked: dict[str, Any] = {"adjacency": fit.problem.unit.adjacency.value, "max_rows_per_group": fit.cap}
    left = {} if ledger is None else {"left": Ledger(ledger).left_after(plan.charges, **asked)}
    if not wants_json():
        words = [f"After it epsilon {epsilon:.6g} would be left in {ledger}." for epsilon in left.values()]
        return "\n".join([str(plan), *stated, *words])
    problem, noise = plan.problem, [row[-1] for row in plan.rows[1:]]
    facts = {
        "algorithm": plan.algorithm.name,
        "objective": problem.objective,
        "epsilon": float(problem.budget.epsilon),
        "delta": float(problem.budget.delta),
        **asked,
        "guarantee": plan.guarantee,
        "charges": [charge.to_dict() | {"noise": words} for charge, words in zip(plan.charges, noise, strict=True)],
    }
    return as_json(facts | left)


def _columns_and_bounds(
    bounds: tuple[float, float] | None, bounds_file: Path | None, columns: str | None, scale: str | None
) -> tuple[list[str] | None, Any]:
    """Return the names of the columns, None for all of them, and their bounds: lower and upper ones, or more facts by name."""
    if (bounds is None) == (bounds_file is None):
        raise ParameterError(*BOUNDS)
    names = [name.strip() for name in columns.split(",")] if columns else None
    if bounds_file is None:
        return names, bounds
    by_column = read_schema(bounds_file)
    names = list(by_column) if names is None else names
    missing = [name for name in names if name not in by_column]
    if missing:
        raise DataError(f"{bounds_file} has no bounds for {missing[0]!r}.", "add them, or leave the column out.")
    facts = {name: by_column[name] for name in names}
    if scale is None and all(isinstance(given, list) and isinstance(given[0], int | float) for given in facts.values()):
        return names, tuple(zip(*(map(float, pair) for pair in facts.values()), strict=True))
    return names, facts


def _scale(typed: str | None) -> Any:
    """Return a scale as Python has it: a word, or a number."""
    try:
        return typed if typed is None else float(typed)
    except ValueError:
        return typed


def _all_columns(columns: tuple[str, ...]) -> str:
    """Return which columns will be clustered, if nobody named them; names are public."""
    listed = ", ".join(map(repr, columns[:SHOWN_COLUMNS]))
    more = f" and {len(columns) - SHOWN_COLUMNS} more" if len(columns) > SHOWN_COLUMNS else ""
    return f"Read as numbers: {listed}{more}. A cell that is no number drops its row. Hint: --columns names others."


def declared(schema: Schema | None, names: Sequence[str] = ()) -> str:
    """Return which columns are read as what, by the public schema alone: not all types of a file show whether they fit."""
    stated = () if schema is None else schema.columns
    kinds = dict.fromkeys(names, "number") | {str(column.name): column.kind for column in stated}
    told = []
    for kind, words in KINDS.items():
        listed = [repr(name) for name, one in kinds.items() if one == kind]
        more = f" and {len(listed) - SHOWN_COLUMNS} more" if len(listed) > SHOWN_COLUMNS else ""
        told += [f"{', '.join(listed[:SHOWN_COLUMNS])}{more} as {words}"] if listed else []
    return f"Read as declared: {'; '.join(told)}. A cell of another kind is missing."


def check_cap(groups: str | None, parameters: dict[str, Any]) -> None:
    """Raise unless groups and their cap are given together."""
    if (groups is None) != (parameters["max_rows_per_group"] is None):
        raise ParameterError("--groups and --max-rows-per-group need each other.", "--groups person --max-rows-per-group 10.")


def fit_table(
    table: tuple[Path, ...],
    objective: str,
    bounds: tuple[float, float] | None,
    bounds_file: Path | None,
    columns: str | None,
    groups: str | None,
    ledger: Ledger | None,
    scale: str | None,
    n_guess: int | None = None,
    written: Csv = COMMAS,
    **parameters: Any,
) -> Release:
    """Read a table, fit, and return the release; parameters are checked before rows are read."""
    names, public = _columns_and_bounds(bounds, bounds_file, columns, scale)
    check_cap(groups, parameters)
    check_guess(n_guess, OWNER)
    facts = check_points({"bounds": public, "scale": _scale(scale), **parameters}, objective, OWNER, groups is not None)
    if facts.uneven is not None:
        click.echo(in_options(facts.uneven), err=True)
    table_files(table)  # a missing one is reported first
    with reading(table[0]):
        found = open_table(table, names, groups, facts.schema, facts.is_local, written)
    if bounds_file is not None and names is not None:
        click.echo(declared(facts.schema, names), err=True)
    elif names is None and found.columns is not None:
        click.echo(_all_columns(found.columns), err=True)
    rows = scaled_rows(opened_rows(found), facts)
    if facts.is_local:
        from spinney.local.desk import users_of

        rows = users_of(rows)
    fit = facts.fit(rows.n_features, n_guess)
    with asking(fit):
        release: Release = run(fit, rows, ledger)
    return release


def label_table(release: Path, table: Path, written: Csv = COMMAS) -> NDArray[Any]:
    """Return the nearest center of each row of a table: as private as the rows."""
    loaded = read_release(release)
    if not isinstance(loaded, Release):
        raise ReleaseError(
            f"{release} is no release of centers.",
            "of sites, in Python, PrivateKMedoids.from_release(file, space).predict(points).",
        )
    names, facts = loaded.columns, loaded.facts
    rows = read_table(table, None if names is None else list(names), schema=facts, written=written).nonprivate_rows
    d = loaded.centers.shape[1] if facts is None else len(facts.columns)
    if rows.shape[1] != d:
        raise DataError(f"{table} has {rows.shape[1]} columns and the release {d}.", "use the same columns.")
    return assign(loaded, rows)


def check_kind(out: Path) -> None:
    """Raise unless the name of a file says a kind that can be written; a pipe or a device takes CSV."""
    if out.suffix.lower() not in LABELS and (not out.exists() or out.is_file()):
        raise ParameterError(
            f"{out} is of a kind that cannot be written.",
            f"--out FILE with {', '.join(LABELS[:-1])} or {LABELS[-1]}, or - for standard output.",
        )


def write_labels(labels: NDArray[Any], out: Path | None) -> None:
    """Write one label per row to a file, or as CSV to standard output."""
    kind = "" if out is None else out.suffix.lower()
    if out is not None and kind == ".npy":
        with out.open("wb") as binary:  # given a name, NumPy may add to it
            np.save(binary, labels, allow_pickle=False)
    elif kind == ".parquet":
        import polars as pl

        pl.DataFrame({LABEL: labels}).write_parquet(str(out))
    else:
        with click.open_file("-" if out is None else str(out), "w", encoding="utf-8") as file:
            np.savetxt(file, labels, fmt="%d", header=LABEL, comments="")
