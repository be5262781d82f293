"""Outcomes as numbers: all that one run shows, whatever it is, in columns that a classifier can read.

An outcome is what a call returned, or its error, with its warnings, logs and printed text. Arrays give their elements if they are
few, and always their length, sum and extremes. Where an array of places has an array of as many numbers beside it, as centers
have sizes, the numbers near the rows that differ between two neighbors are columns too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.audit.pairs import Pair
from spinney.audit.recording import looking

#: Arrays up to this size give each of their elements.
FEW = 32
#: How deep values may lie in others.
DEPTH = 5
#: What is near a row that differs: shares of the table's width.
NEAR = (0.05, 0.2)
#: Fields that differ between any two runs: when a release was made.
TIMES = frozenset({"made"})

#: Numbers and words of one run, by where they were found.
Outcome = tuple[dict[str, float], dict[str, str]]


class Spots:
    """Where two neighbors differ: the rows of the one that the other does not have; of arrays alone."""

    def __init__(self, pair: Pair) -> None:
        self.places: NDArray[np.float64] = np.empty((0, 0))
        self.width = 1.0
        sides = [pair.first, pair.second]
        if all(isinstance(side, np.ndarray) and side.dtype.kind in "fiu" and side.ndim in (1, 2) for side in sides):
            self._look(*(np.asarray(side[:, None] if side.ndim == 1 else side, dtype=np.float64) for side in sides))

    def _look(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> None:
        (rows, mine), (others, theirs) = (np.unique(side, axis=0, return_counts=True) for side in (first, second))
        one, two = ({row.tobytes(): n for row, n in zip(*side, strict=True)} for side in ((rows, mine), (others, theirs)))
        everyone = np.concatenate([rows, others])
        differ = [row for row in everyone if one.get(row.tobytes(), 0) != two.get(row.tobytes(), 0) and np.isfinite(row).all()]
        if differ:
            self.places = np.unique(np.array(differ), axis=0)[:4]
        finite = everyone[np.isfinite(everyone).all(axis=1)]
        if len(finite):
            self.width = float(np.ptp(np.clip(finite, -1e100, 1e100), axis=0).max()) or 1.0

    def numbers(self, where: str, points: NDArray[Any], beside: Mapping[str, NDArray[Any]]) -> dict[str, float]:
        """Return how near some points lie, and what the numbers beside them are there."""
        found: dict[str, float] = {}
        points = points[:, None] if points.ndim == 1 else points
        if not points.size or points.shape[1:] != self.places.shape[1:]:
            return found
        for i, place in enumerate(self.places):
            gaps = np.abs(points - place).max(axis=1) / self.width
            found[f"{where} near {i}"] = float(gaps.min())
            for radius in NEAR:
                close = gaps <= radius
                found[f"{where} within {radius:g} of {i}"] = float(close.sum())
                for name, values in beside.items():
                    found[f"{name} within {radius:g} of {i}"] = float(values[close].sum())
            for name, values in beside.items():
                found[f"{name} nearest to {i}"] = float(values[gaps.argmin()])
        return found


def _parts(value: Any) -> Mapping[str, Any] | None:
    """Return what a value holds, by name, or None if it is no holder."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value) if one.name not in TIMES}
    if isinstance(value, Mapping):
        return {str(name): part for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return {str(i): part for i, part in enumerate(value)}
    if isinstance(value, type) or callable(value) or not hasattr(value, "__dict__"):
        return None
    given = value.get_params(deep=False) if hasattr(value, "get_params") else {}  # what an estimator was given is public
    return {name: part for name, part in vars(value).items() if name not in given and name != "_run"}


def _of_array(where: str, values: NDArray[Any], found: Outcome) -> None:
    numbers, words = found
    words[f"{where} shape"] = f"{values.dtype} {values.ndim}"
    numbers[f"{where} length"] = float(len(values))
    if values.dtype.kind not in "fiub":
        words[where] = repr(values.tolist()[:FEW])
        return
    flat = values.ravel().astype(np.float64)
    if flat.size <= FEW:
        numbers.update({f"{where} {i}": number for i, number in enumerate(flat.tolist())})
    finite = np.clip(flat[np.isfinite(flat)], -1e150, 1e150)
    numbers[f"{where} not finite"] = float(flat.size - finite.size)
    if finite.size:
        numbers[f"{where} sum"], numbers[f"{where} least"] = float(finite.sum()), float(finite.min())
        numbers[f"{where} most"] = float(finite.max())


def _flatten(where: str, value: Any, found: Outcome, spots: Spots, depth: int) -> None:
    if isinstance(value, np.ndarray) and value.ndim:
        _of_array(where, value, found)
    elif isinstance(value, Real | np.number | np.bool_ | np.ndarray):
        try:
            found[0][where] = float(value)
        except (OverflowError, TypeError, ValueError):
            found[1][where] = repr(value)
    elif isinstance(value, str | bytes) or value is None:
        found[1][where] = repr(value)
    else:
        parts = _parts(value) if depth else None
        if parts is None:
            found[1][where] = type(value).__qualname__
            return
        arrays = {name: part for name, part in parts.items() if isinstance(part, np.ndarray) and part.ndim}
        for name, part in parts.items():
            _flatten(f"{where}.{name}", part, found, spots, depth - 1)
        plain = {name: part for name, part in arrays.items() if part.dtype.kind in "fiub"}
        for name, part in plain.items():
            beside = {f"{where}.{other}": one for other, one in plain.items() if one.shape == part.shape[:1] and other != name}
            found[0].update(spots.numbers(f"{where}.{name}", part, beside))


def seen_outcome(call: Callable[[], Any], spots: Spots) -> Outcome:
    """Run once, and return all that shows; an error is an outcome too."""
    seen: dict[str, Any] = {"error": None}
    result = None
    with looking(seen):
        result = call()
    found: Outcome = ({}, {name: repr(value) for name, value in seen.items()})
    # An array alone is put beside nothing, so that it is looked at for the rows that differ too.
    _flatten("", {"": result} if isinstance(result, np.ndarray) else result, found, spots, DEPTH)
    return found


def tabulated(outcomes: list[Outcome]) -> tuple[NDArray[np.float64], NDArray[np.str_], list[str]]:
    """Return the numbers and the words of many runs as tables, and the names of their columns; NaN and "" where nothing was."""
    names = sorted(set().union(*(numbers for numbers, _ in outcomes)))
    labels = sorted(set().union(*(words for _, words in outcomes)))
    table = np.array([[numbers.get(name, np.nan) for name in names] for numbers, _ in outcomes]).reshape(
        len(outcomes), len(names)
    )
    texts = [[words.get(name, "") for name in labels] for _, words in outcomes]
    varied = [i for i in range(len(labels)) if len({row[i] for row in texts}) > 1]
    words = np.array([[row[i] for i in varied] for row in texts], dtype=np.str_).reshape(len(outcomes), len(varied))
    return table, words, [*names, *(labels[i] for i in varied)]
