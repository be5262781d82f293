"""The default for sites: noisy counts of public cells, separated from noise, and local search on the result.

Letters: k sites, n rows, m cells, s the scale of a question's noise.

1. A public random partition of all points into a few coarse cells.
2. ``coarse``    their noisy counts: where rows are, and about how many.
3. Coarse cells that may have rows are cut into fine cells, also with public randomness: m in all, in proportion to sqrt(n / s),
   more of them where there are more rows or more points. Where such cells would hide too much, each point is a fine cell.
4. ``fine``      noisy counts of the fine cells, and again of the coarse cells that were not cut.
5. Free: the posterior demand of each point given both counts and those around them (`spinney.algorithms.fields`), for demand
   seldom ends where a cell does; plain local search finds k sites for it.
6. ``sizes``     noisy sizes of the chosen sites' cells.

After 2 and 4 noisy counts are read by their likelihood (`spinney.algorithms.reading`): each cell has rows with some
probability, and an expected count. A coarse cell's probability is the prior of its fine cells. A fine cell that is more likely
empty is left out, and so is one that may be empty and where the field expects less than the noise. Any other one weighs what the
field expects. The cost of given sites is a sum over points, so the sites that are best for expected demand are best in
expectation; leaving cells out keeps sites away from noise. Where few cells are empty, counts are drawn toward their mean instead,
so demand all over the map is not lost. In large spaces and with many cells there is no field: a cell weighs its expected count,
and its points share it alike or by the full cells around them.

Cells take near points to be alike. Where rows are at few points, cells hide where: it costs the distance within a cell, over what
one site for all costs. Public distances and the coarse counts tell this share: little on roads, nearly all where all points are
equally far apart. Counts of points hide nothing, and are noisier for rows that are spread. The larger of both losses decides
whether cells or points are asked about, and noisy counts of points are read twice: those that surely have rows alone, and the
others added up in the cells that they would have been asked by. Goals of limits and shares need to know how much demand there is
altogether, which thin demand at points hides (on roads a tenth of it): they have cells.

If epsilon is infinite, fine cells are single points, and the outcome equals plain local search on the rows.

Proof: ``proofs/cells.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.fields import LEAST_STD, expected_demand
from spinney.algorithms.problem import SiteProblem
from spinney.algorithms.reading import Occupancy
from spinney.algorithms.result import Result
from spinney.algorithms.sites import SIZES, SiteAlgorithm, released
from spinney.curators.purse import Purse
from spinney.mechanisms import Noise
from spinney.privacy import Part
from spinney.questions import Counting, Counts, Labels
from spinney.questions.counts import CountAnswer
from spinney.solvers.goals import solve_goal
from spinney.spaces import FiniteMetric, FloatArray, IntArray
from spinney.trees.nested_cells import MOVE_POINTS, NestedCells

# Measured as cost over that of plain local search, at epsilon 1 / 0.25, with 500 rows in a quarter of the map and k = 10: random
# graphs of 3,000 nodes 1.02 / 1.06, road networks of 2,600 and 3,400 nodes 1.04 / 1.20 (4 runs on each of 4 maps); so measured,
# before there was a field, where no other figure is given.

#: The part of epsilon that pays for the coarse counts.
COARSE = Fraction(25, 100)
#: Coarse cells.
N_COARSE = 24
#: m over sqrt(n / std), std the noise of a fine cell's count. On roads at epsilon 0.25, 3.6 gave 1.19 and 4.8 gave 1.24.
FINE = 4.0
#: The number of fine cells times the number of points stays below this.
MOST_ENTRIES = 2**26
#: A coarse cell is cut unless it has rows with less than this probability ...
CUT = 0.2
#: ... into fine cells, this part of them in proportion to its expected count and the rest in proportion to its points.
BY_COUNT = 0.5
#: Points are counted if cells hide more than the share MUCH of one site's cost; half of it if counts of points lose LITTLE of the
#: cost, and less if they lose less. They lose about N k s^2 / n^2 of what spread rows cost, N points: measured 0.102, 0.054,
#: 0.019 and 0.014 where this is 0.064, 0.052, 0.016 and 0.013 (streets of 400 points, roads of 3,353; 3 to 8 runs).
MUCH, LITTLE = 0.4, 1 / 8
#: A fine cell is left out unless it has rows with more than this probability.
LIKELY = 0.5
#: With less than this probability it needs the field's support too.
SURE = 0.9
#: More fine cells than this have no field.
FIELD_CELLS = 512
#: A prior is kept this far from 0 and 1.
DOUBT = 0.02
#: Points of a cell share its weight in proportion to this power of the share of full cells around them, counted with weights
#: exp(-distance / reach), where the reach of a cell is the distance of its seed from the third seed next to it.
LEANING, NEIGHBOR = 4.0, 3
#: Demand points times candidates for the search; where cells have more points, some of each stand for all.
SEARCH_ENTRIES = 2**26
#: Quotients are of at least this.
TINY = 1e-300
#: No table has more rows.
MOST_ROWS = 1e12


class Cells(SiteAlgorithm):
    """Noisy counts of public cells, coarse and fine, and local search on expected counts."""

    name = "cells"
    has_goals = True

    def parts(self, problem: SiteProblem) -> tuple[Part, ...]:
        shares = {"coarse": COARSE, "fine": 1 - COARSE - SIZES, "sizes": SIZES}
        return tuple(Counting().part(name, share) for name, share in shares.items())

    def run(self, purse: Purse, problem: SiteProblem, rng: np.random.Generator) -> Result:
        cells, weights, shares = release_weights(purse, problem, rng)
        demand = spread(problem, cells, weights, shares, rng)
        chosen = solve_goal(problem.goal, problem.task(demand), rng)
        if not problem.is_plain:  # whom demand goes to is not simply the nearest: the summary says what was solved
            full = np.flatnonzero(demand)
            return released(purse, problem, chosen.points, full, demand[full], chosen.labels)
        full = np.flatnonzero(weights)
        return released(purse, problem, chosen.points, cells.seeds[full], weights[full])


def release_weights(purse: Purse, problem: SiteProblem, rng: np.random.Generator) -> tuple[NestedCells, FloatArray, FloatArray]:
    """Return fine cells, their private weights, and in which proportion the points of a cell share them."""
    space = problem.space
    if problem.budget.is_infinite:
        cells = NestedCells.carve(space, space.n_points, rng)
        answer = purse.ask("fine", Counts(Labels(cells.labels, len(cells))))
        return cells, answer.private_counts.astype(np.float64), np.ones(space.n_points)
    coarse = NestedCells.carve(space, N_COARSE, rng)
    of_coarse = purse.ask("coarse", Counts(Labels(coarse.labels, len(coarse))))
    first = Occupancy.of(of_coarse.private_counts, of_coarse.noise)
    std = purse.preview(Counting(), "fine").std
    cells = coarse.cut(space, numbers_of_cells(problem, coarse, first, std), rng)
    prior = np.clip(first.has_rows[coarse.labels], DOUBT, 1 - DOUBT)
    if problem.is_plain and space.n_points**2 <= MOST_ENTRIES and are_points_counted(problem, cells, coarse, first.counts, std):
        points = NestedCells.carve(space, space.n_points, rng)
        answer = purse.ask("fine", Counts(Labels(points.labels, len(points))))
        return points, read_points(problem, (cells, coarse), (answer, of_coarse), prior, rng), np.ones(space.n_points)
    answer = purse.ask("fine", Counts(Labels(cells.labels, len(cells))))
    second = Occupancy.of(answer.private_counts, answer.noise, prior[cells.seeds])
    is_full = second.has_rows > LIKELY
    if space.n_points > MOVE_POINTS or len(cells) > FIELD_CELLS:
        return cells, np.where(is_full, second.counts, 0.0), leaning(space, cells, is_full)
    counts, stds = (answer.private_counts, of_coarse.private_counts), (answer.noise.std, of_coarse.noise.std)
    expected, of_points = expected_demand(space, (cells, coarse), counts, stds, rng)
    is_full &= (second.has_rows > SURE) | (expected > answer.noise.std)
    return cells, np.where(is_full, np.maximum(expected, 0.0), 0.0), np.maximum(of_points, 0.0)


def are_points_counted(problem: SiteProblem, cells: NestedCells, coarse: NestedCells, counts: FloatArray, std: float) -> bool:
    """Return whether cells would hide more of the cost of rows at few points than counts of points lose of rows all over."""
    space = problem.space
    apart = space.distances(coarse.seeds)
    top = max(float(apart.max()), TINY)  # distances are taken over this one, so that squares neither vanish nor overflow
    rows = (counts / coarse.sizes)[coarse.labels]  # of each point, as if they were alike
    one = float(((apart / top) ** problem.power @ rows).min()) / max(float(rows.sum()), TINY)
    within = 0.0
    for cell, seed in enumerate(cells.seeds):
        inside = np.flatnonzero(cells.labels == cell)
        gaps = np.minimum(space.distances_between([seed], inside)[0], top) / top
        within += float(gaps**problem.power @ rows[inside])
    hidden = within / max(float(rows.sum()) * one, TINY)
    lost = space.n_points * problem.k * min(std / max(float(rows.sum()), 1.0), MOST_ROWS) ** 2
    return hidden * (lost + LITTLE) >= MUCH * lost


def read_points(
    problem: SiteProblem,
    cells: tuple[NestedCells, NestedCells],
    answers: tuple[CountAnswer, CountAnswer],
    prior: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the private weight of each point, by counts of points, and of the coarse cells that its cell lies in.

    Points that surely have rows weigh what is expected of them alone. Of the others the noise adds up, and is read, cell by cell.
    """
    (fine, coarse), (of_points, of_coarse) = cells, answers
    counts, std = of_points.private_counts.astype(np.float64), max(of_points.noise.std, LEAST_STD)
    alone = Occupancy.of(counts, of_points.noise, prior)
    if len(fine) > FIELD_CELLS:
        return np.where(alone.has_rows > LIKELY, alone.counts, 0.0)
    is_sure = alone.has_rows > SURE
    others = np.bincount(fine.labels, np.where(is_sure, 0.0, counts), len(fine))
    outer = of_coarse.private_counts - np.bincount(coarse.labels, np.where(is_sure, alone.counts, 0.0), len(coarse))
    roots = np.sqrt(np.maximum(np.bincount(fine.labels, ~is_sure, len(fine)), 1.0))
    together = Occupancy.of(others / roots, Noise("gaussian", std), prior[fine.seeds])
    stds = (std * roots, of_coarse.noise.std)
    expected, spread_out = expected_demand(problem.space, (fine, coarse), (others, outer), stds, rng)
    is_full = (together.has_rows > SURE) | ((together.has_rows > LIKELY) & (expected > stds[0]))
    is_read = is_full[fine.labels] & ~is_sure
    off = counts - spread_out
    own = max(float((off[is_read] ** 2).mean()) - std**2, 0.0) if is_read.any() else 0.0  # what points vary by themselves
    weights = np.where(is_read, np.maximum(spread_out + own / (own + std**2) * off, 0.0), np.where(is_sure, alone.counts, 0.0))
    if np.count_nonzero(weights) < problem.k:  # sites that nobody needs go where rows are likeliest
        likely = alone.has_rows >= np.partition(alone.has_rows, -problem.k)[-problem.k]
        weights = np.where(likely, np.maximum(alone.counts, weights), weights)
    return weights


