"""The ``spinney`` command. Heavy imports wait until a command needs them."""

from __future__ import annotations

from pathlib import Path

import click

from spinney._version import __version__

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spinney")
def main() -> None:
    """Cluster rows you may not show: differentially private k-means and k-median."""


@main.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("demo-output"), show_default=True, help="Folder for the results."
)
def demo(out: Path) -> None:
    """Cluster a public data set at several epsilons; write release.json and demo.png."""
    from spinney.cli.demo import run_demo

    run_demo(out)
