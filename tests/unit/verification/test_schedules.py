"""Schedules are data, held equal to the code: what algorithms plan is what the data says that they ask, and nothing else is."""

import itertools
import json
import re
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.lawful import before_families, is_new, releases, swapped, verdict
from covering import all_pairs
from registered import REGISTERED
from spinney import Ball, Box, FiniteMetric, ParameterError
from spinney.algorithms import HST, LocalSearch, PointProblem, SiteHST, SiteProblem, Stable, Tree
from spinney.algorithms.histograms import Histograms
from spinney.algorithms.max_coverage import MaxCoverage
from spinney.algorithms.one_cluster import BallProblem, OneClusterSearch
from spinney.algorithms.registry import find
from spinney.algorithms.tighten import Tightened
from spinney.algorithms.travel import WithTravel
from spinney.baselines import LSH, Balcan, PointCoverage, SampleAggregate
from spinney.fits.record import plain_parameters
from spinney.privacy import Budget, Unit
from spinney.questions import Counting, Summing
from spinney.questions.catalog import EVERY
from spinney.questions.partitions import FAMILIES as PARTITIONS
from spinney.questions.question import CENTERS
from spinney.verification import schema
from spinney.verification.asked import _wrong, blank, lines_of, misasked, schedules
from spinney.verification.noise import FAMILIES
from spinney.verification.shape import SCHEMAS

VERSIONS = [str(version) for version in SCHEMAS if version > 1]
#: Columns on both sides of every number at which a plan changes.
COLUMNS = (1, 3, 4, 5, 12, 16, 25, 63, 64)
STEPS = ("weiszfeld", "gradient", "localized", "objective")
#: Programs before format 3: what they asked is in stored releases.
BEFORE = {"release tree", "release moments"}
STORED = Path(__file__).parents[2] / "stored" / "0.2.0"


def of_points():
    """Yield algorithms for points, with parameters."""
    for name in REGISTERED["points"]:
        yield find(name, "points")
        yield Tightened(find(name, "points"))
    for repairs, projection, rounds, step in itertools.product((0, 2), (None, 2, "auto"), (0, 3), STEPS[::2]):
        yield HST(alpha=3, repairs=repairs, projection=projection, rounds=rounds, median_step=step)
    yield from (LSH(levels=3), Balcan(dimensions=2, steps=3), PointCoverage(growth=0.7), SampleAggregate(9, "replacement"))
    yield from (
        Stable(base, steps, step) for base in REGISTERED["points"] if base != "stable" for steps in (0, 2) for step in STEPS
    )
    yield from (Stable(base, 1, step) for base in (HST(alpha=3, rounds=1), Tree()) for step in STEPS)


def point_problems(kind=PointProblem, unit=None, **more):
    for d, power, delta, epsilon in all_pairs(COLUMNS, (1, 2), (0.0, 1e-6), (0.1, 5.0)):
        k, domain = d % 5 + 1, (Ball(2.0) if d % 3 == 0 else Box(-1, 1)).domain(d)
        yield kind(k=k, power=power, domain=domain, budget=Budget.of(epsilon, delta), unit=unit or Unit(), **more)


def site_problems():
    space = FiniteMetric.from_points(np.random.default_rng(0).random((9, 2)))
    for k, power, delta in itertools.product((1, 3), (1, 2), (0.0, 1e-6)):
        none = np.empty(0, dtype=np.int64)
        yield SiteProblem(k=k, power=power, space=space, existing=none, budget=Budget.of(1.0, delta), unit=Unit())


def planned():
    """Yield kinds of releases, names of algorithms, facts, parameters, and what is planned."""
    replaced = Unit("replace")
    for algorithm in of_points():
        for problem in point_problems(unit=replaced if getattr(algorithm, "sampling", "") == "replacement" else None):
            yield "release", algorithm, problem
    for problem in point_problems(BallProblem, wanted=5):
        yield "release", OneClusterSearch(), problem
    for name in REGISTERED["users"]:
        for problem in point_problems(unit=replaced):
            yield "local", find(name, "users"), problem
    sites = [
        *(find(name, "sites") for name in REGISTERED["sites"]),
        SiteHST(levels=3),
        LocalSearch("random", 4),
        LocalSearch("hst", 2),
    ]
    for algorithm, problem in itertools.product(sites, site_problems()):
        yield "sites", algorithm, problem
        yield "sites", WithTravel(algorithm), problem
    yield "cover", MaxCoverage(), SimpleNamespace(k=3, family=SimpleNamespace(n_sets=4))
    for columns, measured, persons in itertools.product((1, 3), (0, 1), (False, True)):
        problem = SimpleNamespace(k=2, columns=[0] * columns, measured=np.arange(measured), has_persons=persons)
        yield "description", Histograms(), problem


def facts_of(algorithm, problem):
    """Return what `misasked` knows of a release of this problem."""
    domain, space = getattr(problem, "domain", None), getattr(problem, "space", None)
    return {
        "objective": getattr(problem, "objective", None),
        "k": problem.k,
        "columns": 0 if domain is None else domain.n_features,
        "points": None if space is None else space.n_points,
        "ball": domain is not None and bool(np.isfinite(domain.radius)),
        "tightened": type(algorithm) is Tightened,
        "persons": getattr(problem, "has_persons", False),
        "k_costs": False,
        "travel": type(algorithm) is WithTravel,
        "measured": bool(getattr(problem, "measured", np.empty(0)).size),
    }


