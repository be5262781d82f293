"""An algorithm may be anyone's: what it could gain by asking wrongly is refused before anything is charged.

Every attack here goes through an estimator, as an algorithm of someone else would. What single arguments may be is searched in
`tests/unit/questions/test_checks.py`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from test_cheating_algorithms import DEMAND, NONE, ROWS, SECRETS, AllEqual, curator_of, plane, space_of

from spinney import BudgetError, FiniteMetric, ParameterError, PrivateKMeans, PrivateKMedoids
from spinney.algorithms.algorithm import Algorithm
from spinney.privacy import Charge, Measure, Part
from spinney.questions import Balls, Counts, Cover, Family, Labels, Sums, Whole
from spinney.questions.choose import SITE_STEPS, Choose, Swaps, cost_steps
from spinney.questions.ground import Ground
from spinney.spaces.box import Box, Domain
from spinney.spaces.metric import Coordinates
from spinney.trees.quadtree import Splits, TreeCells

SPLITS = Splits.of(plane())
SPACE = space_of()
SITES = Ground(None, 6, SPACE)


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


class AskingSites(Asking):
    """The same, about sites."""

    solves = "sites"


def planned(question):
    return Charge("one", question, Measure.PURE, Fraction(1))


def refused(question, make, *, sites=False, view=None):
    """Assert that what an algorithm asks is refused, that nothing was charged and that no row was read."""
    reads, ledgers = [], []

    def ask(curator, charges):
        exact = curator._rows.exact
        curator._rows.exact = lambda *asked: reads.append(asked) or exact(*asked)
        ledgers.append(curator.ledger)
        asked = curator if view is None else curator.within(view)
        asked.ask(make(), charges["one"])

    plan = (planned(question),)
    if sites:
        model, table = PrivateKMedoids(1, epsilon=1.0, space=SPACE, algorithm=AskingSites(plan, ask)), DEMAND
    else:
        model, table = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=Asking(plan, ask)), ROWS
    with pytest.raises(ValueError, match=r"must|counted over|only|a cell of a tree is") as caught:
        model.fit(table)
    assert type(caught.value) is ValueError  # it was the gate, not the estimator
    (ledger,) = ledgers
    assert ledger.entries == ()
    assert reads == []
    assert SECRETS == []


GRID = TreeCells.grid(SPLITS, 3)


class Spy(np.ndarray):
    """An array that tells what is looked up in it."""

    def __getitem__(self, key):
        SECRETS.append(key)
        return super().__getitem__(key)


TWO = np.array([[0.2, 0.2], [0.8, 0.8]])


class OwnDomain(Domain):
    pass


@pytest.mark.parametrize(
    "domain",
    [
        Box(0, 1).domain(3),
        Domain(np.zeros(2), np.zeros(2), np.inf),
        Domain(np.full(2, np.nan), np.ones(2), np.inf),
        Domain(np.zeros(2), np.ones(2), -1.0),
        OwnDomain(np.zeros(2), np.ones(2), np.inf),
        (0, 1),
    ],
)
def test_a_view_is_within_a_real_domain(domain):
    refused("counts", lambda: Counts(Whole()), view=domain)


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


RADII = np.array([1.0, 2.0])
OWN_SPACE = OwnSpace(SPACE.source, 6, SPACE.candidates, None)
OWN_SOURCE = FiniteMetric(OwnSource(SPACE.source.points, False), 6, SPACE.candidates, None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: OwnCover(),
        lambda: OwnBalls(SPACE, RADII, (1, 1)),
        lambda: Balls(OWN_SPACE, RADII, (1, 1)),
        lambda: Balls(OWN_SOURCE, RADII, (1, 1)),
        lambda: Family(OwnMembers(np.eye(6)), (2,)),
        lambda: None,
    ],
)
def test_no_code_of_a_caller_sees_the_points_of_the_rows(make):
    refused("cover", lambda: Cover(make()), sites=True)


def test_an_array_that_listens_hears_nothing():
    curator, charge = curator_of("counts", SITES)
    labels = Counts(Labels(np.zeros(6, dtype=np.int64).view(Spy), 1))
    swaps = Choose(Swaps(SPACE, np.array([0]).view(Spy), NONE.view(Spy)))
    sums = Sums(TWO.view(Spy), "mean", np.ones(2).view(Spy))
    members = csr_array(np.eye(6))
    members.data, members.indices = members.data.view(Spy), members.indices.view(Spy)
    cover = Cover(Family(members, (2,)))
    found = Counts(TreeCells(SPLITS, GRID.codes.view(Spy), GRID.depths.view(Spy)))
    SECRETS.clear()  # what it hears while it is copied is its own
    curator.ask(labels, charge)
    for name, question in (("choose", swaps), ("cover", cover)):
        curator, charge = curator_of(name, SITES)
        curator.ask(question, charge)
    for name, question in (("sums", sums), ("counts", found)):
        curator, charge = curator_of(name)
        curator.ask(question, charge)
    assert SECRETS == []


@pytest.mark.parametrize("space", [OWN_SPACE, OWN_SOURCE])
def test_a_space_of_another_class_is_refused(space):
    with pytest.raises(ParameterError, match="'space' parameter"):
        PrivateKMedoids(1, epsilon=1.0, space=space).fit(DEMAND)
    with pytest.raises(ValueError, match="must be a FiniteMetric"):
        Ground(None, 6, space)
    assert SECRETS == []


def test_costs_stay_in_their_range_whatever_a_matrix_holds():
    distances = np.array([np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1e300])
    for power in (1, 2):
        steps = cost_steps(FiniteMetric.from_matrix([[0, 1], [1, 0]]), distances, power)
        assert ((steps >= 0) & (steps <= SITE_STEPS)).all()


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
        (AllEqual("one", "counts", Measure.PURE, Fraction(1)),),
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
        (charge,) = plan if whose == "planned" else charges.values()
        object.__setattr__(charge, "amount", Fraction(10**6))
        answers.append(curator.ask(Counts(Whole()), charge))

    with pytest.raises(BudgetError, match="no open charge"):
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=Asking(plan, ask)).fit(ROWS)
    assert answers == []
