"""Constraints on parameters, as data, and the one checker of all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError

__all__ = ["Constraint", "boolean", "check", "instance", "integer", "one_of", "optional", "real"]


@dataclass(frozen=True)
class Constraint:
    """What a parameter must be: `holds` never raises, `expected` says it in words, `hint` says what to type."""

    holds: Callable[[Any], bool]
    expected: str
    hint: str


def is_integer(value: Any) -> bool:
    """Whether this is a whole number, and not a truth value."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def is_real(value: Any) -> bool:
    """Whether this is a real number, perhaps infinite, that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:  # a whole number too large for a float
        return False


def integer(least: int, hint: str, most: int | None = None) -> Constraint:
    """Return the constraint of a whole number from `least` to `most`."""
    expected = f"an int in [{least}, inf)" if most is None else f"an int from {least} to {most}"
    return Constraint(lambda value: is_integer(value) and value >= least and (most is None or value <= most), expected, hint)


def real(holds: Callable[[float], bool], expected: str, hint: str) -> Constraint:
    """Return the constraint of a real number."""
    return Constraint(lambda value: is_real(value) and bool(holds(value)), f"a float in {expected}", hint)


def one_of(names: Iterable[str], hint: str) -> Constraint:
    """Return the constraint of one of some names."""
    known = tuple(names)
    return Constraint(lambda value: isinstance(value, str) and value in known, f"one of {', '.join(map(repr, known))}", hint)


def instance(kind: type, hint: str) -> Constraint:
    """Return the constraint of a value of one type."""
    return Constraint(lambda value: isinstance(value, kind), f"a {kind.__name__}", hint)


def optional(constraint: Constraint) -> Constraint:
    """Return the constraint that None fulfills too."""
    return Constraint(lambda value: value is None or constraint.holds(value), f"{constraint.expected} or None", constraint.hint)


def boolean(hint: str) -> Constraint:
    """Return the constraint of a truth value."""
    return Constraint(lambda value: isinstance(value, bool | np.bool_), "True or False", hint)


def check(owner: str, values: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> None:
    """Raise a ParameterError for the first of the constraints, by name, that does not hold for the values of an owner."""
    for name, constraint in constraints.items():
        if not constraint.holds(values[name]):
            raise ParameterError.wrong(name, owner, constraint.expected, values[name], constraint.hint)
