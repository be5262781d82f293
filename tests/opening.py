"""Curators and purses over rows in memory, or over demand, with a plan of just these charges."""

from fractions import Fraction

import numpy as np

from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.curators.purse import Purse
from spinney.mechanisms import SeededSource
from spinney.privacy import Budget, FitLedger, Unit

#: For which any charge is small.
AMPLE = Budget(Fraction(10**9), Fraction(1, 10))


def curator_over(rows, ground, charges, unit=None, source=None, budget=AMPLE, groups=None):
    """Return a curator over rows of numbers or, if the ground has no domain, over demand; its noise has a seed by default."""
    unit, source = unit or Unit(), source or SeededSource(0)
    kind = DemandBackend if ground.domain is None else MemoryBackend
    backend = kind(np.asarray(rows), ground, unit, lambda: source.key(), groups)
    return Curator(backend, unit, FitLedger(budget, tuple(charges)), source)


def purse_over(rows, problem, charges, seed=0):
    """Return a purse as an algorithm for this problem gets it."""
    return Purse(curator_over(rows, problem.ground, charges, problem.unit, SeededSource(seed), problem.budget))
