"""Do margins of centers hold? How often the noise of a coordinate stays within its margin, and how wide margins are.

``python -m benchmarks.margins`` fits made-up rows again and again and looks at the exact sums behind the last private step. A
case is one coordinate of one center of one fit. Told for each algorithm, objective and kind of noise: the share of cases in which
the noisy step, before it is shortened, lies within its margin of the step without noise (``covers``), the same of the released
center (``released``), and how wide margins are beside ideal ones, which know the exact weight and step (``width``).
The bar: at least 94% are covered, by margins at most 1.2 times as wide as the ideal ones. Beside it, of k-means, what a reader
takes a margin for: how often the exact mean of the rows nearest to the released center lies within it (``means``). Made-up
people are rows with numbers, a category of four and a truth value.

Then the same of means of descriptions, where a case is one column of one cluster, and of their quantiles: how often the exact one
lies in its range, and how wide ranges are beside the bounds. The ideal margin of a mean knows the exact mean and number of rows,
and is the 95% quantile of the law of its noise. ``--only means`` leaves the centers out.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

import numpy as np
import polars as pl

from benchmarks.tables import into_page, markdown, save
from spinney import PrivateKMeans, PrivateKMedian, describe, plan_description
from spinney.algorithms.margins import joint_quantile
from spinney.audit import observe
from spinney.mechanisms.additive import Noise
from spinney.mechanisms.drawing import Asked, Drawn, Ended
from spinney.questions.sums import RADIUS_STEPS, Sums

#: Cases of each line, rows, clusters and columns.
CASES, N, K = 2_000, 20_000, 8
COLUMNS = {"tree": 8, "moments": 16, "lloyd": 4}
#: Lower and upper bounds of made-up people: two numbers in units, a date in years, a category and a truth value.
PEOPLE = [0.0] * 8, [11.0, 10.0, 2.0, *[0.5**0.5] * 4, 1.0]
#: Epsilon of descriptions, how many there are of a table, and draws that the law of a mean's noise is taken from.
EPSILON, REPEATS, DRAWS = 0.5, 25, 200_000


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


def line(algorithm: str, kind: Any, delta: float, cases: int, are_people: bool = False) -> list[str]:
    """Return a line of the table."""
    rng, found, seed = np.random.default_rng(11), [], 0
    bounds, k = (PEOPLE, 4) if are_people else ((-1, 1), K)
    model = kind(k, epsilon=1.0, delta=delta, bounds=bounds, algorithm=algorithm)
    while sum(len(one[0]) for one in found) < cases:
        found.append(one_fit(model, people(rng) if are_people else made_up(COLUMNS[algorithm], rng), seed))
        seed += 1
    error, released, missed, margin, ideal = (np.concatenate(part)[:cases] for part in zip(*found, strict=True))
    covers, after = (error <= margin).mean(), (released <= margin).mean()
    objective = "k-means" if kind is PrivateKMeans else "k-median"
    noise = "Gaussian" if delta else "Laplace"
    means = f"{(missed <= margin)[np.isfinite(missed)].mean():.1%}" if kind is PrivateKMeans else ""
    title = f"{algorithm}, people" if are_people else algorithm
    return [title, objective, noise, str(seed), f"{covers:.1%}", f"{after:.1%}", f"{(margin / ideal).mean():.3f}", means]


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


def mean_cases(table: pl.DataFrame, bounds: dict[str, Any], delta: float, rng: np.random.Generator) -> tuple[str, Any, Any]:
    """Return the kind of noise, and cases of means and of quantiles: in each description of a cluster one column, at random."""
    release = PrivateKMeans(K, epsilon=5.0, bounds={"x": (-1, 1), "y": (-1, 1)}).fit(table).release_
    exact = describe(release, table, bounds=bounds, epsilon=math.inf, bins=1000)
    plan = plan_description(release, bounds=bounds, epsilon=EPSILON, delta=delta)
    noises = {charge.name: plan.noise(charge) for charge in plan.charges}
    half, middle = (np.array([(high + sign * low) / 2 for low, high in bounds.values()]) for sign in (-1, 1))
    present = exact.rows[:, None] - np.column_stack([exact.histogram(name)[:, -1] for name in bounds])
    vector, weight = drawn(noises["totals"], rng) / RADIUS_STEPS, drawn(noises["rows"], rng) - drawn(noises["bins"], rng)
    grid = np.linspace(0, 1, 41)
    law = [np.quantile(np.abs(vector - one * weight), 0.95) for one in grid]
    ideal = half * np.interp(np.abs((exact.means - middle) / half), grid, law) / present
    found, ranges = [], []
    for _ in range(REPEATS):
        told = describe(release, table, bounds=bounds, epsilon=EPSILON, delta=delta)
        chosen = np.arange(K), rng.integers(0, len(bounds), K)
        found.append([np.abs(told.means - exact.means)[chosen], told.mean_margins[chosen], ideal[chosen]])
        inside = (told.quantiles_lower <= exact.quantiles) & (exact.quantiles <= told.quantiles_upper)
        width = (told.quantiles_upper - told.quantiles_lower) / (2 * half[:, None])
        ranges.append([inside[chosen].ravel(), width[chosen].ravel()])
    return noises["bins"].distribution, np.concatenate(found, axis=1), np.concatenate(ranges, axis=1)


def means_line(copies: int, delta: float, cases: int) -> list[str]:
    """Return a line about means and quantiles of descriptions."""
    rng, found = np.random.default_rng(12), []
    while len(found) * REPEATS * K < cases:
        found.append(mean_cases(*described_table(copies, rng), delta, rng))
    error, margin, ideal = np.concatenate([one[1] for one in found], axis=1)
    seen = np.isfinite(margin)
    error, margin, ideal = error[seen], margin[seen], ideal[seen]
    inside, width = np.concatenate([one[2] for one in found], axis=1)
    told = [
        f"{(error <= margin).mean():.1%}",
        f"{(margin / ideal).mean():.3f}",
        f"{inside.mean():.1%}",
        f"{np.nanmean(width):.1%}",
    ]
    return [found[0][0], str(5 * copies), str(len(error)), *told]


def means(cases: int) -> None:
    """Print the table of means and quantiles, and put it into docs/describe.md."""
    rows = []
    for copies, delta in ((1, 0.0), (3, 1e-6)):
        rows.append(means_line(copies, delta, cases))
        print(*rows[-1], flush=True)
    head = [
        "noise of counts",
        "columns",
        "cases",
        "means covered",
        "width",
        "quantiles covered",
        "range of quantiles, of the bounds",
    ]
    if cases == CASES:
        save("means", [dict(zip(head, row, strict=True)) for row in rows])
        into_page("means", markdown(head, rows), "docs/describe.md")


def main() -> None:
    """Print the table, and put it into docs/reading.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--only", choices=["means"])
    arguments = parser.parse_args()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        means(arguments.cases)
        if arguments.only == "means":
            return
        for algorithm in COLUMNS:
            for kind in (PrivateKMeans, PrivateKMedian):
                for delta in (1e-6, 0.0):
                    rows.append(line(algorithm, kind, delta, arguments.cases))
                    print(*rows[-1], flush=True)
        for delta in (1e-6, 0.0):
            rows.append(line("tree", PrivateKMeans, delta, arguments.cases, are_people=True))
            print(*rows[-1], flush=True)
    head = ["algorithm", "objective", "noise", "fits", "covers", "released", "width", "means"]
    if arguments.cases == CASES:
        save("margins", [dict(zip(head, row, strict=True)) for row in rows])
        into_page("margins", markdown(head, rows), "docs/reading.md")


if __name__ == "__main__":
    main()
