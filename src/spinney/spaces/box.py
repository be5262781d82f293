"""The public domains of Euclidean rows: a box, or a ball."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.exceptions import ParameterError
from spinney.spaces.plain_values import number_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Widths of a column between which squared distances neither vanish nor overflow.
NARROWEST, WIDEST = 1e-100, 1e100
#: How the same bounds are typed in two ways.
SPELLINGS = "bounds=[(1, 50), (10, 100)], a pair per column, or bounds=([1, 10], [50, 100]), all lower and then all upper bounds"


def _column_values(name: str, owner: str, value: object) -> tuple[float, ...]:
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except Exception:  # whatever a table in its place raises; a message may quote its cells
        numbers = np.empty(0)
    if numbers.ndim != 1 or numbers.size == 0 or not np.isfinite(numbers).all():
        raise ParameterError.wrong(name, owner, "a finite number or one finite number per column", value, "for example -1 and 1.")
    return tuple(numbers.tolist())


def _spread(values: tuple[float, ...], n_features: int) -> FloatArray:
    if len(values) not in (1, n_features):
        raise ParameterError.wrong(
            "bounds", "the domain", f"one number or {n_features} numbers, one per column", "another number of them",
            "give each column its own lower and upper bound, or one pair for all columns.",
        )  # fmt: skip
    return np.broadcast_to(np.asarray(values), (n_features,)).astype(np.float64)


@dataclass(frozen=True)
class Domain:
    """A bounded public region: a bounding box, and a radius around its middle that may be infinite."""

    lower: FloatArray
    upper: FloatArray
    radius: float

    @property
    def center(self) -> FloatArray:
        """The middle of the region."""
        return self.lower / 2 + self.upper / 2

    @property
    def half_diagonal(self) -> float:
        """The distance from the middle to the farthest point."""
        return min(self.radius, float(np.sqrt(np.sum((self.upper / 2 - self.lower / 2) ** 2))))

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.lower.size

    def clip(self, points: FloatArray) -> FloatArray:
        """Move points into the region."""
        points = np.clip(points, self.lower, self.upper)
        if np.isfinite(self.radius):
            offsets = points - self.center
            norms = np.sqrt((offsets**2).sum(axis=-1, keepdims=True))
            points = self.center + offsets * (self.radius / np.maximum(norms, self.radius))
        return points

    def sample(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw public random points in the region."""
        return self.clip(rng.uniform(self.lower, self.upper, (count, self.n_features)))


@dataclass(frozen=True)
class Box:
    """A public box: each column lies between its lower and its upper bound.

    Parameters
    ----------
    lower, upper : float or sequence of float
        One number for all columns, or one per column.
    """

    lower: float | Sequence[float]
    upper: float | Sequence[float]

    def __post_init__(self) -> None:
        lower, upper = _column_values("lower", "Box", self.lower), _column_values("upper", "Box", self.upper)
        if len(lower) != len(upper) and 1 not in (len(lower), len(upper)):
            raise ParameterError.wrong(
                "upper", "Box", "as long as lower", "another number of them", "give both bounds for every column."
            )
        low, high = np.asarray(lower), np.asarray(upper)
        with np.errstate(over="ignore"):
            widths = high - low
        if not ((widths > NARROWEST) & (widths < WIDEST)).all():
            raise ParameterError.wrong(
                "bounds", "Box", f"lower < upper in every column, {NARROWEST} to {WIDEST} apart", (self.lower, self.upper),
                "in a tuple all lower bounds come first, in a list each column has a pair; leave constant columns out.",
            )  # fmt: skip
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    def domain(self, n_features: int) -> Domain:
        """Return the region for this number of columns."""
        return Domain(_spread(self.lower, n_features), _spread(self.upper, n_features), np.inf)  # type: ignore[arg-type]


