"""What errors say on the command line: options, where Python has parameters."""

from __future__ import annotations

import re

from spinney.exceptions import ParameterError, SpinneyError, UnitsWarning

__all__ = ["in_options", "with_options"]

#: What a parameter is called here.
OPTIONS = {
    "adjacency": "--adjacency",
    "algorithm": "--algorithm",
    "bins": "--bins",
    "bounds": "--bounds",
    "columns": "--columns",
    "delta": "--delta",
    "epsilon": "--epsilon",
    "existing_sites": "--existing",
    "groups": "--groups",
    "largest_part": "--largest-part",
    "lower": "--bounds",
    "max_clusters": "--max-k",
    "max_rows_per_group": "--max-rows-per-group",
    "model": "--model",
    "n_clusters": "--k",
    "n_features": "--n-features",
    "n_guess": "--n-guess",
    "power": "--power",
    "scale": "--scale",
    "title": "--title",
    "upper": "--bounds",
}
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
        said = f"{OPTIONS[error.name]} must be {error.must}"
    return " ".join((f"{said} Hint: {with_options(error.hint)}" if error.hint else said).split())
