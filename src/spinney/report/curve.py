"""How many clusters? The cost of each k, estimated from one release's private summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from spinney.constraints import check, instance, integer
from spinney.exceptions import check_path
from spinney.releases.centers import Release
from spinney.releases.curve import CostCurve
from spinney.releases.objectives import POWERS, title_of
from spinney.report.canvas import NewFigure, entitle, new_figure, save
from spinney.report.separation import check_summary
from spinney.solvers.weighted import solve
from spinney.spaces.box import FloatArray, domain_from_dict

__all__ = ["cost_curve", "curve_figure", "draw_curve", "found_curve"]

#: Numbers of clusters that are written below a curve.
MOST_TICKS = 12


def cost_curve(release: Release, max_clusters: int = 20, random_state: int = 0) -> CostCurve:
    """Return the estimated cost for 1 .. `max_clusters` clusters.

    Privacy
    -------
    Post-processing of a release: free. The costs are computed on the summary, so they carry its noise, and leave out how rows
    spread within its cells: read the shape of the curve, not its values.

    Parameters
    ----------
    release : Release
        Made by an algorithm with a summary, such as ``"tree"``.
    max_clusters : int
    random_state : int
        Seeds the restarts.
    """
    lawful = {
        "release": instance(Release, "model.release_."),
        "max_clusters": integer(1, "max_clusters=20."),
        "random_state": integer(0, "random_state=0."),
    }
    check("cost_curve", {"release": release, "max_clusters": max_clusters, "random_state": random_state}, lawful)
    check_summary(release)
    release = release.in_scale  # costs are costs of distances
    rng = np.random.default_rng(random_state)
    domain = domain_from_dict(release.domain)
    power = POWERS.get(release.objective, 1)
    costs: list[float] = []
    best: FloatArray = np.empty((0, domain.n_features))
    for k in range(1, max_clusters + 1):
        fillers = domain.sample(k, rng)
        # The centers of k - 1 clusters and one more point: the curve never rises.
        starts = (np.vstack([best, fillers[:1]]),)
        solution = solve(release.summary_points, release.summary_weights, k, power, rng, fillers, starts=starts)
        best = solution.centers
        costs.append(min(solution.cost, *costs[-1:]) if costs else solution.cost)
    chosen = None if release.k_costs is None else len(release.centers)
    return CostCurve(release.objective, tuple(range(1, max_clusters + 1)), tuple(costs), release.statement, chosen)


def found_curve(release: Release) -> CostCurve | None:
    """Return the costs that a release's number of clusters was found from; None if it was given."""
    if release.k_costs is None:
        return None
    clusters = tuple(range(1, len(release.k_costs) + 1))
    return CostCurve(release.objective, clusters, release.k_costs, release.statement, len(release.centers))


def draw_curve(curve: CostCurve, path: str | Path) -> None:
    """Write a PNG of the curve."""
    check_path(path, "draw_curve")
    check("draw_curve", {"curve": curve}, {"curve": instance(CostCurve, "cost_curve(release).")})
    save(curve_figure(curve, new_figure), path)


def curve_figure(curve: CostCurve, new: NewFigure = new_figure) -> Any:
    """Return a figure of the curve."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    width = 6.4
    figure = new(width, 4.4)
    axis = figure.subplots()
    shares = np.array(curve.costs) / max(curve.costs[0], 1e-300)
    axis.plot(curve.clusters, shares, marker="o", markersize=5)
    if curve.chosen in curve.clusters:
        place = curve.chosen, shares[curve.clusters.index(curve.chosen)]
        axis.plot(*place, "o", markersize=13, fillstyle="none", color="black", clip_on=False, label=f"{curve.chosen}, chosen")
        axis.legend(frameon=False)
    axis.set(xlabel="number of clusters", ylabel="estimated cost / cost of one cluster", ylim=(0, 1.05))
    axis.set_xlim(curve.clusters[0] - 0.5, curve.clusters[-1] + 0.5)
    few = len(curve.clusters) <= MOST_TICKS
    axis.xaxis.set_major_locator(FixedLocator(curve.clusters) if few else MaxNLocator(MOST_TICKS, integer=True))
    axis.grid(axis="y", color="0.9")
    entitle(figure, width, f"{title_of(curve.objective)}: cost estimated from the summary of a release", curve.statement)
    return figure
