"""Checks of what a description is asked for, all before any row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinney.algorithms.histograms import DescriptionProblem
from spinney.algorithms.registry import choose
from spinney.constraints import check, integer
from spinney.exceptions import ParameterError
from spinney.fits.fit import Fit
from spinney.fits.parameters import check_promise
from spinney.releases.centers import Release
from spinney.spaces.box import domain_from_dict
from spinney.spaces.column import Column
from spinney.spaces.column_facts import HINT, column_of
from spinney.spaces.described import DescribedSchema, bin_names, is_measured
from spinney.spaces.schema import Schema

#: Bins of numbers and dates, unless others are asked for, and the most there may be.
BINS, MOST_BINS = 16, 1_000
#: More columns share a budget that is enough for few of them.
MOST_COLUMNS = 200
#: Most known columns that are listed where another one was typed.
MOST_LISTED = 20
COLUMNS = (
    "columns=['income', 'region'], bounds={'income': (0, 200_000), 'region': ['north', 'south']}: public facts of each column."
)


@dataclass(frozen=True)
class DescriptionFacts:
    """A checked description: what is run, how cells are read, and how they become rows."""

    fit: Fit
    cells: Schema
    described: DescribedSchema


def check_description(typed: Mapping[str, Any], owner: str, has_groups: bool) -> DescriptionFacts:
    """Return the public facts of what was typed for `spinney.describe`, or raise a ParameterError that says what to type."""
    release = typed["release"]
    clustered = _clustered(release, owner)
    check(owner, typed, {"bins": integer(2, f"bins={BINS}; more bins are finer and noisier.", MOST_BINS)})
    columns = _described(typed["columns"], typed["bounds"], clustered, owner)
    adjacency = release.adjacency if typed["adjacency"] is None else typed["adjacency"]
    cap = typed["max_rows_per_group"] if typed["max_rows_per_group"] is not None or not has_groups else release.max_rows_per_group
    if release.max_rows_per_group is not None and not has_groups:
        hint = "groups='person' names the column of the table, as in the fit."
        raise ParameterError.wrong("groups", owner, "given, because the release protects groups of rows", None, hint)
    if has_groups and cap is None:
        raise ParameterError(
            "The release protects single rows, and the rows are given with their groups.",
            "without groups single rows are protected here too; max_rows_per_group=10 with groups promises more.",
        )
    promised = {**typed, "adjacency": adjacency, "max_rows_per_group": cap, "algorithm": "auto", "random_state": None}
    budget, unit = check_promise(promised, owner, has_groups, "description")
    scaled = release.in_scale
    domain = domain_from_dict(scaled.domain if scaled.tightened is None else scaled.tightened)
    table = [*clustered, *(column for column in columns if column.name not in {one.name for one in clustered})]
    names = tuple(str(column.name) for column in table)
    described = DescribedSchema(names, tuple(range(len(clustered))), release.facts, columns)
    problem = DescriptionProblem(
        k=len(release.centers),
        power=2,
        budget=budget,
        unit=unit,
        of=release.digest,
        centers=scaled.centers,
        radius=float(domain.radius),
        domain=described.domain(domain),
        columns=columns,
        bins=tuple(int(typed["bins"]) if is_measured(column) else len(bin_names(column)) for column in columns),
        has_persons=unit.max_rows > 1,
    )
    fit = Fit(problem, choose("auto", "description"), has_groups, None, typed["noise_seed"])
    return DescriptionFacts(fit, Schema(tuple(table)), described)


def _clustered(release: Any, owner: str) -> tuple[Column, ...]:
    """Return the columns of the table that decide a cluster, after a check that the release names them."""
    if type(release) is not Release:
        hint = "model.release_, or read_release(path): clusters around centers are described."
        raise ParameterError.wrong("release", owner, "a Release of centers", release, hint)
    if release.columns is None:
        raise ParameterError(
            "The release does not name its columns, so they cannot be found in the table.",
            "fit a frame or a file whose columns have names, or give bounds={'age': (0, 110), ...}.",
        )
    if release.facts is not None:
        return tuple(release.facts.named(release.columns).columns)
    ends = zip(release.columns, release.domain["lower"], release.domain["upper"], strict=True)
    return tuple(Column(name, "number", float(low), float(high)) for name, low, high in ends)


def _described(columns: Any, bounds: Any, clustered: tuple[Column, ...], owner: str) -> tuple[Column, ...]:
    """Return public facts of the columns to describe: for clustered ones from the release, for others from the bounds."""
    known = {column.name: column for column in clustered}
    if not (bounds is None or isinstance(bounds, Mapping)):
        raise ParameterError.wrong("bounds", owner, "public facts by column, or None", bounds, HINT)
    given = {} if bounds is None else bounds
    if columns is None:
        columns = [name for name in given if not isinstance(name, str) or name not in known]
        if not columns:
            raise ParameterError(
                "No column is left to describe: the bounds name none that was not clustered.",
                f"name clustered columns, such as columns=['region'], which need no bounds; or {COLUMNS}",
            )
    plain = type(columns) in (list, tuple) and all(isinstance(name, str) for name in columns)
    if not plain or not 1 <= len(columns) <= MOST_COLUMNS or len(set(columns)) < len(columns):
        raise ParameterError.wrong("columns", owner, f"1 to {MOST_COLUMNS} different names of columns", columns, COLUMNS)
    missing = next((name for name in columns if name not in known and name not in given), None)
    if missing is not None:
        names = [repr(name) for name in dict.fromkeys((*given, *known)) if isinstance(name, str)]
        more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
        told = f"columns in the bounds or the release: {', '.join(names[:MOST_LISTED])}{more}"
        raise ParameterError.wrong("columns", owner, told, missing, COLUMNS)
    return tuple(known[name] if name in known else column_of(name, given[name], owner) for name in columns)
