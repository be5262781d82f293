"""What is measured beside costs: numbers of clusters, margins, descriptions and single balls. Each returns a record of one run.

- ``number``: how many clusters ``n_clusters="auto"`` finds.
- ``margins``: made-up rows are fitted, and the exact sums behind the last private step are looked at. A case is one coordinate of
  one center. `covers` is the share of cases in which the noisy step, before it is shortened, lies within its margin of the step
  without noise, `released` the same of the released center, and `width` how wide margins are beside ideal ones, which know the
  exact weight and step. `means`, of k-means, is how often the exact mean of the rows nearest to the released center lies within
  its margin. Made-up people are rows with numbers, a category of four and a truth value.
- ``described``: the same of means of descriptions, where a case is one column of one cluster, and of their quantiles: how often
  the exact one lies in its range, and how wide ranges are beside the bounds. The ideal margin of a mean knows the exact mean and
  number of rows, and is the 95% quantile of the law of its noise.
- ``named``: clusters of two columns of adult are described by the others and by the income class at epsilon 0.5. The score of a
  column in a cluster is the total variation distance between its histogram in the cluster and in all rows, as DPClustX (Gilad
  et al. 2025) scores how interesting a column is; here it is exact, over the released bins. Of each cluster of at least 2,000
  rows: the sum of the exact scores of the three columns named over that of the best three.
- ``ball``: `one_cluster` beside the smallest ball with as many rows that a plain search finds, from the true centers too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from benchmarks.cells import Cell
from benchmarks.data import blobs, folder
from benchmarks.tables import table
from spinney import PrivateKMeans, PrivateKMedian, describe, one_cluster, plan_description
from spinney.algorithms.margins import joint_quantile
from spinney.audit import observe
from spinney.mechanisms.additive import Noise
from spinney.mechanisms.drawing import Asked, Drawn, Ended
from spinney.questions.sums import RADIUS_STEPS, Sums
from spinney.releases.description import NAMED

#: Rows and clusters of made-up tables.
N, K = 20_000, 8
#: Lower and upper bounds of made-up people: two numbers in units, a date in years, a category and a truth value.
PEOPLE = [0.0] * 8, [11.0, 10.0, 2.0, *[0.5**0.5] * 4, 1.0]
#: How many descriptions there are of a table, and draws that the law of a mean's noise is taken from.
REPEATS, DRAWS = 25, 200_000
#: The columns of adult with their bounds.
ADULT: dict[str, Any] = {
    "age": (0, 110),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 17),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5_000),
    "hours-per-week": (0, 100),
    "income": bool,
}
LARGE, DESCRIBED_EPSILON = 2_000, 0.5
#: The most clusters that are looked for.
MOST = 40
#: Of single balls: rows in ten clusters, and those that the plain search starts from, beside the true centers and means of a few.
BALL_ROWS, CLUSTERS, STARTS = 100_000, 10, 40


def number(cell: Cell, run: int) -> dict[str, Any]:
    """Return the number that one fit finds, and what is known of the table."""
    found = table(cell.table)
    model = PrivateKMeans("auto", max_clusters=MOST, epsilon=cell.epsilon, delta=cell.delta, bounds=(-1, 1), random_state=run)
    return {"found": len(model.fit(found.rows).cluster_centers_), "true": cell.k} | dict(found.facts)


def made_up(d: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of overlapping clusters of several sizes, in [-1, 1]."""
    shares = rng.dirichlet(np.full(K, 4.0))
    return np.clip(rng.uniform(-0.7, 0.7, (K, d))[rng.choice(K, N, p=shares)] + rng.normal(0, 0.12, (N, d)), -1, 1)


def people(rng: np.random.Generator) -> np.ndarray:
    """Return rows of four kinds of people, most of each in a ward of its own."""
    kinds = rng.choice(4, N, p=rng.dirichlet(np.full(4, 4.0)))
    wards = np.where(rng.random(N) < 0.1, rng.integers(0, 4, N), kinds)
    sizes = [rng.uniform(2, 9, 4)[kinds] + rng.normal(0, width, N) for width in (0.5, 0.4)]
    columns = [*sizes, rng.uniform(0, 2, N), *(0.5**0.5 * (wards == ward) for ward in range(4)), rng.random(N) < 0.8]
    return np.clip(np.column_stack(columns), *PEOPLE)


