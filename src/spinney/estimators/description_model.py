"""What the clusters of a release are like, in columns of the table that were not clustered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

import numpy as np

from spinney.algorithms.plan import Plan
from spinney.curators.rows import Rows
from spinney.fits.cautions import warn_if_loose
from spinney.fits.description_facts import BINS, DescriptionFacts, check_description
from spinney.fits.fit import Fit
from spinney.fits.run import given_groups, rows_of, run
from spinney.ledgers.ledger import Ledger
from spinney.releases.centers import Release
from spinney.releases.description import DescriptionRelease
from spinney.releases.reading import read_release
from spinney.tables.sources import Source, is_path

OWNER = "describe"


@dataclass(frozen=True, eq=False)
class DescriptionModel:
    """What `describe` runs, before there are rows: for plans and audits. Parameters as for `describe`."""

    release: Release
    columns: Sequence[str] | None = None
    bounds: Mapping[str, Any] | None = None
    epsilon: float | None = None
    delta: float = 0.0
    bins: int = BINS
    adjacency: str | None = None
    max_rows_per_group: int | None = None
    noise_seed: int | None = None

    def facts(self, has_groups: bool) -> DescriptionFacts:
        """Return what is run, how cells are read and how they become rows, after checks of all parameters."""
        return check_description({field.name: getattr(self, field.name) for field in fields(self)}, OWNER, has_groups)

    def prepare(self, table: Any, groups: Any = None) -> tuple[Fit, Rows]:
        """Return what `describe` would run, and where the rows are. Nothing is asked or charged."""
        facts = self.facts(given_groups(table, groups))
        cells, names = facts.cells, facts.described.table

        def checked(source: Source) -> tuple[Any, Any]:
            return np.asarray(source.nonprivate_rows), names

        rows = rows_of(table, groups, names, checked, schema=cells, spark_schema=cells)
        return facts.fit, rows.encoded(facts.described)


def _opened(release: Any) -> Any:
    """Return a release, read from its file if it is a path; anything else as it is."""
    return read_release(release) if is_path(release) else release


def plan_description(
    release: Release | str | PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    bounds: Mapping[str, Any] | None = None,
    bins: int = BINS,
    n_guess: int | None = None,
    adjacency: str | None = None,
    max_rows_per_group: int | None = None,
) -> Plan:
    """Return every question that `describe` would ask, with its charge and noise, before any row is read.

    Parameters
    ----------
    release, columns, bounds, epsilon, delta, bins, adjacency, max_rows_per_group
        As for `describe`. The plan is for groups if the release, or `max_rows_per_group`, says so.
    n_guess : int, optional
        A public guess of the number of rows: adds the expected noise.
    """
    read = _opened(release)
    model = DescriptionModel(read, columns, bounds, epsilon, delta, bins, adjacency, max_rows_per_group)
    grouped = max_rows_per_group is not None or getattr(read, "max_rows_per_group", None) is not None
    fit = model.facts(grouped).fit
    warn_if_loose(fit.problem.budget.loose, 3)
    return fit.plan(n_guess, "plan_description")


def describe(
    release: Release | str | PathLike[str],
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Mapping[str, Any] | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    bins: int = BINS,
    adjacency: str | None = None,
    groups: Any = None,
    max_rows_per_group: int | None = None,
    noise_seed: int | None = None,
    ledger: Ledger | None = None,
) -> DescriptionRelease:
    """Describe the clusters of a release by columns of a private table: a release of its own, charged on top of the first.

    Privacy
    -------
    Neighbors: tables that differ by one row added or removed (or replaced, as `adjacency` says); by one group's rows if `groups`
    is given. Statement: what is returned is (epsilon, delta)-differentially private. Proof: ``proofs/describe.md``. The release
    that is described is taken as public; the two epsilons of one table add up, as a ledger does.
    Outside the promise: running time and memory use.

    Parameters
    ----------
    release : Release, str or Path
        Whose centers decide the cluster of a row, or its file. It must name its columns.
    table : frame, Arrow table, lazy frame, path, table on disk, stream, or Spark DataFrame
        Private: with the columns that were clustered, and those to describe. Rows that the fit would drop are dropped; cells to
        describe that are missing, or no lawful ones, are counted as missing.
    columns : sequence of str, optional
        What to describe: by default all columns of `bounds` that were not clustered. Facts of a clustered column come from the
        release.
    bounds : mapping, optional
        Public facts of these columns, as `PrivateKMeans` takes them: bounds of numbers, dates, categories, or bool.
    epsilon : float
        Required: in [1e-9, inf]. ``math.inf`` adds no noise.
    delta : float, default 0.0
    bins : int, default 16
        Equal parts of the bounds that numbers and dates are counted in; more are finer and noisier.
    adjacency : {"add-remove", "replace"}, optional
        As the release has it.
    groups, max_rows_per_group
        As for `PrivateKMeans`; the cap is taken from the release, if it has one.
    noise_seed, ledger
        As for `PrivateKMeans`.

    Returns
    -------
    DescriptionRelease
        ``rows``, ``persons``, ``means``, ``quantiles``, ``shares(column)`` with their margins, and the columns ``named``.

    Examples
    --------
    >>> import polars as pl
    >>> from spinney import PrivateKMeans, describe
    >>> table = pl.DataFrame({"age": [30.0, 70.0] * 3000, "income": [20_000.0, 40_000.0] * 3000, "smoker": [True, False] * 3000})
    >>> model = PrivateKMeans(2, epsilon=1.0, bounds={"age": (0, 110)}).fit(table)
    >>> found = describe(model.release_, table, bounds={"income": (0, 100_000), "smoker": bool}, epsilon=1.0)
    >>> found.means.shape, found.names
    ((2, 2), ('income', 'smoker'))
    """
    model = DescriptionModel(_opened(release), columns, bounds, epsilon, delta, bins, adjacency, max_rows_per_group, noise_seed)
    found: DescriptionRelease = run(*model.prepare(table, groups), ledger)
    return found
