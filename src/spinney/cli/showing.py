"""Printing and drawing a release file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from spinney.cli.files import written_whole
from spinney.exceptions import DataError, ParameterError, ReleaseError

if TYPE_CHECKING:
    from spinney.cli.site_fitting import PublicFiles
    from spinney.releases.centers import Release
    from spinney.releases.curve import CostCurve
    from spinney.releases.description import DescriptionRelease
    from spinney.releases.sites import SiteRelease
    from spinney.spaces.metric import FiniteMetric

#: The last number of clusters of a curve, if nothing is said.
MOST_SHOWN = 20
#: What a picture of sites lacks without the public files.
ALONE = "It has the sites alone, because a release holds no network: --graph with --coordinates, or --points, draws it."


def _public_files(public: dict[str, Any]) -> PublicFiles | None:
    """Return the public files that were named, or None."""
    from spinney.cli.site_fitting import PublicFiles

    if not any(public.values()):
        return None
    files = PublicFiles(**public, metric=None, candidates=(), existing=())
    if not files.has_coordinates:
        raise ParameterError("--graph needs --coordinates.", "--coordinates TABLE with the columns name, x, y.")
    return files


def _space_of(release: SiteRelease, files: PublicFiles) -> FiniteMetric:
    """Return the space in public files, after a check that the release could be about it."""
    space, _ = files.read()
    stated, sites = release.space, release.sites
    same = (space.described["kind"], space.n_points) == (stated["kind"], stated["n_points"])
    if same and release.names is not None and space.names is not None:
        same = release.names == tuple(space.names[site] for site in sites)
    elif same and release.coordinates is not None:
        same = space.coordinates is not None and np.allclose(space.coordinates[sites], release.coordinates)
    if not same:
        raise DataError(
            f"{files.graph or files.points} is not what these sites were chosen from.",
            "name the public files of 'spinney sites', and --largest-part if it was given there.",
        )
    return space


def show_sites(release: SiteRelease, whole: bool, curve: bool, picture: Path | None, public: dict[str, Any]) -> None:
    """Print a release of sites, and draw it if a picture is asked for, with the space in public files if they are named."""
    from spinney.report.pages import page

    if curve:
        raise ReleaseError("A release of sites has no cost curve.", "leave --curve out.")
    files = _public_files(public)
    if files is not None and picture is None:
        raise ParameterError("Public files are for the picture alone.", "--picture FILE.")
    click.echo(page(release, whole=whole))
    if picture is not None:
        from spinney.report.map import draw_map

        space = None if files is None else _space_of(release, files)
        with written_whole(picture) as part:
            draw_map(release, part, space, None if files is None else files.degrees)
        click.echo(f"Wrote {picture}." if space is not None else f"Wrote {picture}. {ALONE}")


def asked_curve(release: Release, max_k: int | None) -> CostCurve:
    """Return the cost curve up to a number of clusters; without one, the curve that the release's own number was found from."""
    from spinney.report.curve import cost_curve, found_curve

    found = found_curve(release) if max_k is None else None
    return cost_curve(release, max_k or MOST_SHOWN) if found is None else found


def show_clusters(loaded: Release, whole: bool, curve: bool, max_k: int | None, picture: Path | None) -> None:
    """Print a release of centers, and draw it or its cost curve if a picture is asked for."""
    from spinney.report.pages import SHOWN_COLUMNS, page

    click.echo(page(loaded, whole=whole, curve=not curve))
    if not whole and loaded.centers.shape[1] > SHOWN_COLUMNS:
        click.echo("Not all columns are shown: --all shows them.", err=True)
    if curve:
        from spinney.report.curve import draw_curve

        estimated = asked_curve(loaded, max_k)
        kind = "private summary, free of charge" if loaded.is_private else "summary"
        click.echo(f"\nHow many clusters? Estimated from the {kind}:\n{estimated}")
        if picture is not None:
            with written_whole(picture) as part:
                draw_curve(estimated, part)
    elif picture is not None:
        from spinney.report.picture import draw

        with written_whole(picture) as part:
            draw(loaded, part)
    if picture is not None:
        click.echo(f"Wrote {picture}.")


def show_description(loaded: DescriptionRelease, curve: bool, picture: Path | None) -> None:
    """Print a description of clusters; it has no curve and no picture."""
    from spinney.report.description_table import description_page

    if curve or picture is not None:
        raise ReleaseError("A description has no cost curve and no picture.", "show the release that it describes.")
    click.echo(description_page(loaded))
