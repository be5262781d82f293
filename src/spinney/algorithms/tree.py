"""The default: a private tree summarizes the rows, solvers work on the summary, and a private step polishes the centers.

Letters: k clusters, d columns, eps the whole budget.

1. ``rows``      a noisy number of rows sets how far the tree goes.
2. ``columns``   noisy histograms of the columns say which column to halve next, and where in a cell its rows are.
3. ``splits``    PrivTree decides which cells need to be smaller; the first levels are split without looking.
4. ``leaves``    noisy counts of the leaves: with these weights, one point per leaf is a private summary of the rows. If steps
   follow, a count weighs as likely as its leaf is to have rows at all, which is read in two ways.
   If the number of clusters is to be found, it is found here (`spinney.solvers.valleys`); k is the most there may be before.
5. Seeding and descent with restarts on the summary: free post-processing.
6. ``choice``    which of the two ways leads to centers that cost the rows less (`spinney.algorithms.starts`), if it matters.
   ``rival``     whether other centers that suit the summary as well cost the rows less, if that may gain more than noise.
7. ``radii 1``   noisy histogram of distances to the centers, for the clipping radii.
8. ``polish 1``  one clipped private Lloyd or Weiszfeld step around the centers, shrunk by its signal-to-noise ratio; the moved
   centers are clustered again by their noisy weights.
9. ``radii 2``, ``polish 2``  the same once more; of k-median another step if one is chosen (`spinney.algorithms.medians`).
   If noise is small and clusters overlap, ``more 1`` to ``more 3`` come before it (`descent.py`), else it gets their budget.
10. ``sizes``    noisy sizes of the released clusters.

With few columns leaves are small, their points are near their rows, and 6 to 9 are left out: the tree gets their budget. So do
the leaves of four columns, unless the noisy number of rows says that noise of a step is small. With more, the last step moves
as many centers as its budget supports (`supported`), and the others come from the summary. The first step is taken if it
supports all centers, else the last one gets its budget, in one question; pure noise, which falls faster when charges are put
together, has two steps with many columns only. There a leaf's point is far from its rows, and the first step moves up to half
as many centers again as asked for, if it supports them.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import numpy as np

from spinney.algorithms.columns import ask_densities, bins_of, spreads
from spinney.algorithms.descent import descended, last_names, with_more
from spinney.algorithms.indicators import adding_up, consistent
from spinney.algorithms.leaves import are_full, chances, remoteness
from spinney.algorithms.margins import unmoved
from spinney.algorithms.medians import (
    MEDIAN_STEP,
    MEDIAN_STEPS,
    check_median_step,
    median_backends,
    median_parts,
    median_support,
    move_to_medians,
)
from spinney.algorithms.polish import ask_rings, completed, noise_length, polish, step_widths, supported, together
from spinney.algorithms.problem import MORE, Algorithm, Charges, PointProblem, Result
from spinney.algorithms.starts import Summary, first_start
from spinney.constraints import check
from spinney.curators.gate import Curator
from spinney.privacy.charges import Measure
from spinney.privacy.composition import Part
from spinney.questions.cost import Costing
from spinney.questions.counts import Counting, Counts
from spinney.questions.grow import Grow, Splitting
from spinney.questions.partitions import Rings, Whole
from spinney.questions.question import Kind
from spinney.questions.sums import Summing
from spinney.solvers.valleys import NoisyCells, count_clusters
from spinney.solvers.weighted import solve
from spinney.spaces.box import FloatArray
from spinney.spaces.schema import Schema
from spinney.trees.quadtree import Splits, TreeCells

__all__ = ["Tree"]

#: Shares of epsilon, in hundredths, with fewer than FEW_COLUMNS columns.
FEW_COLUMNS = 4
FEW_COLUMNS_SHARES = {"rows": 1, "columns": 2, "splits": 35, "leaves": 59, "sizes": 3}
#: With more columns than these: how the tree and the start are paid for, ...
START_SHARES = {"rows": 1, "columns": 5, "splits": 30, "leaves": 20, "choice": 3, "rival": 2}
#: ... and the steps, ...
SHARES = START_SHARES | {"radii 1": 2, "polish 1": 12, "radii 2": 3, "polish 2": 19, "sizes": 3}
#: ... or one step, if noise is pure, or if medians are found by a step that charges cannot be put together for.
ONE_STEP_SHARES = START_SHARES | {"radii": 5, "polish": 31, "sizes": 3}
#: From so many columns on; the first step moves up to OVER times as many centers as asked for.
MANY_COLUMNS, OVER = 12, 1.5
MANY_COLUMNS_SHARES = {
    "rows": 1,
    "columns": 4,
    "splits": 15,
    "leaves": 14,
    "choice": 3,
    "radii 1": 3,
    "polish 1": 18,
    "radii 2": 3,
    "polish 2": 36,
    "sizes": 3,
}
#: The names of the last step, with one and with two, and of all that the leaves can do without.
LAST_STEPS = ("polish", "polish 2")
STEPS = ("choice", "rival", "radii", "radii 1", "polish 1", "radii 2", *MORE, *LAST_STEPS)
#: Below so many columns leaves are small, and steps worth their noise only if it is at most this part of a clipping radius.
SOME_COLUMNS, SMALL_NOISE = 5, 0.3
#: The tree then has about as much as with fewer columns, if it gets the budget of the steps.
SOME_COLUMNS_SHARES = {"columns": 3, "splits": 34, "leaves": 18}

#: Starting cells are expected to hold so many standard deviations of a leaf count; there are fewer than so many per cluster ...
START_STDS, START_CELLS = 4, 4
#: ... and at most 2**MAX_START.
MAX_START = 8
#: A leaf is split down to this part of the rows; in large tables, where that no longer helps, to a 500th less 500 rows.
FINE_LEAF, COARSE_LEAF, COARSE_ROWS = 1 / 8000, 1 / 500, 500
#: No table has more rows; a noisy number beyond would overflow the scores of the splits.
MOST_ROWS = 1e12
#: Above so many clusters leaves get smaller in proportion.
MANY_CLUSTERS = 20


@dataclass(frozen=True)
class Tree(Algorithm):
    """Private tree, weighted clustering of its leaves, private polish.

    Parameters
    ----------
    median_step : {"weiszfeld", "gradient", "localized", "objective"}
        Of k-median: how the last step moves centers toward the medians of their rows; with fewer than five columns the first.
    """

    median_step: str = field(default="weiszfeld", metadata={"later": True})

    name = "tree"

    def __post_init__(self) -> None:
        check("Tree", vars(self), {"median_step": MEDIAN_STEP})

    @property
    def backends(self) -> tuple[str, ...]:  # type: ignore[override]
        """Where rows may be."""
        return median_backends(self.median_step, Algorithm.backends)

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        """Return the shares and sensitivities, from public facts alone."""
        d, how = problem.n_features, self.median_step
        middle = SHARES if problem.budget.delta > 0 and how == MEDIAN_STEPS[0] else ONE_STEP_SHARES
        shares = FEW_COLUMNS_SHARES if d < FEW_COLUMNS else middle if d < MANY_COLUMNS else MANY_COLUMNS_SHARES
        shares = shares | SOME_COLUMNS_SHARES if FEW_COLUMNS <= d < SOME_COLUMNS else shares
        kinds: dict[str, Kind] = {
            "columns": Counting(problem.n_features),
            "splits": Splitting(),
            "choice": Costing(),
            "rival": Costing(),
        }
        kinds |= dict.fromkeys(("polish 1", *MORE, *LAST_STEPS), Summing(problem.kernel, d))
        if how == MEDIAN_STEPS[0]:
            shares = with_more(shares, LAST_STEPS["polish 2" in shares])
        parts = [kinds.get(name, Counting()).part(name, Fraction(share, 100)) for name, share in shares.items()]
        if how == MEDIAN_STEPS[0]:
            return tuple(parts)
        check_median_step(how, problem, "Tree", SOME_COLUMNS)
        chosen = ((one,) if one.name not in LAST_STEPS else median_parts(one.name, one.share, problem, how) for one in parts)
        return tuple(part for some in chosen for part in some)

    def counts(self, problem: PointProblem) -> bool:
        """Whether it can find out how many clusters there are: always, on the summary."""
        return True

    def supports(self, problem: PointProblem, charges: Charges, n_guess: int) -> int | None:
        """Return how many centers the last step would move."""
        if not is_stepped(problem, charges, n_guess):
            return None
        last = _last_pair(charges)[1]
        if self.median_step == MEDIAN_STEPS[0]:
            first = ("polish 1",) if "polish 1" in charges and not first_centers(problem, charges, n_guess) else ()
            return supported(problem, n_guess, together(charges, (*first, *last_names(charges, last))))
        return median_support(problem, n_guess, charges, last, self.median_step)

    def run(self, curator: Curator, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
        n = min(max(float(curator.ask(Counts(Whole()), charges["rows"]).private_counts[0]), 1.0), MOST_ROWS)
        finish = stepped if is_stepped(problem, charges, n) else solved
        if finish is solved:
            spare = [charge for name, charge in charges.items() if name in STEPS and charge.measure is charges["leaves"].measure]
            charges = {**charges, "leaves": curator.pool([charges["leaves"], *spare], "counts")}
        summary = summarize(curator, problem, charges, n, finish is stepped)
        count = None if summary.cells is None else count_clusters(summary.cells, problem.k, problem.power, rng)
        problem = problem if count is None else replace(problem, k=count.k)
        centers, moved, margins = finish(curator, problem, charges, summary, rng, self.median_step)
        centers = problem.domain.clip(adding_up(centers, problem.schema))  # a leaf may reach out of a ball
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        found = np.maximum(sizes.private_counts, 0), sizes.noise, summary.points, summary.weights
        return Result(centers, *found, supported=moved, margins=margins, counted=count)


def is_stepped(problem: PointProblem, charges: Charges, n: float) -> bool:
    """Whether steps are worth their noise for so many rows, a noisy number or a guess; else all of the budget is the tree's."""
    d, paying = problem.n_features, [name for name in (*MORE, *LAST_STEPS) if name in charges]
    if FEW_COLUMNS <= d < SOME_COLUMNS:
        return problem.k * noise_length(problem, together(charges, paying)) <= SMALL_NOISE * n
    return d >= FEW_COLUMNS


