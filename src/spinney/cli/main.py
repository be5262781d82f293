"""The ``spinney`` command. Heavy imports wait until a command needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spinney._version import __version__
from spinney.cli.errors import one_line_errors

__all__ = ["main"]

FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spinney")
def main() -> None:
    """Cluster rows you may not show: differentially private k-means and k-median.

    Exit codes: 0 ok, 2 usage, 3 data.
    """


@main.command()
@click.option("--out", type=FILE, default=Path("demo-output"), show_default=True, help="Folder for the results.")
def demo(out: Path) -> None:
    """Cluster a public data set at several epsilons; write release.json and demo.png."""
    from spinney.cli.demo import run_demo

    run_demo(out)


@main.command()
@click.option("--k", "n_clusters", type=int, required=True, help="Number of clusters.")
@click.option("--n-features", type=int, required=True, help="Number of columns.")
@click.option("--epsilon", type=float, required=True, help="Privacy budget; smaller is more private.")
@click.option("--delta", type=float, default=0.0, show_default=True)
@click.option(
    "--bounds", type=float, nargs=2, metavar="LO HI", default=(0.0, 1.0), help="Of all columns; the plan is the same for all."
)
@click.option("--objective", type=click.Choice(["kmeans", "kmedian"]), default="kmeans", show_default=True)
@click.option("--algorithm", default="auto", show_default=True)
@click.option("--adjacency", default="add-remove", show_default=True)
@click.option("--max-rows-per-group", type=int, default=None, help="Protect groups of at most so many counted rows.")
@click.option("--n-guess", type=int, default=None, help="A public guess of the number of rows, for the expected errors.")
def plan(objective: str, n_features: int, n_guess: int | None, **parameters: Any) -> None:
    """Show every question and its charge, for signing. Needs no data."""
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian

    with one_line_errors():
        estimator = (PrivateKMeans if objective == "kmeans" else PrivateKMedian)(**parameters)
        click.echo(str(estimator.plan(n_features, n_guess)))


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
