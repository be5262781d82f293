"""The closed list of questions: each has a proof and attacks, all are frozen values, and the gate refuses all else."""

import ast
import copy
import dataclasses
import importlib
import math
import pkgutil
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import spinney
from opening import curator_over
from spinney import Box, BudgetError, FiniteMetric
from spinney.curators import gate
from spinney.curators.gate import Curator
from spinney.mechanisms import Drawn, SeededSource, Watched
from spinney.privacy import Budget, Charge, FitLedger, Measure, Unit
from spinney.privacy.gaussian import GAUSSIAN
from spinney.questions import (
    Blocks,
    Choose,
    Cost,
    Counts,
    Grow,
    Lengths,
    Levels,
    Minimize,
    Persons,
    PlaneCells,
    Sets,
    Sums,
    Swaps,
    Totals,
)
from spinney.questions.catalog import CATALOG, EVERY, EXPERIMENTAL
from spinney.questions.clusters import ClusterBins, Clusters
from spinney.questions.cover import Balls, Cover, Family
from spinney.questions.ground import Ground
from spinney.questions.partitions import ColumnBins, Labels, Rings, Whole
from spinney.questions.question import Kind, Question
from spinney.questions.record import AdditiveKind
from spinney.spaces.box import Domain
from spinney.trees.quadtree import Splits, TreeCells
from spinney.verification.amounts import ADDITIVE

ROOT = Path(__file__).parents[2]
ENTRIES = pytest.mark.parametrize("name", EVERY)

DOMAIN = Box(0, 1).domain(2)
#: One column that decides a cluster, and one behind it.
BEHIND = Domain(np.zeros(2), np.array([1.0, 2.0]), math.inf)
SPLITS = Splits.of(DOMAIN)
SPACE = FiniteMetric.from_points(np.arange(4.0)[:, None])
NONE = np.empty(0, dtype=np.int64)


def planes():
    """Two half-planes, of fresh arrays."""
    return PlaneCells(np.array([[1.0, -1.0]]), np.zeros(3, np.int64), np.zeros(3), np.array([1, -1, -1]))


def examples():
    """Questions of every kind, with every partition and every option, as functions that make them of fresh arrays."""
    centers = [[0.2, 0.3], [0.7, 0.6]]
    return {
        "whole": lambda: Counts(Whole()),
        "rings": lambda: Counts(Rings(np.array(centers), np.array([0.1, 0.2]))),
        "rings, in widths": lambda: Counts(Rings(np.array(centers), np.array([0.1, 0.2]), np.array([2.0, 0.5]))),
        "columns": lambda: Counts(ColumnBins()),
        "cells": lambda: Counts(TreeCells(SPLITS, TreeCells.grid(SPLITS, 2).codes.copy(), np.full(4, 2))),
        "planes": lambda: Counts(planes()),
        "labels": lambda: Counts(Labels(np.array([0, 1, -1, 0]), 2)),
        "lengths": lambda: Lengths(Labels(np.array([0, 1, -1, 0]), 2), np.array([-(2**20), 0, 7, 2**20])),
        "grow": lambda: Grow(SPLITS, 1, 3),
        "levels": lambda: Levels(SPLITS, 0, 3, 1.5),
        "sums": lambda: Sums(np.array(centers), "mean", np.array([0.1, 0.2]), np.array(centers) + 0.1),
        "sums of cores": lambda: Sums(np.array(centers), "core", np.array([0.1, 0.2])),
        "sums over planes": lambda: Sums(planes(), "mean", np.array([0.1, 0.2]), np.array(centers)),
        "sums without anchors": lambda: Sums(np.array(centers), "median", np.array([0.1, 0.2])),
        "minimize": lambda: Minimize(np.array(centers), np.array([0.1, 0.2])),
        "clusters": lambda: Counts(Clusters(np.array(centers))),
        "cluster bins": lambda: Counts(ClusterBins(Clusters(np.array(centers)[:, :1]), np.array([3]))),
        "totals": lambda: Totals(Clusters(np.array(centers)[:, :1]), np.array([0])),
        "persons": lambda: Persons(Clusters(np.array(centers))),
        "cost": lambda: Cost(np.array(centers), 2),
        "costs": lambda: Cost(np.array(centers), 1, np.array(centers) + 0.1),
        "swaps": lambda: Choose(Swaps(SPACE, np.array([0, 2]), np.array([1]), 2, True)),
        "sets": lambda: Choose(Sets((np.array([0, 2]), np.array([1])), 1)),
        "balls": lambda: Cover(Balls(SPACE, np.array([0.5, 1.5]), (1, 1))),
        "family": lambda: Cover(Family(csr_array(np.eye(4, 3)), (2,))),
        "blocks": lambda: Blocks(Counts(Rings(np.array(centers), np.array([0.1, 0.2]))), 2, 3),
    }


EXAMPLES = examples()


def about_points(question):
    return type(question) in (Choose, Cover) or isinstance(getattr(question, "partition", None), Labels)