def summarize(curator: Curator, problem: PointProblem, charges: Charges, n: float, is_doubted: bool) -> Summary:
    """Grow a private tree for so many rows and return its leaves as weighted points, with weights that doubt some of them."""
    bits = bins_of(curator, problem, n, charges["columns"])
    densities = ask_densities(curator, problem, n, bits, charges["columns"])
    splits = Splits.of(problem.domain, densities)
    std = curator.preview(Counting(), charges["leaves"]).std
    start = int(math.log2(max(min(n / (START_STDS * max(std, 0.1)), START_CELLS * problem.k - 0.5), 1.0)))
    start = min(start, MAX_START, splits.depth)
    threshold = max(FINE_LEAF * n, COARSE_LEAF * n - COARSE_ROWS) * min(1.0, MANY_CLUSTERS / problem.k)
    leaves = curator.ask(Grow(splits, start, int(threshold)), charges["splits"]).leaves
    answer = curator.ask(Counts(leaves), charges["leaves"])
    weights, levels = answer.private_counts.astype(np.float64), leaves.depths - start
    full = are_full(weights / max(std, 1e-9), levels)
    widths = step_widths(problem, spreads(densities, problem.domain))
    (points, distances), cells = _placed(leaves, problem.schema), None
    if problem.is_counted:
        cells = NoisyCells(points, weights, *leaves.boxes(), full, std)
    doubting = weights
    if is_doubted:
        remote = remoteness(points, distances, answer.private_counts, answer.noise)
        weights = weights * chances(answer.private_counts, levels, answer.noise)
        doubting = weights * chances(answer.private_counts, remote, answer.noise)
    return Summary(points[full], distances[full], weights[full], n, widths, doubting[full], cells)


