"""Exit codes: 0 ok, 2 usage, 3 data, 4 budget, 5 work, 6 begun before, 130 interrupted, 143 terminated, 1 anything else or a no.

Errors are one line that says what to type. An unexpected error is reported without its message, which could hold a row's values.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from spinney.exceptions import (
    BudgetError,
    CuratorError,
    DataError,
    ParameterError,
    ReleaseError,
    SpinneyError,
    UnfinishedError,
    UnitsWarning,
)
from spinney.naming import without_values

UNEXPECTED, USAGE, DATA, BUDGET, WORK, UNFINISHED = 1, 2, 3, 4, 5, 6
#: Of `spinney verify`: something about a release does not hold.
REFUSED = 1
#: As shells count: 128 and the number of the signal.
INTERRUPTED, TERMINATED = 130, 143

_UNEXPECTED = (
    "Something failed that should not. Details are withheld because they could reveal private data. "
    "Hint: try the same from Python with made-up rows, and report what you see."
)
#: What a parameter is called here.
OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "adjacency", "algorithm", "bins", "both_ways", "bounds", "charge_again", "columns", "delta", "encoding", "epsilon",
        "groups", "largest_part", "max_row_weight", "max_rows_per_group", "metric", "model", "n_features", "n_guess", "power",
        "quotes", "row_weight_step", "row_weights", "scale", "separator", "snap_limit", "title", "travel", "weight", "weights",
    )
}  # fmt: skip
OPTIONS |= {
    "existing_sites": "--existing", "lower": "--bounds", "max_clusters": "--max-k", "n_clusters": "--k", "upper": "--bounds",
}  # fmt: skip
_SETTING = re.compile(r"\b(\w+)=(\{[^}]*\}|\[[^\]]*\]|'[^']*'|[^\s;,']*[^\s;,.'])")


def _setting(found: re.Match[str]) -> str:
    option, value = OPTIONS.get(found[1]), found[2]
    if option is None:
        return found[0]
    if value.startswith("{"):  # facts by column
        return "--schema FILE"
    typed = re.sub(r"[\[\]']|(?<=,) ", "", value)
    return option if value == "True" else f"{option} {typed}"


def with_options(hint: str) -> str:
    """Return a hint with its settings, such as ``epsilon=1``, written as options."""
    return _SETTING.sub(_setting, hint)


def in_options(error: SpinneyError | UnitsWarning) -> str:
    """Return an error in one line with options for parameters; what a user typed, before the hint, stays as it is."""
    said = error.said
    if isinstance(error, ParameterError) and error.name in OPTIONS:
        must = re.sub(r", or an algorithm for [a-z]+| or None(?=\.)", "", error.must)  # which only Python can pass
        said = f"{OPTIONS[error.name]} must be {must}"
    return " ".join((f"{said} Hint: {with_options(error.hint)}" if error.hint else said).split())


class _Terminated(SystemExit):
    """Someone asked the process to end."""


def _stop(error: BaseException, code: int, text: str = "") -> NoReturn:
    said = in_options(error) if isinstance(error, SpinneyError) and not text else text
    line = " ".join([said, *getattr(error, "__notes__", ())])
    click.echo("error: " + " ".join(line.split()), err=True)
    sys.exit(code)


@contextmanager
def _heard() -> Iterator[None]:
    """Let a request to end the process end the command as an error does: it says what was charged and leaves no half file."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise _Terminated(TERMINATED)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn whatever ends a command into one line on standard error and an exit code."""
    try:
        with _heard():
            yield
    except ParameterError as error:
        _stop(error, USAGE)
    except (DataError, ReleaseError) as error:
        _stop(error, DATA)
    except BrokenPipeError:
        raise  # whoever read the output has had enough; click ends quietly
    except OSError as error:
        why = os.strerror(error.errno) if isinstance(error.errno, int) else "A file could not be read or written"
        where = f"{without_values(str(error.filename))}: " if error.filename else ""
        _stop(error, DATA, f"{where}{why}. Hint: check the path, its permissions and the space that is left.")
    except BudgetError as error:
        _stop(error, BUDGET)
    except UnfinishedError as error:
        _stop(error, UNFINISHED)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        _stop(error, USAGE, f"{package} is not installed. Hint: pip install {package}")
    except (CuratorError, MemoryError) as error:
        _stop(error, WORK, CuratorError.TEXT)
    except KeyboardInterrupt as error:
        _stop(error, INTERRUPTED, "Interrupted.")
    except _Terminated as error:
        _stop(error, TERMINATED, "Terminated.")
    except (click.ClickException, click.exceptions.Exit, click.Abort, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of polars is no `Exception`
        _stop(error, UNEXPECTED, _UNEXPECTED)
