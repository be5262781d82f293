"""Does k fit? The notions of stability on a release's private summary, free of charge, and on plain points, not private."""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.constraints import check, instance, integer, one_of
from spinney.exceptions import DataError, ParameterError, ReleaseError
from spinney.releases.centers import Release
from spinney.releases.objectives import POWERS
from spinney.solvers.separation import Separation, separate
from spinney.solvers.stability import wasserstein
from spinney.spaces.box import FloatArray, domain_from_dict

__all__ = ["nonprivate_separation", "separation", "wasserstein_distance"]

_CLUSTERS = integer(1, "for example n_clusters=8.", 10_000)
#: Algorithms that make no summary.
WITHOUT_SUMMARY = {"lloyd"}
_STATE = integer(0, "random_state=0 repeats the restarts.")


def _points(value: Any, name: str, owner: str) -> FloatArray:
    """Return finite points, one a row; an error does not quote anything else."""
    try:
        points = np.ascontiguousarray(value, dtype=np.float64)
    except Exception:  # whatever a table raises; a message may quote its cells
        points = np.empty(0)
    if points.ndim != 2 or not points.size or not np.isfinite(points).all():
        raise ParameterError.wrong(name, owner, "a table of finite numbers, one point a row", value, "an array of shape (n, d).")
    return points


def check_summary(release: Release) -> None:
    """Raise unless a release has a summary: some algorithms make none, and some tables leave nothing in it but noise."""
    if len(release.summary_points):
        return
    if {release.algorithm, release.parameters.get("base")} & WITHOUT_SUMMARY:
        raise ReleaseError("The release has no summary.", "fit with algorithm='tree'.")
    more = "more users" if release.trust.is_local else "more rows"
    raise ReleaseError("The summary is empty: nothing stands out of the noise.", f"{more}, or a larger epsilon.")


def separation(release: Release, n_clusters: int | None = None, random_state: int = 0) -> Separation:
    """Return how separated a release's summary is for its own number of clusters, or for another.

    Privacy
    -------
    Post-processing of a release: free. The numbers describe the summary: they carry its noise, and leave out how rows spread
    within its cells, so clusters look a little tighter than they are. Take them as a hint.

    Parameters
    ----------
    release : Release
        Made by an algorithm with a summary, such as ``"tree"``.
    n_clusters : int, optional
        The release's own by default.
    random_state : int
        Seeds the restarts.
    """
    check("separation", {"release": release}, {"release": instance(Release, "model.release_.")})
    k = len(release.centers) if n_clusters is None else n_clusters
    check("separation", {"n_clusters": k, "random_state": random_state}, {"n_clusters": _CLUSTERS, "random_state": _STATE})
    check_summary(release)
    release = release.in_scale
    rng = np.random.default_rng(random_state)
    fillers = domain_from_dict(release.domain).sample(int(k) + 1, rng)
    power = POWERS.get(release.objective, 1)
    return separate(release.summary_points, release.summary_weights, int(k), power, rng, fillers)[0]


def nonprivate_separation(points: Any, n_clusters: int, objective: str = "kmeans", random_state: int = 0) -> Separation:
    """Return how separated points are for a number of clusters. Not private: for made-up and public points.

    Privacy
    -------
    None. Every number returned is exact about the points. About private rows, ask a release (`separation`).

    Parameters
    ----------
    points : array of shape (n, d)
        Finite.
    n_clusters : int
    objective : {"kmeans", "kmedian"}
    random_state : int
        Seeds the restarts.
    """
    owner = "nonprivate_separation"
    typed = {"n_clusters": n_clusters, "objective": objective, "random_state": random_state}
    check(owner, typed, {"n_clusters": _CLUSTERS, "objective": one_of(POWERS, "'kmeans'."), "random_state": _STATE})
    rows = _points(points, "points", owner)
    k, rng = int(n_clusters), np.random.default_rng(random_state)
    fillers = rng.uniform(rows.min(axis=0), rows.max(axis=0), (k + 1, rows.shape[1]))
    return separate(rows, np.ones(len(rows)), k, POWERS[objective], rng, fillers)[0]


def wasserstein_distance(first: Any, second: Any) -> float:
    """Return the Wasserstein distance between two sets of k centers: the root of summed squares, under the best matching.

    Parameters
    ----------
    first, second : arrays of shape (k, d), or releases
    """
    owner = "wasserstein_distance"
    sets = [
        one.scaled(one.centers) if isinstance(one, Release) else _points(one, name, owner)
        for name, one in (("first", first), ("second", second))
    ]
    if sets[0].shape != sets[1].shape:
        raise DataError("Both sets must have as many centers and columns.", "compare releases of one number of clusters.")
    return wasserstein(*sets)
