"""Which of two starts to trust: the one whose centers cost the rows less.

A private summary leads to more than one start. Some of its leaves have rows, or noise alone, and how likely each is can be read
in two ways: by leaves of like level, or by leaves as far from all that surely have rows. Where a few rows far off are a cluster
of their own the first is right, where they are noise the second, and nothing in the counts tells. And by either reading there are
sets of centers that cost the summary about the same, and the rows up to a tenth more or less. So two starts are found, and one
question compares what they cost. Everything here but that question is post-processing of noisy answers and public noise levels.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from spinney.algorithms.descent import last_names
from spinney.algorithms.polish import WeightedLeaves, noise_length, together
from spinney.algorithms.problem import Charges, PointProblem
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge
from spinney.questions.cost import COST_STEPS, Cost, Costing
from spinney.solvers.nearest import nearest
from spinney.solvers.valleys import NoisyCells
from spinney.solvers.weighted import Solution, solve
from spinney.spaces.box import FloatArray

__all__ = ["Summary", "cheaper", "first_start", "outdone"]

#: The readings are compared if a center has less than this part of its rows by the second: it may rest on noise.
RESTS = 0.5
#: A row is cut off at so many times what rows cost on average, or less would be seen of the few far off that it is all about ...
REACH = 30.0
#: ... and further out as long as noise stays this part of the cost: a choice that is wrong by less matters little.
ERROR = 0.03
#: Nothing is asked if noise is this part of the cost or more.
WORST = 0.1
#: So many other starts by the same reading are looked for: where seeding and descent end, for exchanges lead all to the same.
RIVALS = 12
#: Fewer, down to none, where points times centers times columns are more in all: leaves are then so small that they tell.
RIVAL_WORK = 2**20
#: What a leaf's rows cost one start more than another is known with an error of this part of it: about one on drawn tables.
TELLS = 1.0
#: A row is cut off where a summary of rows cut off like this keeps such a part of what it costs them differently.
KEPT = 0.9
#: A gain of less than this part of the cost is not worth a question.
LEAST = 0.002
#: A row is cut off between these, however little the summary seems to cost.
NEAREST, FARTHEST = 1e-100, 1e100


@dataclass(frozen=True)
class Summary(WeightedLeaves):
    """The full leaves, the noisy number of rows, the units of columns for steps, weights that doubt leaves far from all others.

    And all leaves, if clusters are to be counted.
    """

    n: float
    widths: FloatArray | None
    doubting: FloatArray
    cells: NoisyCells | None


def first_start(
    curator: Curator,
    problem: PointProblem,
    charges: Charges,
    summary: Summary,
    fillers: FloatArray,
    rng: np.random.Generator,
    last: str | None,
) -> tuple[Summary, FloatArray, Charges]:
    """Return the summary with the weights to trust, its centers, and the charges that are left.

    What need not be asked pays for the step of the name `last`, if there is one that it can be put to.
    """
    last = last if last is not None and charges["choice"].measure is charges[last].measure else None

    def with_last(name: str) -> Charges:
        """Return the charges, this one put to the last step."""
        if last is None:
            return charges
        return {**charges, last: curator.pool((charges[name], charges[last]), charges[last].question)}

    def lost(*names: str) -> float:
        """Return the part of the cost that is lost to noise of a step with these charges."""
        return (problem.k * noise_length(problem, together(charges, names), summary.widths) / summary.n) ** 2

    readings = summary.weights, summary.doubting
    start = solve(summary.points, summary.weights, problem.k, problem.power, rng, fillers)
    better = cheaper(curator, problem, charges["choice"], summary.points, readings, start, rng)
    if better is None:
        charges = with_last("choice")
    else:
        summary, start = replace(summary, weights=readings[better is not start]), better
    if "rival" not in charges:
        return summary, start.centers, charges
    paying = () if last is None else last_names(charges, last)
    worth = lost(*paying) - lost(*paying, "rival") if paying else 0.0
    better = outdone(curator, problem, start, summary, charges["rival"], rng, worth)
    return (summary, start.centers, with_last("rival")) if better is None else (summary, better.centers, charges)


def cheaper(
    curator: Curator,
    problem: PointProblem,
    charge: Charge,
    points: FloatArray,
    readings: tuple[FloatArray, FloatArray],
    start: Solution,
    rng: np.random.Generator,
) -> Solution | None:
    """Return the start of the second reading if it costs the rows less than that of the first, else the first one.

    None, and nothing is asked, if no center of the first rests on rows that the second doubts, or if noise would hide it.

    Parameters
    ----------
    curator : Curator
    problem : PointProblem
    charge : Charge
        For one `cost`.
    points : array of shape (m, d)
    readings : two arrays of shape (m,)
        Weights of the points.
    start : Solution
        The points clustered by the first reading.
    rng : numpy.random.Generator
    """
    labels, k = nearest(points, start.centers)[1] if len(points) else np.empty(0, dtype=np.int32), problem.k
    first, second = (np.bincount(labels, weights, k) for weights in readings)
    if (second >= RESTS * first).all():
        return None
    other = solve(points, readings[1], k, problem.power, rng, start.centers)
    noise = curator.preview(Costing(), charge).std / COST_STEPS  # for a range of one
    cost = max(start.cost, other.cost)
    most = max(REACH * cost / max(float(first.sum()), 1.0), ERROR * cost / max(noise, 1e-300))
    if noise * most >= WORST * cost:
        return None
    question = Cost(start.centers, problem.power, other.centers, min(max(most, NEAREST), FARTHEST))
    return other if curator.ask(question, charge).private_cost > 0 else start


@dataclass(frozen=True)
class Rival:
    """Another start, and what may be gained by it; all costs are parts of what the first start costs the summary.

    Parameters
    ----------
    start : Solution
    more : float
        What it costs the summary more.
    error : float
        How wrong that may be of the rows.
    most : float
        Where a row is to be cut off that compares the starts.
    noise : float
        How wrong an answer may be.
    """

    start: Solution
    more: float
    error: float
    most: float
    noise: float

    @property
    def gain(self) -> float:
        """What is saved on average by asking, and taking it if it is cheaper."""
        if not self.error > 0:
            return 0.0
        told = self.error / math.hypot(self.error, self.noise) * self.error  # how much of the error an answer tells
        ratio = self.more / max(told, 1e-300)
        peak = math.exp(-min(ratio * ratio, 1e3) / 2) / math.sqrt(2 * math.pi)
        return told * peak - self.more * math.erfc(ratio / math.sqrt(2)) / 2

    def is_cheaper(self, saved: float) -> bool:
        """Whether it is, by what an answer and the summary say together, each weighed by its error."""
        doubt = self.noise / self.error
        return saved > self.more * doubt * doubt


def outdone(
    curator: Curator,
    problem: PointProblem,
    start: Solution,
    leaves: WeightedLeaves,
    charge: Charge,
    rng: np.random.Generator,
    worth: float,
) -> Solution | None:
    """Return another start of the same summary if it costs the rows less, else the first one.

    None, and nothing is asked, if what may be gained is less than the question is worth elsewhere.

    Parameters
    ----------
    curator : Curator
    problem : PointProblem
    start : Solution
        Found on the leaves.
    leaves : WeightedLeaves
    charge : Charge
        For one `cost`.
    rng : numpy.random.Generator
    worth : float
        The part of the cost that the charge would save elsewhere.
    """
    points, weights, k, power = leaves.points, leaves.weights, problem.k, problem.power
    count = min(RIVALS, RIVAL_WORK // max(points.size * k, 1))
    if not count or len(points) <= k or not start.cost > 0:
        return None
    noise = curator.preview(Costing(), charge).std / COST_STEPS  # for a range of one
    now, rivals = _costs(points, start, power), list[Rival]()
    for _ in range(count):
        other = solve(points, weights, k, power, rng, start.centers, restarts=1, is_exchanged=False)
        differences = np.abs(_costs(points, other, power) - now) / start.cost
        rivals.append(_rival(other, other.cost / start.cost - 1, differences, weights, noise))
    best = max(rivals, key=lambda rival: rival.gain)
    if not best.gain > max(worth, LEAST):
        return None
    most = min(max(best.most * start.cost, NEAREST), FARTHEST)
    saved = curator.ask(Cost(start.centers, power, best.start.centers, most), charge).private_cost / start.cost
    return best.start if best.is_cheaper(saved) else start


def _costs(points: FloatArray, start: Solution, power: int) -> FloatArray:
    """Return what each point costs."""
    squares = nearest(points, start.centers)[0]
    return squares if power == 2 else np.sqrt(squares)


def _rival(other: Solution, more: float, differences: FloatArray, weights: FloatArray, noise: float) -> Rival:
    """Return what may be gained by a start that costs so much more in all, and so much more or less at each point."""
    order = np.argsort(differences)
    sizes, masses = differences[order], weights[order]
    left = np.cumsum(masses * sizes) + sizes * (masses.sum() - np.cumsum(masses))  # if all are cut off at each of them
    most = float(sizes[min(int(np.searchsorted(left, KEPT * left[-1])), len(sizes) - 1)])
    return Rival(other, more, TELLS * float(np.linalg.norm(masses * sizes)), most, noise * most)
