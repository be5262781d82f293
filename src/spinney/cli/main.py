"""The ``spinney`` command. Heavy imports wait until a command needs them."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spinney._version import __version__
from spinney.cli.auditing import audit
from spinney.cli.checking import check
from spinney.cli.describing import describe
from spinney.cli.errors import one_line_errors
from spinney.cli.fetching import given
from spinney.cli.files import is_standard_output, written_whole
from spinney.cli.jobs import for_jobs
from spinney.cli.ledgers import ledger
from spinney.cli.local import local
from spinney.cli.options import (
    AGAIN,
    CURVE,
    FILE,
    FORCE,
    GROUPS,
    LEDGER,
    MAP_OPTIONS,
    MAX_K,
    OUT,
    RUN_ID,
    SPOOL,
    TABLE,
    CountType,
    add_options,
    csv_options,
    promise_options,
)
from spinney.cli.publishing import publish
from spinney.cli.reclustering import recluster
from spinney.cli.reporting import report
from spinney.cli.results import JSON
from spinney.cli.schemas import example, schema
from spinney.cli.sites import sites
from spinney.cli.verifying import keys, label, sign, verify
from spinney.exceptions import ParameterError

if TYPE_CHECKING:
    from spinney.tables.records import Csv

BOUNDS = 'Public bounds by column, JSON: {"age": [0, 110]}, or a schema, JSON or TOML; also names the columns.'
SCALE = "Units: 'bounds' takes each column over its width, a number divides all; a unit in a schema file goes before."


@contextmanager
def _without_collection() -> Iterator[None]:
    """Run a command without looking for garbage, not even at the end: imports make many objects and hardly any garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Lines(click.Group):
    """Commands whose arguments are of one line each: others are the text of a table, and messages repeat what was typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with one_line_errors():
            if any("\n" in one or "\r" in one for one in args):
                raise ParameterError("An argument has several lines.", "type the path of a table, not what is in it.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever ends it is one line."""
        with one_line_errors():
            return super().invoke(ctx)


