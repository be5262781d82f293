"""``spinney local``: questions, responses and reports of the local model, over files of messages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from spinney.cli.files import held, made_once, tell_written, write_whole, written_whole
from spinney.cli.options import FILE, OUT
from spinney.exceptions import DataError, ParameterError

#: Why messages do not count, by the reasons of `spinney.local.aggregation`, in words.
LEFT_OUT = {
    "malformed": "that are no reports",
    "refused": "of devices that were not asked this time, or whose policy says no",
    "other question": "that answer another question",
    "stranger": "whose tokens are not on the roster",
    "outside group": "whose tokens are not of the group that was asked",
    "out of range": "that no device sends",
    "repeated": "whose tokens were counted before",
}


@click.group()
def local() -> None:
    """The local model: devices answer questions about their own row, and nobody else sees it. Messages are lines of JSON."""


def _read(path: Path) -> str:
    """Return a file of messages; an error names the file alone."""
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    raise DataError(f"{path} cannot be read as text.", "name a file of lines of JSON.")


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, whatever bytes are in them."""
    with suppress(OSError), path.open("rb") as file:
        for line in file:
            yield line.decode("utf-8", "replace").rstrip("\r\n")
        return
    raise DataError(f"{path} cannot be read.", "name a file of lines of JSON.")


def _taken(path: Path) -> ParameterError:
    return ParameterError(f"{path} is a session already.", "leave the options out, or name a new file.")


def _session(path: Path, options: dict[str, Any]) -> Any:
    from spinney.local.session import Session
    from spinney.tables.schema_files import read_schema

    given = {name: value for name, value in options.items() if value is not None}
    by_column = None if "bounds_file" not in given else read_schema(given["bounds_file"])
    if path.exists():
        if given:
            raise _taken(path)
        return Session.from_json(_read(path))
    if by_column is not None:
        if "bounds" in given or given.setdefault("n_features", len(by_column)) != len(by_column):
            hint = "--bounds-file FILE alone: it names the columns too."
            raise ParameterError("Bounds are given twice, or for other columns.", hint)
        given["bounds"] = by_column
    if not {"n_clusters", "epsilon", "bounds", "n_features"} <= given.keys():
        hint = "--k 10 --epsilon 1 --bounds LO HI --n-features 2, or --bounds-file FILE."
        raise ParameterError(f"{path} is not there, and a new session lacks an option.", hint)
    parameters: dict[str, Any] = {
        name: given[name] for name in ("n_clusters", "epsilon", "delta", "bounds", "algorithm") if name in given
    }
    seed = given.get("random_state", int.from_bytes(os.urandom(6), "big"))
    return Session(parameters, given["n_features"], seed, given.get("objective", "kmeans"))


@local.command()
@click.argument("session", type=FILE)
@click.option("--out", type=OUT, required=True, help="Where to write the question, for devices.")
@click.option("--policy", type=FILE, default=None, help="Also write the narrowest policy that allows this session's questions.")
@click.option("--k", "n_clusters", type=int, default=None, help="Number of clusters, of a new session.")
@click.option("--epsilon", type=float, default=None, help="Privacy budget of each user.")
@click.option("--delta", type=float, default=None, help="Needed by the stable protocol: its reports are Gaussian.")
@click.option("--bounds", type=float, nargs=2, metavar="LO HI", default=None, help="Public bounds of all columns.")
@click.option("--bounds-file", type=FILE, default=None, help='Or public bounds by column, JSON: {"age": [0, 110]}.')
@click.option("--n-features", type=int, default=None, help="Number of columns; not needed with --bounds-file.")
@click.option("--objective", type=click.Choice(["kmeans", "kmedian"]), default=None, help="kmeans by default.")
@click.option("--algorithm", default=None, help="refined (default) or stable.")
@click.option("--random-state", type=int, default=None, help="Seeds public randomness.")
def question(session: Path, out: Path, policy: Path | None, **options: Any) -> None:
    """Write the open question of SESSION; options start a new one."""
    from spinney.local.session import policy_of

    found = _session(session, options)
    asked = found.question
    if asked is None:
        raise ParameterError("This session has ended: nothing is asked.", "'spinney local aggregate' wrote its release.")
    if not session.exists() and not made_once(session, found.to_json()):
        raise _taken(session)  # by another process, meanwhile
    write_whole(out, asked + "\n")
    if policy is not None:
        write_whole(policy, json.dumps(policy_of(found), indent=1) + "\n")
    tell_written(f"Wrote {out}: question {len(found.tallies) + 1} of {session}.", out)


