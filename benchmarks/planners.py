"""What planners ask of sites, against exact programs: ``python -m benchmarks planners [small] [roads]``; needs SPINNEY_DATA.

Small: 20 random instances of 60 nodes and 20 candidates, without noise, against integer programs. Roads: 20,000 rows on
Oldenburg, 300 candidates, epsilon 1, against bounds that hold for all sites: programs of reach are solved there too, costs are
relaxed (Lagrange). Programs and runs of roads that were saved are not run again: delete their files.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.networks import road
from benchmarks.pages import RESULTS, into_page, markdown, save
from spinney import PrivateKMedoids
from spinney.solvers import exact
from spinney.solvers.goals import Capacities, Farthest, Goal, OpeningCosts, Travel, WithinReach, value_of
from spinney.solvers.task import SiteChoice, SiteTask
from spinney.spaces.metric import FiniteMetric

#: Seconds for an exact program; some are not proved in time, and the best found by then counts, or on roads the bound.
SECONDS = 60.0
#: Instances, their nodes, candidates and sites; how much room there is.
INSTANCES, NODES, CANDIDATES, K, ROOM = 20, 60, 20, 5, 1.1
#: Rows on the roads, candidates, sites, room, and runs, of limits and of the others.
ROWS, ROAD_CANDIDATES, ROAD_K, ROAD_ROOM, LIMIT_RUNS, RUNS = 20_000, 300, 10, 1.15, 40, 5
#: Entries of the programs of reach on roads. How much shorter the longest way might be, tried until one is proved too short.
ROAD_ENTRIES, SHORTER = 2**22, (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2)
#: Steps of a relaxation, and those without a gain after which they are halved.
STEPS, STALE = 300, 15


def saved(name: str) -> dict[str, Any]:
    """Return results of before."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


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


def small() -> None:
    """Compare with exact programs."""
    best, record = saved("planners_exact"), {}
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
            known = best.setdefault(name, [])
            if len(known) == seed:
                optimum = exact.solve_exactly(goal, task, SECONDS)
                known.append([optimum.value, optimum.bound])
                save("planners_exact", best)
            record.setdefault(name, []).append(ratio(name, found, known[seed][0], loads.sum()))
            print(seed, name, f"{record[name][-1]:.4f}", flush=True)
    save("planners_small", record)


def ratio(name: str, found: float, best: float, total: float) -> float:
    """Return a cost over the best one, and of reach the best one over what is reached."""
    return float((total - best) / (total - found) if name == "most within reach" else found / best)


def road_demand(space: FiniteMetric, seed: int) -> np.ndarray:
    """Draw rows around eight centers of a city, thinner with distance."""
    rng = np.random.default_rng(seed)
    apart = space.distances(rng.choice(space.n_points, 8, replace=False))
    shares = np.exp(-apart / (0.08 * space.diameter)).sum(axis=0)
    return rng.choice(space.n_points, ROWS, p=shares / shares.sum())


def bound(goal: Goal, task: SiteTask, value: float, k: int) -> float:
    """Return what no sites are below, as many as a release has if their number was free and no part of the goal."""
    if isinstance(goal, WithinReach) and goal.share is not None:
        most, fewest, reach = (1 - goal.share) * task.loads.sum(), k, WithinReach(goal.within)
        while fewest > 1:
            fewer = replace(task, k=fewest - 1, is_counted=False)
            if exact.solve_exactly(reach, fewer, SECONDS).bound > most * (1 + 1e-9):
                break
            fewest -= 1
        return fewest
    if isinstance(goal, WithinReach):
        return exact.solve_exactly(goal, task, SECONDS).bound
    if not isinstance(goal, Farthest):
        return relaxed(goal, task, value, k)
    most = goal.all_but * task.loads.sum()
    for share in SHORTER:
        if exact.solve_exactly(WithinReach(value / (1 + share)), task, SECONDS).bound > most:
            return value / (1 + share)
    return 0.0


