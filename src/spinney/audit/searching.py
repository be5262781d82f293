"""Neighbor search: hypothesis looks for the pair with the largest priced loss, or for the first difference that can be seen.

What it searches over is a strategy of cases: what runs, on which neighbors, in which surroundings (files, blocks, threads). What
it finds is made small before it is told: few rows, plain values. Needs ``pip install hypothesis``.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from spinney.audit.black_boxes import promise_of, runner
from spinney.audit.findings import Finding
from spinney.audit.outcomes import Spots, seen_outcome
from spinney.audit.pairs import BAD_CELLS, BAD_PLACES, Pair, paired
from spinney.audit.replaying import replay_pairs
from spinney.constraints import check, integer
from spinney.curators import memory
from spinney.mechanisms import SecureSource
from spinney.privacy import Unit
from spinney.threads import limited

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

#: What this method would not notice.
CANNOT_SEE = (
    "cases that its strategies do not make, or did not make this time",
    "of a plain function, anything but errors, warnings, printed text, kinds and lengths: its numbers are for the black box",
    "running time and memory use",
)

#: Where rows are, more often in memory, and by how many they are worked on.
PLACES, CHUNKS = ("memory", "memory", "npy", "csv", "parquet"), (memory.CHUNK, 1, 2, 3, 7)
#: A plain function must show the same each time, and something else for the neighbor.
REPEATS = 3
#: Most further cases in which what was found is made smaller.
SMALLER = 12
#: Tables up to this many rows have different rows; larger ones repeat them.
FREE = 30
#: Most chunks that a table is cut into.
MOST_CHUNKS = 256


def _hypothesis() -> Any:
    try:
        import hypothesis
    except ModuleNotFoundError:
        text = "hypothesis is not installed: the search for neighbors needs it.\nHint: pip install hypothesis"
        raise ModuleNotFoundError(text, name="hypothesis") from None
    return hypothesis


@dataclass(frozen=True)
class Surroundings:
    """Where a fit runs: what must not matter.

    Parameters
    ----------
    place : {"memory", "csv", "parquet", "npy"}
        Rows of numbers may lie in a file; persons are in memory.
    chunk, threads : int
        The rows of a chunk in memory, and the number of threads.
    """

    place: str = "memory"
    chunk: int = memory.CHUNK
    threads: int = 2

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Work here: rows in memory are cut otherwise while this lasts."""
        here: Any = memory
        before, here.CHUNK = here.CHUNK, self.chunk
        try:
            with limited(self.threads):
                yield
        finally:
            here.CHUNK = before

    def placed(self, pair: Pair, folder: Path) -> Pair:
        """Return a pair whose rows lie in this place."""
        if self.place == "memory" or pair.first_groups is not None or np.ndim(pair.first) != 2:
            return pair
        from spinney.tables.batches import scan

        found: list[Any] = []
        for side, rows in (("first", pair.first), ("second", pair.second), ("nobody", pair.first[:0])):
            path = folder / f"{side}.{self.place}"
            names = [f"c{i}" for i in range(rows.shape[1])]
            if self.place == "npy":
                np.save(path, rows)
            elif self.place == "csv":
                lines = [",".join(map(repr, row)) for row in rows.tolist()]
                path.write_text("\n".join([",".join(names), *lines, ""]), encoding="utf-8")
            else:
                import pyarrow as pa
                import pyarrow.parquet as pq

                pq.write_table(pa.table({name: rows[:, i] for i, name in enumerate(names)}), path)
            found.append(scan(path))
        return Pair(f"{pair.kind}, {self.place}", found[0], found[1], nobody=found[2])


@dataclass(frozen=True, eq=False)
class Case:
    """One thing to try.

    Parameters
    ----------
    subject : estimator, or callable
    pair : Pair
    surroundings : Surroundings
    """

    subject: Any
    pair: Pair
    surroundings: Surroundings = Surroundings()

    def __post_init__(self) -> None:
        around = self.surroundings
        least = len(self.pair.first) // MOST_CHUNKS
        object.__setattr__(self, "surroundings", replace(around, chunk=max(around.chunk, least)))

    @property
    def words(self) -> str:
        """What was tried."""
        sizes = " and ".join(str(len(side)) for side in (self.pair.first, self.pair.second))
        return f"{self.pair.kind} of {sizes} rows, {self.surroundings}, {self.subject!r}"[:600]


