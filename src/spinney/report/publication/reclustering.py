"""Other clusters of a release: its private summary clustered again, free of charge and in the units of the fit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._shown import Showable
from spinney.algorithms.indicators import adding_up
from spinney.constraints import check, integer
from spinney.exceptions import DataError, check_path
from spinney.fits.parameters import MOST_CLUSTERS
from spinney.releases.assigning import finite_points
from spinney.releases.centers import Release
from spinney.releases.objectives import POWERS, title_of
from spinney.releases.reading import RECLUSTERING
from spinney.report.frames import center_columns, framed
from spinney.report.publication.document import Sheet, Value
from spinney.report.publication.plain import TEXT
from spinney.report.separation import check_summary
from spinney.solvers.weighted import solve
from spinney.spaces.box import FloatArray, domain_from_dict
from spinney.spaces.column import Column
from spinney.spaces.nearest import nearest
from spinney.spaces.plain_values import short
from spinney.tables.sources import read_source

__all__ = ["Reclustering", "recluster"]

#: What a reclustering is, wherever it is shown.
POST_PROCESSING = (
    "post-processing of a release, free of charge: no private step moved these centers, and their sizes have no margins"
)


@dataclass(frozen=True, eq=False, repr=False)
class Reclustering(Showable):
    """Other clusters of a release's private summary, largest first. It is no release: it promises what the release does.

    Parameters
    ----------
    release : Release
        Whose summary was clustered.
    centers : array of shape (k, d)
        In the user's units.
    sizes : array of shape (k,)
        The weights of the summary in each cluster: about its rows. No margins are known.
    random_state : int
    """

    release: Release
    centers: FloatArray
    sizes: FloatArray
    random_state: int

    @property
    def statement(self) -> str:
        """What it is, and what the release promises."""
        return f"{POST_PROCESSING}. The release: {self.release.statement}"

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the index of the nearest center of each row of a table; labels of private rows are as private as they are."""
        release = self.release
        rows = np.asarray(read_source(X, release.columns, schema=release.facts).nonprivate_rows)
        width = release.centers.shape[1] if release.facts is None else len(release.facts.columns)
        if rows.ndim != 2 or rows.shape[1] != width:
            raise DataError(f"The table does not have the {width} columns of the release.", "use the same columns.")
        return nearest(finite_points(release, rows), release.scaled(self.centers))[1]

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return the centers with their sizes as a frame of ``"pandas"`` or ``"polars"``."""
        return framed(center_columns(self.release.feature_names, self.centers, self.sizes), kind)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return centers and sizes as JSON, marked as what they are, and write them to `path` if one is given."""
        record = {
            "format": RECLUSTERING,
            "what": POST_PROCESSING,
            "of": {"digest": self.release.digest, "statement": self.release.statement},
            "objective": self.release.objective,
            "k": len(self.centers),
            "random_state": self.random_state,
            "feature_names": None if self.release.feature_names is None else list(self.release.feature_names),
            "centers": self.centers.tolist(),
            "sizes": self.sizes.tolist(),
        }
        text = json.dumps(record, indent=1, sort_keys=True, allow_nan=False) + "\n"
        if path is not None:
            check_path(path, "to_json")
            Path(path).write_text(text, encoding="utf-8")
        return text

    def __repr__(self) -> str:
        k, d = self.centers.shape
        return f"Reclustering({k} centers x {d} columns; {POST_PROCESSING})"

    def __str__(self) -> str:
        facts, d = self.release.facts, self.centers.shape[1]
        columns = [Column(None, "number")] * d if facts is None else facts.of_titles
        names = self.release.feature_names or tuple(f"column {i}" for i in range(d))
        rows = []
        for place, (center, size) in enumerate(zip(self.centers.tolist(), self.sizes.tolist(), strict=True)):
            cells = [column.shown(value) or short(value, 5) for column, value in zip(columns, center, strict=True)]
            rows.append(tuple(map(Value, (str(place), f"{size:.0f}", *cells))))
        caption = f"{title_of(self.release.objective)}: {len(self.centers)} clusters of the private summary"
        return TEXT[Sheet](Sheet(caption, ("cluster", "size", *names), tuple(rows), 1, f"This is {self.statement}."))

    def _repr_html_(self) -> str:
        frame: str = self.to_frame()._repr_html_()
        return f"<p>{POST_PROCESSING[0].upper()}{POST_PROCESSING[1:]}.</p>{frame}"


def recluster(release: Release, n_clusters: int, random_state: int = 0) -> Reclustering:
    """Return other clusters of a release; parameters and privacy as for ``release.recluster``."""
    lawful = {"n_clusters": integer(1, "recluster(5).", MOST_CLUSTERS), "random_state": integer(0, "random_state=0.")}
    check("recluster", {"n_clusters": n_clusters, "random_state": random_state}, lawful)
    check_summary(release)
    scaled = release.in_scale  # in the units of distances
    domain, rng = domain_from_dict(scaled.domain), np.random.default_rng(random_state)
    power, fillers = POWERS[release.objective], domain.sample(int(n_clusters), rng)
    found = solve(scaled.summary_points, scaled.summary_weights, int(n_clusters), power, rng, fillers).centers
    found = adding_up(found, release.facts)  # shares of categories
    labels = nearest(np.ascontiguousarray(scaled.summary_points), found)[1]
    sizes = np.bincount(labels, scaled.summary_weights, len(found)).astype(np.float64)
    order = np.argsort(-sizes, kind="stable")
    units = 1.0 if release.facts is None else release.facts.units
    centers = np.clip(found[order] * units, release.domain["lower"], release.domain["upper"])
    return Reclustering(release, centers, sizes[order], int(random_state))
