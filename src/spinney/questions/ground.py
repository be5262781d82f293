"""The public ground that rows lie on: a domain of numbers, or finitely many points, which may have distances.

Backends ask the ground about the rows' own places, so it is made of the library's own types, whose arrays fit together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.questions.arrays import LONGEST, SHORTEST, frozen, require
from spinney.spaces.box import Domain
from spinney.spaces.metric import Coordinates, FiniteMetric, Matrix, Network

__all__ = ["Ground"]


@dataclass(frozen=True)
class Ground:
    """The public ground that rows lie on.

    Parameters
    ----------
    domain : Domain or None
        Of rows of numbers.
    n_points : int
        Of rows that name a point; 0 if rows are numbers.
    space : FiniteMetric or None
        The distances between the points, if there are any.
    """

    domain: Domain | None = None
    n_points: int = 0
    space: FiniteMetric | None = None

    def __post_init__(self) -> None:
        if self.domain is not None:
            _check_domain(self.domain)
            copied = Domain(frozen(self.domain.lower), frozen(self.domain.upper), float(self.domain.radius))
            object.__setattr__(self, "domain", copied)
        if self.space is not None:
            _check_space(self.space, self.n_points)

    @property
    def n_features(self) -> int:
        """The number of columns of numbers; 0 if rows name points."""
        return 0 if self.domain is None else self.domain.n_features

    def within(self, domain: Domain) -> Ground:
        """Return another domain of the same columns."""
        ground = Ground(domain)
        require(ground.n_features == self.n_features > 0, "a view must be within a Domain of as many columns")
        return ground


def _check_domain(domain: Domain) -> None:
    what = "a Domain must have finite bounds, each lower one below its upper one"
    require(type(domain) is Domain, what)
    for bound in (domain.lower, domain.upper):
        plain = type(bound) is np.ndarray and bound.ndim == 1 and bound.dtype == np.float64 and bound.size
        require(plain and (np.abs(bound) < LONGEST).all(), what)  # not missing either
    require(domain.lower.size == domain.upper.size and (domain.upper - domain.lower > SHORTEST).all(), what)
    require(isinstance(domain.radius, float) and domain.radius > SHORTEST, what)


def _are_places(array: Any, most: int) -> bool:
    plain = type(array) is np.ndarray and array.ndim == 1 and array.dtype == np.int64
    return bool(plain and (array >= 0).all() and (array <= most).all())


def _check_space(space: FiniteMetric, n: int) -> None:
    what = "a space must be a FiniteMetric as from_matrix, from_points or from_graph make it"
    require(type(space) is FiniteMetric and space.n_points == n >= 1, what)
    require(_are_places(space.candidates, n - 1) and space.candidates.size, what)
    source: Any = space.source
    if type(source) is Network:
        require(_are_places(source.starts, len(source.ends)) and _are_places(source.ends, n - 1), what)
        starts, ends, lengths = source.starts, source.ends, source.lengths
        whole = starts.size == n + 1 and starts[0] == 0 and starts[-1] == ends.size and (np.diff(starts) >= 0).all()
        require(whole and type(lengths) is np.ndarray and lengths.shape == ends.shape and (lengths >= 0).all(), what)
    elif type(source) is Matrix:
        values = source.values
        require(type(values) is np.ndarray and values.shape == (n, n) and values.dtype.kind == "f", what)
    else:
        require(type(source) is Coordinates, what)
        points = source.points
        require(type(points) is np.ndarray and points.ndim == 2 and len(points) == n and points.dtype == np.float64, what)
