"""Copies of what a caller made: new values of exact types, from their declared fields alone.

A value that was handed over can be changed after it was checked, and anything can be set on it: its type says what a method is,
and the instance what is called. So the gate asks a copy that nobody else holds. It has no attribute but its fields, whose values
are copies too, so its methods come from its class.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from spinney.questions.arrays import frozen, is_one_of, require
from spinney.questions.catalog import EVERY
from spinney.questions.choose import Sets, Swaps
from spinney.questions.cover import Balls, Family
from spinney.questions.ground import Ground
from spinney.questions.partitions import ClusterBins, Clusters, ColumnBins, Labels, PlaneCells, Rings, Whole
from spinney.spaces.box import Domain
from spinney.spaces.metric import FiniteMetric
from spinney.trees.quadtree import Route, Splits, TreeCells

__all__ = ["rebuilt"]

#: Values that cannot be changed.
PLAIN = (int, float, bool, str, type(None))
#: The types that questions are made of. Each is made anew by its own constructor.
QUESTIONS = tuple(entry.question for entry in EVERY.values())
PARTITIONS = (ClusterBins, Clusters, ColumnBins, Labels, PlaneCells, Rings, TreeCells, Whole)
PARTS = (*QUESTIONS, *PARTITIONS, Balls, Domain, Sets, Splits, Swaps)


def rebuilt(question: Any, ground: Ground) -> Any:
    """Return a question that asks the same and shares nothing with this one that can be changed.

    Parameters
    ----------
    question : Question
        Of the list.
    ground : Ground
        What it is asked about. A space in the question must be the one that this ground was made of, and becomes the ground's.
    """
    return _copied(question, ground)


def _copied(value: Any, ground: Ground) -> Any:
    """Return a copy of a part, or of the whole; each field is read once."""
    kind = type(value)
    if is_one_of(kind, PLAIN):
        return value
    if kind is np.ndarray:
        return frozen(value, None)
    if kind is tuple:
        return tuple(_copied(part, ground) for part in value)
    if kind is Route:
        return Route(*(_copied(part, ground) for part in value))
    if kind is FiniteMetric:
        require(value is ground.given, "questions about sites must be about the curator's own space")
        return ground.space
    if kind is Family:
        return Family(value.members, _copied(value.steps, ground))  # which copies the members
    require(is_one_of(kind, PARTS), "a question must be made of numbers, plain arrays and the values of the list")
    return kind(*(_copied(getattr(value, one.name), ground) for one in fields(kind)))
