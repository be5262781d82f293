"""Where private rows are: the value that a fit is given, and that opens a backend over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from spinney.curators.backend import Backend
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground

__all__ = ["HERE", "SPARK", "HeldRows", "Rows"]

#: What a release says about who held the rows, if that is the party that ran the fit.
HERE = "central: the party that ran the fit held the rows and added the noise"
#: The same, of rows on a Spark cluster.
SPARK = (
    "central: executors of a Spark cluster held the rows and sent exact sums to the driver that ran the fit, which added the "
    "noise; cluster and driver are one trusted party"
)


class Rows(ABC):
    """Private rows, wherever they are, and what is public about them.

    Attributes
    ----------
    place : str
        The kind of place, as algorithms name it: "memory", "parquet" or "spark".
    n_features : int
        The number of columns of numbers; 0 if rows name points.
    columns : tuple of str or None
        Names of the columns.
    has_groups : bool
        Whether rows have groups.
    model : str
        Who held the rows and who added the noise.
    """

    place: ClassVar[str] = "memory"
    n_features: int = 0
    columns: tuple[str, ...] | None = None
    has_groups: bool = False
    model: str = HERE

    @abstractmethod
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> AbstractContextManager[Backend]:
        """Return a context in which a backend over these rows is open.

        Parameters
        ----------
        ground : Ground
            Public.
        unit : Unit
            Who is protected.
        key : callable
            Draws the secret that decides which rows of a group count.
        """


@dataclass(frozen=True, eq=False)
class HeldRows(Rows):
    """Rows in an array in memory, and whom each row belongs to.

    A class of them names its `backend`, which takes the array, the arguments of `opened` and the groups.
    """

    nonprivate_array: NDArray[Any]
    nonprivate_groups: Any = None

    #: What answers about such rows.
    backend: ClassVar[Callable[..., Backend]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_groups", self.nonprivate_groups is not None)

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> Iterator[Backend]:
        """Open a backend over the array."""
        yield type(self).backend(self.nonprivate_array, ground, unit, key, self.nonprivate_groups)
