"""What planners ask of sites, against exact programs and without noise: ``python -m benchmarks planners``; needs SPINNEY_DATA.

Small: 20 random instances of 60 nodes and 20 candidates, without noise, against integer programs. Roads: 20,000 rows on
Oldenburg, 300 candidates, epsilon 1, against the same solver on the rows themselves: an exact program is out of reach there.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.networks import road
from benchmarks.pages import RESULTS, into_page, markdown, save
from spinney import PrivateKMedoids
from spinney.solvers.exact import solve_exactly
from spinney.solvers.goals import Capacities, Farthest, Goal, OpeningCosts, Travel, WithinReach, solve_goal, value_of
from spinney.solvers.task import SiteChoice, SiteTask
from spinney.spaces.metric import FiniteMetric

#: Seconds for an exact program; some are not proved in time, and the best found by then counts.
SECONDS = 60.0
#: Instances, their nodes, candidates and sites; how much room there is.
INSTANCES, NODES, CANDIDATES, K, ROOM = 20, 60, 20, 5, 1.1
#: Rows on the roads, candidates, sites, room, and runs, of limits and of the others.
ROWS, ROAD_CANDIDATES, ROAD_K, ROAD_ROOM, LIMIT_RUNS, RUNS = 20_000, 300, 10, 1.15, 40, 5


def small_goals(space: FiniteMetric, loads: np.ndarray) -> dict[str, tuple[Goal, int, bool]]:
    """Return goals that have a solution."""
    total, apart = loads.sum(), space.distances_between(space.candidates, np.arange(NODES)).min(axis=0)
    reach = 1.2 * float(np.sort(apart)[int(0.95 * NODES)])
    return {
        "limits of sites": (Capacities(ROOM * total / K), K, False),
        "most within reach": (WithinReach(1.5), K, False),
        "fewest for a share": (WithinReach(reach, 0.9), CANDIDATES, True),
        "all but a share": (Farthest(0.05), K, False),
        "opening costs": (OpeningCosts(0.1 * total), CANDIDATES, True),
    }


def small() -> dict[str, Any]:
    """Compare with exact programs."""
    record: dict[str, Any] = {}
    for seed in range(INSTANCES):
        rng = np.random.default_rng(seed)
        points = rng.uniform(0, 10, (NODES, 2))
        space = FiniteMetric.from_points(points, candidates=np.sort(rng.choice(NODES, CANDIDATES, replace=False)))
        loads = rng.integers(1, 50, NODES).astype(float)
        for name, (goal, k, is_counted) in small_goals(space, loads).items():
            task = SiteTask(space=space, loads=loads, k=k, is_counted=is_counted)
            given = {"goal": goal, "space": space, "epsilon": np.inf, "random_state": seed}
            release = PrivateKMedoids("auto" if is_counted else k, max_clusters=k if is_counted else None, **given).fit(
                np.repeat(np.arange(NODES), loads.astype(int))
            ).release_  # fmt: skip
            found = value_of(goal, task, SiteChoice(release.medoids, release.assignment))
            best = solve_exactly(goal, task, SECONDS)
            total = loads.sum()
            ratio = (total - best.value) / (total - found) if name == "most within reach" else found / best.value
            record.setdefault(name, []).append(float(ratio))
            save("planners_small", record)
            print(seed, name, f"{ratio:.4f}", flush=True)
    return record


def road_demand(space: FiniteMetric, seed: int) -> np.ndarray:
    """Draw rows around eight centers of a city, thinner with distance."""
    rng = np.random.default_rng(seed)
    apart = space.distances(rng.choice(space.n_points, 8, replace=False))
    shares = np.exp(-apart / (0.08 * space.diameter)).sum(axis=0)
    return rng.choice(space.n_points, ROWS, p=shares / shares.sum())


def roads() -> dict[str, Any]:
    """Compare with the same solver on the rows."""
    whole = road("Oldenburg")
    candidates = np.sort(np.random.default_rng(0).choice(whole.n_points, ROAD_CANDIDATES, replace=False))
    space = FiniteMetric(whole.source, whole.n_points, candidates, None)
    reach = 0.06 * space.diameter
    goals: dict[str, tuple[Goal, int, bool]] = {
        "limits of sites": (Capacities(ROAD_ROOM * ROWS / ROAD_K), ROAD_K, False),
        "most within reach": (WithinReach(reach), ROAD_K, False),
        "fewest for a share": (WithinReach(1.5 * reach, 0.9), 60, True),
        "all but a share": (Farthest(0.05), ROAD_K, False),
        "opening costs": (OpeningCosts(0.01 * ROWS * reach), 60, True),
        "travel, k found": (Travel(), 60, True),
    }
    record: dict[str, Any] = {}
    for name, (goal, k, is_counted) in goals.items():
        for seed in range(LIMIT_RUNS if name == "limits of sites" else RUNS):
            demand = road_demand(space, seed)
            loads = np.bincount(demand, minlength=space.n_points).astype(float)
            task = SiteTask(space=space, loads=loads, k=k, is_counted=is_counted)
            model = PrivateKMedoids(
                "auto" if is_counted else k, max_clusters=k if is_counted else None, goal=goal, space=space, epsilon=1.0,
                random_state=seed,
            )  # fmt: skip
            begun = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                release = model.fit(demand).release_
            seconds = time.process_time() - begun
            row = {"k": len(release.medoids), "cpu": seconds}
            if seed < RUNS:
                best = solve_goal(goal, task, np.random.default_rng(seed))
                found, value = value_of(goal, task, SiteChoice(release.medoids, release.assignment)), value_of(goal, task, best)
                ratio = (ROWS - value) / (ROWS - found) if name == "most within reach" else found / value
                row |= {"ratio": float(ratio), "best k": len(best.points)}
            if isinstance(goal, Capacities):
                true = np.bincount(release.assignment, loads, len(release.medoids))
                row |= {"over": float((true - goal.limit).max()), "margin": release.sizes_margin}
            if isinstance(goal, WithinReach):
                away = task.nearest(release.medoids) > goal.within
                row["covered"] = 1 - float(loads @ away) / ROWS
            record.setdefault(name, []).append(row)
            save("planners_roads", record)
            print(seed, name, {key: round(value, 4) for key, value in row.items()}, flush=True)
    return record


def table() -> str:
    """Return the table of the page, from the saved results."""
    few, many = (json.loads((RESULTS / f"planners_{name}.json").read_text()) for name in ("small", "roads"))
    rows = []
    for name, runs in many.items():
        ratios, gaps = [run["ratio"] for run in runs if "ratio" in run], [100 * (ratio - 1) for ratio in few.get(name, ())]
        kept = [run["over"] <= run["margin"] for run in runs if "over" in run]
        exact = f"{np.mean(gaps):.2f}; {max(gaps):.2f}" if gaps else ""
        told = f"{sum(kept)} of {len(kept)}" if kept else ""
        ours = f"{np.mean(ratios):.3f}; {max(ratios):.3f} ({len(ratios)} runs)"
        rows.append([name, exact, ours, told, f"{np.mean([run['cpu'] for run in runs]):.1f}"])
    head = ["goal", "above the exact program, %: mean; most", "roads, over no noise: mean; most", "limits kept", "CPU s"]
    return markdown(head, rows)


def main() -> None:
    """Run the parts named on the command line, or both, and save their results."""
    parts = {"small": small, "roads": roads}
    for name in sys.argv[1:] or parts:
        parts[name]()
    into_page("planners", table())


if __name__ == "__main__":
    main()
