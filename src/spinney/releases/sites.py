"""The release of k-medoids: chosen sites of a public space, by their indices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.releases.clusters import ClusterRelease


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteRelease(ClusterRelease):
    """The published result of one fit of k-medoids.

    Privacy
    -------
    Every field is either a public parameter or computed from noisy answers that the charges paid for.

    Parameters
    ----------
    algorithm : str
    power : {1, 2}
        1 for distances, 2 for squared distances.
    medoids : array of int of shape (k,)
        The chosen sites, as indices of the space's points.
    existing_sites : array of int of shape (e,)
        Sites that were there already; public.
    sizes : array of shape (k + e,)
        Noisy numbers of rows that each site serves, chosen ones first.
    sizes_margin : float
        Each true size lies within this of the noisy one before it was cut off at zero, with probability 0.95.
    summary_points, summary_weights : arrays of shape (m,)
        A private weighted summary of the demand, as indices of points; empty if the algorithm makes none.
    space : dict
        Public: the kind of the space and its numbers of points and candidates.
    coordinates : array of shape (k + e, d) or None
        Where the sites are drawn, if the space says so; public given the sites.
    names : tuple of str or None
        What the sites are called, if the space's points have names.
    goal : dict or None
        What was asked for, if it is not simply little travel to k sites: its kind and its public numbers, those of arrays for
        each site.
    assignment : array of int of shape (n_points,) or None
        Whom each point of the space goes to, by the place of its site, or -1 for nobody, if it is not simply the nearest.
    unserved : float or None
        The noisy number of rows that go to nobody, if some points do; its margin is `sizes_margin`.
    row_times : int or None
        How often a row counts at most, if it does so by its weight; sizes are sums of such times.
    travel, travel_margins : array of shape (k + e,) or None
        The mean distance from the rows that each site serves to it, if that was asked, and how far noise may have moved it, with
        probability 0.95; NaN where too few rows are seen to tell. A row that counts several times does so here, too.
    epsilon, promised_epsilon, delta, adjacency, max_rows_per_group, noise, charges, version, model, preprocessing, parameters,
    random_state, noise_seed, made, mechanisms, k, k_source, missing_values, versions, audit, signature, format
        As for `Promise`.
    """

    faint = (
        "These sizes may all be noise. Is there too little demand for this k and epsilon, or are the points not named "
        "as in the public files?"
    )

    _floats = ("sizes", "summary_weights", "coordinates", "travel", "travel_margins")
    _wholes = ("medoids", "existing_sites", "summary_points", "assignment")
    _tuples = ("charges", "mechanisms", "names")

    power: int
    medoids: NDArray[np.int64]
    existing_sites: NDArray[np.int64]
    space: dict[str, Any]
    coordinates: NDArray[np.float64] | None = None
    names: tuple[str, ...] | None = None
    goal: dict[str, Any] | None = None
    assignment: NDArray[np.int64] | None = None
    unserved: float | None = None
    row_times: int | None = None
    travel: NDArray[np.float64] | None = None
    travel_margins: NDArray[np.float64] | None = None
    format: str = "spinney-sites/3"

    def __repr__(self) -> str:
        return f"SiteRelease({len(self.medoids)} sites of {self.space['n_points']} points; {self.statement})"

    @property
    def sites(self) -> NDArray[np.int64]:
        """The chosen sites and then the existing ones."""
        return np.concatenate([self.medoids, self.existing_sites])

    @property
    def limits(self) -> NDArray[np.float64] | None:
        """The public limits of the sites, if there are any."""
        limit = None if self.goal is None else self.goal.get("limit")
        return None if limit is None else np.broadcast_to(np.asarray(limit, dtype=np.float64), self.sizes.shape)

    @property
    def doubts(self) -> dict[str, str]:
        """What to say of the release, besides: which limits are passed, by expected demand, or by sizes beyond their margins."""
        if self.limits is None or self.looks_empty:
            return super().doubts
        over = np.flatnonzero(self.sizes - self.sizes_margin > self.limits).tolist()
        room, expected = float(self.limits.sum()), float(self.summary_weights.sum())
        text = f"The demand that is expected, {expected:,.0f} rows, is more than all sites can take, {room:,.0f}. "
        text = text if expected > room else ""
        if over:
            text += f"Of these sites the size is above the limit by more than its margin: {', '.join(map(str, over))}."
        return super().doubts | ({"Limits that are passed": text.strip()} if text else {})

    @classmethod
    def _read_fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        fields = super()._read_fields(record)
        for name in ("medoids", "existing_sites", "summary_points"):
            if not all(type(index) is int for index in fields[name]):
                raise ValueError("an index is not one")
        return fields

    def _holds(self) -> bool:
        n, count, drawn = self.space["n_points"], len(self.sites), self.coordinates
        numbers: list[Any] = [self.sizes, self.summary_weights, [self.sizes_margin], [] if drawn is None else drawn]
        indices = np.concatenate([self.sites, self.summary_points])
        return bool(
            super()._holds()
            and isinstance(self.space["kind"], str)
            and type(n) is type(self.space["n_candidates"]) is int
            and all(array.ndim == 1 for array in (self.medoids, self.existing_sites, self.summary_points))
            and len(self.medoids)
            and ((indices >= 0) & (indices < n)).all()
            and len(set(self.sites.tolist())) == count
            and (self.sizes.shape, self.summary_points.shape) == ((count,), self.summary_weights.shape)
            and (drawn is None or (drawn.ndim == 2 and len(drawn) == count))
            and all(np.isfinite(values).all() for values in numbers)
            and self.power in (1, 2)
            and (self.names is None or len(self.names) == count)
            and self._is_assigned(n, count)
            and self._is_traveled(count)
            and (self.row_times is None or (type(self.row_times) is int and self.row_times >= 1))
            and all(isinstance(text, str) for text in (self.algorithm, *(self.names or ())))
        )

    def _is_traveled(self, count: int) -> bool:
        """Whether there are means of travel and their margins, both of the same sites, or none."""
        means, margins = self.travel, self.travel_margins
        if means is None or margins is None:
            return means is margins
        told = np.isfinite(means)
        fits = means.shape == margins.shape == (count,) and (told == np.isfinite(margins)).all()
        return bool(fits and (np.isnan(means) | told).all() and (means[told] >= 0).all() and (margins[told] >= 0).all())

    def _is_assigned(self, n: int, count: int) -> bool:
        """Whether each point goes to a site, or to nobody, if it is stated; and the goal has limits for all sites, if any."""
        labels, left = self.assignment, self.unserved
        limit = None if self.goal is None else self.goal.get("limit")
        return bool(
            (labels is None or (labels.shape == (n,) and ((labels >= -1) & (labels < count)).all()))
            and (left is None or np.isfinite(left))
            and (self.goal is None or isinstance(self.goal.get("kind"), str))
            and (limit is None or np.shape(limit) in ((), (count,)))
        )
