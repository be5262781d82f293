"""Made-up neighbors: pairs of tables, or of demand, that differ by one unit as a promise says.

Each kind is a scene: a crowd, and one unit's rows where they would show most. The unit is one row or, with `groups`, a person
with several rows. It comes or goes (``"add-remove"``), or another one takes its place (``"replace"``). Places and the order of
rows are drawn at random, and sizes on a log scale, one of the largest first: what switches at a size is met on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.exceptions import ParameterError
from spinney.privacy import Unit

#: Scenes, and those that need persons.
KINDS = ("lonely outlier", "empty box", "far corner", "duplicates", "two clusters and a bridge", "bad cells", "random")
GROUP_KINDS = ("a whole person", "an unnamed person")
#: Cells that are no numbers of a table, and no points of a space.
BAD_CELLS = (np.nan, np.inf, -np.inf, 1e300, -1e300)
BAD_PLACES = (np.nan, np.inf, -1.0, 0.5, 1e300)

#: Shares of the log scale of sizes that one pair is apart from the next, and within which the first lies below its end.
GOLDEN, FIRST = (5**0.5 - 1) / 2, 0.15

#: One unit's rows, and a scene: the crowd, the unit, and one that may take its place.
Table = NDArray[np.float64]
Scene = tuple[Table, Table, Table]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbors, made up.

    Parameters
    ----------
    kind : str
        The scene.
    first, second : array of shape (n, d), or of shape (n,)
        Rows of numbers, or the points that rows name.
    first_groups, second_groups : array of object, optional
        Whom each row belongs to; None has no name.
    nobody : table, optional
        An empty one of the same kind; of arrays it is made here.
    """

    kind: str
    first: Table
    second: Table
    first_groups: NDArray[np.object_] | None = None
    second_groups: NDArray[np.object_] | None = None
    nobody: Any = None

    def __post_init__(self) -> None:
        if self.nobody is None and isinstance(self.first, np.ndarray):
            object.__setattr__(self, "nobody", self.first[:0])

    @property
    def swapped(self) -> Pair:
        """The same neighbors in the other order."""
        return Pair(self.kind, self.second, self.first, self.second_groups, self.first_groups, self.nobody)


class _Scenes:
    """Scenes in a box or, of whole numbers, among the points of a space."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike, are_points: bool = False) -> None:
        corners = [np.atleast_1d(np.asarray(corner, dtype=np.float64)) for corner in (lower, upper)]
        self._lower, self._upper, self._are_points = corners[0], corners[1], are_points

    def _at(self, place: float) -> Table:
        """Return the point that lies so far between the corners."""
        return self._lower + place * (self._upper - self._lower)

    def _blob(self, rng: np.random.Generator, n: int, place: float, width: float) -> Table:
        return self._at(place) + rng.uniform(-width, width, (n, len(self._lower))) * (self._upper - self._lower)

    def _anywhere(self, rng: np.random.Generator, n: int) -> Table:
        return rng.uniform(self._lower, self._upper, (n, len(self._lower)))

    def scene(self, kind: str, n: int, rows: int, rng: np.random.Generator) -> Scene:
        """Return a crowd of about n rows, one unit, and another."""
        crowd, one, other = self._scene(kind, n, rows, rng)
        if not self._are_points:
            return crowd, one, other
        crowd, one, other = (np.clip(np.rint(side[:, 0]), self._lower, self._upper) for side in (crowd, one, other))
        return crowd, rng.choice(BAD_PLACES, rows) if kind == "bad cells" else one, other

    def _scene(self, kind: str, n: int, rows: int, rng: np.random.Generator) -> Scene:
        d = len(self._lower)
        far, near = np.repeat(self._at(1.0)[None], rows, axis=0), np.repeat(self._at(0.0)[None], rows, axis=0)
        if kind == "lonely outlier":
            return np.repeat(self._at(float(rng.choice([0.0, 0.03, 0.25])))[None], n, axis=0), far, near
        if kind == "empty box":
            return np.empty((0, d)), self._anywhere(rng, rows), far
        if kind == "far corner":
            corner = np.where(rng.random(d) < 0.5, self._lower, self._upper)
            return self._anywhere(rng, n), np.repeat(corner[None], rows, axis=0), self._anywhere(rng, rows)
        if kind == "duplicates":
            point = self._anywhere(rng, 1)
            return np.repeat(point, n, axis=0), np.repeat(point, rows, axis=0), far
        if kind == "two clusters and a bridge":
            blobs = np.concatenate([self._blob(rng, n, 0.2, 0.06), self._blob(rng, max(1, n // 3), 0.8, 0.02)])
            return blobs, self._blob(rng, rows, 0.5, 0.01), self._blob(rng, rows, 0.2, 0.01)
        if kind == "bad cells":
            bad = self._anywhere(rng, rows)
            bad[np.arange(rows), rng.integers(0, d, rows)] = rng.choice(BAD_CELLS, rows)
            return self._anywhere(rng, n), bad, self._anywhere(rng, rows)
        spread = rng.choice([0.001, 0.05, 1.0], 2)
        crowd = self._blob(rng, n, float(rng.random()), spread[0])
        return crowd, self._blob(rng, rows, float(rng.random()), spread[1]), self._anywhere(rng, rows)


def _placed(crowd: Any, unit: Any, where: int) -> Any:
    """Return a crowd with a unit's rows among it."""
    return np.concatenate([crowd[:where], unit, crowd[where:]])


