"""Exit codes: 0 ok, 2 usage, 3 data, 4 budget. Errors are one line that says what to type."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from spinney.cli.wording import in_options
from spinney.exceptions import BudgetError, DataError, ParameterError, ReleaseError

__all__ = ["BUDGET", "DATA", "USAGE", "one_line_errors"]

USAGE, DATA, BUDGET = 2, 3, 4


def _stop(error: object, code: int) -> NoReturn:
    told = " ".join([in_options(str(error)), *getattr(error, "__notes__", ())])
    click.echo("error: " + " ".join(told.split()), err=True)
    sys.exit(code)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn the library's errors into one line on standard error and an exit code."""
    try:
        yield
    except ParameterError as error:
        _stop(error, USAGE)
    except (DataError, ReleaseError) as error:
        _stop(error, DATA)
    except BrokenPipeError:
        raise  # whoever read the output has had enough; click ends quietly
    except OSError as error:
        if error.filename:
            notes = " ".join(getattr(error, "__notes__", ()))
            _stop(f"{error.filename}: {error.strerror}. Hint: check the path and its permissions. {notes}", DATA)
        _stop(error, DATA)
    except BudgetError as error:
        _stop(error, BUDGET)
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        _stop(f"{package} is not installed. Hint: pip install 'spinney[plot]'", USAGE)
