"""The description of the clusters of another release, as it may be published."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.releases.clusters import look_empty
from spinney.releases.promise import Promise
from spinney.spaces.column import Column
from spinney.spaces.described import bin_names, is_measured
from spinney.spaces.schema import Schema

#: Most columns that are named as distinguishing a cluster.
NAMED = 3
#: A column with a larger share of missing cells is pointed out.
SILENT = 0.9


@dataclass(frozen=True, eq=False, kw_only=True)
class DescriptionRelease(Promise):
    """What clusters of a release are like, in columns of the table; clusters are in the order of its centers.

    Privacy
    -------
    Every field is either a public parameter or computed from noisy answers that the charges paid for.

    Parameters
    ----------
    of : str
        The digest of the release whose clusters are described.
    columns : list of dict
        Public facts of the described columns, as a schema states them.
    bins : tuple of int
        How many equal bins the histogram of each column has; for a category its values, for a truth value false and true.
    rows : array of shape (k,)
        Noisy numbers of rows, cut off at zero.
    rows_margin : float
        Each true number lies within this of the noisy one before it was cut off, with probability 0.95; so do margins below.
    persons : array of shape (k,) or None
        Noisy numbers of persons, of each of whom one secretly drawn row counts; None if rows are not rows of persons, or one row
        of each counts anyway.
    persons_margin : float or None
    counts : array of int of shape (k, all bins)
        Noisy histograms, column after column; behind the bins of each stands the number of rows that do not say it.
    counts_margin : float
    means : array of shape (k, m)
        Means of numbers and dates, in the user's units; NaN of other columns, and where too few rows are seen.
    mean_margins : array of shape (k, m)
    quantile_levels : tuple of float
    quantiles, quantiles_lower, quantiles_upper : arrays of shape (k, m, levels)
        Of numbers and dates, and where the true ones lie with a probability of about 0.95.
    scores : array of shape (k, m)
        Estimated total variation distance between the column's histogram in a cluster and in all rows, from 0 to 1.
    epsilon, promised_epsilon, delta, adjacency, max_rows_per_group, noise, charges, version, model, preprocessing, parameters,
    random_state, noise_seed, made, mechanisms, k, k_source, missing_values, versions, audit, signature, format
        As for `Promise`.
    """

    #: How clusters are described.
    algorithm = "histograms"
    faint = "These numbers may all be noise. Is this the table that was clustered?"

    _wholes = ("counts",)
    _floats = ("rows", "persons", "means", "mean_margins", "quantiles", "quantiles_lower", "quantiles_upper", "scores")
    _tuples = ("charges", "mechanisms", "bins", "quantile_levels")

    of: str
    columns: list[dict[str, Any]]
    bins: tuple[int, ...]
    rows: NDArray[np.float64]
    rows_margin: float
    persons: NDArray[np.float64] | None
    persons_margin: float | None
    counts: NDArray[np.int64]
    counts_margin: float
    means: NDArray[np.float64]
    mean_margins: NDArray[np.float64]
    quantile_levels: tuple[float, ...]
    quantiles: NDArray[np.float64]
    quantiles_lower: NDArray[np.float64]
    quantiles_upper: NDArray[np.float64]
    scores: NDArray[np.float64]
    format: str = "spinney-description/3"

    def __repr__(self) -> str:
        return f"DescriptionRelease({len(self.rows)} clusters, {len(self.bins)} columns; {self.statement})"

    @property
    def facts(self) -> tuple[Column, ...]:
        """Public facts of the described columns."""
        return Schema.from_record(self.columns).columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the described columns."""
        return tuple(str(column["name"]) for column in self.columns)

    @property
    def looks_empty(self) -> bool:
        """Whether the noisy numbers of rows together look like no rows at all."""
        return look_empty(self.rows, self.rows_margin)

    @property
    def doubts(self) -> dict[str, str]:
        """What to say of the description, if there is something, by its heading."""
        return {"Numbers no larger than noise": self.faint} if self.looks_empty else {}

    @property
    def named(self) -> tuple[tuple[str, ...], ...]:
        """The columns that distinguish each cluster most, the first most; none of a cluster of which too little is seen."""
        found = []
        for scores in self.scores:
            order = np.argsort(-scores, kind="stable")[:NAMED]
            found.append(tuple(self.names[i] for i in order if scores[i] > 0))
        return tuple(found)

    @property
    def silent(self) -> tuple[str, ...]:
        """A line for each column that nearly no row says, by the released numbers: it may be declared as what it is not."""
        found = []
        for name, fact in zip(self.names, self.facts, strict=True):
            unsaid, all_rows = float(self.histogram(name)[:, -1].sum()), float(self.rows.sum())
            if fact.fill is None and not self.looks_empty and unsaid > SILENT * all_rows:
                found.append(f"Nearly no row says {name!r}: is it a column of this kind ({fact.kind}), written as declared?")
        return tuple(found)

    def _place(self, column: Any, method: str) -> int:
        """Return the place of a column, after a check that there is one of this name."""
        if not isinstance(column, str) or column not in self.names:
            names = ", ".join(map(repr, self.names))
            hint = f"shares({self.names[0]!r}); others have to be described first."
            raise ParameterError.wrong("column", f"DescriptionRelease.{method}", f"one of {names}", column, hint)
        return self.names.index(column)

    def histogram(self, column: str) -> NDArray[np.int64]:
        """Return the noisy counts of one column, clusters by bins; the last bin counts rows without a value."""
        place = self._place(column, "histogram")
        start = sum(self.bins[:place]) + place
        return self.counts[:, start : start + self.bins[place] + 1]

    def shares(self, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the shares of a column's bins among the rows of each cluster, "no answer" last, and their margins.

        A margin is how far noise may have moved the share, with a probability of 0.95; both are NaN where too few rows are seen.
        """
        self._place(column, "shares")
        counts, rows = self.histogram(column).astype(np.float64), self.rows[:, None]
        with np.errstate(all="ignore"):
            seen = rows > self.rows_margin
            shares = np.where(seen, np.clip(counts / rows, 0.0, 1.0), np.nan)
            return shares, np.hypot(self.counts_margin, shares * self.rows_margin) / np.where(seen, rows, np.nan)

    def bin_names(self, column: str) -> tuple[str, ...]:
        """Return the names of the bins of a column, without "no answer": values of a category, or ends of an interval."""
        place = self._place(column, "bin_names")
        fact = self.facts[place]
        if not is_measured(fact):
            return bin_names(fact)
        ends = np.linspace(fact.lower, fact.upper, self.bins[place] + 1).tolist()
        told = [fact.shown(end) or f"{end:.5g}" for end in ends]
        return tuple(f"{low} to {high}" for low, high in pairwise(told))

    @classmethod
    def _read_fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        fields = super()._read_fields(record)
        if not all(type(count) is int for counts in fields["counts"] for count in counts):
            raise ValueError("a count is not a whole number")
        return fields

    def _holds(self) -> bool:
        k, m, levels = len(self.rows), len(self.bins), len(self.quantile_levels)
        expected = [len(bin_names(fact)) for fact in self.facts if not is_measured(fact)]
        given = [size for size, fact in zip(self.bins, self.facts, strict=True) if not is_measured(fact)]
        by_column = (self.means, self.mean_margins, self.scores)
        by_level = (self.quantiles, self.quantiles_lower, self.quantiles_upper)
        shapes = [(self.rows, (k,)), (self.counts, (k, sum(self.bins) + m)), (self.persons, (k,))]
        shapes += [(array, (k, m)) for array in by_column] + [(array, (k, m, levels)) for array in by_level]
        margins = [self.rows_margin, self.counts_margin, 0.0 if self.persons_margin is None else self.persons_margin]
        numbers: list[Any] = [self.rows, margins, self.quantile_levels, [] if self.persons is None else self.persons]
        return bool(
            super()._holds()
            and k
            and all(type(size) is int and size >= 1 for size in self.bins)
            and expected == given
            and all(array is None or array.shape == shape for array, shape in shapes)
            and not any(np.isinf(array).any() for array in (*by_column, *by_level))
            and all(np.isfinite(values).all() for values in numbers)
            and (self.persons is None) == (self.persons_margin is None)
            and isinstance(self.of, str)
        )
