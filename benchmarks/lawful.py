"""Lawful releases that `verify` must accept, and the same with another family of cells, which it must refuse.

``python -m benchmarks lawful --releases 2000`` fits tiny tables, each with an algorithm, parameters, a budget, a unit and columns
that are drawn, and verifies what comes out, as it is and as format 2 would have it. Then it swaps, or takes away, the family of
one record of each. What should have been accepted or refused and was not is printed.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from spinney import (
    Ball,
    FiniteMetric,
    PrivateKMeans,
    PrivateKMedian,
    PrivateKMedoids,
    describe,
    max_coverage,
    one_cluster,
    verify,
)
from spinney.algorithms import HST, LocalSearch, SiteHST, Stable
from spinney.algorithms.registry import HOMES
from spinney.baselines import LSH, Balcan, PointCoverage, SampleAggregate
from spinney.exceptions import ParameterError, ReleaseError
from spinney.verification.noise import FAMILIES

#: Families that a record may be said to be of; None takes the family away.
EVERY = [*sorted({one for some in FAMILIES.values() for one in some}), "none", None]
#: Columns of tables: on both sides of every number at which an algorithm changes.
COLUMNS = (1, 2, 3, 4, 5, 8, 12, 16, 25, 64, 70)
STEPS = ("weiszfeld", "gradient", "localized", "objective")


def _algorithm(rng: np.random.Generator) -> Any:
    """Draw an algorithm for points, by its name or with parameters."""
    step = STEPS[rng.integers(len(STEPS))]
    made: list[Callable[[], Any]] = [
        lambda: HST(alpha=int(rng.integers(1, 5)), rounds=int(rng.integers(0, 4)), repairs=int(rng.integers(0, 3))),
        lambda: HST(alpha=2, rounds=2, projection=int(rng.integers(1, 4)), median_step=step),
        lambda: LSH(levels=int(rng.integers(1, 9))),
        lambda: Balcan(dimensions=int(rng.integers(1, 4)), steps=int(rng.integers(1, 5))),
        lambda: PointCoverage(growth=float(rng.uniform(0.3, 0.9))),
        lambda: SampleAggregate(int(rng.integers(5, 20)), ("disjoint", "replacement")[rng.integers(2)]),
        lambda: Stable(str(rng.choice(sorted({*HOMES["points"]} - {"stable"}))), steps=int(rng.integers(0, 3))),
        lambda: Stable(HST(alpha=2, rounds=1), median_step=step),
        lambda: Stable(steps=int(rng.integers(0, 2)), median_step=step),
    ]
    names = list(HOMES["points"])
    return str(rng.choice(["tree", "moments", *names])) if rng.random() < 0.5 else made[rng.integers(len(made))]()


def _unit(rng: np.random.Generator, n: int) -> tuple[dict[str, Any], Any]:
    """Draw whom a release protects, and the names of groups."""
    asked: dict[str, Any] = {"adjacency": ("add-remove", "replace")[rng.integers(2)]}
    if rng.random() < 0.7:
        return asked, None
    return asked | {"max_rows_per_group": int(rng.integers(1, 4))}, [f"p{i}" for i in rng.integers(0, max(n // 2, 1), n)]


def _budget(rng: np.random.Generator) -> dict[str, Any]:
    return {"epsilon": float(np.exp(rng.uniform(np.log(0.05), np.log(30)))), "delta": float(rng.choice([0.0, 1e-6, 1e-4]))}


def _points(rng: np.random.Generator) -> Any:
    """Fit centers."""
    d, n = int(rng.choice(COLUMNS)), int(rng.choice([1, 30, 300, 2000]))
    rows = rng.normal(0, 0.2, (n, d)) + rng.choice(rng.uniform(-1, 1, (3, d)), n)
    (unit, groups), kind = _unit(rng, n), (PrivateKMeans, PrivateKMedian)[rng.integers(2)]
    if rng.random() < 0.1:
        asked = {"model": "local", "adjacency": "replace", "algorithm": str(rng.choice(["auto", "refined", "stable"]))}
        return kind(3, bounds=(-2, 2), random_state=0, **_budget(rng), **asked).fit(rows).release_
    bounds = Ball(2.0) if rng.random() < 0.2 else (-2, 2)
    own = {"algorithm": _algorithm(rng), "tighten": bool(rng.random() < 0.2), "bounds": bounds, "random_state": 0}
    return kind(int(rng.integers(1, 6)), **own, **_budget(rng), **unit).fit(rows, groups=groups).release_


def _sites(rng: np.random.Generator) -> Any:
    """Fit sites, or a cover."""
    n = int(rng.choice([1, 40, 200]))
    (unit, groups), demand = _unit(rng, n), rng.integers(0, 12, n)
    if rng.random() < 0.3:
        sets = [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9, 10, 11]]
        return max_coverage(demand, sets, int(rng.integers(1, 4)), n_items=12, groups=groups, **_budget(rng), **unit)
    space = FiniteMetric.from_points(rng.uniform(0, 9, (12, 2)))
    made = [LocalSearch(("random", "hst")[rng.integers(2)], int(rng.integers(1, 4))), SiteHST(levels=int(rng.integers(1, 5)))]
    algorithm = str(rng.choice(list(HOMES["sites"]))) if rng.random() < 0.6 else made[rng.integers(2)]
    own = {"space": space, "algorithm": algorithm, "random_state": 0, "travel": n == 40}
    model = PrivateKMedoids(int(rng.integers(1, 4)), **own, **_budget(rng), **unit)
    return model.fit(demand, groups=groups).release_


def _others(rng: np.random.Generator) -> Any:
    """Describe clusters, or find one."""
    n = int(rng.choice([30, 200]))
    (unit, groups), x, y = _unit(rng, n), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    if rng.random() < 0.5:
        d = int(rng.choice(COLUMNS[:7]))
        found = one_cluster(rng.uniform(-1, 1, (n, d)), n // 3, bounds=(-2, 2), groups=groups, **_budget(rng), **unit)
        return found.release
    table = pl.DataFrame({"x": x, "y": y, "z": ["a", "b"] * (n // 2)})
    told = {"y": (-2, 2), "z": ["a", "b"]}
    shown = {name: told[name] for name in (["y", "z"], ["z"], ["y"])[rng.integers(3)]}
    model = PrivateKMeans(2, epsilon=1.0, bounds={"x": (-2, 2)}, **unit).fit(table, groups=groups)
    return describe(model.release_, table, bounds=shown, groups=groups, bins=4, **_budget(rng))


def releases(count: int, seed: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield a number of lawful releases, as their files have them, with the seed of each; what cannot be asked is drawn anew."""
    while count > 0:
        rng = np.random.default_rng([seed, 7])
        make = (_points, _points, _points, _points, _sites, _others)[rng.integers(6)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                record = json.loads(make(rng).to_json())
        except ParameterError:  # an algorithm that does not go with this unit, or this number of columns
            record = None
        if record is not None:
            yield seed, record
            count -= 1
        seed += 1


def before_families(record: dict[str, Any]) -> dict[str, Any]:
    """Return a release as format 2 has it: without families of cells."""
    record = copy.deepcopy(record)
    record["format"] = record["format"].replace("/3", "/2")
    for noise in record["mechanisms"]:
        del noise["family"]
    return record


def is_new(record: dict[str, Any]) -> bool:
    """Whether a release asks as no version before format 3 did: as one of format 2 it must be refused.

    There, moments was a program of its own, which asked other questions.
    """
    names = {part for one in record["charges"] for part in one["name"].split(" + ")}
    return record["parameters"].get("base") == "moments" or any(
        re.fullmatch(r"(step|stable round) \d+|travel", name) for name in names
    )


def swapped(record: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Return a release with the family of one record taken away, or replaced by another one."""
    record = copy.deepcopy(record)
    noise = record["mechanisms"][rng.integers(len(record["mechanisms"]))]
    family = [one for one in EVERY if one != noise["family"]][rng.integers(len(EVERY) - 1)]
    if family is None:
        del noise["family"]
    else:
        noise["family"] = family
    return record


def verdict(record: dict[str, Any], folder: Path) -> str | None:
    """Return what `verify` refuses of a release; None if it accepts it."""
    path = folder / "release.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    try:
        found = verify(path)
    except ReleaseError as error:
        return str(error)
    return None if found.holds else "; ".join(f"{one.subject}: {one.words}" for one in found.findings if one.holds is False)


def main() -> None:
    """Fit, verify, and print what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--releases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed, record in releases(asked.releases, asked.seed):
            who = f"{record['format']} {record.get('algorithm', '')}"
            for how, told in (("format 3", record), ("format 2", before_families(record))):
                wrong = verdict(told, folder)
                if how == "format 2" and is_new(record):
                    found[f"not of format 2: {'ACCEPTED' if wrong is None else 'refused'}"] += 1
                    wrong = "a new question is accepted" if wrong is None else None
                else:
                    found[f"lawful, {how}: {'accepted' if wrong is None else 'REFUSED'}"] += 1
                if wrong is not None:
                    print(f"{seed} {who}, {how}: {wrong}")
            wrong = verdict(swapped(record, np.random.default_rng(seed)), folder)
            found[f"family swapped: {'ACCEPTED' if wrong is None else 'refused'}"] += 1
            if wrong is None:
                print(f"{seed} {who}: a family that was swapped is accepted")
    for line, count in sorted(found.items()):
        print(f"{count:6d}  {line}")


if __name__ == "__main__":
    main()
