"""Simulated users: a table whose rows answer like devices, all at once. What they say has the law of the devices' reports.

Only sums of reports are drawn, not the reports: of randomized bits two binomial numbers for each slot, of Gaussian noise one with
the variance of all (``proofs/local.md``). Who is in which group, about which column a user speaks and how a value is rounded
comes from a secret key, independently of the rows.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.local.aggregation import columns_of
from spinney.local.cells import Grid, leaves_of
from spinney.local.device import FINE, WORDS, digest_of, slots_of
from spinney.privacy import Held
from spinney.questions.ground import Ground
from spinney.spaces import IntArray

#: Rows that are compared with centers at once.
BLOCK = 2**16


class Users(Held):
    """Rows as points of the grid, each a user's. A secret key decides all but the noise."""

    def __init__(self, nonprivate_rows: NDArray[Any], ground: Ground, key: bytes) -> None:
        domain, rows = ground.domain, np.asarray(nonprivate_rows)
        assert domain is not None
        self.ground, self.grid, self._key = ground, Grid.of(domain), key
        if np.isfinite(domain.radius):
            finite = np.isfinite(np.asarray(rows, dtype=np.float64)).all(axis=1, keepdims=True)
            rows = np.where(finite, domain.clip(np.where(finite, rows, domain.center)), np.nan)
        self._places = self.grid.places(rows)

    def _words(self, label: str) -> NDArray[np.uint64]:
        """Return a secret number below 2^32 for each user."""
        stream = hashlib.shake_256(self._key + label.encode("ascii")).digest(4 * len(self._places))
        return np.frombuffer(stream, dtype=">u4").astype(np.uint64)

    def exact(self, asked: dict[str, Any]) -> tuple[IntArray, IntArray]:
        """Return how many users speak about each column, and how many slots are whose own: before any noise."""
        group, parts = asked["group"], self._words(asked["group"]["salt"]) % asked["group"]["parts"]
        at = np.flatnonzero((parts >= group["first"]) & (parts < group["last"]))
        places, kind, slots, columns = self._places[at], asked["kind"], slots_of(asked), columns_of(asked)
        digest, column = digest_of(asked), np.zeros(len(at), dtype=np.int64)
        if kind == "cells":
            slot = leaves_of(places, asked, self.grid)
        elif kind == "cost":
            slot = np.where(self._is_more(places, asked, self._words(f"{digest}:round")[at]), 0, -1)
        else:
            region, square = _regions(places, np.asarray(asked["centers"]))
            slot = np.where(square <= np.asarray(asked["radii"])[region] ** 2, region, -1)
            if kind == "sums":
                return np.array([len(at)]), _sums(places, slot, asked)
            if kind == "offsets":
                column = (self._words(f"{digest}:column")[at] * np.uint64(columns) // np.uint64(WORDS)).astype(np.int64)
                slot = _binned(places, slot, column, asked, self._words(f"{digest}:round")[at])
        inside = slot >= 0
        totals = np.bincount(column[inside] * slots + slot[inside], minlength=columns * slots).reshape(columns, slots)
        return np.bincount(column, minlength=columns), totals

    @staticmethod
    def _is_more(places: IntArray, asked: dict[str, Any], words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        first, second = (_regions(places, np.asarray(asked[name]))[1] for name in ("first", "second"))
        if asked["power"] == 1:
            first, second = _roots(first), _roots(second)
        most = asked["range"]
        share = (np.clip(first - second, -most, most) + most).astype(np.float64) / (2 * most)
        return np.asarray(words < np.floor(share * WORDS).astype(np.uint64))


def _regions(places: IntArray, centers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the nearest center of each row, the first of equals, and its squared distance."""
    region, square = (np.empty(len(places), dtype=np.int64) for _ in range(2))
    for start in range(0, len(places), BLOCK):
        part = slice(start, start + BLOCK)
        best = np.full(len(places[part]), np.iinfo(np.int64).max)
        for number, center in enumerate(centers):
            gaps = places[part] - center
            found = np.einsum("ij,ij->i", gaps, gaps)
            region[part] = np.where(found < best, number, region[part])
            best = np.minimum(best, found)
        square[part] = best
    return region, square


def _roots(squares: IntArray) -> IntArray:
    """Return square roots, rounded down."""
    roots = np.floor(np.sqrt(squares.astype(np.float64))).astype(np.int64)
    roots -= roots * roots > squares
    return np.asarray(roots + ((roots + 1) * (roots + 1) <= squares))


def _longest(gaps: IntArray, reach: IntArray) -> IntArray:
    square = np.einsum("ij,ij->i", gaps, gaps)
    return np.maximum(np.where(square > 0, _roots(np.maximum(square - 1, 0)) + 1, 0), reach)


def _scaled(numbers: IntArray, by: int, length: IntArray) -> IntArray:
    """Return numbers * by / length, truncated toward zero."""
    return np.asarray(np.sign(numbers) * (np.abs(numbers) * by // length))


def _binned(places: IntArray, region: IntArray, column: IntArray, asked: dict[str, Any], words: NDArray[np.uint64]) -> IntArray:
    """Return the bin of each user's offset in one column, rounded by a secret word; -1 outside all regions."""
    inside, d = np.flatnonzero(region >= 0), places.shape[1]
    places, column, words, t = places[inside], column[inside], words[inside], region[inside]
    gaps, reach, bins = places - np.asarray(asked["centers"])[t], np.asarray(asked["reaches"])[t], asked["bins"]
    longest = reach if asked["kernel"] == "mean" else _longest(gaps, reach)
    own = gaps[np.arange(len(gaps)), np.minimum(column, d - 1)]
    value = np.where(column == d, reach * FINE // longest, _scaled(np.clip(own, -longest, longest), FINE, longest))
    low, rest = np.divmod((value + FINE) * (bins - 1), 2 * FINE)
    found = np.full(len(region), -1, dtype=np.int64)
    found[inside] = t * bins + low + (words < (rest * (WORDS // (2 * FINE))).astype(np.uint64))
    return found


def _sums(places: IntArray, region: IntArray, asked: dict[str, Any]) -> IntArray:
    """Return exact sums of clipped offsets, region by region."""
    inside, d = region >= 0, places.shape[1]
    t = region[inside]
    gaps = places[inside] - np.asarray(asked["anchors"])[t]
    longest = _longest(gaps, np.asarray(asked["reaches"])[t])
    totals = np.zeros((len(asked["centers"]), d), dtype=np.int64)
    np.add.at(totals, t, _scaled(gaps, asked["resolution"], longest[:, None]))
    return totals.reshape(1, -1)
