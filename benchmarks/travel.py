"""The mean travel to each site and its margin: ``python -m benchmarks travel [default] [hst] [limits]``; needs SPINNEY_DATA.

20,000 rows on the roads of Oldenburg, 10 sites, epsilon 1: how often the true mean lies within its margin, and the cost of true
rows over that of the same fit without travel. Runs that were saved are not run again: delete their file.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from benchmarks.networks import road
from benchmarks.pages import into_page, markdown, save
from benchmarks.planners import ROAD_K, ROAD_ROOM, ROWS, road_demand, saved
from spinney import Capacities, PrivateKMedoids
from spinney.releases.assigning import assign_sites

RUNS = 40
#: What is fitted, by the names of the command line: in words, and parameters.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("the default", {}),
    "hst": ("hst", {"algorithm": "hst"}),
    "limits": ("limits of sites", {"goal": Capacities(ROAD_ROOM * ROWS / ROAD_K)}),
}


def measured(name: str) -> None:
    """Fit with travel and without, and save what was released and what is true."""
    space, record = road("Oldenburg"), saved("travel")
    if name == "limits":  # a search for limits takes long with all of them
        space = type(space)(space.source, space.n_points, np.arange(0, space.n_points, 20), None)
    for seed in range(len(record.get(name, ())), RUNS):
        demand, costs, row = road_demand(space, seed), list[float](), dict[str, Any]()
        for travel in (True, False):
            model = PrivateKMedoids(ROAD_K, space=space, epsilon=1.0, random_state=seed, travel=travel, **CASES[name][1])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                release = model.fit(demand).release_
            labels = assign_sites(release, space, demand)
            apart = space.distances(release.sites)[labels, demand]
            costs.append(float(apart.mean()))
            if travel:
                counts = np.bincount(labels, minlength=ROAD_K)
                off = np.abs(np.bincount(labels, apart, ROAD_K) / np.maximum(counts, 1) - release.travel)
                known = np.isfinite(off)
                row["over"] = np.round((off / release.travel_margins)[known], 4).tolist()
                row["width"] = round(float(np.median((release.travel_margins / release.travel)[known])), 5)
        record.setdefault(name, []).append({**row, "costs": costs})
        save("travel", record)
        print(seed, name, f"{costs[0] / costs[1]:.4f}", row, flush=True)


def table() -> str:
    """Return the table of the page, from the saved results."""
    rows = []
    for name, runs in saved("travel").items():
        over, costs = np.concatenate([run["over"] for run in runs]), np.array([run["costs"] for run in runs])
        width = 100 * np.median([run["width"] for run in runs])
        dearer = f"{(costs[:, 0] / costs[:, 1]).mean():.3f}"
        fit = f"{CASES[name][0]}, {len(runs)} runs"
        rows.append([fit, f"{100 * (over <= 1).mean():.1f}% of {len(over)}", f"{width:.1f}%", dearer])
    return markdown(["fit", "true mean within its margin", "margin over the mean", "cost over that without travel"], rows)


def main() -> None:
    """Run the parts named on the command line, or all, and save their results."""
    for name in sys.argv[1:] or CASES:
        measured(name)
    into_page("travel", table())


if __name__ == "__main__":
    main()