def _people(n: int, rng: np.random.Generator) -> NDArray[np.object_]:
    """Return whom the rows of a crowd belong to; a few rows to nobody."""
    people = max(1, n // 2)
    names = np.array([f"person {i}" for i in range(people)], dtype=object)[rng.integers(0, people, n)]
    names[rng.random(n) < 0.05] = None
    return names


def paired(kind: str, scene: Scene, unit: Unit, grouped: bool, rng: np.random.Generator) -> Pair:
    """Return the neighbors of one scene, their order and names drawn at random."""
    crowd, one, other = scene
    where = int(rng.integers(0, len(crowd) + 1))
    before, after = (one, other) if unit.replaces else (one[:0], one)
    first, second = _placed(crowd, before, where), _placed(crowd, after, where)
    if not grouped:
        return Pair(kind, first, second)
    names = _people(len(crowd), rng)

    def called(rows: Table, name: str | None) -> NDArray[np.object_]:
        return np.array([name] * len(rows), dtype=object)

    # One unit without a name has no rows that count, whatever it was before.
    newcomer = None if kind == "an unnamed person" else "the newcomer"
    return Pair(
        kind, first, second, _placed(names, called(before, "the unit"), where), _placed(names, called(after, newcomer), where)
    )


def _sizes(most: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield sizes from 1 to `most`, spread evenly over a log scale."""
    share = float(rng.uniform(0, FIRST))
    while True:
        yield min(most, int((most + 1) ** (1 - share)))
        share = (share + GOLDEN) % 1


def _pairs(scenes: _Scenes, unit: Unit, grouped: bool, seed: int, most: int) -> Iterator[Pair]:
    rng = np.random.default_rng(seed)
    sizes = _sizes(most, rng)
    while True:
        for kind in KINDS + (GROUP_KINDS if grouped else ()):
            rows = 1
            if grouped:  # at the cap, and beyond it: then a secret decides which rows count
                rows = 2 * unit.max_rows + 1 if kind == "a whole person" else int(rng.integers(1, unit.max_rows + 2))
            scenery = str(rng.choice(KINDS)) if kind in GROUP_KINDS else kind
            pair = paired(kind, scenes.scene(scenery, next(sizes), rows, rng), unit, grouped, rng)
            yield pair if unit.replaces or rng.random() < 0.5 else pair.swapped


def _checked_unit(unit: Any, grouped: bool, owner: str) -> Unit:
    if type(unit) is not Unit or (unit.max_rows > 1 and not grouped):
        raise ParameterError.wrong("unit", owner, "a Unit, of one row if there are no groups", unit, "Unit() is one row more.")
    return unit


def table_pairs(
    lower: ArrayLike, upper: ArrayLike, unit: Unit, count: int, *, grouped: bool = False, seed: int = 0, most: int = 40
) -> Iterator[Pair]:
    """Yield `count` pairs of neighboring tables, one kind after another.

    Parameters
    ----------
    lower, upper : array-like of shape (d,)
        The corners of the public domain.
    unit : Unit
        Who is protected: by `Pair.second` one unit has come, gone, or been replaced.
    count : int
    grouped : bool
        Whether rows belong to persons; of one at most ``unit.max_rows`` rows count.
    seed : int
    most : int
        The largest crowd, in rows; a scene of two clusters has a third more. The first pair is near it, the others are on a log
        scale below.
    """
    unit = _checked_unit(unit, grouped, "table_pairs")
    return islice(_pairs(_Scenes(lower, upper), unit, grouped, seed, most), count)


def demand_pairs(
    n_points: int, unit: Unit, count: int, *, grouped: bool = False, seed: int = 0, most: int = 40
) -> Iterator[Pair]:
    """Yield `count` pairs of neighboring demand: rows that name one of `n_points` points; the rest is as in `table_pairs`."""
    unit = _checked_unit(unit, grouped, "demand_pairs")
    return islice(_pairs(_Scenes(0, n_points - 1, are_points=True), unit, grouped, seed, most), count)
