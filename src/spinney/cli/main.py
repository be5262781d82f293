"""The ``spinney`` command. Heavy imports wait until a command needs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spinney._version import __version__
from spinney.cli.errors import one_line_errors

if TYPE_CHECKING:
    from spinney.estimators.clusterer import PrivateClusterer

__all__ = ["main"]

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spinney")
def main() -> None:
    """Cluster rows you may not show: differentially private k-means and k-median.

    Exit codes: 0 ok, 2 usage, 3 data, 4 budget.
    """


@main.command()
@click.option("--out", type=FILE, default=Path("demo-output"), show_default=True, help="Folder for the results.")
def demo(out: Path) -> None:
    """Cluster a public data set at several epsilons; write release.json and demo.png."""
    from spinney.cli.demo import run_demo

    run_demo(out)


def _parameters(command: F) -> F:
    """Add the options that say what is clustered and promised."""
    options = [
        click.option("--k", "n_clusters", type=int, required=True, help="Number of clusters."),
        click.option("--epsilon", type=float, required=True, help="Privacy budget; smaller is more private."),
        click.option("--delta", type=float, default=0.0, show_default=True),
        click.option("--objective", type=click.Choice(["kmeans", "kmedian"]), default="kmeans", show_default=True),
        click.option("--algorithm", default="auto", show_default=True),
        click.option("--adjacency", default="add-remove", show_default=True),
        click.option("--max-rows-per-group", type=int, default=None, help="Protect groups of at most so many counted rows."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _estimator(objective: str, **parameters: Any) -> PrivateClusterer:
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian

    return (PrivateKMeans if objective == "kmeans" else PrivateKMedian)(**parameters)


@main.command()
@_parameters
@click.option("--n-features", type=int, required=True, help="Number of columns.")
@click.option("--n-guess", type=int, default=None, help="A public guess of the number of rows, for the expected errors.")
def plan(n_features: int, n_guess: int | None, **parameters: Any) -> None:
    """Show every question and its charge, for signing. Needs no data; bounds do not change it."""
    with one_line_errors():
        click.echo(str(_estimator(bounds=(0, 1), **parameters).plan(n_features, n_guess)))


@main.command()
@click.argument("table", type=FILE)
@_parameters
@click.option("--bounds", type=float, nargs=2, metavar="LO HI", default=None, help="Public bounds of all columns.")
@click.option(
    "--bounds-file", type=FILE, default=None, help='Public bounds by column, JSON: {"age": [0, 110]}; also names the columns.'
)
@click.option("--columns", default=None, help="Columns to cluster, separated by commas; all by default.")
@click.option("--groups", default=None, help="Column that names the person of each row; needs --max-rows-per-group.")
@click.option("--out", type=FILE, required=True, help="Where to write the release (JSON).")
def fit(
    table: Path,
    bounds: tuple[float, float] | None,
    bounds_file: Path | None,
    columns: str | None,
    groups: str | None,
    out: Path,
    **parameters: Any,
) -> None:
    """Cluster the private rows of a CSV, Parquet or NPY file and write a release."""
    from spinney.cli.fitting import fit_table

    with one_line_errors():
        release = fit_table(table, _estimator(**parameters), bounds, bounds_file, columns, groups)
        release.to_json(out)
        click.echo(f"Wrote {out}: {release.statement}.")


@main.command()
@click.argument("release", type=FILE)
@click.argument("table", type=FILE)
@click.option("--out", type=FILE, required=True, help="Where to write one label per row (CSV).")
def predict(release: Path, table: Path, out: Path) -> None:
    """Label the rows of a table by a release's nearest center. The labels are as private as the rows."""
    from spinney.cli.fitting import label_table

    with one_line_errors():
        label_table(release, table, out)
        click.echo(f"Wrote {out}.")


@main.command()
@click.argument("release", type=FILE)
@click.option("--curve", is_flag=True, help="Also estimate the cost of 1 .. --max-k clusters from the private summary.")
@click.option("--max-k", type=click.IntRange(1, 200), default=20, show_default=True)
@click.option("--picture", type=FILE, default=None, help="Also write a PNG: of the curve with --curve, else of the release.")
def show(release: Path, curve: bool, max_k: int, picture: Path | None) -> None:
    """Print a release file as one readable page."""
    from spinney.privacy.release import Release
    from spinney.report.page import page

    with one_line_errors():
        loaded = Release.from_json(release)
        click.echo(page(loaded))
        if curve:
            from spinney.report.curve import cost_curve, draw_curve

            estimated = cost_curve(loaded, max_k)
            click.echo(f"\nHow many clusters? Estimated from the private summary, free of charge:\n{estimated}")
            if picture:
                draw_curve(estimated, picture)
        elif picture:
            from spinney.report.picture import draw

            draw(loaded, picture)
        if picture:
            click.echo(f"Wrote {picture}.")
