"""The ``spinney sites`` command."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click

from spinney.cli.goals import GOAL_OPTIONS, goal_of
from spinney.cli.options import (
    AGAIN,
    FILE,
    FORCE,
    GROUPS,
    LEDGER,
    MAP_OPTIONS,
    OUT,
    RUN_ID,
    CountType,
    add_options,
    promise_options,
)
from spinney.cli.publishing import publish
from spinney.cli.results import JSON
from spinney.exceptions import ParameterError

METRICS = ["euclidean", "manhattan", "haversine"]


@click.command()
@add_options(
    *MAP_OPTIONS,
    click.option("--demand", type=FILE, default=None, help="Private demand: a table with the name of a point in each row."),
    click.option("--demand-column", default="point", show_default=True, help="Column of the demand that names points."),
    click.option("--demand-columns", default=None, help="Or its columns of positions, such as lon,lat; .geojson has them."),
    click.option("--snap-limit", type=float, default=None, help="How far a position may be from its point, such as meters."),
)
@promise_options("sites to choose, existing ones not counted", "auto, cells, hst, local-search or coverage", CountType())
@add_options(
    *GOAL_OPTIONS,
    click.option("--power", type=click.Choice(["1", "2"]), default="1", show_default=True, help="2 sums squared travel costs."),
    click.option("--travel", is_flag=True, help="Also ask for the mean travel to each site, for a tenth of epsilon."),
    click.option("--existing", multiple=True, help="Sites that stay: A,B or a file with a column name; may be repeated."),
    click.option("--candidates", multiple=True, help="Where a site may be, likewise; everywhere by default."),
    GROUPS,
    click.option("--row-weights", default=None, help="Column of the demand: how often a row counts. Needs --max-row-weight."),
    click.option("--max-row-weight", type=float, default=None, help="Public: no row counts for more."),
    click.option("--row-weight-step", type=float, default=1.0, show_default=True, help="Public: weights are cut to whole steps."),
    click.option("--metric", type=click.Choice(METRICS), default=None, help="Distance between --points."),
    click.option("--plan", "only_plan", is_flag=True, help="Show every question and its charge, read no demand, and stop."),
    click.option("--n-guess", type=int, default=None, help="With --plan: a public guess of the number of rows."),
    click.option(
        "--map", "--picture", "picture", type=FILE, default=None, help="Also write a map: .png, .svg, .geojson, or .html."
    ),
    click.option("--csv", "csv_file", type=OUT, default=None, help="Also write the sites as a table (CSV)."),
    LEDGER,
    RUN_ID,
    AGAIN,
    click.option("--out", type=OUT, default=None, help="Where to write the release (JSON); - for standard output."),
    FORCE,
    JSON,
)
def sites(
    demand: Path | None,
    only_plan: bool,
    n_guess: int | None,
    picture: Path | None,
    csv_file: Path | None,
    out: Path | None,
    force: bool,
    ledger: Path | None,
    **options: Any,
) -> None:
    """Choose sites for private demand at the points of a public network (p-median)."""
    from spinney.cli.site_fitting import DemandFile, PublicFiles, choose_sites, site_plan_text
    from spinney.report.frames import site_rows

    files = PublicFiles(**{name: options.pop(name) for name in PublicFiles.__dataclass_fields__})
    private = DemandFile(demand, **{name: options.pop(name) for name in list(DemandFile.__dataclass_fields__)[1:]})
    options |= {"power": int(options["power"]), "goal": goal_of(options)}
    if only_plan:
        click.echo(site_plan_text(files, n_guess, private, **options))
        return
    if demand is None or out is None:
        missing = "--demand" if demand is None else "--out"
        raise ParameterError(f"{missing} is missing.", f"only --plan needs no {missing}.")
    if n_guess is not None:
        raise ParameterError("--n-guess needs --plan.", "leave --n-guess out.")
    if picture is not None:
        if not files.has_coordinates:
            raise ParameterError("--picture needs --coordinates.", "--coordinates TABLE with the columns name, x, y.")
        if picture.suffix.lower() not in (".geojson", ".html"):
            import matplotlib  # noqa: F401  (if it is missing, say so before the work)
    written = [path for path in (out, picture, csv_file) if path is not None]
    if len({path.resolve() for path in written}) < len(written):
        raise ParameterError("Two outputs have one name.", "give --out, --picture and --csv a file each.")
    space: Any = None

    def made(opened: Any) -> Any:
        nonlocal space
        release, space = choose_sites(files, private, opened, **options)
        return release

    def drawn(release: Any, part: Path) -> None:
        from spinney.report.publication.maps import draw_map

        draw_map(release, part, space, files.degrees or space.degrees or None)

    def listed(release: Any, part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(site_rows(release))

    also = {path: write for path, write in ((picture, drawn), (csv_file, listed)) if path is not None}
    publish(made, out, force, ledger, also)
