"""A table in place of every parameter of every public call: no message tells a value, a text or the number of its rows.

Calls are found by looking at the public modules, so a new one is tried as well. What a call returns is not looked at: `predict`
may return what it is asked for.
"""

import contextlib
import dataclasses
import enum
import importlib
import inspect
import io
import itertools
import json
import logging
import math
import re
import sys
import warnings
from fractions import Fraction

import click
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array
from sklearn.base import clone

import spinney
import spinney.report
from spinney import FiniteMetric, Ledger, PrivateKMeans, PrivateKMedian, PrivateKMedoids, questions
from spinney.algorithms import HST, Coverage, LocalSearch, SiteHST, Stable
from spinney.audit import Finding, Findings
from spinney.baselines.sample_aggregate import SampleAggregate
from spinney.cli.main import main
from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.estimators.coverage import CoverModel, max_coverage
from spinney.local import Refined, Session, StableLocal, policy_of, respond
from spinney.local.device import read_question
from spinney.mechanisms.source import SeededSource
from spinney.naming import named
from spinney.privacy import Budget, Charge, FitLedger, Measure, Part, Unit
from spinney.questions.catalog import EVERY
from spinney.questions.ground import Ground
from spinney.questions.question import Kind
from spinney.report.curve import cost_curve
from spinney.trees.quadtree import Splits

N = 1237
VALUE, WHOLE, TEXT = 731905.25, 731905, "canary-Zoe"
#: Values, texts, the number of rows and what is easily made of it.
CANARIES = ("731905", "canary", "Zoe", "1237", "1236", "1238", "2474")

NUMBERS = pd.DataFrame({"age": np.full(N, VALUE), "size": np.full(N, 0.5)})
TEXTS = pd.DataFrame({"name": [TEXT] * N, "age": np.full(N, VALUE)})
TABLES = {
    "frame": NUMBERS,
    "frame with texts": TEXTS,
    "series": NUMBERS["age"],
    "series of texts": TEXTS["name"],
    "categories": TEXTS["name"].astype("category"),
    "index": pd.Index(np.full(N, VALUE)),
    "polars": pl.from_pandas(NUMBERS),
    "polars with texts": pl.DataFrame({"name": [TEXT] * N, "age": np.full(N, VALUE)}),
    "polars lazy": pl.from_pandas(NUMBERS).lazy(),
    "polars series": pl.Series("age", np.full(N, VALUE)),
    "arrow": pa.table({"age": np.full(N, VALUE), "name": [TEXT] * N}),
    "arrow array": pa.array([TEXT] * N),
    "array": NUMBERS.to_numpy(),
    "array of a column": np.full(N, VALUE),
    "array of two rows": np.array([np.full(N, 0.0), np.full(N, VALUE)]),
    "array of texts": np.array([[TEXT, TEXT]] * N),
    "array of objects": np.array([[TEXT, VALUE]] * N, dtype=object),
    "masked array": np.ma.masked_less(NUMBERS.to_numpy(), 1),
    "records": NUMBERS.to_records(),
    "sparse": csr_array(NUMBERS.to_numpy()),
    "lists": [[VALUE, TEXT]] * N,
    "two tuples": ((0.0,) * N, (VALUE,) * N),
    "list": [VALUE] * N,
    "list of texts": [TEXT] * N,
    "set": {VALUE + i for i in range(N)} | {TEXT},
    "dict": {"age": [VALUE] * N, "name": [TEXT] * N},
    "dict of rows": {i: {"age": VALUE, "name": TEXT} for i in range(N)},
    "dicts": [{"age": VALUE, "name": TEXT}] * N,
    "text": "name,age\n" + f"{TEXT},{VALUE}\n" * N,
    "bytes": f"{TEXT},{VALUE}\n".encode() * N,
}

ROWS = np.random.default_rng(0).uniform(size=(40, 2))
SPACE = FiniteMetric.from_points(np.arange(12.0)[:, None])
DEMAND = np.random.default_rng(0).integers(0, 12, 40)
CHARGE = Charge("one", "counts", Measure.PURE, Fraction(1, 100))
PART = Part("one", "counts", Fraction(1))

