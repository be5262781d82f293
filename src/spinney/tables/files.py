"""Tables from CSV, Parquet, NPY and Excel files.

Names of columns are schema, and public, and so are types where a file declares them; a cell that is not a number is missing,
silently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from spinney.privacy.seal import sealed
from spinney.spaces.schema import Schema
from spinney.tables.batches import Scan, opened, scan
from spinney.tables.memory import memory_bytes
from spinney.tables.records import COMMAS, Csv
from spinney.tables.schema import Paths

__all__ = ["LARGE_SHARE", "Table", "open_table", "read_table", "scan"]

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
