"""What a backend is: it answers exact aggregates of a closed list about private rows. It never sees a charge or a noise.

| aggregate | exact whole numbers |
|---|---|
| `Whole`, `Rings`, `TreeCells`, `PlaneCells`, `ColumnBins`, `Clusters`, `ClusterBins`, `Labels` | numbers of rows in the cells |
| `OneEach` | numbers of persons in clusters |
| `ColumnTotals` | sums of columns by cluster |
| `Offsets` | sums of clipped vectors, and weights |
| `Costs` | a sum of costs |
| `Slopes` | sums of gradients, weights and second derivatives; of rows in memory |
| `Lengths` | sums of a public number of each row's point, in cells |
| `Swaps`, `Sets` | the costs of options, and the public range of one row's |
| `OfEachRow` | what the aggregate of a question's own file adds up of each row alone |
| `Tuples` | a backend over the centers of blocks of rows |
| `Balls`, `Family` | what counts the rows that each set would cover at a stage, and removes those that a chosen one covers |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from spinney.privacy import Held
from spinney.questions.ground import Ground
from spinney.spaces import Domain, FiniteMetric, FloatArray, IntArray


class Backend(Held, ABC):
    """Holds private rows, wherever they are, and answers exact aggregates."""

    ground: Ground
    #: Whether rows were given in memory, so that a question may read them many times: public, whatever their number.
    in_memory: bool = False

    @abstractmethod
    def exact(self, aggregate: Any, levels_below: int = 0) -> Any:
        """Return an aggregate of the list; cells of `levels_below` levels below may be asked about next."""

    def within(self, domain: Domain) -> Self:
        """Return a backend over the same rows that clips them to another public domain."""
        raise ValueError("only rows of numbers can be clipped")

    def projected(self, directions: FloatArray, domain: Domain) -> Self:
        """Return a backend over the same rows that projects them on public directions and clips them to a public domain."""
        raise ValueError("only rows of numbers can be projected")

    def near(self, centers: FloatArray, kept: IntArray) -> Self:
        """Return a backend over the rows whose nearest public center is one of the kept ones."""
        raise ValueError("only rows of numbers have nearest centers")

    def at(self, space: FiniteMetric) -> Backend:
        """Return a backend over the same rows that sees each as the nearest of finitely many public points."""
        raise ValueError("only rows of numbers can be seen at points")