#: The modules whose names are public, and whether only their classes are.
MODULES = {
    "spinney": False,
    "spinney.tables.files": False,
    "spinney.tables.schema_files": False,
    "spinney.estimators.coverage": False,
    "spinney.privacy.budget": True,
    "spinney.privacy.charges": True,
    "spinney.privacy.composition": False,
    "spinney.privacy.pricing": True,
    "spinney.releases.centers": True,
    "spinney.releases.sites": True,
    "spinney.audit.epsilon": False,
    "spinney.releases.reading": False,
    "spinney.algorithms.hst": True,
    "spinney.algorithms.coverage": True,
    "spinney.algorithms.local_search": True,
    "spinney.baselines.sample_aggregate": True,
    "spinney.local": False,
    "spinney.releases.ball": True,
    "spinney.algorithms.site_hst": True,
    "spinney.algorithms.stable": True,
    "spinney.report": False,
    "spinney.report.separation": False,
}
#: Not calls of a user: what scikit-learn adds for the routing of other arguments, and an algorithm's talk with a curator.
LEFT_OUT = ("get_metadata_routing", "set_fit_request", "set_score_request", "set_predict_request", "set_transform_request", "run")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return objects of every public class, and an ordinary value for every parameter."""
    folder = tmp_path_factory.mktemp("tables")
    pd.DataFrame({"age": [1, 2, 3], "size": [4, 5, 6], "name": ["a", "b", "c"]}).to_csv(folder / "table.csv", index=False)
    (folder / "bounds.json").write_text('{"age": [0, 110]}')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kmeans = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd").fit(ROWS)
        summary = PrivateKMeans(2, epsilon=9.0, bounds=(0, 1)).fit(np.repeat(ROWS, 20, axis=0)).release_
        kmedian = PrivateKMedian(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd").fit(ROWS)
        kmedoids = PrivateKMedoids(2, epsilon=1.0, space=SPACE, algorithm="hst").fit(DEMAND)
        ball = spinney.one_cluster(ROWS, 5, epsilon=1.0, bounds=(0, 1), candidates=2)
        cover = max_coverage(DEMAND, [[0, 1], [2, 3]], 1, epsilon=1.0, n_items=12)
        framed = pl.DataFrame({"age": ROWS[:, 0], "size": ROWS[:, 1]})
        one_column = PrivateKMeans(2, epsilon=1.0, bounds={"age": (0, 1)}, algorithm="lloyd").fit(framed).release_
        description = spinney.describe(one_column, framed, bounds={"size": (0, 1)}, epsilon=1.0, bins=2)
    ledger = Ledger(folder / "ledger", epsilon=10**6, delta=0.01)
    summary.to_json(folder / "release.json")
    problem = kmeans.plan(2).problem
    curve = cost_curve(summary, 2)
    session = Session({"n_clusters": 2, "epsilon": 1.0, "bounds": (0, 1)}, 2, 0)
    question, asked = session.question, read_question(session.question)
    session = session.heard([respond(row, question, policy_of(session), {}) for row in ROWS.tolist()])
    instances = {
        type(one).__name__: one
        for one in (
            kmeans, kmedian, kmedoids, summary, kmedoids.release_, cover, description, ledger, problem, curve,
            CHARGE, PART, Unit(),
            Budget.of(1.0), spinney.Box(0, 1), spinney.Ball(1.0), SPACE, HST(), Coverage(), LocalSearch(), SiteHST(),
            CoverModel([[0, 1], [2, 3]], 1, 1.0, n_items=12), SampleAggregate(), Stable(), ball,
            spinney.PublicScaler((0, 1)).fit(ROWS), spinney.PublicEncoder({"age": (0, 110), "size": ["a", "b"]}),
            session, session.tallies[0], Refined(), StableLocal(),
        )
    }  # fmt: skip
    ordinary = {
        "n_clusters": 2, "epsilon": 1.0, "delta": 0.0, "bounds": (0, 1), "algorithm": "lloyd", "adjacency": "add-remove",
        "tighten": False, "scale": 1, "schema": None, "model": "central", "max_rows_per_group": None, "random_state": 0,
        "noise_seed": None, "device": "auto", "n_jobs": None,
        "X": ROWS, "y": None, "groups": None, "ledger": None, "n_features": 2, "n_guess": 100,
        "preview": kmeans.plan(2).preview, "space": SPACE, "power": 1, "existing_sites": (), "demand": DEMAND,
        "points": DEMAND, "path": folder / "out", "paths": folder / "table.csv", "columns": ["age", "size"],
        "charges": (CHARGE,), "promised": None, "objective": "", "note": "", "entry_id": None, "last": 3, "sources": [0],
        "targets": [1], "entries": 100, "oriented": False, "candidates": [0, 1], "coordinates": None, "names": None,
        "distances": [[0, 1], [1, 0]], "metric": "euclidean", "graph": [(0, 1, 1.0), (1, 2, 1.0)], "items": DEMAND,
        "sets": [[0, 1], [2, 3]], "n_choices": 1, "n_items": 12, "name": "one", "measure": Measure.PURE, "amount": Fraction(1),
        "share": Fraction(1, 2), "budget": Budget.of(1.0), "parts": (PART,), "rho": 0.1, "charge": CHARGE,
        "weight_share": Fraction(1, 5), "weights_are_counts": True, "record": summary.to_dict(), "first": [0.0, 1.0] * 50,
        "second": [0.0, 1.0] * 50, "confidence": 0.95, "problem": problem, "max_clusters": 2, "curve": curve,
        "public_points": ROWS, "colors": None, "release": summary, "deep": True, "key": b"sixteen secret letters",
        "digest": "0" * 64, "t": 5, "k": 2, "std": 1.0, "transform": None, "input_features": None, "vectors": CHARGE,
        "weights": CHARGE, "rng": np.random.default_rng(0), "nonprivate_rows": ROWS, "nonprivate_groups": None,
        "degrees": None, "title": "Stays", "column": "size", "verification": None, "messages": ["{}"], "roster": None,
        "session": session, "row": [0.5, 0.5], "policy": policy_of(session), "state": {}, "asked": asked,
        "of_demand": False, "weight": None, "costs": [[0, 1], [1, 0]], "candidate_names": None, "positions": [[0.5], [3.0]],
        "limit": None, "largest_part": False, "both_ways": False, "max_row_weight": None, "snap_limit": None,
        "row_weight_step": 1.0, "travel": False,
    }  # fmt: skip
    summary.to_json(folder / "checked.json")
    special = {
        "read_schema.path": folder / "bounds.json",
        "table_columns.path": folder / "table.csv",
        "read_network.path": folder / "roads.csv",
        "read_places.path": folder / "places.csv",
        "read_places.columns": ["x", "y"],
        "schema_template.kind": ".toml",
        "PublicEncoder.bounds": {"age": (0, 110), "name": ["a", "b"]},
        "PublicEncoder.fit.X": NUMBERS,
        "PrivateKMedoids.from_release.release": kmedoids.release_,
        "PrivateKMedian.from_release.release": kmedian.release_,
        "site_rows.release": kmedoids.release_,
        "draw_map.release": kmedoids.release_,
        "to_frame.kind": "polars",
        "with_audit.findings": Findings.of([Finding("replay", "this", 1.0, 0.0, 0.5)]),
        "nonprivate_separation.points": ROWS,
        "nonprivate_separation.objective": "kmeans",
        "wasserstein_distance.first": ROWS[:2],
        "wasserstein_distance.second": ROWS[2:4],
        "draw_map.path": folder / "map.png",
        "write_report.path": folder / "report.html",
        "draw.path": folder / "picture.png",
        "draw.columns": (0, 1),
        "draw_curve.path": folder / "curve.png",
        "FiniteMetric.from_points.points": [[0.0], [1.0]],
        "from_json.path": folder / "release.json",
        "CoverRelease.from_dict.record": cover.to_dict(),
        "SiteRelease.from_dict.record": kmedoids.release_.to_dict(),
        "Charge.from_dict.record": CHARGE.to_dict(),
        "zcdp_epsilon.delta": 0.1,
        "zcdp_rho.delta": 0.1,
        "is_gaussian.questions": ["counts"],
        "one_cluster.candidates": 2,
        "DescriptionRelease.from_dict.record": description.to_dict(),
        "aggregate.question": question,
        "respond.question": question,
        "Session.objective": "kmeans",
        "Session.from_json.text": session.to_json(),
        "Coverage.balls.problem": kmedoids.plan().problem,
        "Capacities.limit": 5.0,
        "OpeningCosts.cost": 5.0,
        "WithinReach.within": 5.0,
        "SiteTravel.mean": 1.0,
        "SiteTravel.by_site": np.ones(2),
        "SiteTravel.without_data": 2.0,
        "site_travel.release": kmedoids.release_,
        "site_curve.release": kmedoids.release_,
        "stream.source": framed,
        "stream.spool": folder,
    }
    (folder / "roads.csv").write_text("from,to,length\nA,B,1\n", encoding="utf-8")
    (folder / "places.csv").write_text("name,x,y\nA,0,1\n", encoding="utf-8")
    special |= {f"PrivateKMedoids.{call}.row_weights": None for call in ("fit", "fit_predict", "prepare")}
    special |= {"read_network.candidates": ["A"]}
    described = {"release": one_column, "columns": ["size"], "bounds": {"size": (0, 1)}, "table": framed, "bins": 2}
    special |= {f"{call}.{name}": value for call in ("describe", "plan_description") for name, value in described.items()}
    return instances, ordinary, special


def methods_of(found):
    """Return the public methods of a class, by name."""
    return [name for name in dir(found) if not name.startswith("_") and name not in LEFT_OUT and callable(getattr(found, name))]


def public_calls(instances):
    """Return all public calls: functions, classes, and methods of objects of these classes."""
    calls = {}
    for module, classes_only in MODULES.items():
        home = importlib.import_module(module)
        own = [name for name, one in vars(home).items() if name[0] != "_" and getattr(one, "__module__", None) == module]
        for name in getattr(home, "__all__", own):
            found = getattr(home, name)
            if inspect.isclass(found):
                if issubclass(found, Exception | enum.Enum | tuple) or getattr(found, "_is_protocol", False):
                    continue
                calls[name] = found
                if methods_of(found):
                    holder = instances.get(name)
                    assert holder is not None or name in NO_OBJECT, f"make an object of {name} in the fixture"
                    for method in methods_of(found):
                        if found is PrivateKMedian and getattr(found, method) is getattr(PrivateKMeans, method, None):
                            continue  # tried already
                        calls[f"{name}.{method}"] = getattr(holder, method) if holder is not None else getattr(found, method)
            elif callable(found) and not classes_only and not hasattr(found, "__args__"):
                calls[name] = found
    return calls


#: Classes that need no object: they have class methods alone, or hold private rows.
NO_OBJECT = ("Table", "StepPrice", "Scan")


def parameters_of(call):
    """Return the named parameters of a call."""
    try:
        found = inspect.signature(call).parameters.values()
    except ValueError:
        return []
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]


def arguments_of(name, call, instances, ordinary, special):
    """Return ordinary arguments of a call."""
    arguments = {}
    for parameter in parameters_of(call):
        known = special.get(f"{name}.{parameter.name}", special.get(f"{name.rsplit('.', 1)[-1]}.{parameter.name}"))
        if known is not None:
            arguments[parameter.name] = known
        elif inspect.isclass(call) and hasattr(instances.get(name), parameter.name):
            arguments[parameter.name] = getattr(instances[name], parameter.name)
        elif parameter.name in ordinary:
            arguments[parameter.name] = ordinary[parameter.name]
        else:
            assert parameter.default is not parameter.empty, f"add an ordinary value of {name}({parameter.name}=...)"
    return arguments


class Listener(logging.Handler):
    """Keeps what is logged."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.getMessage()} {record.args!r} {record.exc_text}")


