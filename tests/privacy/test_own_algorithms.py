"""An algorithm may be anyone's: what it could gain by asking wrongly is refused before anything is charged."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from spinney import BudgetError, FiniteMetric, ParameterError, PrivateKMeans, PrivateKMedoids
from spinney.algorithms.problem import Algorithm
from spinney.algorithms.sites import SiteAlgorithm
from spinney.curators.memory import MemoryCurator
from spinney.curators.options import Balls, Family, Sets, Swaps
from spinney.curators.partitions import Cells, Labels, Rings, Whole
from spinney.curators.sites import SiteCurator
from spinney.mechanisms.source import SeededSource
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.composition import Part
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.spaces.box import Box, Domain
from spinney.spaces.metric import Coordinates, Matrix, Network
from spinney.trees.quadtree import Route, Splits

PLANE = Box(0, 1).domain(2)
ROWS = np.random.default_rng(0).uniform(size=(50, 2))
SPLITS = Splits.of(PLANE)
DEEP = Splits.random(PLANE, 128, np.random.default_rng(0))
SPACE = FiniteMetric.from_points(np.arange(6.0)[:, None])
DEMAND = np.array([0, 0, 1, 5])
NONE = np.empty(0, dtype=np.int64)
SECRETS = []


def curator_of(question, *, sites=False):
    charge = Charge("one", question, Measure.PURE, Fraction(1))
    ledger = FitLedger(Budget.of(1.0), (charge,))
    if sites:
        return SiteCurator(DEMAND, SPACE, Unit(), ledger, SeededSource(0)), charge
    return MemoryCurator(ROWS, PLANE, Unit(), ledger, SeededSource(0)), charge


def refused(question, ask, *, sites=False):
    """Assert that a question is refused and that nothing was charged."""
    curator, charge = curator_of(question, sites=sites)
    with pytest.raises(ValueError, match=r"must|counted over"):
        ask(curator, charge)
    assert curator.ledger.entries == ()
    assert SECRETS == []


def cells(codes, depths, splits=DEEP):
    return Cells(splits, np.array(codes, dtype=np.uint64).reshape(len(depths), -1), np.array(depths))


HALF = 1 << 63
GRID = Cells.grid(SPLITS, 3)


class Spy(np.ndarray):
    """An array that tells what is looked up in it."""

    def __getitem__(self, key):
        SECRETS.append(key)
        return super().__getitem__(key)


class OwnRings(Rings):
    pass


@pytest.mark.parametrize(
    "partition",
    [
        cells([[0, 0]] * 3, [0] * 3),  # one cell, again and again
        cells([[0, 0], [0, 0]], [0, 1]),  # a cell and its part
        cells([[0, 0], [HALF, 0], [HALF, 0]], [1, 1, 2]),
        cells([[HALF, 0], [0, 0]], [1, 1]),  # not in order
        cells([[1, 0]], [1]),  # bits below the depth
        cells([[0, 0], [0, 1 << 60], [0, 1 << 60]], [66, 70, 128]),  # beyond the first word
        cells([[0, 0]], [129]),
        cells([[0, 0]], [-1]),
        cells([[0]], [1]),
        Cells(DEEP, np.zeros((1, 2), dtype=np.int64), np.array([0])),
        Cells(DEEP, np.zeros((2, 2), dtype=np.uint64), np.array([0])),
        Cells(None, GRID.codes, GRID.depths),
        Rings(np.zeros((0, 2))),
        Rings(np.zeros((1, 3))),
        Rings(np.zeros(2)),
        Rings(np.full((1, 2), np.nan)),
        Rings(np.zeros((1, 2)), np.array([2.0, 1.0])),
        Rings(np.zeros((1, 2)), np.array([-1.0, 1.0])),
        Rings(np.zeros((1, 2)), np.array([np.nan])),
        Rings(np.zeros((1, 2)), np.array([np.inf])),
        Rings(np.zeros((1, 2)), np.ones((1, 1))),
        Rings(np.zeros((1, 2)), foreseen=np.array([2.0, 1.0])),
        OwnRings(np.zeros((1, 2))),
        Labels(np.zeros(50, dtype=np.int64), 1),
        "whole",
        None,
    ],
)
def test_a_partition_whose_cells_may_overlap_is_refused(partition):
    refused("counts", lambda curator, charge: curator.counts(partition, charge))


@given(st.integers(0, 2**32), st.sampled_from([2, 70, 128]))
def test_lists_of_cells_pass_exactly_if_they_are_disjoint_and_in_order(seed, most):
    rng = np.random.default_rng(seed)
    depths = rng.integers(0, most, 4) if rng.random() < 0.5 else rng.integers(0, 3, 4)
    paths = [int(rng.integers(0, 4)) << 126 for _ in depths]  # equal beginnings are frequent
    codes = [(path >> (128 - d)) << (128 - d) if d else 0 for path, d in zip(paths, depths.tolist(), strict=True)]
    found = cells([[code >> 64, code & (2**64 - 1)] for code in codes], depths)
    spans = [(code, code + (1 << (128 - d)) - 1) for code, d in zip(codes, depths.tolist(), strict=True)]
    lawful = all(a[1] < b[0] for a, b in pairwise(spans))
    curator, charge = curator_of("counts")
    if lawful:
        assert curator.counts(found, charge).private_counts.shape == (4,)
    else:
        with pytest.raises(ValueError, match="disjoint"):
            curator.counts(found, charge)
        assert curator.ledger.entries == ()


BAD_ROUTES = [
    SPLITS.route._replace(axes=SPLITS.route.axes + 2),
    SPLITS.route._replace(axes=-SPLITS.route.axes - 1),
    SPLITS.route._replace(axes=SPLITS.route.axes.astype(float)),
    SPLITS.route._replace(axes=SPLITS.route.axes[:-1]),
    SPLITS.route._replace(shifts=SPLITS.route.shifts[:-1]),
    SPLITS.route._replace(shifts=SPLITS.route.shifts + np.uint64(64)),
    SPLITS.route._replace(fractions=SPLITS.route.fractions[:3]),
    SPLITS.route._replace(fractions=SPLITS.route.fractions * 4),
    Route(NONE, NONE.astype(np.uint64), NONE),
    Route(*(np.concatenate([array] * 3) for array in SPLITS.route)),
]


@pytest.mark.parametrize("route", BAD_ROUTES)
def test_splits_that_do_not_fit_the_kernels_are_refused(route):
    splits = replace(SPLITS, route=route)
    refused("grow", lambda curator, charge: curator.grow(splits, 0, 5, charge))
    refused("levels", lambda curator, charge: curator.levels(splits, 0, 1, None, charge))
    refused("counts", lambda curator, charge: curator.counts(Cells(splits, GRID.codes, GRID.depths), charge))


@pytest.mark.parametrize(
    ("start", "threshold"), [(-1, 5), (64, 5), (1.5, 5), (True, 5), (0, 1e300), (0, 2.5), (0, None), (0, 2**60)]
)
def test_a_tree_is_asked_for_with_whole_numbers_in_range(start, threshold):
    refused("grow", lambda curator, charge: curator.grow(SPLITS, start, threshold, charge))


@pytest.mark.parametrize(
    ("start", "depth", "threshold"), [(-1, 2, 0), (3, 2, 0), (0, 129, 0), (64, 65, 0), (0, 1.5, 0), (0, 1, math.nan), (0, 1, "5")]
)
def test_levels_are_asked_for_with_numbers_in_range(start, depth, threshold):
    refused("levels", lambda curator, charge: curator.levels(SPLITS, start, depth, threshold, charge))


TWO = np.array([[0.2, 0.2], [0.8, 0.8]])


@pytest.mark.parametrize(
    "wrong",
    [
        {"radii": np.ones(1)},  # kernels look up one radius per center, without checking
        {"radii": np.ones(3)},
        {"radii": np.ones((2, 1))},
        {"radii": np.array([1.0, 0.0])},
        {"radii": np.array([1.0, np.nan])},
        {"anchors": TWO[:1]},
        {"anchors": np.ones((2, 3))},
        {"anchors": np.ones(2)},
        {"centers": TWO[:0], "radii": np.ones(0)},
        {"centers": TWO[:, :1]},
        {"kernel": "total"},
        {"kernel": None},
    ],
)
def test_sums_take_one_radius_and_one_anchor_per_center(wrong):
    asked = {"centers": TWO, "kernel": "mean", "radii": np.ones(2), "anchors": TWO} | wrong
    refused("sums", lambda curator, charge: curator.sums(**asked, charge=charge))


@pytest.mark.parametrize("wrong", [{"power": 3}, {"power": 1.5}, {"second": TWO[:0]}, {"second": TWO[:, :1]}, {"first": TWO[0]}])
def test_costs_are_of_points(wrong):
    refused("cost", lambda curator, charge: curator.cost(**({"first": TWO, "power": 1} | wrong), charge=charge))


class OwnDomain(Domain):
    pass


@pytest.mark.parametrize(
    "domain",
    [
        Box(0, 1).domain(3),
        Domain(np.zeros(2), np.zeros(2), np.inf),
        Domain(np.zeros(2), np.full(2, np.inf), np.inf),
        Domain(np.full(2, np.nan), np.ones(2), np.inf),
        Domain(np.zeros(2), np.ones(2), -1.0),
        Domain(np.zeros(2), np.ones(2), math.nan),
        OwnDomain(np.zeros(2), np.ones(2), np.inf),
        (0, 1),
    ],
)
def test_a_view_is_within_a_real_domain(domain):
    refused("counts", lambda curator, charge: curator.within(domain).counts(Whole(), charge))


def test_what_happens_to_an_array_later_changes_nothing():
    curator, charge = curator_of("grow")
    route = Route(*(array.copy() for array in SPLITS.route))
    mine = replace(SPLITS, route=route)
    checked = curator._gate.splits(mine)
    route.axes[:] = 77
    assert curator._gate.splits(mine) is checked
    assert curator._gate.splits(checked) is checked  # so nothing that is known of these splits is computed again
    tree = curator.grow(mine, 0, 5, charge)
    assert set(tree.cells.splits.route.axes.tolist()) <= {0, 1}
    with pytest.raises(ValueError, match="read-only"):
        tree.cells.splits.route.axes[0] = 77


class OwnCover:
    """As in the attack: it gets the points of the rows."""

    n_sets, steps = 1, (1,)

    def first_stages(self, points):
        SECRETS.append(points)
        return np.zeros((len(points), 1), dtype=np.uint8)


class OwnBalls(Balls):
    def first_stages(self, points):
        SECRETS.append(points)
        return super().first_stages(points)


class OwnMembers(csr_array):
    def __getitem__(self, points):
        SECRETS.append(points)
        return super().__getitem__(points)


class OwnSpace(FiniteMetric):
    def blocks(self, *arguments, **options):
        SECRETS.append(arguments)
        return super().blocks(*arguments, **options)


@dataclass(frozen=True, eq=False)
class OwnSource(Coordinates):
    def fill(self, sources, targets, out, oriented):
        SECRETS.append(sources)
        super().fill(sources, targets, out, oriented)


MEMBERS = csr_array(np.eye(6))
RADII = np.array([1.0, 2.0])
OWN_SPACE = OwnSpace(SPACE.source, 6, SPACE.candidates, None)
OWN_SOURCE = FiniteMetric(OwnSource(SPACE.source.points, False), 6, SPACE.candidates, None)


@pytest.mark.parametrize(
    "sets",
    [
        OwnCover(),
        OwnBalls(SPACE, RADII, (1, 1)),
        Balls(OWN_SPACE, RADII, (1, 1)),
        Balls(OWN_SOURCE, RADII, (1, 1)),
        Balls(FiniteMetric.from_points([[0.0], [1.0]]), RADII, (1, 1)),
        Balls(SPACE, RADII[::-1], (1, 1)),
        Balls(SPACE, RADII, (1,)),
        Balls(SPACE, RADII, (1, -1)),
        Balls(SPACE, RADII, (0, 0)),
        Balls(SPACE, np.arange(255.0), (1,) * 255),
        Balls(SPACE, np.array([np.nan]), (1,)),
        Family(OwnMembers(np.eye(6)), (2,)),
        Family(csr_array(np.eye(5)), (2,)),
        Family(np.eye(6), (2,)),
        Family(MEMBERS, (2, 1)),
        Family(MEMBERS, 2),
        Family(MEMBERS, (1.5,)),
        None,
    ],
)
def test_no_code_of_a_caller_sees_the_points_of_the_rows(sets):
    refused("cover", lambda curator, charge: curator.cover(sets, charge), sites=True)


@pytest.mark.parametrize(
    "options",
    [
        Swaps(OWN_SPACE, np.array([0]), NONE),
        Swaps(FiniteMetric.from_points(np.arange(6.0)[:, None]), np.array([0]), NONE),
        Swaps(SPACE, np.array([6]), NONE),
        Swaps(SPACE, np.array([-1]), NONE),
        Swaps(SPACE, np.array([0.0]), NONE),
        Swaps(SPACE, NONE, NONE),
        Swaps(SPACE, np.array([0]), np.array([77])),
        Swaps(SPACE, np.arange(6), NONE),  # no swap is left
        Swaps(SPACE, np.array([0]), NONE, power=3),
        Sets(()),
        Sets((NONE,)),
        Sets((np.array([6]),)),
        Sets((np.array([0]),), power=0),
        Sets("ab"),
        [np.array([0])],
    ],
)
def test_choices_are_of_points_of_the_space(options):
    refused("choose", lambda curator, charge: curator.choose(options, charge), sites=True)


@pytest.mark.parametrize(
    "labels",
    [
        Labels(np.zeros(5, dtype=np.int64), 1),
        Labels(np.zeros((6, 1), dtype=np.int64), 1),
        Labels(np.full(6, 1), 1),
        Labels(np.full(6, -2), 1),
        Labels(np.zeros(6), 1),
        Labels(np.full(6, -1), 0),
        Labels(np.zeros(6, dtype=np.int64), 1.5),
        Rings(np.zeros((1, 1))),
    ],
)
def test_labels_give_each_point_one_cell(labels):
    refused("counts", lambda curator, charge: curator.counts(labels, charge), sites=True)


def test_an_array_that_listens_hears_nothing():
    curator, charge = curator_of("counts", sites=True)
    curator.counts(Labels(np.zeros(6, dtype=np.int64).view(Spy), 1), charge)
    curator, charge = curator_of("choose", sites=True)
    curator.choose(Swaps(SPACE, np.array([0]).view(Spy), NONE.view(Spy)), charge)
    SECRETS.clear()  # what it hears while it is copied is its own
    curator, charge = curator_of("sums")
    curator.sums(TWO.view(Spy), "mean", np.ones(2).view(Spy), charge)
    assert SECRETS == []


@pytest.mark.parametrize("space", [OWN_SPACE, OWN_SOURCE])
def test_a_space_of_another_class_is_refused(space):
    with pytest.raises(ParameterError, match="'space' parameter"):
        PrivateKMedoids(1, epsilon=1.0, space=space).fit(DEMAND)
    with pytest.raises(ValueError, match="must be a FiniteMetric"):
        SiteCurator(DEMAND, space, Unit(), None, SeededSource(0))
    assert SECRETS == []


@pytest.mark.parametrize(
    "source",
    [
        Matrix(np.zeros((5, 5))),
        Coordinates(np.zeros((5, 1)), False),
        Coordinates(np.zeros(6), False),
        Network(np.arange(7), np.full(6, 6), np.ones(6)),
        Network(np.arange(7), np.zeros(5, dtype=np.int64), np.ones(5)),
        Network(np.arange(6), np.zeros(5, dtype=np.int64), np.ones(5)),
        Network(np.arange(7), np.zeros(6, dtype=np.int64), np.ones(5)),
        Network(np.array([0, 3, 2, 3, 4, 5, 6]), np.zeros(6, dtype=np.int64), np.ones(6)),
        Network(np.arange(7), np.zeros(6, dtype=np.int64), np.full(6, -1.0)),
    ],
)
def test_a_space_whose_arrays_do_not_fit_together_is_refused(source):
    with pytest.raises(ValueError, match="must be a FiniteMetric"):
        SiteCurator(DEMAND, FiniteMetric(source, 6, np.arange(6), None), Unit(), None, SeededSource(0))


def test_costs_stay_in_their_range_whatever_a_matrix_holds():
    from spinney.curators.sites import COST_STEPS, cost_steps

    distances = np.array([np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e300])
    for power in (1, 2):
        steps = cost_steps(FiniteMetric.from_matrix([[0, 1], [1, 0]]), distances, power)
        assert ((steps >= 0) & (steps <= COST_STEPS)).all()


class Asking(Algorithm):
    """One that may be given any plan and any question."""

    name, backends = "own", ("memory",)

    def __init__(self, charges, ask=None):
        self._charges, self._ask = charges, ask

    def parts(self, problem):
        return (Part("one", "counts", Fraction(1)),)

    def plan(self, problem):
        return self._charges

    def run(self, curator, problem, charges, rng):
        return self._ask(curator, charges)


class OwnCharge(Charge):
    """Equal to anything."""

    def __eq__(self, other):
        return True

    __hash__ = None


def altered(**fields):
    charge = Charge("one", "counts", Measure.PURE, Fraction(1))
    for name, value in fields.items():
        object.__setattr__(charge, name, value)
    return charge


@pytest.mark.parametrize(
    "plan",
    [
        (altered(amount=Fraction(1000)), altered(name="two", amount=Fraction(-999))),
        (altered(amount=Fraction(0)),),
        (altered(amount=0.5),),
        (altered(amount=math.nan),),
        (altered(amount=math.inf),),
        (altered(amount=Fraction(2)),),
        (altered(delta=Fraction(-1)),),
        (altered(delta=Fraction(1, 10)),),
        (altered(measure="epsilon"),),
        (OwnCharge("one", "counts", Measure.PURE, Fraction(1)),),
        ("one",),
    ],
)
def test_a_plan_that_is_none_is_refused(plan):
    def ask(curator, charges):
        raise AssertionError("it was run")

    with pytest.raises((BudgetError, ParameterError)):
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=Asking(plan, ask)).fit(ROWS)


@pytest.mark.parametrize("whose", ["planned", "given"])
def test_a_charge_that_grows_after_the_plan_buys_nothing(whose):
    plan, answers = (altered(),), []

    def ask(curator, charges):
        (charge,) = plan if whose == "planned" else charges
        object.__setattr__(charge, "amount", Fraction(10**6))
        answers.append(curator.counts(Whole(), charge))

    with pytest.raises(BudgetError, match="no open charge"):
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=Asking(plan, ask)).fit(ROWS)
    assert answers == []


def test_kinds_of_algorithms_are_told_apart():
    """Each used to end in an AttributeError."""
    from spinney.algorithms.hst import HST
    from spinney.algorithms.site_hst import SiteHST

    class OwnSites(SiteAlgorithm):
        name, parts, run = "own", print, print

    for algorithm in (SiteHST(), OwnSites()):
        model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=algorithm)
        for ask in (lambda model=model: model.fit(ROWS), lambda model=model: model.plan(2)):
            with pytest.raises(ParameterError, match="'algorithm' parameter of PrivateKMeans must be"):
                ask()
    for algorithm in (HST(), Asking(())):
        sites = PrivateKMedoids(2, epsilon=1.0, space=SPACE, algorithm=algorithm)
        with pytest.raises(ParameterError, match="'algorithm' parameter of PrivateKMedoids must be"):
            sites.fit(DEMAND)
        with pytest.raises(ParameterError, match="'algorithm' parameter"):
            sites.plan()
