"""Clustering the private summary of a release file again."""

from __future__ import annotations

from pathlib import Path

import click

from spinney.cli.files import check_out, tell_written, write_whole
from spinney.cli.options import FILE, FORCE, OUT
from spinney.exceptions import ReleaseError


@click.command()
@click.argument("release", type=FILE)
@click.option("--k", "n_clusters", type=int, required=True, help="Number of clusters.")
@click.option("--seed", "random_state", type=int, default=0, show_default=True, help="Of the restarts; no noise is drawn.")
@click.option("--out", type=OUT, default=None, help="Also write the centers here, as JSON.")
@FORCE
def recluster(release: Path, n_clusters: int, random_state: int, out: Path | None, force: bool) -> None:
    """Cluster the private summary of a release again, with another k: free of charge, and marked as post-processing."""
    from spinney.releases.centers import Release
    from spinney.releases.reading import read_release

    loaded = read_release(release)
    if not isinstance(loaded, Release):
        raise ReleaseError(f"{release} is no release of centers.", "name a file that 'spinney fit' wrote.")
    found = loaded.recluster(n_clusters, random_state)
    if out is None:
        click.echo(str(found))
        return
    check_out(out, force)
    write_whole(out, found.to_json())
    tell_written(f"{found}\nWrote {out}.", out)