def said_by(call):
    """Return everything that a call says: errors and what led to them, warnings, logs and prints."""
    listener, out = Listener(), io.StringIO()
    root = logging.getLogger()
    level = root.level
    root.addHandler(listener)
    root.setLevel(logging.INFO)
    said = []
    try:
        with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            warnings.simplefilter("always")
            try:
                call()
            except Exception as error:
                said += texts_of(error)
    finally:
        root.removeHandler(listener)
        root.setLevel(level)
    return [*said, *(str(one.message) for one in warned), *listener.lines, out.getvalue()]


def texts_of(error):
    """Return the texts of an error and of all errors that led to it, hidden or not."""
    found, queue = [], [error]
    seen = set()
    while queue:
        one = queue.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        found += [f"{type(one).__name__}: {one}", repr(one), repr(one.args), *getattr(one, "__notes__", ())]
        queue += [one.__cause__, one.__context__]
    return found


#: Tables that have as many columns as others have rows.
OF_MANY_COLUMNS = ("array of two rows", "two tuples")


def leaks(said):
    return [text[:300] for text in said if any(canary in text for canary in CANARIES)]


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.matrix
def test_no_message_of_a_public_call_tells_of_a_table(world, kind):
    instances, ordinary, special = world
    found = []
    for name, call in public_calls(instances).items():
        arguments = arguments_of(name, call, instances, ordinary, special)
        for parameter in parameters_of(call):
            if parameter.name in ("X", "points", "public_points") and kind in OF_MANY_COLUMNS:
                continue  # the number of columns is schema, and public
            given = arguments | {parameter.name: TABLES[kind]}
            found += [f"{name}({parameter.name}={kind}): {text}" for text in leaks(said_by(lambda g=given, c=call: c(**g)))]
    assert not found, "\n".join(found)


