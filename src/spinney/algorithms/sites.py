"""What the algorithms for sites share: nearest sites, and the question about their sizes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.problem import SiteProblem
from spinney.curators.purse import Purse
from spinney.exceptions import ParameterError
from spinney.questions.counts import CountAnswer, Counts
from spinney.questions.partitions import Labels
from spinney.spaces.metric import IntArray, nearest_site

__all__ = ["SIZES", "SiteAlgorithm", "ask_sizes", "check_options", "nearest_site"]

#: The part of epsilon that pays for the final sizes.
SIZES = Fraction(5, 100)
#: Most options that all choices of a fit weigh together, some microseconds each: about an hour.
MOST_OPTIONS = 2**30


class SiteAlgorithm(Algorithm):
    """An algorithm over a finite metric."""

    solves = "sites"
    backends = ("memory",)


def check_options(options: int, owner: str) -> None:
    """Raise if the options of all choices of a fit would take too long to weigh; from public facts alone."""
    if options > MOST_OPTIONS:
        raise ParameterError(
            f"{owner} would weigh {options} options, more than {MOST_OPTIONS}, and take too long.",
            "ask for fewer choices or candidates; for sites, algorithm='cells' makes no choices.",
        )


def ask_sizes(purse: Purse, problem: SiteProblem, medoids: IntArray) -> CountAnswer:
    """Ask how many rows each chosen site serves, and then each existing one: ``sizes``."""
    sites = np.concatenate([medoids, problem.existing])
    return purse.ask("sizes", Counts(Labels(nearest_site(problem.space, sites), len(sites))))
