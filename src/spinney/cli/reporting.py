"""Writing a report of a release file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spinney.cli.files import check_suffix, is_standard_output, tell_written, written_whole
from spinney.cli.options import CURVE, FILE, MAP_OPTIONS, MAX_K, OUT, add_options
from spinney.exceptions import ParameterError


@click.command()
@click.argument("release", type=FILE)
@click.option(
    "--out",
    type=OUT,
    required=True,
    help="Where to write it: .html, .md, or .pdf (by Chromium, Chrome or Edge); - as Markdown here.",
)
@click.option("--ledger", type=FILE, default=None, help="Also say what is left in this ledger, and whether it paid for this.")
@click.option("--title", default=None, help="The heading, instead of what was released.")
@click.option("--of", type=FILE, default=None, help="Of a description: the release that it describes, to show its centers.")
@click.option(
    "--name", "names", type=(int, str), multiple=True, metavar="K NAME", help="A name for cluster K; once for each cluster."
)
@CURVE
@MAX_K
@add_options(*MAP_OPTIONS)
def report(
    release: Path, out: Path, ledger: Path | None, title: str | None, of: Path | None, names: tuple[tuple[int, str], ...],
    curve: bool, max_k: int | None, **public: Any,
) -> None:  # fmt: skip
    """Write a page to publish: the promise in plain words, what was found, what was spent, how to check it.

    One file that loads nothing. The release is checked as by 'spinney verify', and the page says what was found.
    """
    from spinney.cli.showing import asked_curve, public_files, space_of
    from spinney.ledgers.ledger import Ledger
    from spinney.releases.centers import Release
    from spinney.releases.reading import read_release
    from spinney.releases.sites import SiteRelease
    from spinney.report.publication import KINDS, markdown_page, write_report
    from spinney.verification.checking import verify

    if not is_standard_output(out):
        check_suffix(out, KINDS)
    files = public_files(public)
    loaded, opened = read_release(release), None if ledger is None else Ledger(ledger)
    found = verify(release, ledger=ledger)
    if ledger is not None and not found.holds and (alone := verify(release)).holds:
        found = alone  # the page says what the ledger does not
    told: Any = None if of is None else read_release(of)
    estimated = None
    if curve:
        if not isinstance(loaded, Release):
            raise ParameterError("Only a release of centers has a cost curve.", "leave --curve out.")
        estimated = asked_curve(loaded, max_k)
    space = None
    if files is not None:
        if not isinstance(loaded, SiteRelease):
            raise ParameterError("This is no release of sites.", "only they are drawn with --graph or --points.")
        space = space_of(loaded, files)
    with written_whole(out) as part:
        shown: Any = {"title": title, "ledger": opened, "curve": estimated, "verification": found, "described": told}
        shown |= {"names": dict(names), "space": space}
        if is_standard_output(out):
            part.write_text(markdown_page(loaded, **shown), encoding="utf-8")
        else:
            write_report(loaded, part, **shown)
    tell_written(f"Wrote {out}: {loaded.statement}.", out)
    if loaded.is_private and not found.holds:
        click.echo(f"{found.verdict} The report says so.", err=True)
