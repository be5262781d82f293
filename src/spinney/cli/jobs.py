"""What jobs that nobody watches need of every command: options in a file, and messages as lines of JSON or none at all."""

from __future__ import annotations

import io
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import click

from spinney.cli.options import FILE
from spinney.cli.results import TOLD, as_json
from spinney.exceptions import DataError, ParameterError


def _named(command: click.Command) -> dict[str, click.Parameter]:
    """Return what can be typed of a command, by its name in a file: an option without dashes, or an argument."""
    known = {}
    for parameter in command.params:
        for name in parameter.opts:
            known[name.lstrip("-")] = parameter
    return known


def _value_of(parameter: click.Parameter, value: Any) -> Any:
    """Return a value as it is typed: names of columns stand in one text."""
    takes_many = parameter.nargs != 1 or getattr(parameter, "multiple", False)
    return ",".join(map(str, value)) if isinstance(value, list) and not takes_many else value


def _path(context: click.Context) -> list[str]:
    """Return the names of a command, those of its groups first."""
    return [] if context.parent is None else [*_path(context.parent), str(context.info_name)]


def _read_config(context: click.Context, parameter: click.Parameter, path: Path | None) -> None:
    """Take what is not typed from a file, for all commands alike or in a table for each."""
    if path is None:
        return
    try:
        found: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # which quotes the file
        found = None
    if found is None:
        raise DataError(f"{path} is no TOML.", "k = 8, a line for each option, in a table such as [fit] for each command.")
    for name in _path(context) if any(isinstance(one, dict) for one in found.values()) else ():
        found = found.get(name)
        if not isinstance(found, dict):
            raise ParameterError(f"{path} has no table for this command.", f"[{name}] and its options below.")
    known = _named(context.command)
    for name in found:
        if name not in known or known[name] is parameter:
            listed = ", ".join(one for one in known if len(one) > 1 and one != "config")
            raise ParameterError(f"{path} names an option that this command does not have.", f"it has {listed}.")
    context.default_map = {str(known[name].name): _value_of(known[name], value) for name, value in found.items()}


class _Told(io.TextIOBase):
    """Standard error whose lines are told in another way."""

    encoding: str = "utf-8"
    errors: str | None = "backslashreplace"

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self._tell: Callable[[str, str], None] = tell
        self._rest = ""

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Tell the lines that are whole."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in filter(None, lines):
            self._tell("error" if line.startswith("error: ") else "note", line.removeprefix("error: "))
        return len(text)


@contextmanager
def _told(how: dict[str, Any]) -> Iterator[None]:
    """Tell lines of standard error, and the questions of a fit, as was asked for; there is no bar."""
    from spinney.curators.telling import listening

    out = sys.stderr

    def tell(kind: str, text: str) -> None:
        if how["logs"] == "json" and not (how["quiet"] and kind != "error"):
            print(as_json({"kind": kind, "text": text}), file=out, flush=True)
        elif kind == "error":
            print(f"error: {text}", file=out, flush=True)

    def ask(words: str) -> None:
        tell("question", words)

    with redirect_stderr(_Told(tell)), listening(ask):
        yield


def _speak(context: click.Context, parameter: click.Parameter, how: Any) -> None:
    """Let all that is said, to the end of the program, be said like this."""
    root = context.find_root()
    told = root.meta.get(TOLD)
    if told is None and how in (True, "json"):
        told = root.meta[TOLD] = {"quiet": False, "logs": "text"}
        root.with_resource(_told(told))
    if told is not None:
        told[str(parameter.name)] = how


_EVERYWHERE = (
    click.option("--config", type=FILE, default=None, is_eager=True, expose_value=False, callback=_read_config,
                 help="TOML with options of this command; those that are typed go before."),
    click.option("--quiet", is_flag=True, is_eager=True, expose_value=False, callback=_speak, help="Say nothing but errors."),
    click.option("--logs", type=click.Choice(["text", "json"]), default="text", is_eager=True, expose_value=False,
                 callback=_speak, help="json: messages and names of questions as lines of JSON."),
)  # fmt: skip


def for_jobs(group: click.Group) -> None:
    """Add the options that every command has."""
    for command in group.commands.values():
        if isinstance(command, click.Group):
            for_jobs(command)
            continue
        for option in reversed(_EVERYWHERE):
            option(command)