def _placed(leaves: TreeCells, schema: Schema | None) -> tuple[FloatArray, FloatArray]:
    """Return a point of each leaf, with shares of categories such as its rows can have, and how far its rows spread."""
    points, distances = leaves.placed()
    return points if schema is None else consistent(points, *leaves.boxes(), schema), distances


#: Centers, how many of them were moved by a step, and how far noise may have moved them.
Finished = tuple[FloatArray, int | None, FloatArray | None]


def solved(
    curator: Curator, problem: PointProblem, charges: Charges, summary: Summary, rng: np.random.Generator, how: str
) -> Finished:
    """Cluster the summary; nothing is asked."""
    fillers = problem.domain.sample(problem.k, rng)
    return solve(summary.points, summary.weights, problem.k, problem.power, rng, fillers).centers, None, None


def _last_pair(charges: Charges) -> tuple[str, str]:
    """Return the names of the charges for the radii of the last step and for the step."""
    return ("radii 2", LAST_STEPS[1]) if "polish 1" in charges else ("radii", LAST_STEPS[0])


def first_centers(problem: PointProblem, charges: Charges, n: float, widths: FloatArray | None = None) -> int:
    """Return how many centers the first of two steps moves, or 0 if its budget belongs to the last one.

    Parameters
    ----------
    problem : PointProblem
    charges : Charges
    n : float
        Rows: a noisy number, or a guess.
    widths : array of shape (d,), optional
        Units of the columns.
    """
    charge, is_many = charges["polish 1"], problem.n_features >= MANY_COLUMNS
    if charge.measure is Measure.PURE and not is_many:
        return 0
    found = supported(problem, n, charge, widths, math.ceil(OVER * problem.k) if is_many else problem.k)
    return found if found >= problem.k else 0


