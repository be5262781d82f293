"""A ball that holds many rows, as it may be published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spinney._shown import Showable
from spinney.releases.centers import Release
from spinney.spaces.box import FloatArray


@dataclass(frozen=True, eq=False)
class OneCluster(Showable):
    """A small ball that holds at least about as many rows as were asked for.

    Privacy
    -------
    Every field is computed from noisy answers that the charges of `release` paid for.

    Parameters
    ----------
    center : array of shape (d,)
    radius : float
    count : float
        The noisy number of rows in the ball.
    count_margin : float
        The true number lies within this of it, with a probability of about 0.95.
    wanted : int
        The number of rows that was asked for.
    release : Release
        The promise, the charges and the noise: a release of one center, whose size is the noisy number of all rows.
    """

    center: FloatArray
    radius: float
    count: float
    count_margin: float
    wanted: int
    release: Release

    @property
    def statement(self) -> str:
        """The promise in one sentence."""
        return self.release.statement

    @property
    def digest(self) -> str:
        """What a ledger keeps of the release."""
        return self.release.digest

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready values."""
        plain = {"radius": self.radius, "count": self.count, "count_margin": self.count_margin, "wanted": self.wanted}
        return {"center": self.center.tolist(), **plain, "release": self.release.to_dict()}
