"""Rule 24: no lawful ground, view or question makes a number that is none, and none would reach an exact sum."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from spinney import FiniteMetric
from spinney.audit.accounting import moved
from spinney.audit.sources import NoiselessSource
from spinney.curators.memory import MemoryBackend
from spinney.mechanisms.drawing import Drawn, Watched
from spinney.mechanisms.perturbation import SLOPE_STEPS
from spinney.privacy.pricing import Unit
from spinney.questions import Choose, ClusterBins, Clusters, ColumnBins, Counts, Levels, PlaneCells, Rings, Swaps, Totals, Whole
from spinney.questions.arrays import LONGEST, SHORTEST
from spinney.questions.cost import COST_STEPS, Cost, Costs
from spinney.questions.ground import Ground
from spinney.questions.minimize import Slopes
from spinney.questions.sums import KERNELS, Sums
from spinney.spaces import ABSENT, Domain
from spinney.trees.quadtree import Splits, TreeCells

#: Exponents of lawful lengths: the ends, what users may give, and all between.
EXPONENTS = st.sampled_from([-149.99, -149, -100, 0, 100, 149]) | st.floats(-149.99, 149)
NONE = np.empty(0, dtype=np.int64)


@st.composite
def lengths(draw, count):
    return 10.0 ** np.array(draw(st.lists(EXPONENTS, min_size=count, max_size=count)))


@st.composite
def places(draw, count):
    """Coordinates of any size: zero, tiny, huge."""
    signs = draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=count, max_size=count))
    return np.array(signs) * draw(lengths(count))


@st.composite
def domains(draw, d):
    lower, radius = draw(places(d)), float(draw(lengths(1))[0]) if draw(st.booleans()) else math.inf
    upper = lower + draw(lengths(d))
    assume((upper - lower > SHORTEST).all() and (np.abs(upper) < LONGEST).all())
    return Domain(lower, upper, radius)


@st.composite
def points(draw, domain, count):
    """Corners and middles of a domain, points inside it, and any others."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    found = domain.sample(count, rng)
    for place in range(count):
        kind = draw(st.sampled_from(["inside", "lower", "upper", "middle", "anywhere"]))
        known = {"inside": found[place], "lower": domain.lower, "upper": domain.upper, "middle": domain.center}
        found[place] = known[kind] if kind in known else draw(places(domain.n_features))
    return found


@st.composite
def views(draw, domain):
    """Return what makes a view of a curator, and its domain."""
    d = domain.n_features
    kind = draw(st.sampled_from(["whole", "within", "projected", "near"]))
    if kind == "within":
        inner = draw(domains(d))
        return (lambda curator: curator.within(inner)), inner
    if kind == "projected":
        inner = draw(domains(draw(st.integers(1, 2))))
        directions = draw(places(inner.n_features * d)).reshape(inner.n_features, d)
        return (lambda curator: curator.projected(directions, inner)), inner
    if kind == "near":
        centers = draw(points(domain, 2))
        return (lambda curator: curator.near(centers, np.array([0]))), domain
    return (lambda curator: curator), domain


@st.composite
def questions(draw, domain):
    """Return questions of all kinds about rows of numbers in a domain, lawful to the last digit."""
    d, k = domain.n_features, draw(st.integers(1, 3))
    centers, second, anchors = (draw(points(domain, k)) for _ in range(3))
    radii, widths = draw(lengths(k)), draw(st.none() | lengths(d))
    splits, edges = Splits.of(domain), np.unique(draw(lengths(2)))
    planes = PlaneCells.root(draw(places(d))[None]).split(np.ones(1, bool), np.zeros(1, np.int64), draw(places(1)))
    most = draw(st.none() | EXPONENTS.map(lambda exponent: 10.0**exponent))
    yes = [Counts(part) for part in (Whole(), Rings(centers, edges, widths), Rings(centers), planes, ColumnBins())]
    yes += [Counts(TreeCells.grid(splits, 5)), Levels(splits, 1, 3, None)]
    yes += [Sums(centers, kernel, radii, anchors, widths) for kernel in KERNELS]
    yes += [Sums(planes, "mean", np.repeat(radii[:1], 2), np.repeat(anchors[:1], 2, axis=0), widths)]
    yes += [Cost(centers, power, other, cap) for power in (1, 2) for other in (None, second) for cap in (None, most)]
    return yes