def curator_for(question, name):
    """Return a curator on a ground that the question fits, and the one charge of its plan."""
    charge = Charge("test", name, Measure.PURE, math.inf)
    rows, ground = [0, 0, 3], Ground(None, 4, SPACE)
    if not about_points(question):
        behind = isinstance(question, Totals) or isinstance(getattr(question, "partition", None), ClusterBins)
        rows, ground = [[0.1, 0.2], [0.7, 0.5]], Ground(BEHIND if behind else DOMAIN)
    return curator_over(rows, ground, [charge], budget=Budget.of(math.inf)), charge


def name_of(question):
    return next(name for name, entry in EVERY.items() if isinstance(question, entry.question))


@ENTRIES
def test_every_proof_is_there_and_speaks_of_the_question(name):
    entry = EVERY[name]
    assert entry.proofs
    for page in entry.proofs:
        assert re.search(rf"\b{name}\b", (ROOT / page).read_text(encoding="utf-8")), page
    assert f"``{entry.proofs[0]}``" in importlib.import_module(entry.question.__module__).__doc__


@ENTRIES
def test_every_attack_is_there_and_asks_the_question(name):
    entry = EVERY[name]
    assert entry.attacks
    for path in entry.attacks:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if "QUESTIONS" in used:  # a test of each question of this list
            listed = ast.parse((ROOT / "tests/privacy/asking.py").read_text(encoding="utf-8"))
            asked = next(one.value for one in listed.body if isinstance(one, ast.Assign) and one.targets[0].id == "ASKED")
            used |= {node.func.id for node in asked.values if isinstance(node, ast.Call)}
        assert entry.question.__name__ in used, path
        assert any(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in ast.walk(tree)), path


@ENTRIES
def test_every_question_has_a_file_and_a_kind_of_its_own(name):
    entry = EVERY[name]
    assert entry.kind.question == name
    assert entry.question.__module__ == entry.kind.__module__ == f"spinney.questions.{name}"
    assert entry.sensitivity
    assert entry.question.__doc__
    assert entry.kind.__doc__


def test_every_question_and_every_kind_of_the_package_is_on_the_list():
    for module in pkgutil.walk_packages(spinney.__path__, "spinney."):
        if not module.name.endswith((".__main__", "estimators.spark")):  # the last needs PySpark
            importlib.import_module(module.name)

    def concrete(base):
        return {
            kind for one in base.__subclasses__() for kind in ({one} | concrete(one)) if kind.__module__.startswith("spinney.")
        }

    assert concrete(Question) == {entry.question for entry in EVERY.values()}
    assert concrete(Kind) - {AdditiveKind} == {entry.kind for entry in EVERY.values()}
    assert (len(CATALOG), set(EXPERIMENTAL)) == (11, {"minimize"})


def test_the_page_of_the_house_lists_them_all():
    rows = re.findall(r"^\| `(\w+)\(", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {row.lower() for row in rows} == set(EVERY)


def test_the_examples_here_are_of_every_question_partition_and_option():
    made = [make() for make in EXAMPLES.values()]
    assert {type(question) for question in made} == {entry.question for entry in EVERY.values()}
    inside = {type(value) for question in made for value in vars(question).values()}
    listed = {Whole, Rings, ColumnBins, TreeCells, PlaneCells, Clusters, ClusterBins, Labels, Swaps, Sets, Balls, Family}
    assert listed <= inside


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_on_the_list_is_answered_and_charged(example):
    question = EXAMPLES[example]()
    curator, charge = curator_for(question, name_of(question))
    assert type(question.kind(curator.ground)) is EVERY[name_of(question)].kind
    curator.ask(question, charge)
    assert curator.ledger.entries == (charge,)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_list_of_gaussian_noise_holds_what_is_drawn_with_it_alone(example):
    question, events = EXAMPLES[example](), []
    name = name_of(question)
    if name == "cover":  # is not charged in rho
        assert name not in GAUSSIAN
        return
    curator, _ = curator_for(question, name)
    charge, watched = Charge("test", name, Measure.ZCDP, Fraction(1, 8)), Watched(SeededSource(0), events.append)
    Curator(curator._rows, Unit(), FitLedger(Budget.of(9.0, 1e-6), (charge,)), watched).ask(question, charge)
    drawn = {event.draw.distribution for event in events if isinstance(event, Drawn)}
    assert (drawn == {"gaussian"}) is (name in GAUSSIAN or name == "blocks")  # the unit of blocks is a center, not a row
    assert set(ADDITIVE) == GAUSSIAN <= set(EVERY)


def values_in(value, seen):
    """Yield every dataclass and array inside a question; spaces and domains are public objects with guards of their own."""
    if id(value) in seen or isinstance(value, FiniteMetric | type(DOMAIN)):
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, csr_array):
        yield value
        for part in (value.data, value.indices, value.indptr):
            yield from values_in(part, seen)
    elif isinstance(value, tuple):
        for part in value:
            yield from values_in(part, seen)
    elif dataclasses.is_dataclass(value):
        yield value
        for part in vars(value).values():
            yield from values_in(part, seen)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_question_is_frozen_and_so_are_its_arrays(example):
    question = EXAMPLES[example]()
    question.check(curator_for(question, name_of(question))[0].ground)  # what is worked out on the way counts, too
    for value in values_in(question, set()):
        if isinstance(value, np.ndarray):
            assert type(value) is np.ndarray
            assert not value.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
        elif dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                with pytest.raises(dataclasses.FrozenInstanceError):
                    setattr(value, field.name, None)