def surroundings() -> SearchStrategy[Surroundings]:
    """Return a strategy of surroundings."""
    st = _hypothesis().strategies

    def built(seed: int) -> Surroundings:
        rng = np.random.default_rng(seed)
        place, chunk = PLACES[rng.integers(len(PLACES))], CHUNKS[rng.integers(len(CHUNKS))]
        return Surroundings(place, chunk, int(rng.integers(1, 5)))

    # By a seed, for hypothesis draws what it draws from lists rather unevenly: mostly the first of them.
    found: SearchStrategy[Surroundings] = st.one_of(st.just(Surroundings()), st.integers(0, 2**32 - 1).map(built))
    return found


def _large(most: int, drawn: Any) -> int | None:
    """Return a size on a log scale, for every other case; None if its own rows are enough.

    By what else was drawn, for hypothesis itself would seldom draw a large number.
    """
    word = zlib.crc32(repr(drawn).encode())
    return int(most ** (word / 2**32)) if most > FREE and word % 2 else None


def _pairs_of(cell: Any, n_features: int | None, unit: Unit, grouped: bool, most: int) -> SearchStrategy[Pair]:
    """Return a strategy of pairs whose rows have this many cells, or are one cell."""
    st = _hypothesis().strategies
    row = cell if n_features is None else st.lists(cell, min_size=n_features, max_size=n_features)
    # Every small size is as likely as any other: faults that depend on sizes are what is looked for.
    free = st.integers(0, min(most, FREE)).flatmap(lambda n: st.lists(row, min_size=n, max_size=n))
    rows = st.one_of(free, st.builds(lambda one, n: [one] * n, row, st.integers(0, min(most, FREE))))
    size = st.integers(1, 2 * unit.max_rows + 1) if grouped else st.just(1)
    units = size.flatmap(lambda n: st.tuples(*[st.lists(row, min_size=n, max_size=n)] * 2))
    shape = (-1,) if n_features is None else (-1, n_features)

    def built(crowd: Any, ones: Any, named: bool, flip: bool, seed: int) -> Pair:
        scene = [np.array(side, dtype=np.float64).reshape(shape) for side in (crowd, *ones)]
        n = _large(most, (crowd, ones, named, flip, seed))
        if n is not None:
            scene[0] = np.resize(scene[0] if len(crowd) else scene[1], (n, *scene[0].shape[1:]))
        kind = "an unnamed person" if grouped and not named else "searched"
        pair = paired(kind, tuple(scene), unit, grouped, np.random.default_rng(seed))  # type: ignore[arg-type]
        return pair.swapped if flip and not unit.replaces else pair

    found: SearchStrategy[Pair] = st.builds(built, rows, units, st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
    return found


def neighbors(
    lower: ArrayLike, upper: ArrayLike, unit: Unit | None = None, *, grouped: bool = False, most: int = 30
) -> SearchStrategy[Pair]:
    """Return a strategy of neighboring tables of numbers; parameters as for `table_pairs`.

    Cells lie anywhere in the bounds, on them, or are no numbers. Tables of more than a few rows repeat them, and their sizes are
    on a log scale up to `most`.
    """
    st = _hypothesis().strategies
    lower, upper = (np.atleast_1d(np.asarray(corner, dtype=np.float64)) for corner in (lower, upper))
    inside = st.floats(float(lower.min()), float(upper.max()), allow_subnormal=False)
    cell = st.one_of(st.sampled_from([0.0, float(lower.min()), float(upper.max())]), inside, st.sampled_from(BAD_CELLS))
    return _pairs_of(cell, len(lower), Unit() if unit is None else unit, grouped, most)


def demand_neighbors(n_points: int, unit: Unit | None = None, *, grouped: bool = False, most: int = 30) -> SearchStrategy[Pair]:
    """Return a strategy of neighboring demand; parameters as for `demand_pairs`. Some rows name no point."""
    st = _hypothesis().strategies
    odd = dict(enumerate(BAD_PLACES[: max(1, n_points // 4)], n_points))
    cell = st.integers(0, n_points + len(odd) - 1).map(lambda place: odd.get(place, float(place)))
    return _pairs_of(cell, None, Unit() if unit is None else unit, grouped, most)


class _FoundError(Exception):
    """A promise is broken; hypothesis makes the case small."""


class _EnoughError(BaseException):
    """No smaller case is looked for: hypothesis lets pass what is no Exception."""


def _shown(case: Case, pair: Pair) -> list[str]:
    """Return what can be seen to differ of a plain function, each time that it runs."""
    sides = []
    for data, groups in ((pair.first, pair.first_groups), (pair.second, pair.second_groups)):
        call = runner(case.subject, data, groups, SecureSource(), 1.0)
        told = []
        for _ in range(REPEATS):
            numbers, words = seen_outcome(call, Spots(pair))
            told.append(words | {name: str(value) for name, value in numbers.items() if name.endswith(" length")})
        sides.append({name: told[0][name] for name in told[0] if all(one.get(name) == told[0][name] for one in told)})
    differ = sorted(name for name in sides[0] if name in sides[1] and sides[0][name] != sides[1][name])
    return [f"the {name.strip('. ') or 'result'} of the function depends on the rows" for name in differ]


def _tried(case: Case) -> tuple[float, tuple[str, ...]]:
    """Return the loss of one case, and what breaks its promise."""
    with tempfile.TemporaryDirectory() as folder, case.surroundings.entered():
        pair = case.surroundings.placed(case.pair, Path(folder))
        if not hasattr(case.subject, "prepare"):
            return 0.0, tuple(_shown(case, pair))
        found = replay_pairs(case.subject, [pair])
        return found.bound / found.promised_epsilon, found.faults


def search(
    cases: Any,
    pairs: SearchStrategy[Pair] | None = None,
    *,
    examples: int = 100,
    seed: int = 0,
    epsilon: float | None = None,
    delta: float | None = None,
) -> Finding:
    """Look for neighbors that break a promise, or else for those with the largest priced loss.

    Parameters
    ----------
    cases : strategy of Case; or an estimator, or a function of a table
        What to try. With an estimator or a function, `pairs` says on what; estimators then also run from files, in other chunks
        and threads.
    pairs : strategy of Pair, optional
        `neighbors` and `demand_neighbors` are some.
    examples : int
        How many cases to try at most.
    seed : int
        Of the search.
    epsilon, delta : float, optional
        What a plain function promises; estimators of ours say so themselves. The bound is for the case that came nearest.

    Returns
    -------
    Finding
        Its ``tried`` has the worst case, in words.
    """
    hypothesis = _hypothesis()
    st = hypothesis.strategies
    check("search", {"examples": examples}, {"examples": integer(1, "for example examples=100.")})
    if pairs is not None:
        around = surroundings() if hasattr(cases, "prepare") else st.just(Surroundings())
        cases = st.builds(Case, st.just(cases), pairs, around)
    seen: dict[str, Any] = {"cases": 0, "share": -1.0, "worst": None, "faults": (), "left": SMALLER}

    def attempt(case: Case) -> None:
        if seen["faults"]:
            seen["left"] -= 1
            if seen["left"] < 0:
                raise _EnoughError
        share, faults = _tried(case)
        seen["cases"] += 1
        if faults:
            seen.update(worst=case, faults=faults, share=share)
            raise _FoundError
        if share > seen["share"]:
            seen.update(share=share, worst=case)
        hypothesis.target(share)

    settings = hypothesis.settings(
        max_examples=examples, database=None, deadline=None, report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck), verbosity=hypothesis.Verbosity.quiet,
    )  # fmt: skip
    look: Callable[[], None] = hypothesis.seed(seed)(settings(hypothesis.given(cases)(attempt)))
    # A fault that comes by chance, or was not looked for again, does not repeat itself: flaky, as hypothesis calls it.
    with suppress(_FoundError, _EnoughError, hypothesis.errors.Flaky):
        look()
    worst: Case = seen["worst"]
    promised = promise_of(worst.subject, worst.pair, epsilon, delta, "search")
    tried = {"cases": seen["cases"], "worst case": worst.words}
    return Finding(
        "search", promised.words, promised.epsilon, promised.delta, max(0.0, seen["share"]) * promised.epsilon,
        tried=tried, faults=seen["faults"], cannot_see=CANNOT_SEE,
    )  # fmt: skip