@st.composite
def tables(draw, domain):
    """Return a table and a row that is added to it, or broken."""
    rows, broken = draw(points(domain, draw(st.integers(1, 3)))), draw(st.sampled_from([None, None, np.nan, np.inf, 1.7e308]))
    if broken is not None:
        rows[-1, 0] = broken
    return rows


def exact(curator, rows, ask, question, charge, domain, adjacency):
    """Return what was drawn."""
    name = {"Counts": "counts", "Levels": "levels", "Sums": "sums", "Cost": "cost", "Choose": "choose", "Totals": "totals"}
    events, asked = [], charge(name[type(question).__name__])
    ask(curator(rows, [asked], Watched(NoiselessSource(), events.append), domain=domain, adjacency=adjacency)).ask(
        question, asked
    )
    return [event for event in events if isinstance(event, Drawn)]


def check(rows, *how, adjacency):
    """Raise if the last row moves an exact answer by more than is declared: added, or in the place of another."""
    curator, ask, question, charge, domain = how
    first = exact(curator, rows, ask, question, charge, domain, adjacency)
    smaller = np.concatenate([rows[:-1], rows[:1]]) if adjacency == "replace" else rows[:-1]
    second = exact(curator, smaller, ask, question, charge, domain, adjacency)
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert moved(one, other) <= one.draw.sensitivity, question


searched = settings(
    deadline=None, max_examples=30, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)  # fmt: skip


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@given(data=st.data(), d=st.integers(1, 3))
@searched
def test_one_row_moves_no_answer_beyond_its_sensitivity_on_any_lawful_ground(data, d, adjacency, curator, charge):
    domain = data.draw(domains(d))
    rows = data.draw(tables(domain))
    outer, middle = data.draw(views(domain))
    inner, seen = data.draw(views(middle))
    for question in data.draw(questions(seen)):
        check(rows, curator, lambda one: inner(outer(one)), question, charge, domain, adjacency=adjacency)


@given(data=st.data())
@searched
def test_one_row_moves_no_answer_about_columns_behind_or_points_beyond_its_sensitivity(data, curator, charge):
    outer = data.draw(domains(1))
    domain = Domain(np.append(outer.lower, 0.0), np.append(outer.upper, ABSENT), math.inf)
    rows = data.draw(tables(domain))
    clusters = Clusters(data.draw(points(outer, 2)), float(outer.radius))
    for question in (Counts(clusters), Counts(ClusterBins(clusters, [3])), Totals(clusters, [0])):
        check(rows, curator, lambda one: one, question, charge, domain, adjacency="add-remove")
    space = FiniteMetric.from_points(np.clip(data.draw(points(domain, 3)), -9e99, 9e99))
    swaps = Choose(Swaps(space, np.array([0]), NONE, data.draw(st.sampled_from([1, 2])), stay=True))
    check(rows, curator, lambda one: one.at(space), swaps, charge, domain, adjacency="add-remove")


@given(data=st.data(), d=st.integers(1, 2), step=st.sampled_from([0.0, 5e-324, 1e-300, 1e300, math.inf, math.nan]))
@searched
def test_no_argument_of_a_sum_in_steps_takes_a_row_beyond_its_bound(data, d, step):
    domain = data.draw(domains(d))
    backend = MemoryBackend(data.draw(points(domain, 1)), Ground(domain), Unit(), bytes)
    centers, radii = data.draw(points(domain, 2)), data.draw(lengths(2))
    with np.errstate(all="ignore"):
        for power in (1, 2):
            backend._forget()
            (total,) = backend.exact(Costs(centers[:1], centers[1:], power, np.float64(step)))
            assert abs(total[0]) <= COST_STEPS
    points_at = data.draw(st.sampled_from([centers, centers * np.nan, centers + np.inf]))
    for part in backend.exact(Slopes(centers, points_at, radii)):
        assert np.abs(part).max() <= SLOPE_STEPS
