"""What clusters of a release are like: private numbers of rows and persons, histograms and means of other columns.

After the histograms of DPClustX (Gilad et al. 2025), which explains clusters by the columns whose histograms differ most.

1. ``rows``     noisy numbers of rows by cluster.
2. ``persons``  noisy numbers of persons by cluster, one secretly drawn row of each; only if several rows of a person count.
3. ``totals``   noisy sums of numbers and dates by cluster, from the middle of their bounds.
4. ``bins``     noisy histograms of every column by cluster.

Means, quantiles, shares and the columns that distinguish a cluster follow from these, free.

Proof: ``proofs/describe.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.margins import COVER, SLACK
from spinney.algorithms.problem import Problem
from spinney.algorithms.profiles import Quantiles, distances, quantiles
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import ClusterBins, Clusters, Counting, Counts, PersonCounting, Persons, Totaling, Totals
from spinney.questions.counts import CountAnswer
from spinney.questions.ground import Ground
from spinney.questions.sums import RADIUS_STEPS
from spinney.questions.totals import TotalAnswer
from spinney.releases.description import DescriptionRelease
from spinney.releases.preparation import missing_rows, prepared_description
from spinney.spaces import Column, Domain, FloatArray, IntArray, Schema, is_measured

#: Shares of epsilon, in hundredths; the histograms have the rest, and what is not asked goes to them.
SHARES = {"rows": 10, "persons": 10, "totals": 20}
#: Quantiles that are released.
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, kw_only=True)
class DescriptionProblem(Problem):
    """The clusters of a release, described by columns of a table; `domain` is the domain of rows with these columns behind."""

    of: str
    centers: FloatArray
    radius: float
    domain: Domain
    columns: tuple[Column, ...]
    bins: tuple[int, ...]
    has_persons: bool

    solves = "description"
    few_rows = 300
    what = "descriptions"
    objective = title = "description"

    @property
    def ground(self) -> Ground:
        return Ground(self.domain)

    @property
    def size(self) -> str:
        return f"{self.k} clusters, {len(self.columns)} columns, {sum(self.bins) + len(self.bins)} bins of each cluster"

    @property
    def clusters(self) -> Clusters:
        """The cells that rows are described in."""
        return Clusters(self.centers, self.radius)

    @property
    def measured(self) -> IntArray:
        """The places of the columns with means and quantiles."""
        return np.array([i for i, column in enumerate(self.columns) if is_measured(column)], dtype=np.int64)

    def expected(self, noise: Callable[[str], Any], n_guess: int) -> list[str]:
        """Return what to expect of about `n_guess` rows, in an average cluster: `noise` gives the noise of a part of the plan."""
        each = max(n_guess, 1) / self.k
        text = f"If there are about {n_guess} rows, of an average cluster: number of rows +- {noise('rows').std:.3g}"
        lines = [f"{text}; shares +- {100 * noise('bins').std / each:.2g}% of its rows."]
        if self.measured.size:
            std = noise("totals").std / RADIUS_STEPS
            told = [
                f"{column.name} +- {column.shown_margin(std / each * (column.upper - column.lower) / 2)}"
                for column in self.columns
                if is_measured(column)
            ]
            lines.append(f"Means, standard deviation of the noise: {', '.join(told)}.")
        return lines

    def release(
        self, result: Any, algorithm: str, columns: tuple[str, ...] | None, promise: dict[str, Any]
    ) -> DescriptionRelease:
        assert isinstance(result, DescriptionResult)
        schema = Schema(self.columns)
        lower, width = (np.array(values) for values in zip(*((c.lower, c.upper - c.lower) for c in self.columns), strict=True))
        persons, told, (means, margins) = result.persons, result.quantiles(), result.means()
        low, high, middle = (lower[:, None] + width[:, None] * places for places in (told.lower, told.upper, told.places))
        return DescriptionRelease(
            of=self.of,
            columns=schema.record,
            bins=self.bins,
            rows=np.maximum(result.rows.private_counts, 0).astype(np.float64),
            rows_margin=float(result.rows.noise.quantile(COVER)),
            persons=None if persons is None else np.maximum(persons.private_counts, 0).astype(np.float64),
            persons_margin=None if persons is None else float(persons.noise.quantile(COVER)),
            counts=result.bins.private_counts,
            counts_margin=float(result.bins.noise.quantile(COVER)),
            means=lower + width * (means + 1) / 2,
            mean_margins=width / 2 * margins,
            quantile_levels=LEVELS,
            quantiles=middle,
            quantiles_lower=low,
            quantiles_upper=high,
            scores=result.scores(),
            preprocessing=prepared_description(promise["adjacency"], promise["max_rows_per_group"]),
            missing_values=f"{missing_rows(promise['adjacency'])}, if it decides a cluster; others are counted as such",
            **{**promise, "k_source": "that of the described release"},
        )


@dataclass(frozen=True)
class DescriptionResult:
    """Released answers, and what follows from them: columns from -1 to 1 (means) or from 0 to 1 (quantiles)."""

    problem: DescriptionProblem
    rows: CountAnswer
    persons: CountAnswer | None
    totals: TotalAnswer | None
    bins: CountAnswer

    def histogram(self, place: int) -> FloatArray:
        """Return the noisy histogram of one column."""
        bins = self.problem.bins
        start = sum(bins[:place]) + place
        return self.bins.private_counts[:, start : start + bins[place] + 1].astype(np.float64)

    def present(self, place: int) -> tuple[FloatArray, float]:
        """Return the noisy number of rows that say a column, and its noise in quantiles: none say nothing if cells are filled."""
        rows, reach = self.rows.private_counts.astype(np.float64), self.rows.noise.quantile(COVER)
        if self.problem.columns[place].fill is not None:
            return rows, reach
        return rows - self.histogram(place)[:, -1], float(np.hypot(reach, self.bins.noise.quantile(COVER)))

    def means(self) -> tuple[FloatArray, FloatArray]:
        """Return means from -1 to 1 between the bounds, and their margins: NaN of columns that are not measured.

        A mean is ``(V + x) / (W + y)``, whose noise is ``(x - y V / W) / (W + y)`` exactly, as that of a step (``margins.py``);
        quantiles of independent noises add up like standard deviations, which is a little wide.
        """
        shape = (self.problem.k, len(self.problem.columns))
        means, margins, answer = np.full(shape, np.nan), np.full(shape, np.nan), self.totals
        if answer is None:
            return means, margins
        reach = answer.noise.quantile(COVER) / RADIUS_STEPS
        for i, place in enumerate(self.problem.measured.tolist()):
            present, more = self.present(place)
            told = present > max(more, 0.5)
            safe = np.where(told, present, 1.0)
            mean = np.clip(answer.private_totals[:, i] / safe, -1.0, 1.0)
            means[:, place] = np.where(told, mean, np.nan)
            margins[:, place] = np.where(told, SLACK * np.hypot(reach, mean * more) / safe, np.nan)
        return means, margins

    def quantiles(self) -> Quantiles:
        """Return quantiles of the columns that are measured."""
        k, m = self.problem.k, len(self.problem.columns)
        places, lower, upper = (np.full((k, m, len(LEVELS)), np.nan) for _ in range(3))
        for place in self.problem.measured.tolist():
            present, _ = self.present(place)
            filled = self.problem.columns[place].fill is not None
            std = self.rows.noise.std if filled else float(np.hypot(self.rows.noise.std, self.bins.noise.std))
            found = quantiles(self.histogram(place)[:, :-1], present, LEVELS, self.bins.noise.std, std)
            places[:, place], lower[:, place], upper[:, place] = found.places, found.lower, found.upper
        return Quantiles(places, lower, upper)

    def scores(self) -> FloatArray:
        """Return how far each column's histogram in a cluster is from the histogram of all rows."""
        rows = self.rows.private_counts.astype(np.float64)
        scores = np.full((self.problem.k, len(self.problem.columns)), np.nan)
        seen = rows > max(self.rows.noise.quantile(COVER), 0.5)
        for place in range(len(self.problem.columns) if seen.any() else 0):
            scores[seen, place] = distances(self.histogram(place)[seen], rows[seen], self.bins.noise.std, self.rows.noise.std)
        return scores


