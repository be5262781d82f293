"""Releases as frames of pandas or polars, and the sites of a release as a table of texts."""

from __future__ import annotations

from importlib import import_module
from math import isnan
from typing import Any

from spinney.constraints import check, one_of
from spinney.exceptions import ParameterError, ReleaseError
from spinney.releases.centers import Release
from spinney.releases.cover import CoverRelease
from spinney.releases.description import DescriptionRelease
from spinney.releases.promise import Promise
from spinney.releases.sites import SiteRelease
from spinney.spaces.box import FloatArray
from spinney.spaces.described import is_measured

__all__ = ["to_frame"]

KINDS = ("pandas", "polars")


def to_frame(release: Promise, kind: str = "pandas") -> Any:
    """Return the clusters, sites or choices of a release as a frame; parameters and privacy as for ``release.to_frame``."""
    return framed(_columns(release), kind)


def framed(columns: dict[str, Any], kind: str) -> Any:
    """Return columns by their names as a frame of a library."""
    check("to_frame", {"kind": kind}, {"kind": one_of(KINDS, "'pandas'.")})
    try:
        library = import_module(kind)
    except ImportError:
        other = KINDS[1 - KINDS.index(kind)]
        raise ReleaseError(f"{kind} is not installed.", f"install it, or to_frame({other!r}).") from None
    return library.DataFrame(columns)


def center_columns(feature_names: tuple[str, ...] | None, centers: FloatArray, sizes: FloatArray) -> dict[str, Any]:
    """Return the coordinates of centers by the names of their columns, and their sizes."""
    names = feature_names or [f"column {i}" for i in range(centers.shape[1])]
    columns: dict[str, Any] = {}
    for name, values in zip(names, centers.T, strict=True):
        columns[_new(name, columns)] = values.copy()
    return columns | {_new("size", columns): sizes.copy()}


def _columns(release: Promise) -> dict[str, Any]:
    """Return the columns by their names; a noisy size has a name that no column of the table has."""
    if isinstance(release, Release):
        return center_columns(release.feature_names, release.centers, release.sizes)
    if isinstance(release, SiteRelease):
        places = {} if release.coordinates is None else dict(zip(axis_names(release), release.coordinates.T.copy(), strict=True))
        kinds = ["new"] * len(release.medoids) + ["existing"] * len(release.existing_sites)
        found = {"site": site_names(release), **places, "size": release.sizes.copy(), "kind": kinds}
        return found | {name: values.copy() for name, values in travel_columns(release).items()}
    if isinstance(release, DescriptionRelease):
        return _described(release)
    if isinstance(release, CoverRelease):
        return {"set": release.chosen.copy()}
    raise ParameterError.wrong("release", "to_frame", "a release", release, "model.release_.")


def _described(release: DescriptionRelease) -> dict[str, Any]:
    """Return clusters with their rows, persons, means, medians and shares, and the columns that distinguish them."""
    columns: dict[str, Any] = {"rows": release.rows.copy()}
    if release.persons is not None:
        columns["persons"] = release.persons.copy()
    middle = release.quantile_levels.index(0.5)
    for place, (name, fact) in enumerate(zip(release.names, release.facts, strict=True)):
        if is_measured(fact):
            columns[_new(f"{name} mean", columns)] = release.means[:, place].copy()
            columns[_new(f"{name} margin", columns)] = release.mean_margins[:, place].copy()
            columns[_new(f"{name} median", columns)] = release.quantiles[:, place, middle].copy()
            continue
        for title, share in zip(release.bin_names(name), release.shares(name)[0].T, strict=False):  # without "no answer"
            columns[_new(f"{name}={title}", columns)] = share.copy()
    return columns | {_new("named", columns): [", ".join(named) for named in release.named]}


def _new(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name


def site_names(release: SiteRelease) -> list[str]:
    """Return what the sites are called: their names, or else the indices of their points."""
    return [str(site) for site in release.sites] if release.names is None else list(release.names)


def axis_names(release: SiteRelease) -> list[str]:
    """Return what the coordinates of sites are called; none if there are none."""
    d = 0 if release.coordinates is None else release.coordinates.shape[1]
    return ["x", "y", "z"][:d] if d <= 3 else [f"x{i}" for i in range(1, d + 1)]


def travel_columns(release: SiteRelease) -> dict[str, FloatArray]:
    """Return the mean travel to each site and its margin, as tables call them; nothing if they were not asked for."""
    found = {"travel": release.travel, "travel margin": release.travel_margins}
    return {name: values for name, values in found.items() if values is not None}


def site_rows(release: SiteRelease) -> list[list[str]]:
    """Return one row per site, chosen ones first, below a row of headings: name, coordinates, size, margin and kind.

    Behind them are the mean travel and its margin, if they were asked for; empty where too few rows are seen to tell.

    Privacy
    -------
    Post-processing of a release: free.
    """
    columns = _columns(release)
    places = [[f"{value:.12g}" for value in columns[name]] for name in axis_names(release)]
    sizes, margin = [f"{size:.0f}" for size in columns["size"]], [f"{release.sizes_margin:.0f}"] * len(columns["site"])
    told = {name: ["" if isnan(one) else f"{one:.6g}" for one in values] for name, values in travel_columns(release).items()}
    heads = ["name", *axis_names(release), "size", "margin", "kind", *told]
    return [heads, *map(list, zip(columns["site"], *places, sizes, margin, columns["kind"], *told.values(), strict=True))]
