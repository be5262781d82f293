"""What plain ``spinney audit`` replays: a few promises that together ask every question of the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.audit.findings import Finding
from spinney.audit.pairs import demand_pairs, table_pairs
from spinney.audit.replaying import replay_pairs
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.pricing import Unit

__all__ = ["LARGEST", "POINTS", "Stop", "space_of_points", "stops", "toured"]

#: Points of the made-up space of sites.
POINTS = 12
#: The largest made-up table, in rows.
LARGEST = 10**6
#: Neighbors that are replayed at each stop: one of them near the largest table.
PAIRS = 2
DELTA, CAP = 1e-6, 2


@dataclass(frozen=True, eq=False)
class Stop:
    """One promise: what is fitted, and the columns of made-up rows; None of demand."""

    name: str
    model: Any
    unit: Unit
    n_features: int | None = 2
    most: int = LARGEST

    def found(self, largest: int, seed: int) -> Finding:
        """Replay a few neighbors."""
        most, grouped = min(self.most, largest), self.unit.max_rows > 1
        if self.n_features is None:
            pairs = demand_pairs(POINTS, self.unit, PAIRS, grouped=grouped, seed=seed, most=most)
        else:
            corners = np.full(self.n_features, -1.0), np.full(self.n_features, 1.0)
            pairs = table_pairs(*corners, self.unit, PAIRS, grouped=grouped, seed=seed, most=most)
        finding = replay_pairs(self.model, pairs)
        return replace(finding, subject=f"{self.name}: {finding.subject}")


@dataclass(frozen=True)
class _Named:
    """A model of tables with names of columns, over arrays without."""

    model: Any

    def prepare(self, table: Any, groups: Any = None) -> Any:
        """Return what is run, and where the rows are."""
        import polars as pl

        return self.model.prepare(pl.DataFrame(table, schema=["x", "y"], orient="row"), groups)


def space_of_points() -> Any:
    """Return the made-up space."""
    from spinney.spaces.metric import FiniteMetric

    return FiniteMetric.from_points(np.random.default_rng(1).random((POINTS, 2)))


def _description(epsilon: float) -> Any:
    """Return what describes made-up clusters in x by y, for persons."""
    import polars as pl

    from spinney.estimators.description_model import DescriptionModel
    from spinney.estimators.kmeans import PrivateKMeans

    rows = np.random.default_rng(2).uniform(-1, 1, (300, 1))
    model = PrivateKMeans(2, epsilon=9.0, bounds={"x": (-1, 1)}, max_rows_per_group=CAP)
    release = model.fit(pl.DataFrame(rows, schema=["x"], orient="row"), groups=np.arange(300)).release_
    return _Named(DescriptionModel(release, None, {"y": (-1, 1)}, epsilon=epsilon, bins=4))


def stops(epsilon: float) -> Iterator[Stop]:
    """Yield the promises, each at this epsilon."""
    from spinney.algorithms import Stable
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian
    from spinney.estimators.kmedoids import PrivateKMedoids

    box: dict[str, Any] = {"epsilon": epsilon, "bounds": (-1, 1)}
    sites: dict[str, Any] = {"epsilon": epsilon, "space": space_of_points()}
    added, replaced = Unit(), Unit(Adjacency.REPLACE)
    persons, other_persons = Unit(Adjacency.ADD_REMOVE, CAP), Unit(Adjacency.REPLACE, CAP)
    yield Stop("many columns", PrivateKMeans(3, **box, adjacency="replace"), replaced, 6)
    yield Stop("Gaussian noise", PrivateKMeans(3, **box, delta=DELTA, algorithm="hst"), added)
    tight = PrivateKMeans(2, **box, delta=DELTA, tighten=True, adjacency="replace", max_rows_per_group=CAP)
    yield Stop("a private box, for persons", tight, other_persons, most=10**5)
    yield Stop("perturbed medians", PrivateKMedian(2, **box, algorithm=Stable("lloyd", median_step="objective")), added)
    blocks = PrivateKMeans(2, **box, adjacency="replace", algorithm="sample-aggregate")
    yield Stop("blocks of rows", blocks, replaced)
    yield Stop("a description, for persons", _description(epsilon), persons, most=10**5)
    yield Stop("a local search of sites", PrivateKMedoids(2, **sites, delta=DELTA, algorithm="local-search"), added, None)
    yield Stop("a cover of sites", PrivateKMedoids(2, **sites, delta=DELTA, algorithm="coverage"), added, None)
    local = PrivateKMeans(2, **box, delta=DELTA, adjacency="replace", model="local", algorithm="stable")
    yield Stop("users by themselves", local, replaced, most=10**4)


def toured(epsilon: float, largest: int, seed: int) -> Iterator[Finding]:
    """Yield what each promise of the tour showed."""
    for place, stop in enumerate(stops(epsilon), start=seed):
        yield stop.found(largest, place)
