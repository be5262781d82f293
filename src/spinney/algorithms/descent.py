"""Private steps before the last one, where noise is so small that an unfinished descent costs more.

Where clusters overlap, a step of Lloyd's takes centers a part of their way, and three more are worth more than less noise in one.
So a part of the last step's budget may pay for steps before it: if noise is small beside the cost, if rows lie between centers,
so that a step can change whose they are, and as long as centers move. Else all of it pays for the last step, in one question.
Everything here but the steps is post-processing of noisy answers and public noise levels.

Proof: ``proofs/polish.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from spinney.algorithms.polish import RingHistogram, noise_length, take_step, together
from spinney.algorithms.problem import MORE, Charges, PointProblem
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge, Measure
from spinney.spaces.box import FloatArray

__all__ = ["descended", "last_names", "undecided", "with_more"]

#: Each of them gets this part of what the last step would have without them.
PART = 7
#: The part of the cost that noise of the last step may take if others come before it. Pure noise grows faster when a charge is
#: taken apart.
MOST_LOST = {Measure.ZCDP: 0.02, Measure.PURE: 0.003}
#: A row lies between two centers if so many standard deviations of its cluster, along the line that joins them, reach half way.
REACH = 3.0
#: Where fewer rows than this part lie there, one step is all that centers need.
LEAST_UNDECIDED = 0.5
#: Steps go on while they gain this part of the cost.
LEAST_GAIN = 0.001
#: Rows times clusters times columns beyond which time is dearer than what steps gain.
MOST_WORK = 2**32


def with_more(shares: dict[str, int], last: str) -> dict[str, int]:
    """Return shares of a budget with those of the steps before the last one, which come from its own."""
    found: dict[str, int] = {}
    for name, share in shares.items():
        each = share // PART if name == last else 0
        found |= dict.fromkeys(MORE, each) if each else {}
        found[name] = share - each * len(MORE)
    return found


def last_names(charges: Charges, last: str) -> tuple[str, ...]:
    """Return the names of all charges that may pay for the last step."""
    return (*(name for name in MORE if name in charges), last)


def undecided(centers: FloatArray, rings: RingHistogram) -> float:
    """Return the part of the rows that may lie between two centers, taken to spread alike along all columns."""
    squares = [rings.squared_lengths(centers - one) for one in centers]
    gaps = [float(np.delete(own, place).min(initial=np.inf)) for place, own in enumerate(squares)]
    reaches = REACH / math.sqrt(centers.shape[1]) * rings.edges / 2**0.25
    between = rings.counts[reaches[None, :] > np.sqrt(gaps)[:, None] / 2].sum()
    return float(between / max(rings.counts.sum(), 1.0))


def descended(
    curator: Curator,
    problem: PointProblem,
    charges: Charges,
    names: Sequence[str],
    centers: FloatArray,
    rings: RingHistogram,
    radii: Callable[[Charge], FloatArray],
    n: float,
    widths: FloatArray | None,
) -> tuple[FloatArray, Charge]:
    """Take steps before the last one, if they are worth it; return the centers, and the charge that is left for the last.

    Parameters
    ----------
    curator : Curator
    problem : PointProblem
    charges : Charges
    names : sequence of str
        Of those that may pay for the last step, in the order in which they are spent.
    centers : array of shape (k, d)
    rings : RingHistogram
        Around the centers.
    radii : callable
        Clipping radii of a step, by its charge.
    n : float
        The noisy number of rows.
    widths : array of shape (d,), optional
        Units of the columns.
    """
    more, rest = [name for name in names if name in MORE], [name for name in names if name not in MORE]
    last = together(charges, rest)
    noise = len(centers) * noise_length(problem, last, widths) / n  # of a center, in radii
    is_small = noise <= math.sqrt(MOST_LOST[last.measure]) and n * centers.size <= MOST_WORK
    is_worth = is_small and len(centers) == problem.k and undecided(centers, rings) >= LEAST_UNDECIDED
    while more and is_worth:
        charge = charges[more.pop(0)]
        reach = radii(charge)
        step = take_step(curator, problem, centers, reach, charge, widths=widths, kept=rings.kept(reach))
        squares = rings.squared_lengths(step.centers - centers)
        gain = float(step.weights @ squares) / max(float(step.weights @ rings.mean_squares()), 1e-300)
        is_worth, centers = gain >= LEAST_GAIN, step.centers
    return centers, curator.pool([charges[name] for name in (*more, *rest)], "sums")