PLACE = np.array([[0.2, 0.3], [0.7, 0.6]])
DOMAIN = spinney.Box(0, 1).domain(2)
SPLITS = Splits.of(DOMAIN)
#: Ordinary arguments of everything that `spinney.questions` exports.
QUESTIONS = {
    "Whole": {},
    "ColumnBins": {"bits": 3},
    "Rings": {"centers": PLACE, "edges": np.array([0.1]), "foreseen": np.array([0.2])},
    "PlaneCells": {
        "normals": np.ones((1, 2)),
        "planes": np.zeros(3, np.int64),
        "offsets": np.zeros(3),
        "first_child": np.array([1, -1, -1]),
    },
    "Labels": {"labels": np.arange(12) % 2, "n_cells": 2},
    "TreeCells": {"splits": SPLITS, "codes": np.zeros((1, 1), np.uint64), "depths": np.zeros(1, np.int64)},
    "Counts": {"partition": questions.Whole()},
    "Grow": {"splits": SPLITS, "start": 1, "threshold": 0},
    "Levels": {"splits": SPLITS, "start": 0, "depth": 2, "threshold": 1.0},
    "Sums": {"centers": PLACE, "kernel": "mean", "radii": np.ones(2), "anchors": PLACE},
    "Cost": {"first": PLACE, "power": 2, "second": PLACE},
    "Swaps": {"space": SPACE, "centers": [0], "existing": [1], "power": 1, "stay": True},
    "Sets": {"sets": ([0], [1]), "power": 1},
    "Choose": {"options": questions.Sets(([0], [1]))},
    "Balls": {"space": SPACE, "radii": np.array([0.5]), "steps": (1,)},
    "Family": {"members": csr_array(np.eye(12, 3)), "steps": (1,)},
    "Cover": {"sets": questions.Family(csr_array(np.eye(12, 3)), (1,))},
    "Counting": {},
    "Splitting": {},
    "LevelCounting": {"levels": 2},
    "Summing": {"kernel": "mean", "n_features": 2},
    "Costing": {},
    "Minimize": {"centers": PLACE, "radii": np.ones(2)},
    "Minimizing": {"n_features": 2},
    "Choosing": {},
    "Covering": {"steps": 2},
    "Blocks": {"about": questions.Counts(questions.Whole()), "k": 2, "n_blocks": 3},
    "Blocking": {"about": questions.Counting(), "k": 2},
    "Clusters": {"centers": PLACE, "radius": 1.0},
    "ClusterBins": {"clusters": questions.Clusters(PLACE), "bins": np.array([2])},
    "Totals": {"clusters": questions.Clusters(PLACE), "columns": np.array([0])},
    "Persons": {"clusters": questions.Clusters(PLACE)},
    "Lengths": {"partition": questions.Labels(np.arange(12) % 2, 2), "steps": np.zeros(12, np.int64)},
    "Measuring": {},
    "Totaling": {"columns": 2},
    "PersonCounting": {},
}


