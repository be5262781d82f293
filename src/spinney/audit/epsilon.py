"""A lower confidence bound of epsilon, from repeated runs on two neighboring data sets.

Any event E that a run's output may fall in bounds epsilon from below: P(E | first) <= exp(epsilon) P(E | second) + delta.
Half of the runs choose the event and the other half, which are independent of that choice, measure it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.constraints import check, real
from spinney.exceptions import ParameterError

__all__ = ["epsilon_lower_bound"]

#: At most this many thresholds are tried.
THRESHOLDS = 512


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Return the runs of one data set; an error does not quote them."""
    runs: NDArray[np.float64] | None = None
    with suppress(Exception):  # whatever a table in its place raises
        runs = np.asarray(values, dtype=np.float64).ravel()
    if runs is None:
        raise ParameterError.wrong(name, "epsilon_lower_bound", "one number for each run", values, "a statistic of the outputs.")
    return runs


def ratio_bound(
    hits: NDArray[np.int64], runs: int, other_hits: NDArray[np.int64], other_runs: int, delta: float, doubt: float
) -> NDArray[np.float64]:
    """Return log((low - delta) / high) for Clopper-Pearson bounds that hold together except with probability `doubt`."""
    from scipy.stats import beta  # type: ignore[import-untyped]

    low = np.where(hits > 0, beta.ppf(doubt / 2, np.maximum(hits, 1), runs - hits + 1), 0.0)
    high = np.where(other_hits < other_runs, beta.isf(doubt / 2, other_hits + 1, np.maximum(other_runs - other_hits, 1)), 1.0)
    with np.errstate(divide="ignore"):
        bound: NDArray[np.float64] = np.log(np.maximum(low - delta, 0.0) / high)
    return bound


def epsilon_lower_bound(first: ArrayLike, second: ArrayLike, delta: float = 0.0, confidence: float = 0.95) -> float:
    """Return an epsilon that the mechanism exceeds or meets, with at least this confidence.

    A return value above the promised epsilon shows that the promise is broken. A value below it proves nothing: another
    statistic, another pair of neighbors or more runs may show more.

    Parameters
    ----------
    first, second : array-like of float or bool
        One statistic of each run's output, on the one and on the other of two neighboring data sets. Runs are independent.
    delta : float
        The promised delta.
    confidence : float

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> bool(0.5 < epsilon_lower_bound(rng.laplace(0, 1, 20000), rng.laplace(1, 1, 20000)) < 1)
    True
    """
    share = real(lambda value: 0 <= value <= 1, "[0, 1]", "the promised delta, and 0.95.")
    check("epsilon_lower_bound", {"delta": delta, "confidence": confidence}, {"delta": share, "confidence": share})
    runs = [_numbers("first", first), _numbers("second", second)]
    if min(values.size for values in runs) < 2:
        return 0.0
    chosen, measured = [np.sort(values[::2]) for values in runs], [np.sort(values[1::2]) for values in runs]
    thresholds = np.unique(np.quantile(np.concatenate(chosen), np.linspace(0, 1, THRESHOLDS), method="lower"))

    def bounds(halves: list[NDArray[np.float64]], at: NDArray[np.float64]) -> NDArray[np.float64]:
        """One row for each event: above or not above a threshold, likelier on the one or on the other data set."""
        above = [half.size - np.searchsorted(half, at, side="right") for half in halves]
        events = [above, [half.size - hits for half, hits in zip(halves, above, strict=True)]]
        return np.array(
            [
                ratio_bound(hits[i], halves[i].size, hits[1 - i], halves[1 - i].size, delta, 1 - confidence)
                for hits in events
                for i in (0, 1)
            ]
        )

    table = bounds(chosen, thresholds)
    event, place = np.unravel_index(int(np.argmax(table)), table.shape)
    return max(0.0, float(bounds(measured, thresholds[place : place + 1])[event, 0])) if math.isfinite(table.max()) else 0.0
