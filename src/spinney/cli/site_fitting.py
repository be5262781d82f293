"""From public files and a file of demand to a release of sites. scikit-learn is not needed, and takes long to import."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cli.fitting import OWNER, check_cap, told_plan
from spinney.cli.progress import asking, reading
from spinney.curators.demand import DemandRows, Weighed
from spinney.exceptions import DataError, ParameterError
from spinney.fits.parameters import check_count, check_promise
from spinney.fits.run import run
from spinney.fits.site_parameters import check_row_weights, check_sites
from spinney.ledgers.ledger import Ledger
from spinney.naming import kind_of
from spinney.releases.sites import SiteRelease
from spinney.spaces.degrees import refuse_degrees
from spinney.spaces.metric import FiniteMetric
from spinney.spaces.plain_values import canonical_name
from spinney.tables import positions
from spinney.tables.map_files import GRAPHML, JSON, PLACES, SHAPES, read_network, read_places
from spinney.tables.networks import SUFFIXES, find_places, read_demand, read_names, read_points

#: Where coordinates are unless the user says otherwise.
AXES = ["x", "y"]
#: Kinds of networks that may say where their points are.
GRAPHS = GRAPHML | JSON | SHAPES


@dataclass(frozen=True)
class PublicFiles:
    """What the user says of the space, as it was typed."""

    graph: Path | None
    points: Path | None
    coordinates: Path | None
    columns: str | None
    metric: str | None
    weight: str | None
    both_ways: bool
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
            ("--weight", self.weight, "--graph", self.graph),
            ("--both-ways", self.both_ways, "--graph", self.graph),
            ("--largest-part", self.largest_part, "--graph", self.graph),
            ("--columns", self.columns, "--points or --coordinates", self.points or self.coordinates),
        ):
            if value and not holds:
                raise ParameterError(f"{option} needs {needed}.", f"leave {option} out.")

    @property
    def has_coordinates(self) -> bool:
        """Whether the space can be drawn, as far as names of files say."""
        return self.graph is None or self.coordinates is not None or kind_of(self.graph) in GRAPHS

    @property
    def axes(self) -> list[str]:
        """The columns of coordinates."""
        return [name.strip() for name in self.columns.split(",")] if self.columns else AXES

    @property
    def degrees(self) -> bool | None:
        """Whether coordinates are longitudes and latitudes by their names; None if these do not tell."""
        starts = [name.lower()[:3] for name in self.axes]
        return True if starts in (["lon", "lat"], ["lng", "lat"]) else None

    def read(self) -> tuple[FiniteMetric, NDArray[np.int64], dict[int, str]]:
        """Return the space, with the names of its points, the existing sites, and what files of places call points."""
        where, called = str(self.graph or self.points), dict[int, str]()
        space = self._read_points() if self.graph is None else self._read_network(self.graph)
        candidates = _places(self.candidates, space, "--candidates", where, called) if self.candidates else None
        if candidates is not None and not len(candidates):
            raise DataError("--candidates names no point.", "leave it out if sites may be anywhere.")
        existing = _places(self.existing, space, "--existing", where, called)
        return space if candidates is None else replace(space, candidates=np.sort(candidates)), existing, called

    def _read_points(self) -> FiniteMetric:
        assert self.points is not None
        places = read_places(self.points, self.axes)
        metric: Any = self.metric or ("haversine" if places.degrees else "euclidean")
        if places.degrees and metric != "haversine":
            raise ParameterError(f"{self.points} is in longitude and latitude.", "--metric haversine measures great circles.")
        return FiniteMetric.from_points(places.coordinates, metric, names=places.names)

    def _read_network(self, graph: Path) -> FiniteMetric:
        space = read_network(graph, weight=self.weight, largest_part=self.largest_part, both_ways=self.both_ways)
        if self.coordinates is None:
            return space
        places = read_places(self.coordinates, self.axes)
        drawn = places.coordinates[_of_points(space, places.names, self.coordinates, "coordinates")]
        return replace(space, coordinates=drawn, degrees=places.degrees)


@dataclass(frozen=True)
class DemandFile:
    """What the user says of the private demand, as it was typed."""

    demand: Path | None
    demand_column: str
    demand_columns: str | None
    groups: str | None
    row_weights: str | None

    @property
    def axes(self) -> list[str] | None:
        """Columns of positions; None if points are named."""
        if self.demand is not None and kind_of(self.demand) in JSON:
            return ["longitude", "latitude"]
        return None if self.demand_columns is None else [name.strip() for name in self.demand_columns.split(",")]

    def check(self, parameters: dict[str, Any]) -> None:
        """Raise unless options that need each other are there."""
        check_cap(self.groups, parameters)
        if self.axes is not None and len(self.axes) != 2:
            raise ParameterError("--demand-columns must be two names.", "--demand-columns lon,lat.")
        if self.axes is None and parameters["snap_limit"] is not None:
            raise ParameterError("--snap-limit needs positions.", "--demand-columns lon,lat, or leave --snap-limit out.")

    def read(self, space: FiniteMetric, parameters: dict[str, Any]) -> DemandRows:
        """Return the rows, after a check that their positions could be moved to points of the space."""
        counted, axes = check_row_weights(parameters, OWNER), self.axes
        if axes is not None:
            positions.check_positions(space, axes)
        assert self.demand is not None
        with reading(self.demand):
            if axes is None:
                read = read_demand(self.demand, self.demand_column, space.names or (), self.groups, self.row_weights)
            else:
                read = positions.read_positions(self.demand, axes, self.groups, self.row_weights)
            places = read.nonprivate_rows
            places = places if axes is None else positions.nearest_rows(places, space, parameters["snap_limit"])
        if counted is None:
            return DemandRows(places, read.nonprivate_groups)
        weighed = Weighed(counted.times(read.nonprivate_weights), counted.most)
        return DemandRows(places, read.nonprivate_groups, weighed)


def _names_of(space: FiniteMetric) -> tuple[str, ...]:
    """Return what points are called in files."""
    return space.names or tuple(map(str, range(space.n_points)))


def _places(values: Iterable[str], space: FiniteMetric, option: str, where: str, called: dict[int, str]) -> NDArray[np.int64]:
    """Return the points that are named, each once, or that are nearest to places of a file, which they are `called` then, too."""
    maps = [value for value in values if value.lower().endswith(tuple(PLACES))]
    names = _names(value for value in values if value not in maps)
    found = [find_places(names, _names_of(space), option, where)]
    for path in maps:
        if not space.degrees:
            words = f"{option}: {path} needs points in longitude and latitude."
            raise ParameterError(words, "a map in degrees, or --coordinates TABLE --columns lon,lat.")
        places = read_places(path)
        found.append(space.nearest(places.coordinates))
        for point, name in zip(found[-1].tolist(), places.names, strict=True):
            called.setdefault(point, name)
    together = np.concatenate(found)
    return together[np.sort(np.unique(together, return_index=True)[1])]


def _names(values: Iterable[str]) -> list[str]:
    """Return the names in files, and those that are typed, separated by commas."""
    found: list[str] = []
    for value in values:
        if value.lower().endswith(SUFFIXES):
            found += read_names(Path(value))
        else:
            found += [canonical_name(name) for name in value.split(",") if name.strip()]
    return found


def _read_space(files: PublicFiles, has_groups: bool, parameters: dict[str, Any]) -> tuple[dict[str, Any], FiniteMetric]:
    """Return what is asked for, and the space as demand names its points; what needs no file is checked first.

    A release calls sites by the places that they were moved from, too.
    """
    check_count(parameters, OWNER)
    check_promise({"random_state": None, "noise_seed": None, **parameters}, OWNER, has_groups, "sites")
    if files.points is not None and files.metric != "haversine":
        refuse_degrees(files.axes, "--points", "measure great circles with --metric haversine, or roads with --graph.")
    with reading(files.graph or files.points):
        space, existing, called = files.read()
        weights = None if parameters["weights"] is None else _weights(parameters["weights"], space)
    names = tuple(f"{called[i]} at {name}" if i in called else name for i, name in enumerate(_names_of(space) if called else ()))
    shown = replace(space, names=names) if called and files.graph is not None else space
    return {"space": shown, "existing_sites": existing, **parameters, "weights": weights}, space


def _weights(path: Path, space: FiniteMetric) -> NDArray[np.float64]:
    """Return how much a row at each point counts."""
    read = read_points(path, ["weight"])
    return read.coordinates[_of_points(space, read.names, path, "weights"), 0]


def _of_points(space: FiniteMetric, names: Iterable[str], path: Path, what: str) -> list[int]:
    """Return the line of a file about each point of a space, whose names a file has in some order."""
    known = {name: line for line, name in enumerate(names)}
    wanted = _names_of(space)
    missing = next((name for name in wanted if name not in known), None)
    if missing is not None:
        raise DataError(f"{path} has no point {missing!r}.", f"give {what} for every point of the network.")
    return [known[name] for name in wanted]


def site_plan_text(files: PublicFiles, n_guess: int | None, private: DemandFile, **parameters: Any) -> str:
    """Return the plan; no demand is read, so that groups need not be named."""
    if private.groups is not None:
        check_cap(private.groups, parameters)
    grouped = parameters["max_rows_per_group"] is not None
    return told_plan(check_sites(_read_space(files, grouped, parameters)[0], OWNER, grouped), n_guess, None)


def choose_sites(
    files: PublicFiles, private: DemandFile, ledger: Ledger | None = None, **parameters: Any
) -> tuple[SiteRelease, FiniteMetric]:
    """Read the public files, check everything, read the demand, and return the release and the space."""
    private.check(parameters)
    if (private.row_weights is None) != (parameters["max_row_weight"] is None):
        raise ParameterError("--row-weights and --max-row-weight need each other.", "--row-weights COLUMN --max-row-weight 10.")
    asked, space = _read_space(files, private.groups is not None, parameters)
    fit = check_sites(asked, OWNER, private.groups is not None)
    rows = private.read(space, parameters)
    with asking(fit):
        return run(fit, rows, ledger), space