def asked(thing):
    """Do with a question, or with what a question is made of, all that an algorithm may."""
    wrap = {"Balls": questions.Cover, "Family": questions.Cover, "Swaps": questions.Choose, "Sets": questions.Choose}
    wrap |= dict.fromkeys(("Whole", "ColumnBins", "Rings", "Labels", "TreeCells", "PlaneCells"), questions.Counts)
    wrap |= dict.fromkeys(("Clusters", "ClusterBins"), questions.Counts)
    if isinstance(thing, Kind):
        thing.part("one", Fraction(1))
        charge = Charge("one", thing.question, Measure.PURE, Fraction(1, 100), Fraction(1, 100))
        thing.noise(charge, Unit())
        sys.stdout.write(thing.words(charge, Unit()))
        return
    question = wrap.get(type(thing).__name__, lambda one: one)(thing)
    charge = Charge(
        "one", next(name for name, one in EVERY.items() if isinstance(question, one.question)), Measure.PURE, math.inf
    )
    rows = MemoryBackend(ROWS, Ground(DOMAIN), Unit(), lambda: bytes(16))
    wide = dataclasses.replace(DOMAIN, lower=np.zeros(3), upper=np.array([1.0, 1.0, 2.0]))
    described = MemoryBackend(np.column_stack([ROWS, ROWS[:, 0]]), Ground(wide), Unit(), lambda: bytes(16))
    demand = DemandBackend(DEMAND, Ground(None, 12, SPACE), Unit(), lambda: bytes(16))
    for backend in (rows, demand, described):
        with contextlib.suppress(ValueError):  # of the ground that it does not fit; what is said counts
            try:
                Curator(backend, Unit(), FitLedger(Budget.of(math.inf), (charge,)), SeededSource(0)).ask(question, charge)
            except ValueError as error:
                sys.stdout.write("\n".join(texts_of(error)))
                raise


