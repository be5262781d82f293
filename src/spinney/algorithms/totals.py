"""The sum of all rows and their number, asked for first where columns are many, and joined if it is asked for again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.algorithms.polish import shrunk
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge
from spinney.questions.sums import Sums
from spinney.spaces.box import Domain, FloatArray

__all__ = ["Total", "ask_total", "mean_kernel"]


@dataclass(frozen=True)
class Total:
    """A noisy sum of all rows, as offsets from the middle of the domain in units of the columns, and their noisy number.

    Parameters
    ----------
    vector : array of shape (d,)
    weight : float
    vector_variance, weight_variance : float
        Of the noise in each coordinate, and in the number.
    """

    vector: FloatArray
    weight: float
    vector_variance: float
    weight_variance: float

    @property
    def n(self) -> float:
        """The number of rows, as far as it is known."""
        return max(self.weight, math.sqrt(self.weight_variance), 1.0)

    def mean(self, domain: Domain) -> FloatArray:
        """Return the mean, moved toward one level of all columns the less it stands out of its noise."""
        variances = np.array([self.vector_variance / self.n**2])
        steps = shrunk(self.vector[None, :] / self.n, variances, np.ones(domain.n_features))
        return domain.clip(domain.center + units(domain) * steps)

    def joined(self, other: Total) -> Total:
        """Return what two answers about the same rows say together, each weighed by its noise."""
        vector, vector_variance = _weighed(self.vector, self.vector_variance, other.vector, other.vector_variance)
        weight, weight_variance = _weighed(self.weight, self.weight_variance, other.weight, other.weight_variance)
        return Total(vector, float(weight), vector_variance, weight_variance)


def _weighed(one: Any, one_variance: float, other: Any, other_variance: float) -> tuple[Any, float]:
    """Return the mean of two noisy answers with the least variance, and this variance."""
    share = other_variance / max(one_variance + other_variance, 1e-300)
    return share * one + (1 - share) * other, share * one_variance


def mean_kernel(domain: Domain) -> str:
    """Return what the first sum clips offsets to: a box whose corners rows may reach, or else the ball that they lie in."""
    return "box" if np.isinf(domain.radius) else "mean"


def ask_total(curator: Curator, domain: Domain, charge: Charge) -> Total:
    """Ask for the sum of all rows."""
    answer = curator.ask(Sums(domain.center[None, :], mean_kernel(domain), np.ones(1), widths=units(domain)), charge)
    noise = answer.noise
    return Total(answer.private_vectors[0], float(answer.private_weights[0]), noise.vector_std**2, noise.weight_std**2)


def units(domain: Domain) -> FloatArray:
    """Return how far rows may lie from the middle, in each column."""
    if np.isinf(domain.radius):
        return domain.upper / 2 - domain.lower / 2
    return np.full(domain.n_features, domain.half_diagonal)
