"""Which of two readings of a private summary to trust: the one whose centers cost the rows less.

Some leaves of a summary have rows, or noise alone, and how likely each is can be read in two ways: by leaves of like level, or
by leaves as far from all that surely have rows. Where a few rows far off are a cluster of their own the first is right, where
they are noise the second, and nothing in the counts tells. So each is clustered, and one question compares what the centers
cost. Everything here but that question is post-processing of noisy answers and public noise levels.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import numpy as np

from spinney.algorithms.problem import PointProblem
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge
from spinney.questions.cost import COST_STEPS, Cost, Costing
from spinney.solvers.nearest import nearest
from spinney.solvers.weighted import Solution, solve
from spinney.spaces.box import FloatArray

__all__ = ["cheaper"]

#: The readings are compared if a center has less than this part of its rows by the second: it may rest on noise.
RESTS = 0.5
#: A row is cut off at so many times what rows cost on average, or less would be seen of the few far off that it is all about ...
REACH = 30.0
#: ... and further out as long as noise stays this part of the cost: a choice that is wrong by less matters little.
ERROR = 0.03
#: Nothing is asked if noise is this part of the cost or more.
WORST = 0.1
#: A row is cut off between these, however little the summary seems to cost.
NEAREST, FARTHEST = 1e-100, 1e100


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