def test_no_message_of_a_question_tells_of_a_table():
    assert set(QUESTIONS) == set(questions.__all__)
    found = []
    for name, arguments in QUESTIONS.items():
        kind = getattr(questions, name)
        assert {one.name for one in parameters_of(kind) if one.default is one.empty} <= set(arguments)
        plain = said_by(lambda k=kind, a=arguments: asked(k(**a)))
        assert not leaks(plain), plain
        for parameter in parameters_of(kind):
            for table, value in TABLES.items():
                given = arguments | {parameter.name: value}
                said = said_by(lambda g=given, k=kind: asked(k(**g)))
                found += [f"{name}({parameter.name}={table}): {text}" for text in leaks(said)]
    assert not found, "\n".join(found)


#: What sites have besides, or otherwise.
OF_SITES = {"algorithm": "hst", "goal": None, "weights": None, "max_clusters": None}
ESTIMATORS = {PrivateKMeans: ROWS, PrivateKMedoids: DEMAND}  # PrivateKMedian has the parameters of the first, and its methods


def shown_in_a_notebook(model):
    """Write what a notebook shows, but for the number that scikit-learn gives it."""
    sys.stdout.write(re.sub(r"sk-[a-z-]*id-[0-9]+", "", model._repr_html_()))


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_no_message_of_an_estimator_tells_of_a_table_among_its_parameters(kind, world):
    rows, found, ordinary = ESTIMATORS[kind], [], world[1]
    for parameter in parameters_of(kind):
        for name, table in TABLES.items():
            of_sites = OF_SITES if kind is PrivateKMedoids else {"algorithm": "lloyd"}
            known = ordinary | of_sites | {parameter.name: table}
            model = kind(**(given := {one.name: known[one.name] for one in parameters_of(kind)}))
            grouped = kind(**({"max_rows_per_group": 3} | given))
            uses = {
                "fit": lambda m=model: m.fit(rows),
                "fit with groups": lambda m=grouped: m.fit(rows, groups=np.arange(len(rows))),
                "plan": lambda m=model: m.plan(*([] if kind is PrivateKMedoids else [2])),
                "repr": lambda m=model: sys.stdout.write(repr(m)),
                "notebook": lambda m=model: shown_in_a_notebook(m),
                "clone": lambda m=model: clone(m),
                "set_params": lambda m=model: m.set_params(nothing=1),
                "set_params inside": lambda m=model, p=parameter.name: m.set_params(**{f"{p}__nothing": 1}),
                "predict": lambda m=model: m.predict(rows),
            }
            for use, call in uses.items():
                found += [f"{kind.__name__}({parameter.name}={name}), {use}: {text}" for text in leaks(said_by(call))]
    assert not found, "\n".join(found)


