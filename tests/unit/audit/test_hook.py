"""The observer: every draw is an event with its sensitivity, ordinary fits have none, and nothing but an audit makes one."""

import ast
import inspect
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

import spinney
from spinney import Box, FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids, max_coverage
from spinney.algorithms import LocalSearch, Stable
from spinney.audit import Asked, Drawn, Ended, demand_pairs, observe, record, replay_pairs
from spinney.audit.exact import exact, question_law
from spinney.audit.tiny import OpenLedger, demand_curator, neighbors
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.estimators.coverage import CoverModel
from spinney.estimators.description_model import DescriptionModel
from spinney.mechanisms.drawing import FINE, Draw, Watched, drawn_at, radial
from spinney.mechanisms.source import SecureSource, SeededSource
from spinney.privacy import Charge, Measure, Unit
from spinney.questions import Cover, Family, Grow
from spinney.questions.catalog import EVERY
from spinney.questions.form import form
from spinney.questions.ground import Ground
from spinney.trees.quadtree import Splits

SOURCE = Path(spinney.__file__).parent
ROWS = np.random.default_rng(0).uniform(-1, 1, (50, 2))
SPACE = FiniteMetric.from_points(np.random.default_rng(1).random((12, 2)))
SETS = [[0, 1], [1, 2, 3], [4], []]


def test_only_the_entrance_draws():
    # Elsewhere no mechanism, question or algorithm calls a source of noise: an observer misses nothing.
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.split("/")[0] == "audit" or name in ("mechanisms/source.py", "mechanisms/drawing.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                own = isinstance(node.func.value, ast.Name) and node.func.value.id in ("source", "_source")
                own &= node.func.attr != "draw" or not (name.startswith("mechanisms/") or name == "local/desk.py")
                assert not (own and node.func.attr in {"draw", *vars(SecureSource)}), name


def test_nothing_but_an_audit_makes_a_watched_source():
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        if not name.startswith("audit/") and name != "mechanisms/drawing.py":
            assert "Watched(" not in text, name
            assert "run_with(" not in text or name == "fits/run.py", name
        if name.startswith(("mechanisms/", "fits/", "audit/")) or name == "curators/gate.py":
            assert "os.environ" not in text, name
            assert "getenv" not in text, name
    for fit in (PrivateKMeans.__init__, PrivateKMeans.fit, PrivateKMedoids.__init__, PrivateKMedoids.fit, max_coverage):
        assert not {"observer", "source", "watched", "factor"} & set(inspect.signature(fit).parameters)


def test_an_audit_leaves_the_model_as_it_was_and_its_release_says_so():
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1))
    before = dict(vars(model))
    fitted = observe(model, ROWS, lambda event: None)
    assert vars(model) == before
    assert fitted.release_.noise == "audited: not private"
    assert "_run" not in vars(fitted)
    assert model.fit(ROWS).release_.noise == "secure"


def test_a_watched_source_draws_what_the_source_within_draws():
    values, events = np.arange(10), []
    for draw in (Draw("laplace", 3.0, "l1", 1), Draw("gaussian", 3.0, "squared l2", 1), Draw("gumbel", 3.0, "range", 1)):
        watched = Watched(SeededSource(5), events.append).draw(values, draw)
        assert np.array_equal(watched, SeededSource(5).draw(values, draw))
        assert np.array_equal(events[-1].exact, values)
        assert events[-1].draw == draw
    cells, draw = values.reshape(5, 2), Draw("cube", 3.0, "largest of a cell")
    assert np.array_equal(Watched(SeededSource(5), events.append).draw(cells, draw), SeededSource(5).cube(cells, 3.0))
    assert (events[-1].draw.scale, events[-1].draw.sensitivity) == (3.0, None)


