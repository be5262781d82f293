"""What the algorithms for sites share: the question about their sizes, and how many options may be weighed."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.problem import SiteProblem
from spinney.algorithms.result import Result
from spinney.curators.purse import Purse
from spinney.exceptions import ParameterError
from spinney.questions import Counts, Labels
from spinney.spaces import FiniteMetric, FloatArray, IntArray, nearest_site

#: The part of epsilon that pays for the final sizes.
SIZES = Fraction(5, 100)
#: A summary of no points.
NONE, WEIGHTLESS = np.empty(0, np.int64), np.empty(0)
#: Most options that all choices of a fit weigh together, some microseconds each: about an hour.
MOST_OPTIONS = 2**30


class SiteAlgorithm(Algorithm):
    """An algorithm over a finite metric."""

    solves = "sites"
    backends = ("memory",)
    #: Whether it solves every goal, and not only the default: k sites with little travel.
    has_goals: ClassVar[bool] = False


def check_options(options: int, owner: str) -> None:
    """Raise if the options of all choices of a fit would take too long to weigh; from public facts alone."""
    if options > MOST_OPTIONS:
        raise ParameterError(
            f"{owner} would weigh {options} options, more than {MOST_OPTIONS}, and take too long.",
            "ask for fewer choices or candidates; for sites, algorithm='cells' makes no choices.",
        )


def check_both_ways(space: FiniteMetric, owner: str) -> None:
    """Raise if a tree of balls is asked for in a space that knows the way from demand to sites alone."""
    if space.is_one_sided:
        raise ParameterError(
            f"{owner} needs distances that are alike there and back.",
            "algorithm='cells' or 'coverage' take one-way streets and tables of costs; so does LocalSearch(start='kmedian++').",
        )


def released(
    purse: Purse,
    problem: SiteProblem,
    medoids: IntArray,
    points: IntArray = NONE,
    weights: FloatArray = WEIGHTLESS,
    assignment: IntArray | None = None,
) -> Result:
    """Ask how many rows each chosen site serves, and then each existing one, and last how many go to nobody, if some do."""
    sites = np.concatenate([medoids, problem.existing])
    labels = nearest_site(problem.space, sites) if assignment is None else assignment
    is_left = bool((labels < 0).any())
    cells = np.where(labels < 0, len(sites), labels)
    sizes = purse.ask("sizes", Counts(Labels(cells, len(sites) + is_left)))
    counts = np.maximum(sizes.private_counts, 0)
    left = int(counts[-1]) if is_left else None
    own = counts[: len(sites)]
    return Result(medoids, own, sizes.noise, points, weights, assignment=assignment, private_unserved=left)