def numbers_of_cells(problem: SiteProblem, coarse: NestedCells, found: Occupancy, std: float) -> IntArray:
    """Return into how many fine cells each coarse cell is cut."""
    std = max(std, 1 / MOST_ROWS)
    rows = min(max(float(found.counts.sum()), 1.0), MOST_ROWS)
    m = min(FINE * math.sqrt(rows / std), MOST_ENTRIES / problem.space.n_points)
    is_cut = found.has_rows >= min(CUT, float(found.has_rows.max()))
    by_count, by_size = found.counts * is_cut, coarse.sizes * is_cut
    shares = BY_COUNT * by_count / by_count.sum() + (1 - BY_COUNT) * by_size / by_size.sum()
    return np.asarray(np.clip(np.round(m * shares), 1, coarse.sizes).astype(np.int64))


def spread(
    problem: SiteProblem, cells: NestedCells, weights: FloatArray, shares: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return weights of all points: the weights of the cells, or equal ones if no cell has any, spread over their points."""
    space, full = problem.space, weights if weights.any() else np.ones(len(cells))
    quota = max(1, SEARCH_ENTRIES // (len(space.candidates) * int(np.count_nonzero(full))))
    is_large = bool((cells.sizes[full > 0] > quota).any())
    chosen = cells.sample(quota, rng) if is_large else np.arange(space.n_points)
    own = cells.labels[chosen]
    total = np.bincount(own, shares[chosen], len(cells))
    parts = np.where(total[own] > 0, shares[chosen] / np.where(total > 0, total, 1.0)[own], 1 / np.bincount(own)[own])
    demand = np.zeros(space.n_points)
    demand[chosen] = full[own] * parts
    return demand


def leaning(space: FiniteMetric, cells: NestedCells, is_full: NDArray[np.bool_]) -> FloatArray:
    """Return a power of the share of cells around each point that are full, the nearer the more; the same for all if costly."""
    if space.n_points > MOVE_POINTS or not NEIGHBOR < len(cells) < space.n_points:
        return np.ones(space.n_points)
    apart = space.distances_between(cells.seeds, cells.seeds)
    reach = np.maximum(np.partition(apart, NEIGHBOR, axis=1)[:, NEIGHBOR, None], TINY)
    full, near = np.zeros(space.n_points), np.zeros(space.n_points)
    for part, block in space.blocks(cells.seeds):
        for bell, has_rows in zip(np.exp(-block / reach[part]), is_full[part], strict=True):  # one by one, however blocks are cut
            near += bell
            full += bell * has_rows
    shares = full / np.maximum(near, TINY)
    return np.asarray(np.maximum(shares / max(float(shares.max()), TINY), 1e-6) ** LEANING)