@pytest.mark.parametrize("factor", [1.0, 0.25, 3.0])
def test_radial_noise_that_is_watched_has_its_scale_times_the_factor(factor):
    events, draw = [], Draw("radial", 5.0, "length of a cell", 1)
    watched = Watched(SeededSource(5), events.append, factor)
    answer = drawn_at((4, 3), lambda noise: noise, np.rint, draw, watched)
    assert np.array_equal(answer, radial((4, 3), 5.0 * factor, SeededSource(5)))
    plain = replace(draw, scale=5.0 * factor)
    assert np.array_equal(answer, drawn_at((4, 3), lambda noise: noise, np.rint, plain, SeededSource(5)))
    assert events[0].draw.scale == 5.0 * factor
    assert np.array_equal(events[0].exact, np.rint(answer))
    lengths = np.abs(SeededSource(5).laplace(np.zeros(12, dtype=np.int64), FINE)).reshape(4, 3).sum(axis=1) / FINE
    np.testing.assert_allclose(np.linalg.norm(answer, axis=1), 5.0 * factor * lengths)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_all_questions_have_a_beginning_an_end_and_draws_with_a_sensitivity(adjacency):
    asked = set()
    for algorithm in ("tree", "hst", "stable", "sample-aggregate"):
        model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm, adjacency=adjacency)
        asked |= check_events(record(model, ROWS).events)
    model = PrivateKMedian(2, epsilon=1.0, bounds=(-1, 1), algorithm=Stable(median_step="objective"), adjacency=adjacency)
    asked |= check_events(record(model, ROWS).events)
    for algorithm in ("coverage", "local-search"):
        model = PrivateKMedoids(2, epsilon=1.0, space=SPACE, algorithm=algorithm, adjacency=adjacency, travel=True)
        asked |= check_events(record(model, [1, 2, 3]).events)
    frame = pl.DataFrame(ROWS, schema=["x", "y"])
    model = PrivateKMeans(2, epsilon=1.0, bounds={"x": (-1, 1)}, adjacency=adjacency, max_rows_per_group=2)
    persons = np.arange(len(frame)) // 2
    release = model.fit(frame, groups=persons).release_
    description = DescriptionModel(release, None, {"y": (-1, 1)}, epsilon=1.0)
    asked |= check_events(record(description, frame, groups=persons).events)
    assert asked == set(EVERY)


def check_events(events):
    open_one, names = None, set()
    for event in events:
        if isinstance(event, Asked):
            assert open_one is None
            assert form(event.question) == form(event.question)
            open_one = event
            names.add(event.name)
        elif isinstance(event, Drawn):
            assert event.asked is open_one
            assert event.draw.sensitivity > 0
            assert event.draw.scale > 0
        elif isinstance(event, Ended):
            assert event.asked is open_one
            open_one = None
    assert open_one is None
    return names


@pytest.mark.parametrize(("adjacency", "delta", "grouped"), [("add-remove", 0.0, False), ("replace", 1e-6, True)])
def test_max_coverage_is_replayed_too(adjacency, delta, grouped):
    cap = {"max_rows_per_group": 2} if grouped else {}
    model, unit = CoverModel(SETS, 3, 1.0, delta, 6, adjacency, **cap), Unit(adjacency, 2 if grouped else 1)
    finding = replay_pairs(model, demand_pairs(6, unit, 9, grouped=grouped))
    assert finding.faults == ()
    assert 0 < finding.bound <= 1
    assert replay_pairs(model, demand_pairs(6, unit, 1, grouped=grouped), factor=0.5).broken


def test_a_small_fit_over_sites_is_enumerated():
    space = FiniteMetric.from_points([[0.0], [0.1], [1.0]])
    model = CoverModel([[0], [1, 2]], 2, epsilon=1.0, n_items=3)
    finding = exact(model, most_rows=2)
    assert not finding.broken
    assert 0.5 < finding.bound <= 1.0
    sites = PrivateKMedoids(1, epsilon=1.0, space=space, algorithm=LocalSearch(start="random", steps=2))
    assert 0.1 < exact(sites, most_rows=2, reach=0.1).bound <= 1.0


@pytest.mark.parametrize(("adjacency", "measure"), [("add-remove", Measure.PURE), ("replace", Measure.ZCDP)])
def test_a_process_over_numbers_is_enumerated(adjacency, measure):
    unit, domain = Unit(adjacency), Box(-1, 1).domain(1)
    charge = Charge("splits", "grow", measure, 1)
    tables = [rows for n in range(3) for rows in combinations_with_replacement([-0.9, -0.1, 0.6], n)]

    def maker(rows):
        table = np.array(rows, dtype=float).reshape(-1, 1)
        ground = Ground(domain)
        return lambda source: Curator(MemoryBackend(table, ground, unit, source.key, None), unit, OpenLedger(), source)

    splits = Splits.of(domain)
    shallow = Splits(splits.domain, tuple(part[:2] for part in splits.route), splits.densities)
    answers, law = question_law(Grow(shallow, 0, 0), charge, [maker(rows) for rows in tables], 1.0)
    assert len(answers) == len(law)
    np.testing.assert_allclose(law.sum(axis=0), 1)
    most = 1.0 if measure is Measure.PURE else np.sqrt(2)
    worst = max(float(np.abs(np.log(law[:, i] / law[:, j])).max()) for i, j in neighbors(tables, adjacency))
    assert 0.1 < worst <= most


def test_rows_that_decide_a_draw_are_noticed_by_the_enumeration():
    charge = Charge("cover", "cover", Measure.PURE, 1)
    makers = [
        partial(demand_curator, np.array(rows), Ground(None, 3), unit) for rows, unit in (([0], Unit()), ([1], Unit("replace")))
    ]
    with pytest.raises(AssertionError, match="other draws"):
        question_law(Cover(Family(csr_array(np.eye(3, dtype=np.int8)), (1,))), charge, makers, 1.0)
