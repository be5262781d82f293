"""What releases of centers and of sites share: noisy sizes, and a private weighted summary of the rows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.releases.promise import Promise


def frozen_array(values: Any, kind: type = np.float64) -> NDArray[Any]:
    """Return an array that cannot be written to."""
    array: NDArray[Any] | None = None
    with suppress(Exception):  # whatever a table in its place raises; a message may quote its cells
        array = np.array(values, dtype=kind)
    if array is None:
        raise ParameterError.wrong("fields", "a release", "arrays of numbers", values, "as a fit makes them.")
    array.setflags(write=False)
    return array


def look_empty(sizes: NDArray[np.float64], margin: float) -> bool:
    """Whether noisy sizes together could be sizes of no rows at all.

    The sizes of no rows, noise cut off at zero, stay below this with a probability of about 0.999, for both kinds of noise.
    """
    return bool(sizes.sum() <= margin * (len(sizes) / 5 + len(sizes) ** 0.5 + 0.8))


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterRelease(Promise):
    """A release of clusters, by their centers or by their sites; fields as for `Release` and `SiteRelease`."""

    #: What to say if the sizes are no larger than noise.
    faint = ""

    algorithm: str
    sizes: NDArray[np.float64]
    sizes_margin: float
    summary_points: NDArray[Any]
    summary_weights: NDArray[np.float64]

    @property
    def looks_empty(self) -> bool:
        """Whether the noisy sizes together look like no rows at all."""
        return look_empty(self.sizes, self.sizes_margin)

    @classmethod
    def _read_fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        fields = super()._read_fields(record)
        return {**fields, "sizes_margin": float(fields["sizes_margin"])}
