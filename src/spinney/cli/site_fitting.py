"""From public files and a file of demand to a release of sites. scikit-learn is not needed, and takes long to import."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cli.fitting import OWNER, check_cap, plan_facts
from spinney.cli.progress import asking, reading
from spinney.cli.results import as_json, wants_json
from spinney.curators.demand import DemandRows
from spinney.exceptions import DataError, ParameterError
from spinney.fits.parameters import check_clusters, check_promise, check_sites
from spinney.fits.run import run
from spinney.ledgers.ledger import Ledger
from spinney.releases.sites import SiteRelease
from spinney.spaces.degrees import refuse_degrees
from spinney.spaces.metric import FiniteMetric
from spinney.spaces.plain_values import canonical_name
from spinney.tables.networks import find_places, read_demand, read_edges, read_names, read_points

#: Where coordinates are unless the user says otherwise.
AXES = ["x", "y"]
#: What makes a value of --existing or --candidates a file.
SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True)
class PublicFiles:
    """What the user says of the space, as it was typed."""

    graph: Path | None
    points: Path | None
    coordinates: Path | None
    columns: str | None
    metric: str | None
    largest_part: bool
    candidates: tuple[str, ...]
    existing: tuple[str, ...]

    def __post_init__(self) -> None:
        if (self.graph is None) == (self.points is None):
            raise ParameterError(
                "The space is missing, or given twice.",
                "--graph EDGES for travel along a network, or --points TABLE for straight lines.",
            )
        for option, value, needed, holds in (
            ("--metric", self.metric, "--points", self.points),
            ("--coordinates", self.coordinates, "--graph", self.graph),
            ("--largest-part", self.largest_part, "--graph", self.graph),
            ("--columns", self.columns, "--points or --coordinates", self.points or self.coordinates),
        ):
            if value and not holds:
                raise ParameterError(f"{option} needs {needed}.", f"leave {option} out.")

    @property
    def has_coordinates(self) -> bool:
        """Whether the space can be drawn."""
        return self.graph is None or self.coordinates is not None

    @property
    def axes(self) -> list[str]:
        """The columns of coordinates."""
        return [name.strip() for name in self.columns.split(",")] if self.columns else AXES

    @property
    def degrees(self) -> bool | None:
        """Whether coordinates are longitudes and latitudes by their names; None if these do not tell."""
        starts = [name.lower()[:3] for name in self.axes]
        return True if starts in (["lon", "lat"], ["lng", "lat"]) else None

    def read(self) -> tuple[FiniteMetric, NDArray[np.int64]]:
        """Return the space, with the names of its points, and the existing sites."""
        axes = self.axes
        where = str(self.graph or self.points)
        if self.points is not None:
            points = read_points(self.points, axes)
            names = points.names
        else:
            assert self.graph is not None
            edges = read_edges(self.graph, self.largest_part)
            names = edges.names
            drawn = None if self.coordinates is None else _drawn(self.coordinates, axes, names)
        candidates = find_places(_names(self.candidates), names, "--candidates", where) if self.candidates else None
        if candidates is not None and not len(candidates):
            raise DataError("--candidates names no point.", "leave it out if sites may be anywhere.")
        existing = find_places(_names(self.existing), names, "--existing", where)
        if self.points is not None:
            metric: Any = self.metric or "euclidean"
            return FiniteMetric.from_points(points.coordinates, metric, candidates, names=names), existing
        return FiniteMetric.from_graph(edges.graph, candidates, drawn, names=names), existing


def _drawn(path: Path, axes: list[str], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Return where the points of a network are drawn, in their order."""
    points = read_points(path, axes)
    places = {name: place for place, name in enumerate(points.names)}
    missing = next((name for name in names if name not in places), None)
    if missing is not None:
        raise DataError(f"{path} has no point {missing!r}.", "give coordinates for every point of the network.")
    drawn: NDArray[np.float64] = points.coordinates[[places[name] for name in names]]
    return drawn


def _names(values: Iterable[str]) -> list[str]:
    """Return the names in files, and those that are typed, separated by commas."""
    found: list[str] = []
    for value in values:
        if value.lower().endswith(SUFFIXES):
            found += read_names(Path(value))
        else:
            found += [canonical_name(name) for name in value.split(",") if name.strip()]
    return found


def _read_space(files: PublicFiles, has_groups: bool, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked for; what needs no file is checked first."""
    check_clusters("n_clusters", OWNER, parameters["n_clusters"])
    check_promise({"random_state": None, "noise_seed": None, **parameters}, OWNER, has_groups, "sites")
    if files.points is not None:
        refuse_degrees(files.axes, "--points", "or give the lengths of roads with --graph.")
    with reading(files.graph or files.points):
        space, existing = files.read()
    return {"space": space, "existing_sites": existing, **parameters}


def site_plan_text(files: PublicFiles, n_guess: int | None, groups: str | None, **parameters: Any) -> str:
    """Return the plan; no demand is read, so that groups need not be named."""
    if groups is not None:
        check_cap(groups, parameters)
    grouped = parameters["max_rows_per_group"] is not None
    fit = check_sites(_read_space(files, grouped, parameters), OWNER, grouped)
    plan = fit.plan(n_guess, f"{OWNER}.plan")
    if wants_json():
        return as_json(plan_facts(plan, None, parameters["adjacency"], parameters["max_rows_per_group"]))
    return str(plan)


def choose_sites(
    files: PublicFiles, demand: Path, demand_column: str, groups: str | None, ledger: Ledger | None = None, **parameters: Any
) -> tuple[SiteRelease, FiniteMetric]:
    """Read the public files, check everything, read the demand, and return the release and the space."""
    check_cap(groups, parameters)
    asked = _read_space(files, groups is not None, parameters)
    fit, space = check_sites(asked, OWNER, groups is not None), asked["space"]
    with reading(demand):
        read = read_demand(demand, demand_column, space.names or (), groups)
    with asking(fit):
        return run(fit, DemandRows(read.nonprivate_rows, read.nonprivate_groups), ledger), space
