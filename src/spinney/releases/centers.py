"""What leaves: a release may be published, and everything on a fitted estimator comes from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._shown import offered
from spinney.releases.clusters import ClusterRelease, lack_rows
from spinney.spaces.schema import Schema


@dataclass(frozen=True, eq=False, kw_only=True)
class Release(ClusterRelease):
    """The published result of one fit.

    Privacy
    -------
    Every field is either a public parameter or computed from noisy answers that the charges paid for.

    Parameters
    ----------
    objective : {"kmeans", "kmedian"}
    algorithm : str
    centers : array of shape (k, d)
    sizes : array of shape (k,)
        Noisy numbers of rows that each center serves.
    sizes_margin : float
        Each true size lies within this of the noisy one before it was cut off at zero, with probability 0.95.
    summary_points, summary_weights : arrays of shape (m, d) and (m,)
        A private weighted summary of the rows; empty if the algorithm makes none.
    domain : dict
        Public bounds; with the names of their columns if they were given by name.
    tightened : dict or None
        The private box that rows were clipped to further, if one was asked for.
    feature_names : tuple of str or None
    center_margins : array of shape (k, d) or None
        How far noise may have moved each coordinate of a center in the last private step, before the step was shortened, with a
        probability of 0.95; in the user's units. NaN where a center rests on too few steps or rows; None where the
        algorithm takes no step.
    schema : list of dict or None
        Public facts about each column of the table, if more than bounds were given: its kind, unit or weight, categories, what a
        missing cell is read as, and where the facts come from. Centers, summary and bounds are in the user's own units; distances
        are measured after each column is divided by its unit.
    supported_centers : int or None
        How many centers rest on a private step, the budget not being enough for more. None where the algorithm takes no such
        step.
    k_costs : tuple of float or None
        The estimated costs of 1, 2, ... clusters, over the cost of one, from which k was found; None where it was given.
    n_guess : int or None
        How many rows (with groups: persons) were expected, if the caller said so before the fit.
    epsilon, promised_epsilon, delta, adjacency, max_rows_per_group, noise, charges, version, model, preprocessing, parameters,
    random_state, noise_seed, made, mechanisms, k, k_source, missing_values, versions, audit, signature, format
        As for `Promise`.
    """

    _floats = ("centers", "sizes", "summary_points", "summary_weights", "center_margins")
    _tuples = ("charges", "mechanisms", "feature_names", "k_costs")

    objective: str
    centers: NDArray[np.float64]
    domain: dict[str, Any]
    feature_names: tuple[str, ...] | None
    tightened: dict[str, Any] | None = None
    supported_centers: int | None = None
    center_margins: NDArray[np.float64] | None = None
    schema: list[dict[str, Any]] | None = None
    k_costs: tuple[float, ...] | None = None
    n_guess: int | None = None
    format: str = "spinney-release/3"

    @property
    def faint(self) -> str:  # type: ignore[override]
        """What to say if the sizes are no larger than noise."""
        if self.trust.is_local:
            return "These sizes may all be noise. Did too few users answer for this epsilon?"
        return (
            "These sizes may all be noise. Are there too few rows for this k and epsilon, was a column of words "
            "clustered, or is the table empty?"
        )

    @property
    def lack(self) -> str:  # type: ignore[override]
        """What to say of the rows that were expected and are not in the sizes; empty if nothing was expected, or nothing lacks.

        It follows from the released sizes and the public guess alone.
        """
        if self.n_guess is None:
            return ""
        what = "rows" if self.max_rows_per_group is None else "persons"
        if self.adjacency == "replace":
            return (
                f"{self.n_guess:,} {what} were expected, and whether all could be read cannot be known: with adjacency 'replace' "
                "a row with a missing cell counts as the middle of the domain."
            )
        if not lack_rows(self.sizes, self.sizes_margin, self.n_guess):
            return ""
        margin = "" if self.noise.is_exact else f" +- {self.sizes_margin * len(self.sizes) ** 0.5:,.0f}"
        return (
            f"{self.n_guess:,} {what} were expected, and the sizes add up to {self.sizes.sum():,.0f}{margin} rows: a row with a "
            "cell that cannot be read as the schema says does not count. docs/schema.md has what a schema can say of cells, and "
            "how files with another encoding, or with lone quotes, are read."
        )

    @property
    def single(self) -> str:  # type: ignore[override]
        """What to change if the number of clusters was to be found, and is one; empty if it is not."""
        if self.k_costs is None or len(self.centers) > 1:
            return ""
        return (
            "No groups stand out of the private summary, so one cluster was found. If there are groups, the columns that they "
            "differ in weigh too little: give numbers among these a smaller unit in the schema, or scale='bounds', by which all "
            "columns weigh alike; leave out columns that groups do not differ in; or give the number that you need, as for "
            "groups that differ in one column of categories alone."
        )

    def __repr__(self) -> str:
        k, d = self.centers.shape
        return f"Release({self.objective}, {k} centers x {d} columns; {self.statement})"

    @property
    def facts(self) -> Schema | None:
        """The schema, read; None if there are bounds alone."""
        return None if self.schema is None else Schema.from_record(self.schema)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns of the table, if it had some; a category is one column."""
        return self.feature_names if self.facts is None or self.facts.names is None else self.facts.names

    def scaled(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return points in the units in which distances are measured."""
        return points if self.facts is None else points / self.facts.units

    @property
    def in_scale(self) -> Release:
        """The release in the units of distances; itself if the user's units are the same."""
        if self.facts is None:
            return self
        tightened = None if self.tightened is None else self._scaled_box(self.tightened)
        margins = None if self.center_margins is None else self.scaled(self.center_margins)
        centers, points = self.scaled(self.centers), self.scaled(self.summary_points)
        own = {"domain": self._scaled_box(self.domain), "tightened": tightened, "schema": None}
        return replace(self, centers=centers, summary_points=points, center_margins=margins, **own)  # type: ignore[arg-type]

    def recluster(self, n_clusters: int, random_state: int = 0) -> Any:
        """Return other clusters of the private summary, in the units of the fit: their centers, and sizes without margins.

        Privacy
        -------
        Post-processing of a release: free, and marked as such. From four columns on the release's own centers are better, for
        private steps moved them to the rows.

        Parameters
        ----------
        n_clusters : int
        random_state : int
            Seeds the restarts.
        """
        return offered("recluster")(self, n_clusters, random_state)

    def _scaled_box(self, box: dict[str, Any]) -> dict[str, Any]:
        return box | {end: self.scaled(np.asarray(box[end], dtype=np.float64)).tolist() for end in ("lower", "upper")}

    @classmethod
    def _read_fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        fields = super()._read_fields(record)
        d = len(fields["domain"]["lower"])
        fields["summary_points"] = np.asarray(fields["summary_points"], dtype=np.float64).reshape(-1, d)
        if fields.get("k_costs") is not None:
            fields["k_costs"] = tuple(map(float, fields["k_costs"]))
        return fields

    def _holds(self) -> bool:
        d, count, box = len(self.domain["lower"]), len(self.centers), self.domain if self.tightened is None else self.tightened
        bounds = (self.domain["lower"], self.domain["upper"], box["lower"], box["upper"])
        shapes = (self.centers.shape, self.sizes.shape, self.summary_points.shape)
        arrays = (self.centers, self.sizes, self.summary_points, self.summary_weights, *bounds)
        numbers = (*arrays, [self.domain.get("radius", 1.0), self.sizes_margin])
        costs, margins, names, facts = self.k_costs, self.center_margins, self.feature_names, self.facts
        return bool(
            super()._holds()
            and count
            and shapes == ((count, d), (count,), (self.summary_weights.size, d))
            and all(len(ends) == d for ends in bounds)
            and all(np.isfinite(values).all() for values in numbers)
            and (self.supported_centers is None or 1 <= self.supported_centers <= count)
            and (costs is None or (len(costs) >= count and np.isfinite(costs).all()))
            and (margins is None or (margins.shape == self.centers.shape and not ((margins < 0) | np.isinf(margins)).any()))
            and (names is None or len(names) == d)
            and (self.n_guess is None or (type(self.n_guess) is int and self.n_guess >= 1))
            and self.domain.get("columns") in (None, list(names or ()))
            and (facts is None or (facts.width == d and facts.titles in (None, names)))
            and all(isinstance(text, str) for text in (self.objective, self.algorithm))
        )
