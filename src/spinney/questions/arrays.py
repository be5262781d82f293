"""Public arrays of questions: copied, of one type, and closed for writing."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces import FloatArray

#: Lengths between which squares neither vanish nor overflow.
SHORTEST, LONGEST = 1e-150, 1e150


def is_one_of(kind: type, kinds: Iterable[type]) -> bool:
    """Whether a type is one of these: the very same, because a type of types may say that it equals others."""
    return any(kind is one for one in kinds)


def require(holds: Any, text: str) -> None:
    """Raise a ValueError with this text unless something holds."""
    if not holds:
        raise ValueError(text)


def require_number(value: Any, what: str) -> None:
    """Raise unless this is a whole number of at least 1."""
    require(isinstance(value, Integral) and int(value) >= 1, f"the number of {what} must be a whole number of at least 1")


def require_power(power: Any) -> None:
    """Raise unless distances are summed, or their squares."""
    require(type(power) is int and power in (1, 2), "the power must be 1 or 2")


def frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Return a plain copy of an array that cannot be written to."""
    array: NDArray[Any] | None = None
    with suppress(Exception):  # numpy quotes what it cannot read, and an error raised there would keep it
        # What makes an array of itself may hand out one that it keeps: that is copied too.
        array = np.array(np.asarray(values, dtype=dtype), order="C", copy=True, subok=False)
    if array is None:
        raise ValueError("arguments of a question must be arrays of numbers")
    array.setflags(write=False)
    return array


def frozen_places(values: Any) -> NDArray[np.int64]:
    """Return a plain copy of whole numbers that cannot be written to."""
    found = frozen(values, None)  # of its own type
    require(found.dtype.kind in "iu" or not found.size, "places must be whole numbers")
    return frozen(found, np.int64)


def freeze(question: Any, *names: str, as_places: bool = False) -> None:
    """Let fields of a frozen value, if there are any, be plain copies that cannot be written to."""
    for name in names:
        given = getattr(question, name)
        if given is not None:
            object.__setattr__(question, name, frozen_places(given) if as_places else frozen(given))


def finite_points(points: FloatArray, n_features: int, what: str) -> None:
    """Raise unless these are at least one point with one finite coordinate per column."""
    is_list = points.ndim == 2 and len(points) and points.shape[1] == n_features
    lawful = is_list and (np.abs(points) < LONGEST).all()  # not missing either
    require(lawful, f"{what} must be finite points with one coordinate per column")


def finite_radii(radii: FloatArray, n_centers: int) -> None:
    """Raise unless there is a positive radius per center."""
    require(radii.shape == (n_centers,), "there must be one radius per center")
    lawful = ((radii > SHORTEST) & (radii < LONGEST)).all()  # squares neither vanish nor overflow
    require(lawful, "radii must be positive and finite")


def finite_widths(widths: FloatArray | None, n_features: int) -> None:
    """Raise unless there are no widths, or a positive one per column."""
    if widths is not None:
        require(widths.shape == (n_features,), "there must be one width per column")
        require(((widths > SHORTEST) & (widths < LONGEST)).all(), "widths must be positive and finite")