def relaxed(goal: Goal, task: SiteTask, value: float, k: int) -> float:
    """Return the highest value of a Lagrangian relaxation: a row that is not served costs its price; prices by subgradients.

    At given prices a site is worth what it saves on the rows that it serves, up to its limit, and the best sites are chosen.
    """
    service = task.service()
    loads, costs = service.weights, service.from_candidates(np.arange(len(service.candidates)))
    prices, best, pace, since = np.sort(costs, axis=0)[1], -np.inf, 1.0, 0
    kept = prices
    for _ in range(STEPS):
        saving = np.minimum(costs - prices, 0.0)
        worth = saving @ loads + (goal.cost if isinstance(goal, OpeningCosts) else 0.0)
        if isinstance(goal, OpeningCosts):
            chosen = np.flatnonzero(worth < 0)
            low, parts = worth[chosen].sum(), saving[chosen] < 0
        elif isinstance(goal, Capacities):
            first = np.argsort(worth)[: 4 * k]  # the others are worth no more than the last of these, even without limits
            order = np.argsort(saving[first], axis=1)
            ordered = loads[order]
            part = np.clip((goal.limit - np.cumsum(ordered, axis=1) + ordered) / ordered, 0, 1)
            shares = np.zeros_like(part)
            np.put_along_axis(shares, order, part, axis=1)
            shares *= saving[first] < 0
            limited = (saving[first] * shares) @ loads
            low = np.sort(np.append(limited, np.full(k, worth[first[-1]])))[:k].sum()
            parts = shares[np.argsort(limited)[:k]]
        else:
            chosen = np.argsort(worth)[:k]
            low, parts = worth[chosen].sum(), saving[chosen] < 0
        low += loads @ prices
        since = 0 if low > best + 1e-5 * abs(best) else since + 1
        if low > best:
            best, kept = float(low), prices
        if since == STALE:
            pace, since, prices = pace / 2, 0, kept
        missing = 1.0 - parts.sum(axis=0)
        if not (norm := float(loads @ missing**2)):
            break
        prices = prices + pace * (value - low) / norm * missing
    return best


def road_goals(space: FiniteMetric) -> dict[str, tuple[Goal, int, bool]]:
    """Return goals, numbers of sites, and whether these are the most."""
    reach = 0.06 * space.diameter
    return {
        "limits of sites": (Capacities(ROAD_ROOM * ROWS / ROAD_K), ROAD_K, False),
        "most within reach": (WithinReach(reach), ROAD_K, False),
        "fewest for a share": (WithinReach(1.5 * reach, 0.9), 60, True),
        "all but a share": (Farthest(0.05), ROAD_K, False),
        "opening costs": (OpeningCosts(0.01 * ROWS * reach), 60, True),
        "travel, k found": (Travel(), 60, True),
    }


def roads() -> None:
    """Compare with bounds, and hold true rows against limits."""
    whole, exact.MOST_ENTRIES = road("Oldenburg"), ROAD_ENTRIES
    candidates = np.sort(np.random.default_rng(0).choice(whole.n_points, ROAD_CANDIDATES, replace=False))
    space = FiniteMetric(whole.source, whole.n_points, candidates, None)
    record = saved("planners_roads")
    for seed in range(LIMIT_RUNS):
        for name, (goal, k, is_counted) in road_goals(space).items():
            if len(record.get(name, ())) > seed or (seed >= RUNS and not isinstance(goal, Capacities)):
                continue
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
            row = {"k": len(release.medoids), "cpu": time.process_time() - begun}
            row["value"] = value_of(goal, task, SiteChoice(release.medoids, release.assignment))
            if seed < RUNS:
                row["bound"] = bound(goal, task, row["value"], row["k"])
                row["ratio"] = ratio(name, row["value"], row["bound"], ROWS)
            if isinstance(goal, Capacities):
                true = np.bincount(release.assignment, loads, len(release.medoids))
                row |= {"over": float((true - goal.limit).max()), "margin": release.sizes_margin}
            if isinstance(goal, WithinReach):
                row["covered"] = 1 - float(loads @ (task.nearest(release.medoids) > goal.within)) / ROWS
            record.setdefault(name, []).append(row)
            save("planners_roads", record)
            print(seed, name, {key: round(value, 4) for key, value in row.items()}, flush=True)


def table() -> str:
    """Return the table of the page, from the saved results."""
    few, many = saved("planners_small"), saved("planners_roads")
    rows = []
    for name in (*few, "travel, k found"):
        runs = many[name]
        ratios, gaps = [run["ratio"] for run in runs if "ratio" in run], [100 * (ratio - 1) for ratio in few.get(name, ())]
        kept = [run["over"] <= run["margin"] for run in runs if "over" in run]
        exact = f"{np.mean(gaps):.2f}; {max(gaps):.2f}" if gaps else ""
        covered = [run["covered"] for run in runs if "covered" in run] if name == "fewest for a share" else []
        name += f" of 0.9 (of true rows {min(covered):.3f} to {max(covered):.3f})" if covered else ""
        told = f"{sum(kept)} of {len(kept)}" if kept else ""
        ours = f"{np.mean(ratios):.3f}; {max(ratios):.3f} ({len(ratios)} runs)"
        rows.append([name, exact, ours, told, f"{np.mean([run['cpu'] for run in runs]):.1f}"])
    head = ["goal", "above the exact program, %: mean; most", "roads, over a bound: mean; most", "limits kept", "CPU s"]
    return markdown(head, rows)


def main() -> None:
    """Run the parts named on the command line, or both, and save their results."""
    parts = {"small": small, "roads": roads}
    for name in sys.argv[1:] or parts:
        parts[name]()
    into_page("planners", table())


if __name__ == "__main__":
    main()
