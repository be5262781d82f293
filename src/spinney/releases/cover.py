"""The release of maximum coverage: chosen sets of a public family, by their indices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.releases.promise import Promise


@dataclass(frozen=True, eq=False, kw_only=True)
class CoverRelease(Promise):
    """The published result of `max_coverage`.

    Parameters
    ----------
    chosen : array of int
        The chosen sets, in the order of choosing; one may come again, which adds nothing.
    n_sets, n_items : int
        Public.
    epsilon, promised_epsilon, delta, adjacency, max_rows_per_group, noise, charges, version, model, preprocessing, parameters,
    random_state, noise_seed, made, mechanisms, k, k_source, missing_values, versions, audit, signature, format
        As for `Promise`.
    """

    _wholes = ("chosen",)

    chosen: NDArray[np.int64]
    n_sets: int
    n_items: int
    format: str = "spinney-cover/3"

    def _holds(self) -> bool:
        return super()._holds() and self.chosen.ndim == 1 and all(0 <= index < self.n_sets for index in self.chosen.tolist())
