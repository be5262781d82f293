"""Writing labels: to a file of a kind that its name says, or to standard output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError

__all__ = ["check_kind", "write_labels"]

#: What the name of a file of labels ends in.
KINDS = (".csv", ".parquet", ".npy")
#: The one column of a table of labels.
COLUMN = "label"


def check_kind(out: Path) -> None:
    """Raise unless the name of a file says a kind that can be written; a pipe or a device takes CSV."""
    if out.suffix.lower() not in KINDS and (not out.exists() or out.is_file()):
        raise ParameterError(
            f"{out} is of a kind that cannot be written.",
            f"--out FILE with {', '.join(KINDS[:-1])} or {KINDS[-1]}, or - for standard output.",
        )


def write_labels(labels: NDArray[Any], out: Path | None) -> None:
    """Write one label per row to a file, or as CSV to standard output."""
    kind = "" if out is None else out.suffix.lower()
    if out is not None and kind == ".npy":
        with out.open("wb") as binary:  # given a name, NumPy may add to it
            np.save(binary, labels, allow_pickle=False)
    elif kind == ".parquet":
        import polars as pl

        pl.DataFrame({COLUMN: labels}).write_parquet(str(out))
    else:
        with click.open_file("-" if out is None else str(out), "w", encoding="utf-8") as file:
            np.savetxt(file, labels, fmt="%d", header=COLUMN, comments="")
