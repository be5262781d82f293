"""What a release of sites tells planners for free: travel, what no data would give, and the gain of each further site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.constraints import check, instance, integer
from spinney.exceptions import ParameterError, ReleaseError
from spinney.releases.assigning import assign_sites
from spinney.releases.curve import CostCurve
from spinney.releases.sites import SiteRelease
from spinney.solvers.medoids import solve_medoids
from spinney.solvers.openings import growing
from spinney.solvers.service import Service
from spinney.spaces.metric import FiniteMetric


@dataclass(frozen=True, eq=False)
class SiteTravel:
    """Mean travel costs (squared ones if the power is 2), estimated from the private summary.

    Parameters
    ----------
    mean : float
        Of all rows that are served.
    by_site : array of shape (k + e,)
        Of the rows of each site; NaN where none are expected.
    without_data : float
        Of all rows, if as many sites had been chosen with no data: as if each point had the same demand.
    """

    mean: float
    by_site: NDArray[np.float64]
    without_data: float


def _summary(release: Any, space: Any, owner: str) -> NDArray[np.float64]:
    """Return the expected demand of all points, after checks."""
    lawful = {
        "release": instance(SiteRelease, "model.release_ of a PrivateKMedoids."),
        "space": instance(FiniteMetric, "its space."),
    }
    check(owner, {"release": release, "space": space}, lawful)
    if space.described != release.space:
        hint = "make it from the same public files."
        raise ParameterError.wrong("space", owner, f"the space of the release, {release.space}", space, hint)
    if not release.summary_weights.sum() > 0:
        raise ReleaseError("The release has no summary of demand.", "algorithm='cells', the default, makes one.")
    return np.bincount(release.summary_points, release.summary_weights, space.n_points).astype(np.float64)


def site_travel(release: SiteRelease, space: FiniteMetric) -> SiteTravel:
    """Estimate mean travel costs from the summary of a release.

    Privacy
    -------
    Post-processing of a release: free. The estimates carry the noise of the summary, and have no margins.

    Parameters
    ----------
    release : SiteRelease
    space : FiniteMetric
        The public space that it is about.
    """
    demand = _summary(release, space, "site_travel")
    points = np.flatnonzero(demand)
    weights, sites = demand[points], release.sites
    costs = space.distances_between(sites, points) ** release.power
    own = assign_sites(release, space, points)
    is_served = own >= 0
    spent = np.where(is_served, weights * costs[own, np.arange(len(points))], 0.0)
    total, rows = (np.bincount(own[is_served], some[is_served], len(sites)) for some in (spent, weights))
    by_site = np.divide(total, rows, out=np.full(len(sites), np.nan), where=rows > 0)
    even = solve_medoids(space, np.ones(space.n_points), len(release.medoids), release.power, existing=release.existing_sites)
    blind = space.distances_between(np.concatenate([even.points, release.existing_sites]), points) ** release.power
    mean = float(total.sum() / rows.sum()) if rows.sum() else float("nan")
    return SiteTravel(mean, by_site, float(weights @ blind.min(axis=0) / weights.sum()))


def site_curve(release: SiteRelease, space: FiniteMetric, max_clusters: int = 20, random_state: int = 0) -> CostCurve:
    """Estimate the travel costs of 1, 2, ... new sites from the summary of a release: what each further site gains.

    Privacy
    -------
    Post-processing of a release: free. The costs carry the noise of the summary: read the shape of the curve, not its values.

    Parameters
    ----------
    release : SiteRelease
    space : FiniteMetric
        The public space that it is about.
    max_clusters : int
    random_state : int
        Seeds the draws of the search.
    """
    lawful = {"max_clusters": integer(1, "max_clusters=20."), "random_state": integer(0, "random_state=0.")}
    check("site_curve", {"max_clusters": max_clusters, "random_state": random_state}, lawful)
    demand, fixed = _summary(release, space, "site_curve"), release.existing_sites
    service = Service.of(space, demand, release.power)
    most = min(max_clusters, int(np.count_nonzero(~np.isin(space.candidates, fixed))))
    costs = tuple(found.cost for found in growing(service, most, np.random.default_rng(random_state), fixed))
    return CostCurve("kmedoids", tuple(range(1, most + 1)), costs, release.statement, len(release.medoids))
