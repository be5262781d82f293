"""What an algorithm returns, for points and for sites alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.curators.purse import Purse
from spinney.mechanisms import Noise
from spinney.questions import Counts, Rings
from spinney.solvers.valleys import Count
from spinney.spaces import Domain, FloatArray, IntArray


@dataclass(frozen=True)
class Result:
    """Released values.

    Parameters
    ----------
    centers : array of shape (k, d), or of shape (k,)
        Points, or indices of a space's points.
    private_sizes : array of int
        Noisy numbers of rows that each center serves; those of existing sites come behind.
    size_noise : Noise
    summary_points : array of shape (m, d), or of shape (m,)
        As the centers.
    summary_weights : array of shape (m,)
    box : Domain, optional
        The private box, if there is one.
    supported : int, optional
        How many centers rest on a private step.
    margins : array of shape (k, d), optional
        How far noise may have moved each coordinate of a center, with a probability of 0.95; NaN where no step tells.
    counted : Count, optional
        How many clusters there are, if that was asked.
    assignment : array of shape (n_points,), optional
        Of sites: whom each point goes to, chosen sites first, -1 to nobody, if it is not simply the nearest.
    private_unserved : int, optional
        The noisy number of rows that go to nobody, if some do.
    travel : array of shape (2, k), optional
        The mean travel to each site, and its margin, if that was asked; NaN where too few rows are seen to tell.
    """

    centers: Any
    private_sizes: IntArray
    size_noise: Noise
    summary_points: Any
    summary_weights: FloatArray
    box: Domain | None = None
    supported: int | None = None
    margins: FloatArray | None = None
    counted: Count | None = None
    assignment: IntArray | None = None
    private_unserved: int | None = None
    travel: FloatArray | None = None

    @classmethod
    def asked(cls, purse: Purse, centers: FloatArray, points: FloatArray, weights: FloatArray, **more: Any) -> Result:
        """Ask for the sizes of points' clusters, ``sizes``, and return the result."""
        sizes = purse.ask("sizes", Counts(Rings(centers)))
        return cls(centers, np.maximum(sizes.private_counts, 0), sizes.noise, points, weights, **more)