def stepped(
    curator: Curator, problem: PointProblem, charges: Charges, summary: Summary, rng: np.random.Generator, how: str
) -> Finished:
    """Cluster the summary, polish the centers once or twice, and take those that no step supports from the summary."""
    names, k = _last_pair(charges), problem.k
    many = first_centers(problem, charges, summary.n, summary.widths) if "polish 1" in charges else 0
    if "polish 1" in charges and how != MEDIAN_STEPS[0]:
        many = max(many, k)
    fillers = problem.domain.sample(max(many, k), rng)
    paid = names[1] if how == MEDIAN_STEPS[0] else None
    summary, whole, charges = first_start(curator, problem, charges, summary, fillers[:k], rng, paid)
    found = summary.points, summary.weights
    if many:
        start = whole if many == k else solve(*found, many, problem.power, rng, fillers).centers
        rings = ask_rings(curator, problem, start, charges["radii 1"], summary, summary.widths)
        step = polish(curator, problem, start, rings, charges["polish 1"], summary.widths)
        found = step.centers, step.weights
        whole = solve(*found, k, problem.power, rng, fillers[:k]).centers
    elif "polish 1" in charges:
        pairs = {name: (charges[name.replace("2", "1")], charges[name]) for name in names}
        charges = {**charges, **{name: curator.pool(pair, pair[1].question) for name, pair in pairs.items()}}
    return _moved(curator, problem, charges, names, summary, found, whole, fillers, rng, how)


def _moved(
    curator: Curator,
    problem: PointProblem,
    charges: Charges,
    names: tuple[str, str],
    summary: Summary,
    found: tuple[FloatArray, FloatArray],
    whole: FloatArray,
    fillers: FloatArray,
    rng: np.random.Generator,
    how: str,
) -> Finished:
    """Polish as many of the centers of weighted points as the last step supports, and complete them for the summary."""
    k = problem.k
    asked, last = names
    is_plain = how == MEDIAN_STEPS[0]
    few = (
        supported(problem, summary.n, together(charges, last_names(charges, last)), summary.widths)
        if is_plain
        else median_support(problem, summary.n, charges, last, how)
    )
    centers = whole if few >= k else solve(*found, few, problem.power, rng, fillers[:few]).centers
    rings = ask_rings(curator, problem, centers, charges[asked], summary, summary.widths)
    if is_plain:
        radii = partial(rings.step_radii, problem, widths=summary.widths)
        paid = last_names(charges, last)
        centers, charge = descended(curator, problem, charges, paid, centers, rings, radii, summary.n, summary.widths)
        step = polish(curator, problem, centers, rings, charge, summary.widths)
    else:
        step = move_to_medians(curator, problem, centers, rings.median_radii(), charges, last, how)
    centers = completed(step.centers, whole, summary.points, summary.weights, problem.power)
    return centers, few, unmoved(step.margins, k)