@dataclass(frozen=True)
class NamedBox(Box):
    """A public box that also says which columns of a table it is about; made from bounds by name."""

    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, bounds: Mapping[Any, Any], owner: str) -> NamedBox:
        """Read bounds by name, such as ``{"age": (0, 110), "income": (0, 200_000)}``."""
        hint = "bounds={'age': (0, 110), 'income': (0, 200_000)}: for each column to use, its lower and its upper bound."
        for name in [*bounds] or [None]:
            if not isinstance(name, str):
                raise ParameterError.wrong("bounds", owner, "named by columns, at least one", type(name).__name__, hint)
        for name, pair in bounds.items():
            if not _is_pair(pair) or not NARROWEST < float(pair[1]) - float(pair[0]) < WIDEST:
                what = f"two finite numbers for column {name!r}, the lower first, {NARROWEST} to {WIDEST} apart"
                raise ParameterError.wrong("bounds", owner, what, type(pair).__name__, hint)
        lower, upper = zip(*bounds.values(), strict=True)
        return cls(lower, upper, tuple(bounds))

    def domain(self, n_features: int) -> Domain:
        """Return the region; a table must have these columns and no others."""
        if n_features != len(self.columns):
            raise ParameterError.wrong(
                "n_features", "plan", f"{len(self.columns)}, the number of columns that bounds name", n_features, "leave it out."
            )
        return super().domain(n_features)


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(number_of(end) is not None for end in value)


@dataclass(frozen=True)
class Ball:
    """A public ball.

    Parameters
    ----------
    radius : float
    center : float or sequence of float
        One number for all columns, or one per column.
    """

    radius: float
    center: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        center = _column_values("center", "Ball", self.center)
        radius = _column_values("radius", "Ball", self.radius)
        widths = [2 * radius[0], *((c + radius[0]) - (c - radius[0]) for c in center)]
        if len(radius) != 1 or not all(NARROWEST < width < WIDEST for width in widths):
            raise ParameterError.wrong(
                "radius",
                "Ball",
                f"a float in ({NARROWEST}, {WIDEST}), not lost beside the center",
                self.radius,
                "for example Ball(1.0).",
            )
        object.__setattr__(self, "radius", radius[0])
        object.__setattr__(self, "center", center)

    def domain(self, n_features: int) -> Domain:
        """Return the region for this number of columns."""
        center = _spread(self.center, n_features)  # type: ignore[arg-type]
        return Domain(center - self.radius, center + self.radius, self.radius)


def as_space(bounds: ArrayLike | Mapping[str, Any] | Box | Ball | None, owner: str) -> Box | Ball:
    """Read a user's `bounds`: a Box, a Ball, a tuple (lower, upper), a list of pairs, one per column, or pairs by name.

    Two numbers are the bounds of all columns in a list or an array, too. Two lists, and an array of two dimensions, may mean a
    pair per column as well as lower and upper bounds, and are refused.
    """
    if isinstance(bounds, Box | Ball):
        return bounds
    if isinstance(bounds, Mapping):
        return NamedBox.of(bounds, owner)
    typed = bounds.tolist() if isinstance(bounds, np.ndarray) and bounds.ndim == 1 else bounds
    if (isinstance(typed, tuple) and len(typed) == 2) or _is_pair(typed):
        return Box(*typed)  # type: ignore[misc]
    if isinstance(bounds, list):
        is_doubtful = len(bounds) == 2 and not all(isinstance(one, tuple) for one in bounds)
        if bounds and not is_doubtful and all(map(_is_pair, bounds)):
            return Box(*zip(*bounds, strict=True))
    else:
        is_doubtful = isinstance(bounds, np.ndarray) and bounds.ndim == 2
    expected = "a tuple (lower, upper), a list of pairs, a dict by column, a Box or a Ball"
    if is_doubtful:
        expected = "a tuple (lower, upper), or a list with a tuple for each column; two lists, or an array, may mean either"
    raise ParameterError.wrong(
        "bounds", owner, expected, bounds,
        f"bounds=(0, 255) if all columns share a range; {SPELLINGS}; or by the names of columns, "
        "bounds={'age': (0, 110), 'region': ['north', 'south']}. Take them from public knowledge, never from the rows.",
    )  # fmt: skip


def domain_to_dict(domain: Domain) -> dict[str, Any]:
    """Return the region as JSON-ready values."""
    record: dict[str, Any] = {"lower": domain.lower.tolist(), "upper": domain.upper.tolist()}
    if np.isfinite(domain.radius):
        record["radius"] = domain.radius
    return record


def domain_from_dict(record: dict[str, Any]) -> Domain:
    """Read what `domain_to_dict` wrote."""
    return Domain(np.asarray(record["lower"], float), np.asarray(record["upper"], float), record.get("radius", np.inf))