def test_no_message_of_a_fit_with_a_schema_tells_of_a_table():
    """Cells that are no category, no date and no number, in columns that are declared as each of them."""
    kinds, found = [(0, 110), ["a", "b"], {"dates": ["2020-01-01", "2021-01-01"]}, bool], []
    for first, second in itertools.pairwise([*kinds, kinds[0]]):
        bounds = {"age": first, "name": second}
        model = PrivateKMeans(2, epsilon=1.0, bounds=bounds, scale="bounds", algorithm="lloyd")
        for name, table in TABLES.items():
            for use in (model.fit, model.prepare, lambda X, b=bounds: spinney.PublicEncoder(b).fit_transform(X)):
                found += [f"{name}: {text}" for text in leaks(said_by(lambda u=use, t=table: u(t)))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["SparkPrivateKMeans", "SparkClusterModel"])
def test_no_message_of_a_spark_estimator_tells_of_a_table(name):
    """Spark's own converters repeat what they cannot convert."""
    pytest.importorskip("pyspark")
    kind = getattr(importlib.import_module("spinney.estimators.spark"), name)
    found = []
    for parameter in parameters_of(kind):
        for table, value in TABLES.items():
            said = said_by(lambda p=parameter.name, v=value: kind(**{p: v}))
            found += [f"{name}({parameter.name}={table}): {text}" for text in leaks(said)]
    for parameter in kind().params:
        for table, value in TABLES.items():
            said = said_by(lambda p=parameter.name, v=value: kind()._set(**{p: v}))
            found += [f"{name}.{parameter.name} = {table}: {text}" for text in leaks(said)]
    assert not found, "\n".join(found)


class Loud:
    """Tells on every occasion."""

    def __repr__(self):
        return TEXT

    __str__ = __format__ = __repr__

    def __len__(self):
        return N


class LoudInt(int):
    __repr__ = __str__ = Loud.__repr__


class LoudText(str):
    __repr__ = __str__ = Loud.__repr__


LoudEnum = enum.IntEnum("LoudEnum", {"canary": WHOLE})


@pytest.mark.parametrize(
    "value",
    [
        Loud(), LoudInt(3), LoudText("a"), LoudEnum.canary, 10**5000, WHOLE * 10**30, complex(VALUE), TEXT * 20, f"{TEXT}\n",
        (5, WHOLE), [TEXT], {TEXT}, b"canary", np.array(VALUE), np.array([TEXT]), np.str_(TEXT), np.longdouble(VALUE),
        Fraction(WHOLE), *TABLES.values(),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_plain_number_or_name_is_named_by_its_type(value):
    assert not leaks([named(value)])
    assert named(value).startswith("a value of type ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"), (-2.5, "-2.5"), (None, "None"), (True, "True"), ("tree", "'tree'"), (np.float32(0.5), "0.5"),
        (np.int64(7), "7"), (np.bool_(False), "False"), (float("nan"), "nan"), (2**64 - 1, "18446744073709551615"),
    ],
)  # fmt: skip
def test_a_plain_number_or_name_is_repeated(value, text):
    assert named(value) == text


