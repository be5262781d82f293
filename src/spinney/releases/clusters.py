"""What releases of centers and of sites share: noisy sizes, and a private weighted summary of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.releases.promise import Promise

#: Sizes that add up to less than this share of the rows that were expected are worth a word.
_EXPECTED_SHARE = 0.9
#: A margin of Gaussian noise that holds with probability 0.95, in standard deviations; of Laplace noise it is more.
_DEVIATIONS = 1.96


def look_empty(sizes: NDArray[np.float64], margin: float) -> bool:
    """Whether noisy sizes together could be sizes of no rows at all.

    The sizes of no rows, noise cut off at zero, stay below this with a probability of about 0.999, for both kinds of noise.
    """
    return bool(sizes.sum() <= margin * (len(sizes) / 5 + len(sizes) ** 0.5 + 0.8))


def lack_rows(sizes: NDArray[np.float64], margin: float, n_guess: int) -> bool:
    """Whether noisy sizes add up to so little of a public guess that noise does not explain it: by four standard deviations."""
    return bool(sizes.sum() < _EXPECTED_SHARE * n_guess - 4 * len(sizes) ** 0.5 * margin / _DEVIATIONS)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterRelease(Promise):
    """A release of clusters, by their centers or by their sites; fields as for `Release` and `SiteRelease`."""

    #: What to say if the sizes are no larger than noise, if they lack rows that were expected, and of one cluster that was found.
    faint, lack, single = "", "", ""

    algorithm: str
    sizes: NDArray[np.float64]
    sizes_margin: float
    summary_points: NDArray[Any]
    summary_weights: NDArray[np.float64]

    @property
    def looks_empty(self) -> bool:
        """Whether the noisy sizes together look like no rows at all."""
        return look_empty(self.sizes, self.sizes_margin)

    @property
    def doubts(self) -> dict[str, str]:
        """What to say of the release, if there is something, by its heading: it follows from the release alone."""
        if self.looks_empty:
            return {"Sizes no larger than noise": self.faint}
        found = {"Rows that were expected": self.lack, "Only one cluster": self.single}
        return {title: text for title, text in found.items() if text}

    @classmethod
    def _read_fields(cls, record: dict[str, Any]) -> dict[str, Any]:
        fields = super()._read_fields(record)
        return {**fields, "sizes_margin": float(fields["sizes_margin"])}
