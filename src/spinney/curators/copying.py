"""Copies of what a caller made: new values of exact types, from their declared fields alone.

A value that was handed over can be changed after it was checked, and anything can be set on it: its type says what a method is,
and the instance what is called. So the gate asks a copy that nobody else holds. It has no attribute but its fields, whose values
are copies too, so its methods come from its class.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from spinney.questions import Family
from spinney.questions.arrays import frozen, is_one_of, require
from spinney.questions.catalog import EVERY
from spinney.questions.ground import Ground
from spinney.spaces import Domain, FiniteMetric
from spinney.trees.quadtree import Route, Splits

#: Values that cannot be changed.
PLAIN = (int, float, bool, str, type(None))
#: The types that questions are made of. Each is made anew by its own constructor.
PARTS = (*(part for listed in EVERY.values() for part in (listed.question, *listed.parts)), Domain, Splits)


def rebuilt(value: Any, ground: Ground) -> Any:
    """Return a question, or a part of one, that asks the same and shares nothing with this one that can be changed.

    Each field is read once. A space must be the one that the ground was made of, and becomes the ground's.
    """
    kind = type(value)
    if is_one_of(kind, PLAIN):
        return value
    if kind is np.ndarray:
        return frozen(value, None)
    if kind is tuple:
        return tuple(rebuilt(part, ground) for part in value)
    if kind is Route:
        return Route(*(rebuilt(part, ground) for part in value))
    if kind is FiniteMetric:
        require(value is ground.given, "questions about sites must be about the curator's own space")
        return ground.space
    if kind is Family:
        return Family(value.members, rebuilt(value.steps, ground))  # which copies the members
    require(is_one_of(kind, PARTS), "a question must be made of numbers, plain arrays and the values of the list")
    return kind(*(rebuilt(getattr(value, one.name), ground) for one in fields(kind)))