#: A command that does its work, for each that takes arguments.
COMMANDS = {
    "fit": "rows.csv --k 2 --epsilon 1 --bounds 0 3 --algorithm lloyd --columns a,b --out out.json",
    "plan": "--k 2 --epsilon 1 --n-features 2",
    "predict": "release.json rows.csv --out labels.csv",
    "describe": "named.json rows.csv --schema facts.json --epsilon 1 --out description.json",
    "show": "release.json",
    "label": "release.json --out label.md",
    "recluster": "summary.json --k 2 --out again.json",
    "report": "release.json --out report.html",
    "schema": "rows.csv --out schema.json",
    "keys": "fresh.key",
    "sign": "release.json --key key",
    "verify": "release.json",
    "check": "release.json --policy rules.toml",
    "sites": "--points points.csv --demand demand.csv --k 1 --epsilon 1 --algorithm hst --out sites.json",
    "ledger open": "new --epsilon 1",
    "ledger show": "ledger",
    "audit": "--algorithm lloyd --method replay --pairs 1",
    "local question": "new.json --k 2 --epsilon 1 --bounds 0 1 --n-features 2 --out new_question.json",
    "local respond": "question.json rows.jsonl --policy policy.json --states states.jsonl --out reports.jsonl",
    "local aggregate": "session.json reports.jsonl",
    "example": "--out patients",
    "demo": None,  # takes no table, and clusters one of its own for long
    "warm": None,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TEXTS.to_csv("cells.csv", index=False)
    TEXTS.to_parquet("cells.parquet")
    np.save("cells.npy", NUMBERS.to_numpy())
    for name, text in {
        "rows.csv": "a,b\n" + "1,2\n" * 20,
        "points.csv": "name,x,y\nA,0,0\nB,1,0\nC,2,0\n",
        "demand.csv": "point\nA\nB\n",
        "key": "sixteen secret letters",
        "facts.json": '{"b": [0, 3]}',
        "rules.toml": "epsilon = 1",
    }.items():
        (tmp_path / name).write_text(text)
    Ledger("ledger", epsilon=9)
    session = Session({"n_clusters": 2, "epsilon": 1.0, "bounds": [0, 1]}, 2, 0)
    for name, text in {
        "session.json": session.to_json(),
        "question.json": session.question,
        "policy.json": json.dumps(policy_of(session)),
        "rows.jsonl": "[0.5, 0.5]\n" * 99 + "null\n",
    }.items():
        (tmp_path / name).write_text(text)
    PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd").fit(ROWS).release_.to_json("release.json")
    named = PrivateKMeans(2, epsilon=1.0, bounds={"a": (0, 3)}, algorithm="lloyd")
    named.fit(pl.read_csv("rows.csv")).release_.to_json("named.json")
    evenly = np.random.default_rng(0).uniform(0, 1, (2_000, 2))
    PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0).fit(evenly).release_.to_json("summary.json")
    return tmp_path


def commands(group, before=()):
    """Yield the words and the object of every command."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


def with_each_argument(command, usual, value):
    """Yield the name of each argument and option of a command, and the words that put a value in its place."""
    places = [one for one in command.params if isinstance(one, click.Argument)]
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            at = places.index(parameter)
            yield parameter.name, [*usual[:at], value, *usual[at + 1 :]]
        elif not parameter.is_flag:
            yield parameter.opts[0], [*usual, parameter.opts[0], *[value] * parameter.nargs]


def test_every_command_is_tried():
    assert {name for name, _ in commands(main)} == set(COMMANDS)


def test_no_message_of_a_command_tells_of_a_table_in_place_of_an_argument(folder):
    values = ["cells.csv", "cells.parquet", "cells.npy", (folder / "cells.csv").read_text(), f"{TEXT}\r{VALUE}"]
    found, worked = [], set()
    for name, command in commands(main):
        if COMMANDS[name] is None:
            continue
        words, usual = name.split(), COMMANDS[name].split()
        worked |= {name} if CliRunner().invoke(main, [*words, *usual]).exit_code == 0 else set()
        for value in values:
            for place, arguments in with_each_argument(command, usual, value):
                done = CliRunner().invoke(main, [*words, *arguments])
                said = [done.output, repr(done.exception)]
                found += [f"{name}, {place} = {value[:20]!r}: {text}" for text in leaks(said)]
                lawful = (0, 2, 3, 4, 5, *[1] * (name in ("verify", "check")))
                assert done.exit_code in lawful, (name, place, value[:20], done.output)
    assert not found, "\n".join(found)
    assert worked == {name for name, usual in COMMANDS.items() if usual}
