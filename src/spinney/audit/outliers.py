"""The lonely outlier: many copies of one row, with and without one far row; the measured epsilon stays below the promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.audit.epsilon import epsilon_lower_bound
from spinney.constraints import check, integer
from spinney.curators.memory import ArrayRows
from spinney.fits.run import run


def outlier(model: Any, n_features: int, runs: int = 200, copies: int = 50, confidence: float = 0.95) -> float:
    """Return a lower bound of epsilon, with this confidence, from releases with and without one far row.

    A value above the promised epsilon shows that the promise is broken; one below it proves nothing.

    Parameters
    ----------
    model : PrivateKMeans or PrivateKMedian
        With the algorithm to try; it is not fitted.
    n_features : int
        The number of columns to try it with.
    runs : int
        Of each of the two tables.
    copies : int
        Rows in the lower corner of the domain.
    confidence : float
    """
    numbers = {"n_features": n_features, "runs": runs, "copies": copies}
    check("outlier", numbers, {name: integer(1, f"for example {name}=2.") for name in numbers})
    fit, _ = model.prepare(np.zeros((0, n_features)))
    domain = fit.problem.domain
    table = np.repeat(domain.lower[None, :], copies, axis=0)
    corner: Any = domain.upper[None, :]

    def statistic(rows: Any) -> float:
        release = run(fit, ArrayRows(rows))
        near = np.abs(release.centers - corner).max(axis=1) <= 0.1 * float((domain.upper - domain.lower).max())
        return float(release.sizes[near].sum() + 1000 * near.any())

    without = [statistic(table) for _ in range(runs)]
    beside = [statistic(np.vstack([table, corner])) for _ in range(runs)]
    return epsilon_lower_bound(without, beside, float(fit.problem.budget.delta), confidence)