@pytest.fixture(scope="module")
def plans():
    """All plans, each with what a release would tell: parameters after one trip through a file."""
    found = []
    for kind, algorithm, problem in planned():
        try:
            parts = algorithm.parts(problem)
        except ParameterError:  # such a median step has no such columns
            continue
        name = "" if kind in ("cover", "description") else algorithm.name
        found.append((kind, name, facts_of(algorithm, problem), plain_parameters(algorithm), parts))
    return found


def is_of(text, part, columns):
    """Whether a text of a schedule is of what a part of a plan pays for: question, kernel, and whether of all columns."""
    question, *rest = text.split()
    if question != part.question:
        return False
    if isinstance(part.kind, Summing) and rest[0] != part.kind.kernel:
        return False
    if isinstance(part.kind, Counting) and question == "counts" and part.name != "bins" and columns > 1:
        return (rest[-1] in ("columns", str(columns))) == (part.kind.families == columns)
    return True


def paid(lines, name):
    """Return what a charge of this name may pay for, if it is not pooled."""
    alone = (
        what for times, known, what in lines if times != "&" and any(re.fullmatch(known, one) for one in (name, blank(name)))
    )
    return next(alone, "").split("|")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_name_that_is_planned_stands_for_its_question_and_every_name_of_a_schedule_is_planned(version, plans):
    data, seen = schedules(version), defaultdict(set)
    there = data["schedules"].keys() | {"release auto", "release moments"}
    for kind, name, about, given, parts in plans:
        key, names = f"{kind} {name}".strip(), [part.name for part in parts]
        if version == "2" and {key, *(f"release {base}" for base in [given.get("base")] if base)} - there:
            continue  # an algorithm since format 3
        lines = lines_of(data, key, about | {f"asked {blank(one)}": True for one in names}, given)
        if version == "2" and ({"step 1", "stable round 1", "travel"} & set(names) or given.get("base") == "moments"):
            assert paid(lines, "stable round 1") == [""]  # programs since format 3
            continue
        for part in parts:
            assert any(is_of(text, part, about["columns"]) for text in paid(lines, part.name) if text), (key, given, part.name)
        texts = [paid(lines, one)[0].replace(r"\d+", "7") for one in names]
        record = {"mechanisms": [{"question": text} for text in texts], "charges": []}
        assert next(_wrong(lines, record, [[one] for one in names]), None) is None, (key, about, given, names)
        seen[key] |= {*names, *map(blank, names)}
    for key, one in data["schedules"].items():
        if version == "2" and key in BEFORE:
            continue
        asked = (re.sub("<.+?>", "?", line.split(" = ")[0]).partition(" ") for line in one["asks"])
        known = {name for times, _, name in asked if times not in ("&", "like")}
        names = seen["release lloyd" if key == "boxed" else key]
        assert names >= known, (key, known - names)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_algorithm_of_the_house_has_a_schedule_and_parameters_that_it_does_not_tell_are_its_own(version):
    every = [(solves, find(name, solves)) for solves, names in REGISTERED.items() for name in names]
    words = {"points": "release", "users": "local", "sites": "sites"}
    here = {f"{words[solves]} {algorithm.name}": algorithm for solves, algorithm in every if solves in words}
    found = schedules(version)["schedules"]
    others = {"release one-cluster", "cover", "description", "boxed"} | (BEFORE if version == "2" else set())
    assert found.keys() == here.keys() | others if version != "2" else len(found) == 20  # no release of format 2 is made any more
    for name in here.keys() & found.keys():
        algorithm, given = here[name], found[name].get("given", {})
        assert given.items() <= plain_parameters(algorithm).items(), name


def test_names_of_programs_before_format_3_stand_for_what_stored_releases_asked():
    seen = set()
    for path in STORED.glob("kmeans-*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        assert misasked(record, "release", len(record["domain"]["lower"])) is None, path.name
        if f"release {record['algorithm']}" in BEFORE:
            seen.add(record["algorithm"])
    assert {f"release {name}" for name in seen} == BEFORE


def test_families_are_those_that_partitions_declare_and_the_schema_allows():
    assert set(PARTITIONS) == FAMILIES["counts"]
    every = {one for some in FAMILIES.values() for one in some}
    assert every == {*PARTITIONS, CENTERS}
    assert set(schema()["$defs"]["family"]["enum"]) == every | {"none"}
    assert FAMILIES.keys() <= EVERY.keys()


@pytest.mark.parametrize("part", range(12))
@pytest.mark.matrix
def test_lawful_releases_of_drawn_problems_are_accepted_and_swapped_families_refused(part, tmp_path):
    """``python -m benchmarks lawful`` does the same with 2,000."""
    for seed, record in releases(6, 1_000_000 + 1_000 * part):
        assert verdict(record, tmp_path) is None, seed
        assert (verdict(before_families(record), tmp_path) is None) != is_new(record), seed
        assert verdict(swapped(record, np.random.default_rng(seed)), tmp_path) is not None, seed
