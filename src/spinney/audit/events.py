"""Learned events: what distinguishes two neighbors' runs, learned on a quarter of the runs, chosen on another.

Scores are single columns, a logistic regression, and likelihood ratios of binned columns, added up and weighed; an event is a
score above, or not above, a threshold. What is learned from some runs is measured on others, so nothing here needs to be sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.audit.epsilon import ratio_bound

#: Bins of a column, single columns that are tried alone, thresholds of a score, and columns that are learned from together.
BINS, ALONE, THRESHOLDS, MOST = 16, 48, 512, 160
STEPS, RIDGE = 25, 1e-4

Floats = NDArray[np.float64]
#: Numbers and words of many runs.
Table = tuple[Floats, NDArray[np.str_]]


def quiet(numbers: Floats) -> Floats:
    """Return numbers that arithmetic can bear; each column that has others gets a column that marks them."""
    odd = ~np.isfinite(numbers)
    marks = odd[:, odd.any(axis=0)].astype(np.float64)
    return np.hstack([np.clip(np.where(np.isnan(numbers), 0.0, numbers), -1e100, 1e100), marks])


class _Ratios:
    """Log likelihood ratios of binned columns; a value that comes often has a bin of its own."""

    def __init__(self, first: Floats, second: Floats) -> None:
        self._edges, self._ratios = [], []
        for column in range(first.shape[1]):
            pooled = np.concatenate([first[:, column], second[:, column]])
            edges = np.unique(np.quantile(pooled, np.linspace(0, 1, BINS + 1), method="lower"))
            counts = [np.bincount(self._bins(edges, side[:, column]), minlength=2 * len(edges) + 1) for side in (first, second)]
            self._edges.append(edges)
            self._ratios.append(np.log((counts[0] + 0.5) / len(first)) - np.log((counts[1] + 0.5) / len(second)))

    @staticmethod
    def _bins(edges: Floats, values: Floats) -> NDArray[np.int64]:
        return np.asarray(np.searchsorted(edges, values, "left") + np.searchsorted(edges, values, "right"))

    def __call__(self, numbers: Floats) -> Floats:
        """Return the log ratio of each cell."""
        columns = [
            ratios[self._bins(edges, numbers[:, i])]
            for i, (edges, ratios) in enumerate(zip(self._edges, self._ratios, strict=True))
        ]
        return np.stack(columns, axis=1) if columns else np.empty((len(numbers), 0))


def _regression(first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """Return middle, width and weights of a logistic regression with a small ridge, by Newton's method."""
    pooled = np.concatenate([first, second])
    middle, width = pooled.mean(axis=0), pooled.std(axis=0)
    width[width == 0] = 1.0
    x = np.hstack([(pooled - middle) / width, np.ones((len(pooled), 1))])
    y = np.repeat([1.0, 0.0], [len(first), len(second)])
    weights = np.zeros(x.shape[1])
    ridge = RIDGE * len(x) * np.eye(x.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (y - chances) - ridge @ weights
        bend = (x * (chances * (1 - chances) + 1e-9)[:, None]).T @ x + ridge
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    return middle, width, weights


def _linear(numbers: Floats, fitted: tuple[Floats, Floats, Floats]) -> Floats:
    middle, width, weights = fitted
    return np.asarray((numbers - middle) / width @ weights[:-1])


class _Scores:
    """All scores, learned from a quarter of the runs."""

    def __init__(self, first: Table, second: Table) -> None:
        self._texts = [self._counted(first[1][:, i], second[1][:, i]) for i in range(first[1].shape[1])]
        sides = [self._numbers(side) for side in (first, second)]
        pooled = np.concatenate(sides)
        gaps = np.abs(sides[0].mean(axis=0) - sides[1].mean(axis=0)) / (pooled.std(axis=0) + 1e-300)
        self._ratios = _Ratios(*sides)
        logs = [self._ratios(side) for side in sides]
        told = gaps + np.abs(logs[0].mean(axis=0)) + np.abs(logs[1].mean(axis=0))  # a KL divergence, each way
        varied = np.flatnonzero(pooled.max(axis=0) > pooled.min(axis=0))
        self.kept = varied[np.argsort(-told[varied], kind="stable")][:MOST]
        self._plain = _regression(*(side[:, self.kept] for side in sides))
        self._weighed = _regression(*(side[:, self.kept] for side in logs))

    @staticmethod
    def _counted(first: NDArray[np.str_], second: NDArray[np.str_]) -> dict[str, float]:
        """Return the log ratio of each text."""
        sides = [dict(zip(*np.unique(side, return_counts=True), strict=True)) for side in (first, second)]
        return {
            text: float(np.log((sides[0].get(text, 0) + 0.5) / (sides[1].get(text, 0) + 0.5)))
            for text in {**sides[0], **sides[1]}
        }

    def _numbers(self, side: Table) -> Floats:
        numbers, words = side
        texts = [[ratios.get(text, 0.0) for text in words[:, i].tolist()] for i, ratios in enumerate(self._texts)]
        return np.hstack([numbers, np.array(texts).T.reshape(len(numbers), -1)])

    def __call__(self, side: Table) -> Floats:
        """Return every score of every run."""
        numbers = self._numbers(side)
        logs = self._ratios(numbers)[:, self.kept]
        learned = [_linear(numbers[:, self.kept], self._plain), _linear(logs, self._weighed), logs.sum(axis=1)]
        return np.column_stack([*learned, logs[:, :ALONE], numbers[:, self.kept[:ALONE]]])


@dataclass(frozen=True)
class Event:
    """A score above, or not above, a threshold, likelier on the first (0) or the second (1) table."""

    scores: Any
    column: int
    threshold: float
    above: bool
    likelier: int

    def hits(self, side: Table) -> int:
        """Return in how many runs it happened."""
        return int(((self.scores(side)[:, self.column] > self.threshold) == self.above).sum())

    def bound(self, sides: tuple[Table, Table], delta: float, doubt: float) -> float:
        """Return the epsilon that these runs show, except with probability `doubt`."""
        hits, runs = [np.array([self.hits(side)]) for side in sides], [len(side[0]) for side in sides]
        i = self.likelier
        return max(0.0, float(ratio_bound(hits[i], runs[i], hits[1 - i], runs[1 - i], delta, doubt)[0]))


def _roughly(hits: Any, runs: int, other_hits: Any, other_runs: int, delta: float, width: float) -> Floats:
    """Return about what `ratio_bound` would, in a hundredth of its time: Wilson's interval."""

    def end(count: Any, n: int, sign: float) -> Floats:
        share, square = count / n, width**2 / n
        spread = width * np.sqrt(share * (1 - share) / n + square / (4 * n))
        return np.asarray((share + square / 2 + sign * spread) / (1 + square))

    low, high = end(hits, runs, -1.0), end(other_hits, other_runs, 1.0)
    return np.asarray(np.log(np.maximum(low - delta, 1e-300) / high))


def _chosen(scores: Any, sides: tuple[Table, Table], delta: float, doubt: float) -> Event:
    """Return the event that shows most on these runs."""
    width = NormalDist().inv_cdf(1 - doubt / 2)
    tables = [scores(side) for side in sides]
    best, found = -np.inf, Event(scores, 0, 0.0, True, 0)
    for column in range(tables[0].shape[1]):
        sorted_sides = [np.sort(table[:, column]) for table in tables]
        pooled = np.concatenate(sorted_sides)
        places = np.unique(np.quantile(pooled, np.linspace(0, 1, THRESHOLDS), method="lower"))
        over = [len(side) - np.searchsorted(side, places, side="right") for side in sorted_sides]
        for above in (True, False):
            hits = [count if above else len(side) - count for count, side in zip(over, sorted_sides, strict=True)]
            for i in (0, 1):
                bounds = _roughly(hits[i], len(sorted_sides[i]), hits[1 - i], len(sorted_sides[1 - i]), delta, width)
                place = int(np.argmax(bounds))
                if bounds[place] > best:
                    best, found = float(bounds[place]), Event(scores, column, float(places[place]), above, i)
    return found


def half(side: Table, start: int) -> Table:
    """Return every other run."""
    return side[0][start::2], side[1][start::2]


def learned(first: Table, second: Table, delta: float, doubt: float) -> Event:
    """Return an event from runs on two tables: scores are learned on every other run, the event is chosen on the rest."""
    return _chosen(_Scores(half(first, 0), half(second, 0)), (half(first, 1), half(second, 1)), delta, doubt)
