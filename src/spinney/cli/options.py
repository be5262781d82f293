"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from spinney.cli.files import STANDARD_OUTPUT
from spinney.naming import named

F = TypeVar("F", bound=Callable[..., Any])


class _NamedFile(click.Path):
    """A path; ``-`` is refused, because it never means a file of that name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value) == STANDARD_OUTPUT:
            self.fail("'-' stands for standard output, which --out takes alone. Name a file.", param, ctx)
        return super().convert(value, param, ctx)


class _TableFile(click.Path):
    """A path, or a text that is the address of files in a store, such as ``s3://bucket/stays``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if isinstance(value, str) and "://" in value else super().convert(value, param, ctx)


#: What is read, or written beside what --out says; and what may be standard output, or input, too.
FILE, OUT = _NamedFile(path_type=Path), click.Path(path_type=Path)
TABLE = _TableFile(path_type=Path)

#: Whether a release may take the place of a file.
FORCE = click.option("--force", is_flag=True, help="Replace --out if it is there already.")

#: Whose rows count together, and what is charged.
GROUPS = click.option(
    "--groups",
    default=None,
    help="Column that names the person of each row; rows without a name do not count. Needs --max-rows-per-group.",
)
LEDGER = click.option(
    "--ledger", type=FILE, default=None, help="Charge the release to this ledger; refuse it if too little is left."
)

#: Where it is noted how a job is called, and whether it may be charged again.
RUN_NOTED = "spinney.run"


def _note(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    context.meta.setdefault(RUN_NOTED, {})[parameter.name] = value


RUN_ID = click.option(
    "--run-id", default=None, expose_value=False, callback=_note,
    help="A name for this job, so that it may be started again and is charged once. Needs --ledger.",
)  # fmt: skip
AGAIN = click.option(
    "--charge-again", is_flag=True, expose_value=False, callback=_note,
    help="Pay once more, if a start with this --run-id began to ask and left no release.",
)  # fmt: skip

SPOOL = click.option("--spool", type=FILE, default=None, help="Folder that keeps - (CSV), or files of a store, while it is used.")

#: The cost curve of a release, and its last number of clusters.
CURVE = click.option("--curve", is_flag=True, help="Also estimate the cost of 1 .. --max-k clusters from the private summary.")
MAX_K = click.option(
    "--max-k",
    type=click.IntRange(1, 200),
    default=None,
    help="The last number of the curve; 20, or the curve that --k auto was found from.",
)

#: The public files that a map of sites is drawn from.
MAP_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--graph", type=FILE, default=None, help="Public network: a table from, to, length, or a map."),
    click.option("--points", type=FILE, default=None, help="Or public points: a table name, x, y, or a GTFS feed."),
    click.option("--coordinates", type=FILE, default=None, help="Where a network is drawn: a table with columns name, x, y."),
    click.option("--columns", default=None, help="Columns of coordinates instead of x,y."),
    click.option("--weight", default=None, help="Attribute of edges that holds their lengths; length or weight by default."),
    click.option("--both-ways", is_flag=True, help="Take one-way streets as open in both directions."),
    click.option("--largest-part", is_flag=True, help="Leave out what is not connected with the network's largest part."),
)


def add_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, shown in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def csv_options(command: F) -> F:
    """Add the options that say how CSV files are written, which a command is passed as one value."""

    @wraps(command)
    def called(*given: Any, separator: str, encoding: str, quotes: bool, **options: Any) -> Any:
        from spinney.tables.records import Csv

        return command(*given, written=Csv.of(separator, encoding, quotes, "spinney"), **options)

    add = add_options(
        click.option(
            "--separator", default="comma", show_default=True,
            help="Between the cells of CSV files: comma, semicolon, tab or pipe.",
        ),
        click.option(
            "--encoding", default="utf-8", show_default=True, help="Of CSV files; cp1252 is usual for old ones of Windows."
        ),
        click.option("--quotes/--no-quotes", default=True, help="--no-quotes: a quote in a CSV file is a letter like others."),
    )  # fmt: skip
    return cast(F, add(called))


class CountType(click.ParamType[Any]):
    """A whole number, or the word that stands for one to be found."""

    name = "integer or auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: D102
        if value == "auto":
            return value
        try:
            return int(value)
        except ValueError:
            self.fail(f"{named(value)} is no whole number, and not auto.", param, ctx)


def promise_options(what: str, algorithms: str, k: click.ParamType[Any] = click.INT) -> Callable[[F], F]:
    """Return a decorator that adds the options that say what is promised: what k counts, and may be, and which algorithms."""
    more = "" if k is click.INT else ", or auto: as many as the private summary shows, free of charge"
    return add_options(
        click.option("--k", "n_clusters", type=k, required=True, help=f"Number of {what}{more}."),
        click.option("--epsilon", type=float, required=True, help="Privacy budget; smaller is more private."),
        click.option(
            "--delta", type=float, default=0.0, show_default=True, help="0 for pure privacy; 1e-6 allows Gaussian noise."
        ),
        click.option("--algorithm", default="auto", show_default=True, help=f"{algorithms}."),
        click.option("--adjacency", default="add-remove", show_default=True, help="add-remove, or replace: what neighbors do."),
        click.option("--max-rows-per-group", type=int, default=None, help="Protect groups; the most rows of one that count."),
    )
