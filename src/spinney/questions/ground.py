"""The public ground that rows lie on: a domain of numbers, or finitely many points, which may have distances.

Backends ask the ground about the rows' own places, so it is made of the library's own types, whose arrays fit together.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from spinney.questions.arrays import LONGEST, SHORTEST, frozen, is_one_of, require
from spinney.spaces import Domain, FiniteMetric
from spinney.spaces.metric import Coordinates, Matrix, Network
from spinney.spaces.one_sided import CostTable, OneWay
from spinney.spaces.sphere import Sphere


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
        # What is checked is what is kept: a copy, which the maker of the ground does not hold.
        object.__setattr__(self, "_given", self.space)
        if self.domain is not None:
            object.__setattr__(self, "domain", _copied_domain(self.domain))
        if self.space is not None:
            object.__setattr__(self, "space", _copied_space(self.space, self.n_points))

    @property
    def given(self) -> FiniteMetric | None:
        """The space that `space` is a copy of: what questions may name."""
        space: FiniteMetric | None = self.__dict__["_given"]
        return space

    @property
    def shown(self) -> Ground:
        """The same ground to look at: what is done to it changes nothing here."""
        found = Ground(self.domain, self.n_points)
        object.__setattr__(found, "space", self.given)
        return found

    @property
    def n_features(self) -> int:
        """The number of columns of numbers; 0 if rows name points."""
        return 0 if self.domain is None else self.domain.n_features

    def within(self, domain: Domain) -> Ground:
        """Return another domain of the same columns."""
        ground = Ground(domain)
        require(ground.n_features == self.n_features > 0, "a view must be within a Domain of as many columns")
        return ground


def _copied_domain(given: Domain) -> Domain:
    what = "a Domain must have finite bounds, each lower one below its upper one"
    require(type(given) is Domain, what)
    lower, upper, radius = given.lower, given.upper, given.radius  # each is read once
    plain = all(type(bound) is np.ndarray and bound.dtype == np.float64 for bound in (lower, upper))
    require(plain and isinstance(radius, float), what)
    domain = Domain(frozen(lower), frozen(upper), float(radius))
    for bound in (domain.lower, domain.upper):
        require(bound.ndim == 1 and bound.size and (np.abs(bound) < LONGEST).all(), what)  # not missing either
    require(domain.lower.size == domain.upper.size and (domain.upper - domain.lower > SHORTEST).all(), what)
    require(domain.radius > SHORTEST, what)
    return domain


def _are_places(array: Any, most: int) -> bool:
    plain = type(array) is np.ndarray and array.ndim == 1 and array.dtype == np.int64
    return bool(plain and (array >= 0).all() and (array <= most).all())


def _copied_space(given: FiniteMetric, n: int) -> FiniteMetric:
    what = "a space must be a FiniteMetric as from_matrix, from_points or from_graph make it"
    require(type(given) is FiniteMetric and type(n) is int and given.n_points == n >= 1, what)
    source: Any = given.source
    require(is_one_of(type(source), (Matrix, Coordinates, Sphere, Network, OneWay, CostTable)), what)
    parts = [getattr(source, one.name) for one in fields(source)]
    require(all(is_one_of(type(part), (np.ndarray, bool)) for part in parts), what)
    source = type(source)(*(frozen(part, None) if type(part) is np.ndarray else part for part in parts))
    space = FiniteMetric(source, n, frozen(given.candidates, None), None)
    if "diameter" in vars(given):  # public, and slow to find; whatever it is, a cost stays in its range
        vars(space)["diameter"] = float(given.diameter)
    require(_are_places(space.candidates, n - 1) and space.candidates.size, what)
    if is_one_of(type(source), (Network, OneWay)):
        _check_edges(source.starts, source.ends, source.lengths, n, what)
        if type(source) is OneWay:
            _check_edges(source.back_starts, source.back_ends, source.back_lengths, n, what)
    elif type(source) is Matrix:
        require(source.values.shape == (n, n) and source.values.dtype.kind == "f", what)
    elif type(source) is CostTable:
        values = source.values
        require(values.ndim == 2 and min(values.shape) >= 1 and sum(values.shape) == n and values.dtype.kind == "f", what)
    else:
        points = source.points
        require(points.ndim == 2 and len(points) == n and points.dtype == np.float64, what)
    return space


def _check_edges(starts: Any, ends: Any, lengths: Any, n: int, what: str) -> None:
    """Raise unless these are the edges of a network, as flat arrays."""
    require(_are_places(starts, len(ends)) and _are_places(ends, n - 1), what)
    whole = starts.size == n + 1 and starts[0] == 0 and starts[-1] == ends.size and (np.diff(starts) >= 0).all()
    require(whole and lengths.shape == ends.shape and lengths.dtype == np.float64 and (lengths >= 0).all(), what)