def one_fit(model: Any, rows: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """Return of coordinates with margins the errors of step, released center and mean, the margin and the ideal one."""
    events: list[Any] = []
    fitted = observe(model, rows, events.append, random_state=seed)
    asked = [event for event in events if isinstance(event, Asked) and type(event.question) is Sums][-1]
    exact = {event.draw.part: event.exact for event in events if isinstance(event, Drawn) and event.asked is asked}
    ended = next(event.answer for event in events if isinstance(event, Ended) and event.asked is asked)
    question, noise = asked.question, ended.noise
    k, d = question.centers.shape
    vectors = np.asarray(exact["vectors"], dtype=np.float64).reshape(k, d) / RADIUS_STEPS
    weights = np.asarray(exact["weights"], dtype=np.float64).reshape(k, 1) / noise.weight_steps
    widths = np.ones(d) if question.widths is None else question.widths
    anchors = question.centers if question.anchors is None else question.anchors
    reach = question.radii[:, None] * widths
    with np.errstate(all="ignore"):
        true, noisy = reach * vectors / weights, reach * ended.private_vectors / ended.private_weights[:, None]
        ideal = joint_quantile(noise.vectors, noise.weights, vectors / weights, RADIUS_STEPS / noise.weight_steps)
        ideal = reach * ideal / RADIUS_STEPS / weights
    margins = fitted.center_margins_[:k]
    told = np.isfinite(margins) & (weights > 0)  # a cell without rows has no step without noise
    released = np.abs(fitted.cluster_centers_[:k] - anchors - true)
    labels = fitted.predict(rows)
    means = np.array([rows[labels == one].mean(axis=0) if (labels == one).any() else np.full(d, np.nan) for one in range(k)])
    missed = np.abs(fitted.cluster_centers_[:k] - means)
    return np.abs(noisy - true)[told], released[told], missed[told], margins[told], ideal[told]


def margins(cell: Cell, run: int) -> dict[str, Any]:
    """Return what margins of one fit of rows with d columns hold, or of people."""
    rng, are_people = np.random.default_rng([11, run]), cell.table == "people"
    rows = people(rng) if are_people else made_up(int(cell.table.split()[0]), rng)
    kind = PrivateKMeans if cell.power == 2 else PrivateKMedian
    bounds = PEOPLE if are_people else (-1, 1)
    model = kind(cell.k, epsilon=cell.epsilon, delta=cell.delta, bounds=bounds, algorithm=cell.algorithm)
    error, released, missed, margin, ideal = one_fit(model, rows, run)
    means = float((missed <= margin)[np.isfinite(missed)].mean()) if cell.power == 2 else 0.0
    shares = {"covers": float((error <= margin).mean()), "released": float((released <= margin).mean())}
    return {"fits": 1, "cases": len(error), **shares, "width": float((margin / ideal).mean()), "means": means}


def described_table(copies: int, rng: np.random.Generator) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return rows of clusters with columns of several shapes beside them, in which some cells are missing, and their bounds."""
    rows = made_up(2, rng)
    shapes = [rng.normal(50, 10, N), rng.exponential(5, N), rng.uniform(0, 1, N) ** 4, 30 * rows[:, 0], rng.integers(0, 9, N)]
    ends = [(0, 100), (0, 100), (0, 1), (-30, 30), (0, 8)]
    cells = {f"c{i}": np.where(rng.random(N) < 0.02 * (i % 5), np.nan, shapes[i % 5]) for i in range(5 * copies)}
    return pl.DataFrame({"x": rows[:, 0], "y": rows[:, 1], **cells}), dict(zip(cells, ends * copies, strict=True))


def drawn(noise: Noise, rng: np.random.Generator) -> np.ndarray:
    """Return draws of the noise of one number, as if it were no whole number."""
    if noise.distribution == "gaussian":
        return rng.normal(0, noise.scale, DRAWS)
    if noise.distribution == "cube":
        return rng.gamma(noise.columns + 1, noise.scale, DRAWS) * rng.uniform(-1, 1, DRAWS)
    return rng.laplace(0, noise.scale, DRAWS)


def mean_cases(
    table: pl.DataFrame, bounds: dict[str, Any], epsilon: float, delta: float, rng: np.random.Generator
) -> tuple[str, Any, Any]:
    """Return the kind of noise, and cases of means and of quantiles: in each description of a cluster one column, at random."""
    release = PrivateKMeans(K, epsilon=5.0, bounds={"x": (-1, 1), "y": (-1, 1)}).fit(table).release_
    exact = describe(release, table, bounds=bounds, epsilon=math.inf, bins=1000)
    plan = plan_description(release, bounds=bounds, epsilon=epsilon, delta=delta)
    noises = {charge.name: plan.noise(charge) for charge in plan.charges}
    half, middle = (np.array([(high + sign * low) / 2 for low, high in bounds.values()]) for sign in (-1, 1))
    present = exact.rows[:, None] - np.column_stack([exact.histogram(name)[:, -1] for name in bounds])
    vector, weight = drawn(noises["totals"], rng) / RADIUS_STEPS, drawn(noises["rows"], rng) - drawn(noises["bins"], rng)
    grid = np.linspace(0, 1, 41)
    law = [np.quantile(np.abs(vector - one * weight), 0.95) for one in grid]
    ideal = half * np.interp(np.abs((exact.means - middle) / half), grid, law) / present
    found, ranges = [], []
    for _ in range(REPEATS):
        told = describe(release, table, bounds=bounds, epsilon=epsilon, delta=delta)
        chosen = np.arange(K), rng.integers(0, len(bounds), K)
        found.append([np.abs(told.means - exact.means)[chosen], told.mean_margins[chosen], ideal[chosen]])
        inside = (told.quantiles_lower <= exact.quantiles) & (exact.quantiles <= told.quantiles_upper)
        width = (told.quantiles_upper - told.quantiles_lower) / (2 * half[:, None])
        ranges.append([inside[chosen].ravel(), width[chosen].ravel()])
    return noises["bins"].distribution, np.concatenate(found, axis=1), np.concatenate(ranges, axis=1)


def described(cell: Cell, run: int) -> dict[str, Any]:
    """Return what margins of descriptions of these columns hold."""
    rng, copies = np.random.default_rng([12, run]), int(cell.table.split()[0]) // 5
    noise, (error, margin, ideal), (inside, width) = mean_cases(*described_table(copies, rng), cell.epsilon, cell.delta, rng)
    seen = np.isfinite(margin)
    found = {"noise": noise, "cases": int(seen.sum()), "covers": float((error <= margin)[seen].mean())}
    found |= {"width": float((margin / ideal)[seen].mean()), "quantiles": float(inside.mean())}
    return found | {"range": float(np.nanmean(width))}


@lru_cache(maxsize=1)
def adult() -> pl.DataFrame:
    """Return the numeric columns of adult and the income class."""
    found = np.load(folder() / "adult.npz")
    columns = dict(zip(found["columns"].tolist(), found["X"].astype(np.float64).T, strict=True))
    return pl.DataFrame(columns).with_columns(pl.Series("income", found["y"] == 1))


def named(cell: Cell, run: int) -> dict[str, Any]:
    """Return of large clusters of two columns of adult how good the columns are that are named."""
    rows, clustered = adult(), {name: ADULT[name] for name in cell.table.removeprefix("adult: ").split(" and ")}
    release = PrivateKMeans(cell.k, epsilon=cell.epsilon, bounds=clustered, scale="bounds", random_state=run).fit(rows).release_
    exact = describe(release, rows, bounds=ADULT, epsilon=math.inf)
    found = describe(release, rows, bounds=ADULT, epsilon=DESCRIBED_EPSILON, delta=cell.delta)
    told = []
    for j in np.flatnonzero(exact.rows >= LARGE):
        order = np.argsort(-np.nan_to_num(found.scores[j]), kind="stable")[:NAMED]
        told.append(float(exact.scores[j, order].sum() / np.sort(exact.scores[j])[-NAMED:].sum()))
    mean = float(np.mean(told))
    return {"cases": len(told), "mean": mean, "worst": mean, "least": min(told), "reach": float(np.mean(np.array(told) >= 0.95))}


@lru_cache(maxsize=1)
def _balls(d: int, wanted: int) -> tuple[np.ndarray, float]:
    """Return rows and the radius of the smallest ball with t of them that a plain search finds."""
    from spinney.solvers.balls import smallest_ball

    rows = np.clip(blobs(BALL_ROWS, d, CLUSTERS, seed=d, std=0.03), -1, 1)
    middles = [rows[i::CLUSTERS].mean(axis=0) for i in range(CLUSTERS)]
    few = [np.mean(some, axis=0) for size in (1, 2, 3) for some in itertools.combinations(middles, size)]
    starts = np.concatenate([rows[np.random.default_rng(0).integers(0, BALL_ROWS, STARTS)], few])
    return rows, float(smallest_ball(rows, np.ones(BALL_ROWS), wanted, starts).radius)


def ball(cell: Cell, run: int) -> dict[str, Any]:
    """Return the radius over that of a plain search, and the rows inside over those wanted, which stand in the place of k."""
    rows, plain = _balls(int(cell.table.split()[1]), cell.k)
    found = one_cluster(rows, cell.k, epsilon=cell.epsilon, bounds=(-1, 1), random_state=run)
    inside = int(np.count_nonzero(((rows - found.center) ** 2).sum(axis=1) <= found.radius**2))
    return {"plain": plain, "radius": found.radius / plain, "rows": inside / cell.k}


MEASURES: dict[str, Callable[[Cell, int], dict[str, Any]]] = {
    "number": number, "margins": margins, "described": described, "named": named, "ball": ball,
}  # fmt: skip
