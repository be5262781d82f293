"""Tables from CSV, Parquet, NPY and Excel files, and bounds from JSON.

Names of columns are schema, and public, and so are types where a file declares them; a cell that is not a number is missing,
silently.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from spinney.exceptions import DataError, check_path
from spinney.naming import named
from spinney.privacy.seal import sealed
from spinney.spaces.schema import Schema
from spinney.tables.batches import Scan, opened, scan
from spinney.tables.memory import memory_bytes
from spinney.tables.records import COMMAS, Csv
from spinney.tables.schema import Paths, shielded

__all__ = ["LARGE_SHARE", "Table", "open_table", "read_bounds", "read_table", "scan"]

#: A table is left on disk if its numbers, at eight bytes each, would take more than this share of the memory.
LARGE_SHARE = 1 / 8


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of numbers, the names of their columns, and whom each row belongs to. All but the names is private."""

    nonprivate_rows: NDArray[Any]
    columns: tuple[str, ...] | None = None
    nonprivate_groups: Any = None


def open_table(
    paths: Paths,
    columns: list[str] | None = None,
    groups: str | None = None,
    schema: Schema | None = None,
    whole: bool = False,
    written: Csv = COMMAS,
) -> Table | Scan:
    """Return the rows of files, as `read_table` does, or left on disk if they would take a large share of memory.

    What is released does not depend on this choice, nor what is refused; only time and memory do. `whole` rows are never left.
    """
    found = opened(paths, columns, groups, schema, written)
    is_large = found.nbytes > LARGE_SHARE * memory_bytes() and not whole
    return found if is_large else read_table(paths, columns, groups, schema, written)


@sealed()
def read_table(
    paths: Paths,
    columns: list[str] | None = None,
    groups: str | None = None,
    schema: Schema | None = None,
    written: Csv = COMMAS,
) -> Table:
    """Return the rows of a file, or of several that have the same columns, in their order; parameters as for `scan`.

    Columns that a schema says to hold categories, truth values or dates are read as numbers (`spinney.tables.encoding`).
    """
    found = opened(paths, columns, groups, schema, written)
    return Table(found.whole(), found.columns, found.read_groups() if found.has_groups else None)


def read_bounds(path: Path) -> dict[str, tuple[float, float]]:
    """Return public bounds by column from a JSON file such as ``{"age": [0, 110], "bmi": [10, 60]}``."""
    hint = 'write JSON such as {"age": [0, 110], "bmi": [10, 60]}.'

    def parse(content: bytes) -> dict[str, tuple[float, float]]:
        record = json.loads(content.decode("utf-8"))
        return {str(name): (float(low), float(high)) for name, (low, high) in record.items()}

    check_path(path, "read_bounds")
    content = shielded(Path(path).read_bytes, DataError(f"{path} cannot be read.", hint))
    bounds = shielded(lambda: parse(content), DataError(f"{path} does not hold bounds.", hint))
    for name, (low, high) in bounds.items():
        if not low < high:
            raise DataError(f"{path}: the lower bound of {named(name)} is not below its upper bound.", hint)
    return bounds