def _row(line: str) -> Any:
    """Return a device's row; one that is no JSON is missing."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _state(line: str, path: Path) -> dict[str, Any]:
    found = _row(line)
    if not isinstance(found, dict):
        raise DataError(f"{path} does not hold the states of devices.", "keep what the last 'spinney local respond' wrote.")
    return found


@local.command()
@click.argument("question", type=FILE)
@click.argument("rows", type=FILE)
@click.option("--policy", type=FILE, required=True, help="JSON file of what the devices allow.")
@click.option(
    "--states", type=FILE, required=True, help="States of the devices, one line each; locked, and written before the messages."
)
@click.option("--out", type=OUT, required=True, help="Where to write the messages, one line a device.")
def respond(question: Path, rows: Path, policy: Path, states: Path, out: Path) -> None:
    """Answer QUESTION for devices whose private ROWS are lines of JSON: a list of numbers, or null. A device has one line."""
    from spinney.local.device import respond as answer

    asked, allowed = _read(question).strip(), _row(_read(policy))
    private = [_row(line) for line in _lines(rows)]
    with held(states, lambda: "{}\n" * len(private)):  # what another process spends meanwhile would be spent twice
        kept = [_state(line, states) for line in _lines(states)]
        if len(kept) != len(private):
            hint = "keep rows and states in the same order, a line each."
            raise DataError("There are not as many states as rows.", hint)
        messages = [answer(row, asked, allowed, state) for row, state in zip(private, kept, strict=True)]
        write_whole(states, "".join(json.dumps(state) + "\n" for state in kept))
    write_whole(out, "".join(message + "\n" for message in messages))
    tell_written(f"Wrote {out}.", out)


@local.command()
@click.argument("session", type=FILE)
@click.argument("reports", type=FILE, nargs=-1, required=True)
@click.option("--roster", type=FILE, default=None, help="File of tokens that may answer, one line each.")
@click.option("--out", type=OUT, default=None, help="Where to write the release, after the last question.")
def aggregate(session: Path, reports: tuple[Path, ...], roster: Path | None, out: Path | None) -> None:
    """Add up REPORTS to the open question of SESSION, and write the release when it was the last.

    Where no report counts, the session stays at its question: exit code 3.
    """
    from spinney.local.session import Session

    tokens = None if roster is None else frozenset(_lines(roster))
    with held(session, lambda: _read(session)):  # what another process adds up meanwhile would be lost
        found = Session.from_json(_read(session)).heard((line for path in reports for line in _lines(path)), tokens)
        is_over, tally = found.question is None, found.tallies[-1]
        left = ", ".join(f"{count} {LEFT_OUT[reason]}" for reason, count in tally.left_out.items() if count)
        if not tally.total_users:
            told = f" Left out: {left}." if left else ""
            raise DataError(f"No report counts: {session} stays at its question.{told}", "give the messages that answer it.")
        if is_over and out is None:
            raise ParameterError("This was the last question.", "--out release.json, to write the release.")
        if is_over and out is not None:
            with written_whole(out) as part:
                found.release.to_json(part)
        write_whole(session, found.to_json())
    tell_written(f"Counted {tally.total_users} reports" + (f"; left out: {left}." if left else "."), out)
    next_step = "Ask the next question with 'spinney local question'."
    tell_written(f"Wrote {out}: {found.release.statement}." if is_over else next_step, out)
