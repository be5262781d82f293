"""``spinney audit``: tries to break a promise with made-up rows; no table is read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from spinney.cli.errors import REFUSED
from spinney.cli.files import is_standard_output, tell_written, write_whole, written_whole
from spinney.cli.options import FILE, OUT

METHODS = ("replay", "sizes", "black-box", "one-run", "search")
#: What is chosen with --estimator.
ESTIMATORS = ("kmeans", "kmedian", "kmedoids", "coverage")
#: Options that name what is audited; without any of them every question of the catalog is.
NAMING = ("estimator", "algorithm", "function", "delta", "adjacency", "max_rows_per_group", "n_clusters", "n_features", "into")


@click.command()
@click.option("--estimator", type=click.Choice(ESTIMATORS), default="kmeans", show_default=True)
@click.option("--algorithm", default="auto", show_default=True, help="A name, or your own: module:Algorithm.")
@click.option("--function", default=None, help="Audit a function of a table instead: module:function.")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="The promised epsilon.")
@click.option("--delta", type=float, default=0.0, show_default=True)
@click.option("--adjacency", default="add-remove", show_default=True, help="add-remove, or replace.")
@click.option("--max-rows-per-group", type=int, default=None, help="Protect persons; the most rows of one that count.")
@click.option("--k", "n_clusters", type=int, default=3, show_default=True)
@click.option("--columns", "n_features", type=click.IntRange(1), default=2, show_default=True, help="Columns of made-up rows.")
@click.option("--method", "methods", type=click.Choice(METHODS), multiple=True, help="Repeatable; by default all that apply.")
@click.option("--pairs", type=click.IntRange(1), default=28, show_default=True, help="Pairs of neighbors to replay.")
@click.option("--runs", type=click.IntRange(8), default=300, show_default=True, help="Runs of the black box on each table.")
@click.option("--examples", type=click.IntRange(1), default=40, show_default=True, help="Cases of the search.")
@click.option("--largest", type=click.IntRange(1), default=10**6, show_default=True, help="Rows of the largest made-up table.")
@click.option("--confidence", type=float, default=0.999, show_default=True, help="Confidence of measured bounds.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the made-up rows.")
@click.option("--out", type=OUT, default=None, help="Write the page (Markdown) here, and JSON beside it; else print it.")
@click.option("--into", type=FILE, default=None, help="Audit the promise of this release, and write in it what was found.")
@click.pass_context
def audit(context: click.Context, /, out: Path | None, into: Path | None, **options: Any) -> None:
    """Try to break a promise, with made-up rows: no table is read or needed.

    Replay fits neighbors with the same noise and adds up what was lost, for small tables and (sizes) up to the largest; the black
    box measures epsilon from outside on the pair that lost most; one run guesses canaries; the search lets hypothesis look for
    worse neighbors. A function of a table is measured and searched. Exit code 1 where a promise is broken.

    If no option names what to audit, other promises are replayed too, so that every question is asked; the page lists those that
    were not.

    With --into, estimator, algorithm, k, columns, epsilon, delta, adjacency and cap come from the release, and a line with the
    bounds goes into its field audit. Sign it after that, not before.
    """
    from spinney.audit.findings import audit_page
    from spinney.cli.audits import How, asked_of, audited
    from spinney.releases.reading import read_release

    is_named = any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in NAMING)
    how = How(**{name: options.pop(name) for name in How.__dataclass_fields__})
    release = None if into is None else read_release(into)
    findings = audited(how=how, is_named=is_named, **(options | ({} if release is None else asked_of(release))))
    page = audit_page(findings)
    if out is None or is_standard_output(out):
        click.echo(page)
    else:
        write_whole(out, page)
        write_whole(out.with_suffix(".json"), findings.to_json() + "\n")
        for finding in findings:
            click.echo(finding.words)
        click.echo(f"Wrote {out} and {out.with_suffix('.json')}.")
    if release is not None and into is not None:
        with written_whole(into) as part:
            release.with_audit(findings).to_json(part)
        tell_written(f"Wrote what was found into {into}.", out)
    if findings.broken:
        sys.exit(REFUSED)
