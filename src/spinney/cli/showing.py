"""Printing and drawing a release file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from spinney.cli.files import written_whole
from spinney.cli.results import as_json, wants_json
from spinney.exceptions import DataError, ParameterError, ReleaseError

if TYPE_CHECKING:
    from spinney.cli.site_fitting import PublicFiles
    from spinney.releases.centers import Release
    from spinney.releases.curve import CostCurve
    from spinney.releases.reading import AnyRelease
    from spinney.releases.sites import SiteRelease
    from spinney.spaces.metric import FiniteMetric

#: The last number of clusters of a curve, if nothing is said.
MOST_SHOWN = 20
#: What a picture of sites lacks without the public files.
ALONE = "It has the sites alone, because a release holds no network: --graph with --coordinates, or --points, draws it."


def public_files(public: dict[str, Any]) -> PublicFiles | None:
    """Return the public files that a map is drawn from, if there are any."""
    from spinney.cli.site_fitting import PublicFiles

    if not any(public.values()):
        return None
    files = PublicFiles(**public, metric=None, candidates=(), existing=())
    if not files.has_coordinates:
        raise ParameterError("--graph needs --coordinates.", "--coordinates TABLE with the columns name, x, y.")
    return files


def space_of(release: SiteRelease, files: PublicFiles) -> FiniteMetric:
    """Return the space in public files, after a check that the release could be about it."""
    space, *_ = files.read()
    stated, sites = release.space, release.sites
    same = (space.described["kind"], space.n_points) == (stated["kind"], stated["n_points"])
    if same and release.names is not None and space.names is not None:
        own = (space.names[site] for site in sites)  # a site may be called by the place that it was moved from, too
        same = all(said == name or said.endswith(f" at {name}") for said, name in zip(release.names, own, strict=True))
    elif same and release.coordinates is not None:
        same = space.coordinates is not None and np.allclose(space.coordinates[sites], release.coordinates)
    if not same:
        raise DataError(
            f"{files.graph or files.points} is not what these sites were chosen from.",
            "name the public files of 'spinney sites', and --largest-part if it was given there.",
        )
    return space


def asked_curve(release: Release, max_k: int | None) -> CostCurve:
    """Return the cost curve up to a number of clusters; without one, the curve that the release's own number was found from."""
    from spinney.report.curve import cost_curve, found_curve

    found = found_curve(release) if max_k is None else None
    return cost_curve(release, max_k or MOST_SHOWN) if found is None else found


def show_release(
    release: AnyRelease, whole: bool, curve: bool, max_k: int | None, picture: Path | None, public: dict[str, Any]
) -> None:
    """Print a release, and draw it or its cost curve if a picture is asked for; sites with the space in public files."""
    from spinney.releases.centers import Release
    from spinney.releases.sites import SiteRelease
    from spinney.report.publication import page
    from spinney.report.publication.document import SHOWN_COLUMNS

    has_centers, has_sites = isinstance(release, Release), isinstance(release, SiteRelease)
    if any(public.values()) and not has_sites:
        raise ParameterError("This is no release of sites.", "only they are drawn with --graph or --points.")
    if curve and not has_centers:
        raise ReleaseError("Only a release of centers has a cost curve.", "leave --curve out.")
    if picture is not None and not (has_centers or has_sites):
        raise ReleaseError("This release has no picture.", "show the release of centers or sites that it is about.")
    files = public_files(public)
    if files is not None and picture is None:
        raise ParameterError("Public files are for the picture alone.", "--picture FILE.")
    if not wants_json():
        click.echo(page(release, whole=whole, curve=not curve))
    if isinstance(release, Release) and not whole and not wants_json() and release.centers.shape[1] > SHOWN_COLUMNS:
        click.echo("Not all columns are shown: --all shows them.", err=True)
    estimated = None
    if isinstance(release, Release) and curve:
        estimated = asked_curve(release, max_k)
        kind = "private summary, free of charge" if release.is_private else "summary"
        if not wants_json():
            click.echo(f"\nHow many clusters? Estimated from the {kind}:\n{estimated}")
    if wants_json():
        click.echo(as_json(release.to_dict() | ({} if estimated is None else {"curve": vars(estimated)})))
    if picture is not None:
        space = space_of(release, files) if isinstance(release, SiteRelease) and files is not None else None
        with written_whole(picture) as part:
            _draw(release, estimated, part, space, None if files is None else files.degrees)
        click.echo(f"Wrote {picture}." if space is not None or not has_sites else f"Wrote {picture}. {ALONE}", err=wants_json())


def _draw(release: Any, curve: CostCurve | None, part: Path, space: FiniteMetric | None, degrees: bool | None) -> None:
    from spinney.releases.centers import Release
    from spinney.report.curve import draw_curve
    from spinney.report.picture import draw
    from spinney.report.publication.maps import draw_map

    if curve is not None:
        draw_curve(curve, part)
    elif isinstance(release, Release):
        draw(release, part)
    else:
        draw_map(release, part, space, degrees)