@click.group(cls=_Lines, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spinney")
@click.pass_context
def main(context: click.Context) -> None:
    """Cluster rows you may not show: differentially private k-means and k-median in tables, p-median in networks.

    Exit codes: 0 ok, 1 unexpected or a release refused, 2 usage, 3 data, 4 budget, 5 work on rows, 6 a job with
    --run-id that began before, 130 interrupted, 143 terminated.
    """
    context.with_resource(_without_collection())


@main.command()
@click.option("--out", type=FILE, default=Path("demo-output"), show_default=True, help="Folder for the results.")
def demo(out: Path) -> None:
    """Cluster a public data set at several epsilons; write release.json and demo.png."""
    from spinney.cli.demo import run_demo

    run_demo(out)


@main.command()
def warm() -> None:
    """Compile all kernels now and keep them, so that no later process has to: for images and test machines."""
    from spinney.cli.warming import warm_up

    click.echo(warm_up())


_clustering = add_options(
    promise_options(
        "clusters",
        "auto, tree, moments, stable, hst, lloyd, lsh, balcan, coverage, k-variates, pe-means or sample-aggregate",
        CountType(),
    ),
    click.option("--max-k", "max_clusters", type=int, default=None, help="For --k auto: the most clusters there may be; 20."),
    click.option("--objective", type=click.Choice(["kmeans", "kmedian"]), default="kmeans", show_default=True),
    click.option("--tighten", is_flag=True, help="Look for a private box first: for bounds that may be several times too wide."),
    click.option(
        "--model",
        type=click.Choice(["central", "local"]),
        default="central",
        show_default=True,
        help="local simulates users' devices, with --adjacency replace and --algorithm refined or stable.",
    ),
)


@main.command()
@_clustering
@click.option("--n-features", type=int, default=None, help="Number of columns; not needed with --schema.")
@click.option("--schema", "bounds_file", type=FILE, default=None, help="Public schema, for the expected errors in its units.")
@click.option("--scale", default=None, help=SCALE)
@click.option("--n-guess", type=int, default=None, help="A public guess of the number of rows, for the expected errors.")
@click.option("--ledger", type=FILE, default=None, help="Also say what would be left in this ledger.")
@JSON
def plan(n_features: int | None, n_guess: int | None, **parameters: Any) -> None:
    """Show every question and its charge, for signing. Needs no data; bounds do not change it, but categories are columns."""
    from spinney.cli.fitting import plan_text

    click.echo(plan_text(n_features=n_features, n_guess=n_guess, **parameters))


@main.command()
@click.argument("table", type=TABLE, nargs=-1, required=True)
@_clustering
@click.option("--bounds", type=float, nargs=2, metavar="LO HI", default=None, help="Public bounds of all columns.")
@click.option("--bounds-file", "--schema", type=FILE, default=None, help=BOUNDS)
@click.option("--scale", default=None, help=SCALE)
@click.option("--columns", default=None, help="Columns to cluster, separated by commas; all by default.")
@GROUPS
@csv_options
@click.option(
    "--n-guess", type=int, default=None, help="How many rows (with --groups: persons) there should be; it is said if many lack."
)
@click.option("--out", type=OUT, required=True, help="Where to write the release (JSON); - for standard output.")
@FORCE
@LEDGER
@RUN_ID
@AGAIN
@SPOOL
@JSON
def fit(out: Path, force: bool, ledger: Path | None, table: tuple[Path, ...], spool: Path | None, **options: Any) -> None:
    """Cluster the private rows of CSV, Parquet, NPY or Excel files and write a release.

    Several files, and the files in folders, are one table. One that would take more than an eighth of the memory stays on disk.
    """
    from spinney.cli.fitting import fit_table

    def made(opened: Any) -> Any:
        with given(table, spool) as files:
            return fit_table(table=files, ledger=opened, **options)

    publish(made, out, force, ledger)


@main.command()
@click.argument("release", type=FILE)
@click.argument("table", type=TABLE)
@click.option("--out", type=OUT, default=None, help="Where to write one label per row: CSV, Parquet or NPY; else as CSV here.")
@csv_options
@SPOOL
def predict(release: Path, table: Path | str, out: Path | None, spool: Path | None, written: Csv) -> None:
    """Label the rows of a table by a release's nearest center. The labels are as private as the rows."""
    from spinney.cli.fitting import check_kind, label_table, write_labels

    def labels() -> Any:
        with given((table,), spool) as files:
            if len(files) > 1:
                raise ParameterError("Several files of a store cannot be labeled at once.", "name one of them.")
            return label_table(release, files[0], written)

    if out is None or is_standard_output(out):
        write_labels(labels(), None)
        click.echo(f"Labeled the rows of {'the store' if isinstance(table, str) else table} by {release}.", err=True)
        return
    check_kind(out)
    with written_whole(out) as part:
        write_labels(labels(), part)
    click.echo(f"Wrote {out}.")


@main.command()
@click.argument("release", type=FILE)
@click.option("--all", "whole", is_flag=True, help="Every column, center and charge, not only what fits on a page.")
@CURVE
@MAX_K
@click.option(
    "--map", "--picture", "picture", type=FILE, default=None, help="Also write a picture: .png, .svg; of sites .html, .geojson."
)
@add_options(*MAP_OPTIONS)
@JSON
def show(release: Path, whole: bool, curve: bool, max_k: int | None, picture: Path | None, **public: Any) -> None:
    """Print a release file as one readable page.

    With the public files of 'spinney sites' the picture of a release of sites has the network too.
    """
    from spinney.cli.showing import show_release
    from spinney.releases.reading import read_release

    show_release(read_release(release), whole, curve, max_k, picture, public)


for command in (check, describe, keys, label, sign, audit, example, recluster, report, schema, sites, verify, ledger, local):
    main.add_command(command)
for_jobs(main)
