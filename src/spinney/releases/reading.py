"""Reading a release of any kind from a file."""

from __future__ import annotations

from pathlib import Path

from spinney.exceptions import ReleaseError
from spinney.releases.centers import Release
from spinney.releases.cover import CoverRelease
from spinney.releases.description import DescriptionRelease
from spinney.releases.promise import read_json
from spinney.releases.sites import SiteRelease

__all__ = ["AnyRelease", "read_release"]

AnyRelease = Release | SiteRelease | CoverRelease | DescriptionRelease
#: The format of other clusters of a release, which promise nothing of their own.
RECLUSTERING = "spinney-reclustering/1"
KINDS: tuple[type[AnyRelease], ...] = (Release, SiteRelease, CoverRelease, DescriptionRelease)


def read_release(path: str | Path) -> AnyRelease:
    """Return the release in a file, of the kind that its format says.

    Parameters
    ----------
    path : str or Path
        What ``release.to_json(path)`` wrote, with this version or an earlier one.
    """
    record = read_json(path)
    for kind in KINDS:
        if kind.reads(record.get("format")):
            return kind.from_dict(record)
    if record.get("format") == RECLUSTERING:
        hint = "name the release that they were made of."
        raise ReleaseError(f"{path} holds other clusters of a release ('recluster'), and is no release itself.", hint)
    known = ", ".join(kind.format for kind in KINDS)
    raise ReleaseError(f"{path} is not a release of a known format: {known}.", "name a file that a fit wrote.")