class Histograms(Algorithm):
    """Rows, persons, totals and histograms, each asked once."""

    name = "histograms"
    solves = "description"

    def parts(self, problem: DescriptionProblem) -> tuple[Part, ...]:
        kinds: dict[str, Any] = {"rows": Counting()}
        if problem.has_persons:
            kinds["persons"] = PersonCounting()
        if problem.measured.size:
            kinds["totals"] = Totaling(int(problem.measured.size))
        rest = Fraction(100 - sum(SHARES[name] for name in kinds), 100)
        first = tuple(kind.part(name, Fraction(SHARES[name], 100)) for name, kind in kinds.items())
        return (*first, Counting(len(problem.columns)).part("bins", rest))

    def run(  # type: ignore[override]
        self, purse: Purse, problem: DescriptionProblem, rng: np.random.Generator
    ) -> DescriptionResult:
        clusters = problem.clusters
        rows = purse.ask("rows", Counts(clusters))
        persons = purse.ask("persons", Persons(clusters)) if problem.has_persons else None
        totals = purse.ask("totals", Totals(clusters, problem.measured)) if problem.measured.size else None
        counts = purse.ask("bins", Counts(ClusterBins(clusters, np.array(problem.bins))))
        return DescriptionResult(problem, rows, persons, totals, counts)
