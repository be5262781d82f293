"""Where private rows are: the value that a fit is given, and that opens a backend over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from spinney.curators.backend import Backend
from spinney.curators.gate import Curator
from spinney.exceptions import ParameterError
from spinney.privacy import Unit
from spinney.questions.ground import Ground
from spinney.spaces.described import Encoding

#: What a release says about who held the rows, if that is the party that ran the fit.
HERE = "central: the party that ran the fit held the rows and {added}"
#: The same, of rows on a Spark cluster.
SPARK = (
    "central: executors of a Spark cluster held the rows and sent exact sums to the driver that ran the fit, which {added}; "
    "cluster and driver are one trusted party"
)


class Rows(ABC):
    """Private rows, wherever they are, and what is public about them.

    Attributes
    ----------
    place : str
        The kind of place, as algorithms name it: "memory", "parquet" (files of any kind, read into memory or not) or "spark".
    n_features : int
        The number of columns of numbers; 0 if rows name points.
    columns : tuple of str or None
        Names of the columns.
    has_groups : bool
        Whether rows have groups.
    model : str
        Who held the rows and who added the noise, with ``{added}`` where a release says which noise.
    gate : callable
        Makes the place where questions about these rows are asked, from a backend, the unit, a ledger and a source of noise.
    """

    place: str = "memory"
    n_features: int = 0
    columns: tuple[str, ...] | None = None
    has_groups: bool = False
    model: str = HERE
    gate: ClassVar[Callable[..., Any]] = Curator

    @abstractmethod
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> AbstractContextManager[Backend]:
        """Return a context in which a backend over these rows is open; `key` draws what decides which rows of a group count."""

    def encoded(self, schema: Encoding) -> Rows:
        """Return the same rows in scaled numbers, as a public schema says."""
        raise ParameterError("These rows take no units.", "leave scale out, or divide rows and bounds by public constants.")
