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
    epsilon, promised_epsilon, delta, adjacency, max_rows_per_group, noise, charges, version, model, preprocessing, parameters,
    random_state, noise_seed, made, mechanisms, k, k_source, missing_values, versions, audit, signature, format
        As for `Promise`.
    """

    faint = (
        "These sizes may all be noise. Is there too little demand for this k and epsilon, or are the points not named "
        "as in the public files?"
    )

    _floats, _wholes = ("sizes", "summary_weights", "coordinates"), ("medoids", "existing_sites", "summary_points")
    _tuples = ("charges", "mechanisms", "names")

    power: int
    medoids: NDArray[np.int64]
    existing_sites: NDArray[np.int64]
    space: dict[str, Any]
    coordinates: NDArray[np.float64] | None = None
    names: tuple[str, ...] | None = None
    format: str = "spinney-sites/3"

    def __repr__(self) -> str:
        return f"SiteRelease({len(self.medoids)} sites of {self.space['n_points']} points; {self.statement})"

    @property
    def sites(self) -> NDArray[np.int64]:
        """The chosen sites and then the existing ones."""
        return np.concatenate([self.medoids, self.existing_sites])

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
            and all(isinstance(text, str) for text in (self.algorithm, *(self.names or ())))
        )
