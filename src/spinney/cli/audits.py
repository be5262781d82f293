"""From the options of ``spinney audit`` to findings, and a tour of promises that together ask every question of the catalog."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import click
import numpy as np

from spinney.algorithms.registry import find
from spinney.audit.black_boxes import black_box
from spinney.audit.findings import Finding, Findings
from spinney.audit.pairs import Pair, demand_pairs, table_pairs
from spinney.audit.replaying import replay_pairs
from spinney.audit.searching import demand_neighbors, neighbors, search
from spinney.audit.single_runs import one_run
from spinney.constraints import check, one_of
from spinney.exceptions import ParameterError
from spinney.fits.record import algorithm_of
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.pricing import Unit

#: Points of the made-up space of sites, and the largest made-up table, in rows.
POINTS, LARGEST = 12, 10**6
#: The rows of the one run, how many pairs of neighbors a function of others is run on, and how many are of all sizes.
CANARIES, FEW_PAIRS, SIZED_PAIRS = 100, 8, 8
#: Tables on which functions of others are searched.
SMALL = 30
#: Of the tour: neighbors that are replayed of each promise, one of them near the largest table; its delta, and rows of a person.
PAIRS, DELTA, CAP = 2, 1e-6, 2


@dataclass(frozen=True, eq=False)
class _Subject:
    """What is audited, and how neighbors are made for it: tables of a number of columns, or demand."""

    subject: Any
    unit: Unit
    n_features: int | None = 2
    promised: Mapping[str, Any] = field(default_factory=dict)
    most: int = LARGEST

    @property
    def grouped(self) -> bool:
        return self.unit.max_rows > 1

    @property
    def corners(self) -> tuple[list[float], list[float]]:
        d = self.n_features or 0
        return [-1.0] * d, [1.0] * d

    def pairs(self, count: int, seed: int, most: int = 40) -> Iterator[Pair]:
        if self.n_features is None:
            return demand_pairs(POINTS, self.unit, count, grouped=self.grouped, seed=seed, most=most)
        return table_pairs(*self.corners, self.unit, count, grouped=self.grouped, seed=seed, most=most)

    def strategy(self, most: int) -> Any:
        if self.n_features is None:
            return demand_neighbors(POINTS, self.unit, grouped=self.grouped, most=most)
        return neighbors(*self.corners, self.unit, grouped=self.grouped, most=most)

    def canaries(self, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        if self.n_features is None:
            return rng.permutation(POINTS).astype(np.float64)
        return rng.uniform(-1, 1, (CANARIES, self.n_features))


def _imported(name: str, option: str) -> Any:
    module, _, attribute = name.partition(":")
    found = None
    sys.path.insert(0, "")
    try:
        with suppress(ImportError, AttributeError, TypeError, ValueError):
            found = getattr(importlib.import_module(module), attribute)
    finally:
        sys.path.pop(0)
    if found is None:
        raise ParameterError.wrong(option, "spinney audit", "an import path module:name", name, f"--{option} my_module:my_name")
    return found


def _model(estimator: str, algorithm: Any, n_clusters: int, promise: dict[str, Any]) -> Any:
    chosen: Any = algorithm
    if isinstance(algorithm, str) and ":" in algorithm:
        chosen = _imported(algorithm, "algorithm")
        chosen = chosen() if isinstance(chosen, type) else chosen
    if estimator == "coverage":
        from spinney.estimators.coverage import CoverModel

        sets = [[i, (i + 1) % POINTS, (i + 2) % POINTS] for i in range(0, POINTS, 2)]
        return CoverModel(sets, n_clusters, n_items=POINTS, **promise)
    if estimator == "kmedoids":
        from spinney.estimators.kmedoids import PrivateKMedoids

        return PrivateKMedoids(n_clusters, space=space_of_points(), algorithm=chosen, **promise)
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian

    kind = PrivateKMeans if estimator == "kmeans" else PrivateKMedian
    return kind(n_clusters, bounds=(-1, 1), algorithm=chosen, **promise)


def _subject(
    function: str | None, estimator: str, algorithm: Any, n_clusters: int, n_features: int, promise: dict[str, Any]
) -> _Subject:
    words = tuple(one.value for one in Adjacency)
    check("spinney audit", {"adjacency": promise["adjacency"]}, {"adjacency": one_of(words, "--adjacency replace")})
    unit = Unit(Adjacency(promise["adjacency"]), promise["max_rows_per_group"] or 1)
    if function is not None:
        promised = {"epsilon": promise["epsilon"], "delta": promise["delta"]}
        return _Subject(_imported(function, "function"), unit, n_features, promised)
    model = _model(estimator, algorithm, n_clusters, promise)
    return _Subject(model, unit, None if estimator in ("kmedoids", "coverage") else n_features)


def asked_of(release: Any) -> dict[str, Any]:
    """Return the options that audit the promise of a release: its algorithm, with its parameters, on made-up rows."""
    kinds = {"spinney-sites": ("kmedoids", "sites"), "spinney-cover": ("coverage", "cover")}
    estimator, solves = kinds.get(release.format.partition("/")[0], (getattr(release, "objective", ""), "points"))
    algorithm = getattr(release, "algorithm", "auto")
    ours = (
        bool(estimator)
        and (algorithm == "auto" or type(find(algorithm, solves)).__module__.startswith("spinney."))
        and getattr(release, "tightened", None) is None
    )
    if not (release.is_private and ours and not release.trust.is_local):
        raise ParameterError(
            "This release cannot be audited here.",
            "a private one of the central model, of centers in no private box, of sites or a cover, by our own algorithm.",
        )
    times = getattr(release, "row_times", None)  # such a row is a group of as many
    rows = release.max_rows_per_group if times is None else (release.max_rows_per_group or 1) * times
    wide = len(release.domain["lower"]) if solves == "points" else 1
    more = {} if getattr(release, "travel", None) is None else {"travel": True}
    return {
        "function": None, "estimator": estimator, "algorithm": algorithm_of(algorithm, release.parameters, solves),
        "n_clusters": release.k, "n_features": wide, "epsilon": release.promised_epsilon, "delta": release.delta,
        "adjacency": release.adjacency, "max_rows_per_group": rows, **more,
    }  # fmt: skip


@dataclass(frozen=True)
class How:
    """How much is tried: options of the command."""

    methods: tuple[str, ...]
    pairs: int
    runs: int
    examples: int
    largest: int
    confidence: float
    seed: int


def audited(
    function: str | None,
    estimator: str,
    algorithm: Any,
    n_clusters: int,
    n_features: int,
    how: How,
    is_named: bool,
    **promise: Any,
) -> Findings:
    """Return what the chosen methods found; options as for the command. If nothing is named, the tour is made besides."""
    asked = _subject(function, estimator, algorithm, n_clusters, n_features, promise)
    ours = hasattr(asked.subject, "prepare")
    # The one run needs single rows as canaries and a release to guess from; a search of a function sees only what is no number.
    fitting = ["replay", "sizes", "black-box", "search"] if ours else ["black-box", "search"]
    if ours and not asked.grouped and not asked.unit.replaces and estimator != "coverage":
        fitting.insert(3, "one-run")
    wrong = [method for method in how.methods if method not in fitting]
    if wrong:
        raise ParameterError.wrong(
            "method", "spinney audit", f"one of {', '.join(fitting)} here", wrong[0], "leave --method out."
        )
    if not how.methods and importlib.util.find_spec("hypothesis") is None:
        fitting.remove("search")
        click.echo("search: left out, hypothesis is not installed. Hint: pip install hypothesis", err=True)
    found: list[Finding] = []
    for method in how.methods or fitting:
        click.echo(f"{method} ...", err=True)
        found.append(_run(method, asked, found, how))
        if method == "sizes" and not is_named:
            found += toured(promise["epsilon"], how.largest, how.seed)
    return Findings.of(found)


def _run(method: str, asked: _Subject, before: list[Finding], how: How) -> Finding:
    if method == "replay":
        return replay_pairs(asked.subject, asked.pairs(how.pairs, how.seed))
    if method == "sizes":
        return replace(replay_pairs(asked.subject, asked.pairs(SIZED_PAIRS, how.seed, how.largest)), method="sizes")
    if method == "black-box":
        tried = list(islice(asked.pairs(how.pairs, how.seed), FEW_PAIRS))
        if hasattr(asked.subject, "prepare"):
            replayed = next((one for one in before if one.method == "replay"), None)
            replayed = replayed or replay_pairs(asked.subject, asked.pairs(how.pairs, how.seed))
            place = int(str(replayed.tried["worst pair"]).removeprefix("pair ").split(",")[0])
            tried = [next(islice(asked.pairs(how.pairs, how.seed), place, None))]
        return black_box(asked.subject, tried, runs=how.runs, confidence=how.confidence, **asked.promised)
    if method == "one-run":
        return one_run(asked.subject, asked.canaries(how.seed), confidence=how.confidence, random_state=how.seed)
    strategy = asked.strategy(how.largest if hasattr(asked.subject, "prepare") else SMALL)
    return search(asked.subject, strategy, examples=how.examples, seed=how.seed, **asked.promised)


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


def stops(epsilon: float) -> Iterator[tuple[str, _Subject]]:
    """Yield the promises, each at this epsilon."""
    from spinney.algorithms import Stable
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian
    from spinney.estimators.kmedoids import PrivateKMedoids

    box: dict[str, Any] = {"epsilon": epsilon, "bounds": (-1, 1)}
    sites: dict[str, Any] = {"epsilon": epsilon, "space": space_of_points()}
    added, replaced = Unit(), Unit(Adjacency.REPLACE)
    persons, other_persons = Unit(Adjacency.ADD_REMOVE, CAP), Unit(Adjacency.REPLACE, CAP)
    yield "many columns", _Subject(PrivateKMeans(3, **box, adjacency="replace"), replaced, 6)
    yield "Gaussian noise", _Subject(PrivateKMeans(3, **box, delta=DELTA, algorithm="hst"), added)
    tight = PrivateKMeans(2, **box, delta=DELTA, tighten=True, adjacency="replace", max_rows_per_group=CAP)
    yield "a private box, for persons", _Subject(tight, other_persons, most=10**5)
    yield "perturbed medians", _Subject(PrivateKMedian(2, **box, algorithm=Stable("lloyd", median_step="objective")), added)
    blocks = PrivateKMeans(2, **box, adjacency="replace", algorithm="sample-aggregate")
    yield "blocks of rows", _Subject(blocks, replaced)
    yield "a description, for persons", _Subject(_description(epsilon), persons, most=10**5)
    yield "a local search of sites", _Subject(PrivateKMedoids(2, **sites, delta=DELTA, algorithm="local-search"), added, None)
    covered = PrivateKMedoids(2, **sites, delta=DELTA, algorithm="coverage", travel=True)
    yield "a cover of sites, with travel", _Subject(covered, added, None)
    local = PrivateKMeans(2, **box, delta=DELTA, adjacency="replace", model="local", algorithm="stable")
    yield "users by themselves", _Subject(local, replaced, most=10**4)


def toured(epsilon: float, largest: int, seed: int) -> Iterator[Finding]:
    """Yield what each promise of the tour showed."""
    for place, (name, one) in enumerate(stops(epsilon), start=seed):
        finding = replay_pairs(one.subject, one.pairs(PAIRS, place, min(one.most, largest)))
        yield replace(finding, subject=f"{name}: {finding.subject}")