def remade(value, given):
    """Return an equal value, made anew of arrays that the caller keeps; splits are compared with the curator's own."""
    if isinstance(value, np.ndarray | csr_array):
        value = copy.deepcopy(value)
        given += [value] if isinstance(value, np.ndarray) else [value.data, value.indices, value.indptr]
    elif isinstance(value, tuple):
        return tuple(remade(part, given) for part in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, FiniteMetric | Splits):
        fields = (field.name for field in dataclasses.fields(value) if field.init)
        return type(value)(**{name: remade(getattr(value, name), given) for name in fields})
    return value


@pytest.mark.parametrize("example", EXAMPLES)
def test_arrays_are_copied_so_that_what_was_checked_is_what_is_asked(example):
    given = []
    question = remade(EXAMPLES[example](), given)
    held = [value for value in values_in(question, set()) if isinstance(value, np.ndarray)]
    before = [value.copy() for value in held]
    for array in given:
        array[...] = 3
    assert not any(np.shares_memory(array, value) for array in given for value in held)
    assert all(map(np.array_equal, held, before))


def subclass_of(value):
    """Return an equal value of a class that could answer otherwise."""
    kind = type(type(value).__name__, (type(value),), {})
    other = object.__new__(kind)
    vars(other).update(vars(value))
    return other


def places_in(value):
    """Yield every value inside another one, at any depth, by its holder and its name there; a space is known by what it is."""
    for name, part in vars(value).items():
        if dataclasses.is_dataclass(part) and not isinstance(value, FiniteMetric):
            yield value, name
            yield from places_in(part)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_subclass_of_a_question_or_inside_one_is_refused_before_anything_is_charged(example):
    question = EXAMPLES[example]()
    curator, charge = curator_for(question, name_of(question))
    with pytest.raises(TypeError, match="Only the questions of"):
        curator.ask(subclass_of(question), charge)
    for holder, name in list(places_in(question)):
        part = getattr(holder, name)
        object.__setattr__(holder, name, subclass_of(part))
        with pytest.raises(ValueError, match=r"\w"):
            curator.ask(question, charge)
        object.__setattr__(holder, name, part)  # some are shared by several questions
    assert curator.ledger.entries == ()


@pytest.mark.parametrize(
    "thing", [Whole(), None, "counts", Counts, SPLITS, Rings(np.zeros((1, 2)))], ids=lambda one: type(one).__name__
)
def test_the_gate_refuses_what_is_no_question(thing):
    curator, charge = curator_for(Counts(Whole()), "counts")
    with pytest.raises(TypeError, match="Only the questions"):
        curator.ask(thing, charge)
    assert curator.ledger.entries == ()


def test_an_experimental_question_is_answered_only_if_the_plan_names_it():
    question = next(make() for make in EXAMPLES.values() if type(make()) is EXPERIMENTAL["minimize"].question)
    curator, charge = curator_for(question, "counts")
    pooled = curator.pool([charge], "minimize")
    with pytest.raises(BudgetError, match="does not name the question 'minimize', which is experimental"):
        curator.ask(question, pooled)
    assert curator.ledger.entries == ()


def test_the_gate_knows_the_list_and_nothing_else():
    assert {entry.question: name for name, entry in EVERY.items()} == gate._QUESTIONS
    methods = {name for name in vars(Curator) if not name.startswith("_")}
    assert methods == {"ask", "at", "near", "preview", "pool", "projected", "within", "ground"}


def test_every_rule_names_tests_that_exist_and_every_rule_cited_is_one():
    root = Path(spinney.__file__).parents[2]
    rows = re.findall(r"^\| (\d+) \|.*\|([^|]*)\|$", (root / "proofs" / "rules.md").read_text(), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 28))
    named = {name for _, tests in rows for name in re.findall(r"`([\w/-]+\.(?:py|md))`", tests)}
    missing = {name for name in named if not any((root / place / name).is_file() for place in ("", "tests/privacy"))}
    assert missing == set()
    cited = [re.search(r"Rules? ([\d, and to]+)", path.read_text()) for path in (root / "tests").rglob("test_*.py")]
    numbers = {int(number) for found in cited if found for number in re.findall(r"\d+", found.group(1))}
    assert numbers
    assert numbers <= set(range(1, 28))
