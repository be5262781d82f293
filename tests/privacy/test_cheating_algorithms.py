"""Own algorithms that cheat through public names: each is refused, or answered as if it were honest.

The gate asks a question that it made itself, from the declared fields of the one that it was given. Frames, the garbage
collector, private names and classes that the caller patched are outside the promise (docs/own-algorithms.md).
"""

import copy
import io
import itertools
import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from opening import curator_over
from spinney import BudgetError, FiniteMetric, Ledger, ParameterError, PrivateKMeans, PrivateKMedoids
from spinney.algorithms import Algorithm, Result
from spinney.algorithms.problem import charges_of
from spinney.curators.copying import rebuilt
from spinney.curators.purse import Purse
from spinney.curators.telling import listening
from spinney.mechanisms.source import SecureSource
from spinney.privacy import Adjacency, Budget, Charge, Measure, Unit, remembered
from spinney.privacy.composition import zcdp_epsilon, zcdp_rho
from spinney.privacy.gaussian import gaussian_epsilon
from spinney.questions import Blocks, Cost, Counting, Counts, Grow, Lengths, Levels, Minimize, Persons, PlaneCells, Sums, Totals
from spinney.questions.arrays import frozen
from spinney.questions.catalog import EVERY
from spinney.questions.choose import Choose, Sets, Swaps
from spinney.questions.clusters import ClusterBins, Clusters
from spinney.questions.cover import Balls, Cover, Family
from spinney.questions.form import form
from spinney.questions.ground import Ground
from spinney.questions.partitions import ColumnBins, Labels, Rings, Whole
from spinney.spaces.box import Box, Domain
from spinney.spaces.described import ABSENT
from spinney.trees.quadtree import Splits, TreeCells

ROWS = np.random.default_rng(0).uniform(size=(50, 2))
CENTERS = np.array([[0.2, 0.2], [0.8, 0.7]])
DEMAND = np.array([0, 0, 1, 5])
NONE = np.empty(0, dtype=np.int64)
UNIT = Unit(Adjacency.REPLACE, 3)
SECRETS = []


def plane():
    return Box(0, 1).domain(2)


def space_of():
    return FiniteMetric.from_points(np.arange(6.0)[:, None])


def put(value, name, new):
    object.__setattr__(value, name, new)
    return value


def steal(*given, **named):
    SECRETS.append(given or named)
    return given[0] if given else None


class Own(np.ndarray):
    def __array__(self, *given):
        SECRETS.append(given)
        return super().__array__(*given)


class AllEqual(Charge):
    def __eq__(self, other):
        return True

    __hash__ = None


def curator_of(question, ground=None, unit=UNIT, amount=1):
    """Return a curator with one open charge for this question, over rows or demand, with noise that can be repeated."""
    charge, ground = Charge("one", question, Measure.PURE, Fraction(amount)), Ground(plane()) if ground is None else ground
    return curator_over(DEMAND if ground.domain is None else ROWS, ground, [charge], unit, budget=Budget.of(1.0)), charge


def questions(space=None):
    """Return one question of each kind, by its name and what it is asked about, and more for its parts."""
    space = space_of() if space is None else space
    sites = Ground(None, 6, space)
    splits = Splits.of(plane())
    planes = PlaneCells.root(np.eye(2)).split(np.ones(1, bool), np.zeros(1, np.int64), np.full(1, 0.5))
    clusters = Clusters(CENTERS[:, :1])
    numbers, behind = Ground(plane()), Ground(Domain(np.zeros(2), np.array([1.0, ABSENT]), math.inf))
    return [
        ("counts", numbers, Counts(Whole())),
        ("counts", numbers, Counts(Rings(CENTERS, np.array([0.1, 0.3]), np.ones(2)))),
        ("counts", numbers, Counts(TreeCells.grid(splits, 3))),
        ("counts", numbers, Counts(planes)),
        ("counts", numbers, Counts(ColumnBins(3))),
        ("counts", behind, Counts(clusters)),
        ("counts", behind, Counts(ClusterBins(clusters, np.array([4])))),
        ("counts", sites, Counts(Labels(np.arange(6) % 2, 2))),
        ("lengths", sites, Lengths(Labels(np.arange(6) % 2, 2), np.arange(-3, 3))),
        ("grow", numbers, Grow(splits, 1, 5)),
        ("levels", numbers, Levels(splits, 0, 3, 2.0)),
        ("sums", numbers, Sums(CENTERS, "mean", np.ones(2), CENTERS + 0.1, np.ones(2))),
        ("sums", numbers, Sums(planes, "box", np.ones(2), CENTERS)),
        ("cost", numbers, Cost(CENTERS, 2, CENTERS[::-1] + 0.1, 0.5)),
        ("minimize", numbers, Minimize(CENTERS, np.ones(2))),
        ("totals", behind, Totals(clusters, np.array([0]))),
        ("persons", behind, Persons(clusters)),
        ("blocks", numbers, Blocks(Sums(CENTERS, "mean", np.ones(2)), 2, 5)),
        ("choose", sites, Choose(Swaps(space, np.array([0, 3]), NONE))),
        ("choose", sites, Choose(Sets((np.array([0]), np.array([1, 5]))))),
        ("cover", sites, Cover(Balls(space, np.array([1.0, 2.0]), (1, 1)))),
        ("cover", sites, Cover(Family(csr_array(np.eye(6)), (2,)))),
    ]


ALL = range(len(questions()))
#: What may be shadowed on a question and on what it is made of.
METHODS = [
    "answer", "kind", "check", "in_memory", "behind", "first_stages", "n_sets", "newcomers", "after", "leaves", "grows_from",
    "words", "depth", "merged", "width", "tuples", "blocks", "distances", "distances_between", "fill", "__post_init__", "route",
    "until", "equals", "diameter",
]  # fmt: skip


def parts_of(value, found=None):
    """Return a question and all values that it is made of that anything can be set on."""
    found = [] if found is None else found
    if hasattr(value, "__dict__") and not isinstance(value, np.ndarray):
        found.append(value)
        for part in vars(value).copy().values():
            parts_of(part, found)
    elif type(value) is tuple:
        for part in value:
            parts_of(part, found)
    return found


def asked(place, cheat=lambda question: None):
    """Return what a question is answered after an algorithm did something to it; each time from the same start."""
    name, ground, question = questions()[place]
    cheat(question)
    curator, charge = curator_of(name, ground)
    return form(curator.ask(question, charge)), curator.ledger.entries, curator.ledger.records


def test_every_question_of_the_list_is_tried():
    assert {name for name, _, _ in questions()} == set(EVERY)
    assert {type(question) for _, _, question in questions()} == {one.question for one in EVERY.values()}


@pytest.mark.parametrize("place", ALL)
def test_a_copy_asks_the_same_and_shares_nothing(place):
    _, ground, question = questions()[place]
    copied = rebuilt(question, ground)
    held = {id(part) for part in (*parts_of(question), *parts_of(ground.given))}
    if "Balls" not in repr(question) and "Swaps" not in repr(question):  # a space loses its names on the way
        assert form(copied) == form(question)
    for part in parts_of(copied):
        assert id(part) not in held
        for array in vars(part).values():
            if isinstance(array, np.ndarray):
                assert type(array) is np.ndarray
                assert not array.flags.writeable


@pytest.mark.parametrize("place", ALL)
def test_what_is_set_on_a_question_or_its_parts_changes_nothing(place):
    """Methods that are replaced are not called; a field that is replaced is refused, or is what is asked."""
    honest = asked(place)

    def shadow(question):
        for part in parts_of(question):
            declared = set(getattr(type(part), "__dataclass_fields__", ()))
            for name in METHODS:
                is_method = name not in declared and not isinstance(getattr(type(part), name, None), property)
                if is_method and type(part).__module__.startswith("spinney"):
                    put(part, name, steal)

    assert asked(place, shadow) == honest
    assert SECRETS == []


@pytest.mark.parametrize("place", ALL)
def test_arrays_of_another_class_and_values_of_no_list_are_refused(place):
    _, _, question = questions()[place]
    for part in parts_of(question):
        if type(part).__module__.startswith("scipy") or type(part) is FiniteMetric or "Coordinates" in type(part).__name__:
            continue  # a space is known by what it is, not by what it holds
        for field in getattr(type(part), "__dataclass_fields__", ()):
            before = getattr(part, field)
            wrong = [type("Lying", (int,), {})(1), {1: 2}, object()]
            if isinstance(before, np.ndarray):
                wrong.append(before.view(Own))
            for new in wrong:
                put(part, field, new)
                name, ground, _ = questions()[place]
                curator, charge = curator_of(name, ground)
                with pytest.raises((ValueError, TypeError)):
                    curator.ask(question, charge)
                assert curator.ledger.entries == ()
            put(part, field, before)
    assert SECRETS == []


def test_cells_made_to_overlap_after_they_were_made_are_refused():
    question = Counts(TreeCells.grid(Splits.of(plane()), 2))
    codes = question.partition.codes
    (codes if codes.base is None else codes.base).setflags(write=True)
    codes.setflags(write=True)
    codes[:] = 0
    put(question, "check", steal)
    curator, charge = curator_of("counts")
    with pytest.raises(ValueError, match="disjoint"):
        curator.ask(question, charge)
    assert curator.ledger.entries == ()


def test_planes_that_lead_nowhere_are_refused():
    cells = PlaneCells.root(np.eye(2))
    for name, new in (("planes", np.array([7])), ("first_child", np.array([0])), ("normals", np.full((1, 2), np.nan))):
        wrong = put(put(PlaneCells(cells.normals, cells.planes, cells.offsets, cells.first_child), name, new), "check", steal)
        curator, charge = curator_of("counts")
        with pytest.raises(ValueError, match="planes"):
            curator.ask(Counts(wrong), charge)


def test_a_family_with_places_that_are_not_there_is_refused():
    members = csr_array(np.eye(6))
    members.indices[0] = 99
    members.check_format = steal
    with pytest.raises(ValueError, match=r"indices|index"):
        Cover(Family(members, (2,)))
    honest = Family(csr_array(np.eye(6)), (2,))
    honest.members.indices = members.indices
    honest.members.check_format = steal
    curator, charge = curator_of("cover", Ground(None, 6, space_of()))
    with pytest.raises(ValueError, match=r"indices|index"):
        curator.ask(Cover(honest), charge)
    assert curator.ledger.entries == ()


def test_the_class_of_a_question_cannot_be_another():
    class Evil(Counts):
        def answer(self, *given):
            return steal(*given)

    question = Counts(Whole())
    object.__setattr__(question, "__class__", Evil)
    curator, charge = curator_of("counts")
    with pytest.raises(TypeError, match="questions of"):
        curator.ask(question, charge)
    assert SECRETS == []


SET = {
    "curator": ("ledger", "unit", "ground"),
    "ledger": ("spend", "pool", "epsilon", "budget", "planned", "entries"),
    "purse": ("ask", "preview", "pass_on", "curator", "charges", "unit", "ground", "names", "within", "__class__", "new"),
}


@pytest.mark.parametrize("whose", SET)
def test_nothing_can_be_set_on_what_an_algorithm_holds(whose):
    purse, ledger = purse_of("one")
    curator = purse.curator
    near = curator.near(CENTERS, np.array([0]))
    held = {"curator": (curator, curator.within(plane()), near), "ledger": (curator.ledger,), "purse": (purse,)}[whose]
    for one, name, put_on in itertools.product(held, SET[whose], (setattr, object.__setattr__)):
        with pytest.raises((AttributeError, TypeError)):
            put_on(one, name, steal)
    purse.ask("one", Counts(Whole()))
    with pytest.raises(BudgetError):
        curator.ask(Counts(Whole()), ledger.planned[0])
    assert not hasattr(purse, "__dict__")
    assert SECRETS == []


def test_what_is_handed_out_can_be_changed_without_effect():
    curator, charge = curator_of("counts")
    put(curator.unit, "max_rows", 1)
    put(curator.unit, "adjacency", Adjacency.ADD_REMOVE)
    put(curator.ledger.budget, "epsilon", math.inf)
    for given in (*curator.ledger.planned, charge):
        put(given, "amount", Fraction(100))
    ground = curator.ground
    for array in (ground.domain.lower, ground.domain.upper):
        array.setflags(write=True)
        array[:] = 7
    put(charge, "amount", Fraction(1))
    assert form(curator.ask(Counts(Rings(CENTERS)), charge)) == form(_honest(Counts(Rings(CENTERS))))
    assert curator.ledger.budget == Budget.of(1.0)
    curator.ledger.records[0].clear()
    assert curator.ledger.records[0]["name"] == "one"


def _honest(question):
    curator, charge = curator_of("counts")
    return curator.ask(question, charge)


def test_charges_are_what_the_plan_holds():
    for wrong in (Fraction(100), math.inf):
        curator, charge = curator_of("counts")
        with pytest.raises(BudgetError):
            curator.ask(Counts(Whole()), put(charge, "amount", wrong))
    curator, charge = curator_of("counts")
    lying = AllEqual("one", "counts", Measure.PURE, Fraction(100))
    with pytest.raises(TypeError, match="planned charge"):
        curator.ask(Counts(Whole()), lying)
    with pytest.raises(ParameterError):
        curator.ledger.spend(lying, "counts", {})
    with pytest.raises(ParameterError):
        curator.pool([lying], "counts")
    assert curator.ledger.entries == ()


class OwnKind(Counting):
    """Notes what it is shown."""

    def noise(self, charge, unit):
        put(unit, "max_rows", 1)
        put(charge, "amount", Fraction(1000))
        return 0


def test_a_kind_of_ones_own_changes_nothing():
    curator, charge = curator_of("counts")
    assert curator.preview(OwnKind(), Charge("one", "counts", Measure.PURE, Fraction(1))) == 0
    assert form(curator.ask(Counts(Whole()), charge)) == form(_honest(Counts(Whole())))


def test_what_happens_to_a_view_later_changes_nothing():
    def views(curator):
        domain = Domain(np.zeros(2), np.full(2, 0.5), math.inf)
        directions, centers, kept = np.eye(2), CENTERS.copy(), np.array([0])
        made = [curator.within(domain), curator.projected(directions, domain), curator.near(centers, kept)]
        return made, [domain.lower, domain.upper, directions, centers, kept], domain

    def answers(change):
        found = []
        for place in range(3):
            curator, charge = curator_of("counts")
            made, arrays, domain = views(curator)
            if change:
                put(domain, "clip", steal)
                put(domain, "upper", np.full(2, 77.0))
                for array in arrays:
                    array[:] = 1
            found.append(form(made[place].ask(Counts(TreeCells.grid(Splits.of(plane()), 4)), charge)))
        return found

    assert answers(change=True) == answers(change=False)
    assert SECRETS == []


def test_points_of_a_view_are_copied_with_their_methods():
    def answer(change):
        space = FiniteMetric.from_points(CENTERS)
        curator, charge = curator_of("choose")
        view = curator.at(space)
        if change:
            _tamper(space)
        return form(view.ask(Choose(Swaps(space, np.array([0]), NONE)), charge))

    assert answer(change=True) == answer(change=False)
    assert SECRETS == []


def _tamper(space):
    for name in ("blocks", "distances", "distances_between", "diameter", "_measure", "_indices"):
        put(space, name, steal)
    put(space.source, "fill", steal)
    points = space.source.points
    points.setflags(write=True)
    points[:] = np.nan


@pytest.mark.parametrize("place", [place for place in ALL if questions()[place][0] in ("choose", "cover")])
def test_a_space_does_not_tell_where_rows_are(place):
    def answer(change):
        space = space_of()
        name, ground, question = questions(space)[place]
        curator, charge = curator_of(name, ground)
        if change:
            _tamper(space)
            put(curator.ground.space.source, "fill", steal)
        return form(curator.ask(question, charge))

    assert answer(change=True) == answer(change=False)
    assert SECRETS == []


def test_arrays_of_an_answer_that_are_written_to_change_no_later_answer():
    splits, other = Splits.of(plane()), Splits.of(Domain(np.zeros(2), np.array([1.0, 8.0]), math.inf))

    def later(change, asked):
        purse, ledger = purse_of("tree", "one", question="grow")
        curator, parts = purse.curator, ledger.planned
        tree = curator.ask(Grow(splits, 2, 1), parts[0])
        if change:
            for array, new in zip(tree.cells.splits.route, other.route, strict=True):
                array.setflags(write=True)
                array[:] = new
        return form(curator.ask(Counts(TreeCells.grid(asked, 3)), curator.pool(parts[1:], "counts")))

    assert not np.array_equal(splits.route.axes, other.route.axes)
    for asked in (splits, other):  # those that a backend remembers, and those that its memory was made to look like
        assert later(True, asked) == later(False, asked)


class Alike(type):
    """A class of classes that equal any other one."""

    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(Counts)


class Pretending(metaclass=Alike):
    in_memory, partition = False, Whole()
    check = kind = answer = steal


def test_a_class_that_says_it_equals_one_of_the_list_is_refused():
    curator, charge = curator_of("counts")
    with pytest.raises(TypeError, match="questions of"):
        curator.ask(Pretending(), charge)
    with pytest.raises(ValueError, match="values of the list"):
        curator.ask(put(Counts(Whole()), "partition", Pretending()), charge)
    assert curator.ledger.entries == ()
    assert SECRETS == []


class Number(float):
    """Equals an honest number, and computes something else."""

    def __mul__(self, other):
        return -1e9

    __rmul__ = __add__ = __radd__ = __truediv__ = __mul__


def test_no_number_that_computes_something_else_is_remembered_for_others():
    honest = zcdp_epsilon(0.3125, 1e-6), gaussian_epsilon(0.3125, 1e-6, 9.0), zcdp_rho(0.6875, 1e-6)
    for function in (zcdp_epsilon, gaussian_epsilon, zcdp_rho):
        function.cache_clear()
    for cheat in (
        lambda: zcdp_epsilon(Number(0.3125), 1e-6),
        lambda: gaussian_epsilon(Number(0.3125), 1e-6, 9.0),
        lambda: zcdp_rho(0.6875, Number(1e-6)),
        lambda: SecureSource().select(np.zeros(2, np.int64), Number(50.0)),
    ):
        with suppress(Exception):
            cheat()
    assert honest == (zcdp_epsilon(0.3125, 1e-6), gaussian_epsilon(0.3125, 1e-6, 9.0), zcdp_rho(0.6875, 1e-6))
    calls = []
    counted = remembered(8)(lambda *numbers: calls.append(numbers) or len(calls))
    given = [1.0, 1.0, 1, True, Number(1.0), (1.0,), (Number(1.0),), 1.0]
    assert [counted(one) for one in given] == [1, 1, 2, 3, 4, 5, 6, 1]


def test_nothing_that_holds_rows_or_charges_can_be_copied_or_stored():
    curator, _ = curator_of("counts")
    seen = []

    class Looking(pickle.Pickler):
        def persistent_id(self, value):
            seen.append(value)

    for held in (curator, curator.ledger, curator.within(plane()), Purse(curator), Purse(curator).within(plane())):
        memo = {}
        for copied in (copy.copy, lambda value, memo=memo: copy.deepcopy(value, memo), pickle.dumps):
            with pytest.raises(TypeError, match="neither copied nor stored"):
                copied(held)
        with pytest.raises(TypeError, match="neither copied nor stored"):
            Looking(io.BytesIO()).dump(held)
        assert not any(isinstance(value, np.ndarray) for value in (*memo.values(), *seen))


class Keeping:
    """Makes an array of itself, and keeps it."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_what_makes_an_array_of_itself_keeps_no_array_of_a_question():
    own = np.array([[0.2, 0.2], [0.8, 0.7]])
    held = [Rings(Keeping(own)).centers, frozen(Keeping(own)), frozen(Keeping(own), None)]
    places = np.array([0, 1, 2, 3, 4, 5], dtype=np.int32)
    members = csr_array(np.eye(6))
    members.indices = Keeping(places)
    held += [Family(members, (2,)).members.indices]
    assert not any(np.shares_memory(array, kept) for array in held for kept in (own, places))


class Changing(Algorithm):
    """Changes the problem while it plans and while it runs."""

    name, backends, solves = "changing", ("memory",), "points"

    def __init__(self, while_planning):
        self.while_planning = while_planning

    def parts(self, problem):
        if self.while_planning:
            self.change(problem)
        return (Counting().part("one", Fraction(1)),)

    def change(self, problem):
        put(problem.budget, "epsilon", Fraction(100))
        put(problem, "budget", Budget.of(100.0, 0.5))
        put(problem.unit, "max_rows", 1)
        put(problem.unit, "adjacency", Adjacency.ADD_REMOVE)
        put(problem, "unit", Unit())
        put(problem, "release", steal)
        put(problem.domain, "upper", np.full(2, 9.0))

    def run(self, curator, problem, charges, rng):
        self.change(problem)
        answer = curator.ask(Counts(Whole()), charges["one"])
        return Result(np.zeros((1, 2)), answer.private_counts, answer.noise, CENTERS[:0], np.empty(0))


class Planning(Changing):
    """Makes the plan of another budget."""

    def plan(self, problem):
        return charges_of(problem.budget, self.parts(problem))


def test_a_plan_of_another_budget_is_refused():
    model = PrivateKMeans(1, epsilon=1.0, bounds=(0, 1), algorithm=Planning(True))
    with pytest.raises(BudgetError, match="more than its budget"):
        model.fit(ROWS)


@pytest.mark.parametrize("while_planning", [True, False])
def test_what_an_algorithm_does_to_its_problem_changes_no_promise(while_planning):
    model = PrivateKMeans(
        1, epsilon=1.0, bounds=(0, 1), algorithm=Changing(while_planning), adjacency="replace", max_rows_per_group=3
    )
    release = model.fit(ROWS, groups=np.arange(50) % 20).release_
    assert (release.promised_epsilon, release.epsilon, release.adjacency, release.max_rows_per_group) == (1.0, 1.0, "replace", 3)
    assert release.domain["upper"] == [1.0, 1.0]
    honest = Counting().noise(Charge("one", "counts", Measure.PURE, Fraction(1)), UNIT)
    assert release.mechanisms[0]["answers"][0]["scale"] == str(Fraction(honest.scale))
    assert SECRETS == []


class Spying(Changing):
    """Listens to the space while it asks."""

    solves = "sites"

    def change(self, problem):
        for name in ("blocks", "distances", "distances_between"):
            put(problem.space, name, steal)
        put(problem.space.source, "fill", steal)

    def parts(self, problem):
        return (EVERY["choose"].kind().part("one", Fraction(1, 2)), Counting().part("sizes", Fraction(1, 2)))

    def run(self, curator, problem, charges, rng):
        self.change(problem)
        self.change(type("Seen", (), {"space": curator.ground.space}))
        curator.ask(Choose(Swaps(problem.space, np.array([0]), NONE)), charges["one"])
        sizes = curator.ask(Counts(Labels(np.zeros(6, dtype=np.int64), 1)), charges["sizes"])
        return Result(np.array([0]), sizes.private_counts, sizes.noise, NONE, np.empty(0))


def test_a_space_that_listens_while_an_algorithm_asks_hears_nothing():
    PrivateKMedoids(1, epsilon=1.0, space=space_of(), algorithm=Spying(False)).fit(DEMAND)
    assert SECRETS == []


def purse_of(*names, question="counts"):
    """Return a purse with equal pure charges of these names, and its ledger."""
    charges = [Charge(name, question, Measure.PURE, Fraction(1, len(names))) for name in names]
    curator = curator_over(ROWS, Ground(plane()), charges, UNIT, budget=Budget.of(1.0))
    return Purse(curator), curator.ledger


class Lying(str):
    """Another name, which says that it is any."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("one")


@pytest.mark.parametrize("name", [Lying("two"), Lying("one"), b"one", None, ("one",), 0])
def test_a_name_that_is_no_plain_text_pays_for_nothing(name):
    purse, ledger = purse_of("one", "two")
    for cheat in (
        lambda: purse.ask(name, Counts(Whole())),
        lambda: purse.pass_on(name, "two"),
        lambda: purse.pass_on("two", name),
        lambda: purse.preview(Counting(), name),
        lambda: purse.measure(name),
    ):
        with pytest.raises(BudgetError):
            cheat()
    assert name not in purse
    assert (purse.names, ledger.entries) == (("one", "two"), ())


def test_what_a_purse_hands_out_can_be_changed_without_effect():
    purse, ledger = purse_of("one", "two")
    purse.charges["one"] = purse.charges["two"]
    put(purse.charges["one"], "amount", Fraction(100))
    put(purse.unit, "max_rows", 1)
    put(purse.ground.domain, "upper", np.full(2, 9.0))

    class Own(Counting):
        def noise(self, charge, unit):
            put(charge, "amount", Fraction(100))
            put(unit, "max_rows", 1)

    purse.preview(Own(), "one", "two")
    answer = purse.ask("one", Counts(Whole()))
    assert answer.noise == Counting().noise(Charge("one", "counts", Measure.PURE, Fraction(1, 2)), UNIT)
    assert ledger.epsilon == Fraction(1, 2)


class Generous(Purse):
    """Says that everything is open, and that all of it pays."""

    def __contains__(self, name):
        return True

    @property
    def names(self):
        return ("one", "two", "three")

    @property
    def charges(self):
        return {name: Charge(name, "counts", Measure.PURE, Fraction(100)) for name in self.names}

    def _check_open(self, *names):
        pass

    def _paying(self, names, question):
        return [Charge(name, "counts", Measure.PURE, Fraction(1, 2)) for name in ("one", "two")]


def test_a_class_of_its_own_and_a_second_purse_spend_no_more_than_the_plan():
    purse, ledger = purse_of("one", "two")
    generous, second = Generous(purse.curator), Purse(purse.curator)
    generous.ask("one", Counts(Whole()))
    assert ledger.epsilon == 1
    for cheat in (generous, second, purse):
        for name in ("one", "two"):
            with pytest.raises((BudgetError, KeyError)):
                cheat.ask(name, Counts(Whole()))
        with pytest.raises(BudgetError):
            cheat.curator.ask(Counts(Whole()), cheat.charges["one"])
    assert [charge.name for charge in ledger.entries] == ["one + two"]


def test_pockets_of_another_purse_pay_for_nothing_here():
    (rich, _), (purse, ledger) = purse_of("one"), purse_of("one", "two", "three")
    with pytest.raises(BudgetError, match="no open charge"):
        Purse(purse.curator, rich._pockets).ask("one", Counts(Whole()))
    assert ledger.entries == ()


def test_no_view_asks_what_another_one_passed_on_or_spent():
    purse, ledger = purse_of("one", "two", "three")
    view = purse.within(plane())
    purse.pass_on("one", "two")
    for cheat in (lambda: view.ask("one", Counts(Whole())), lambda: view.pass_on("one", "three")):
        with pytest.raises(BudgetError, match="neither spent nor passed on"):
            cheat()
    view.ask("two", Counts(Whole()))
    for asked in (purse, view, purse.near(CENTERS, np.array([0])), purse.projected(np.eye(2), plane())):
        with pytest.raises(BudgetError, match="neither spent nor passed on"):
            asked.ask("two", Counts(Whole()))
    assert [charge.name for charge in ledger.entries] == ["one + two"]


def test_charges_that_were_passed_on_and_asked_beside_the_purse_pay_once():
    purse, ledger = purse_of("one", "two")
    purse.pass_on("one", "two")
    purse.curator.ask(Counts(Whole()), purse.charges["one"])
    with pytest.raises(BudgetError, match="Only open charges"):
        purse.ask("two", Counts(Whole()))
    assert [charge.name for charge in ledger.entries] == ["one"]


def test_no_question_is_asked_while_another_one_is_answered():
    purse, ledger = purse_of("one", "two", "three")
    purse.pass_on("three", "two")
    seen = []

    def cheat(words):
        with pytest.raises(RuntimeError, match="after it"):
            purse.curator.within(plane()).ask(Counts(Whole()), purse.charges["two"])
        for ask in (lambda: purse.ask("one", Counts(Whole())), lambda: purse.pass_on("two", "one")):
            with pytest.raises(BudgetError, match="neither spent nor passed on"):
                ask()
        with pytest.raises(RuntimeError, match="after it"):
            purse.within(plane()).ask("two", Counts(Whole()))
        seen.append(words)

    with listening(cheat):
        purse.ask("one", Counts(Whole()))
    assert len(seen) == 1  # it came to its end
    purse.ask("two", Counts(Whole()))
    assert [charge.name for charge in ledger.entries] == ["one", "two + three"]


@pytest.mark.parametrize("question", ["counts", "sums"])
def test_many_threads_spend_each_charge_once(question):
    names = [f"p{i}" for i in range(12)]
    purse, ledger = purse_of(*names, question=question)

    def cheat(thread):
        rng = np.random.default_rng(thread)
        for _ in range(60):
            one, other = (names[i] for i in rng.integers(0, len(names), 2))
            with suppress(BudgetError):
                if rng.uniform() < 0.3:
                    purse.pass_on(one, other)
                elif rng.uniform() < 0.3:
                    purse.preview(Counting(), other, one)
                else:
                    purse.within(plane()).ask(one, Counts(Whole()))

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(cheat, thread) for thread in range(8)]:
            done.result()
    spent = [name for charge in ledger.entries for name in charge.name.split(" + ")]
    assert len(set(spent)) == len(spent)
    assert sum(charge.amount for charge in ledger.entries) == Fraction(len(spent), 12) <= 1
    assert not set(spent) & set(purse.names)


KEPT = []


class Hoarding(Changing):
    """Keeps its purse, and leaves a charge open."""

    def parts(self, problem):
        return tuple(Counting().part(name, Fraction(1, 4)) for name in ("one", "two", "three", "four"))

    def run(self, purse, problem, rng):
        KEPT.append(purse)
        purse.pass_on("two", "three")
        answer = purse.ask("one", Counts(Whole()))
        return Result(np.zeros((1, 2)), answer.private_counts, answer.noise, CENTERS[:0], np.empty(0))


def test_a_purse_that_is_kept_beyond_its_fit_spends_no_more_than_was_charged(tmp_path):
    ledger = Ledger(tmp_path / "ledger", 1.0)
    release = PrivateKMeans(1, epsilon=1.0, bounds=(0, 1), algorithm=Hoarding(False)).fit(ROWS, ledger=ledger).release_
    purse = KEPT.pop()
    assert (ledger.spent, release.epsilon) == (1.0, 0.25)  # the whole plan was charged before anything was asked
    for name in purse.names:
        purse.ask(name, Counts(Whole()))
    with pytest.raises(BudgetError):
        purse.ask("one", Counts(Whole()))
    assert purse.curator.ledger.epsilon == 1
    assert release.epsilon == 0.25


def test_a_copy_of_the_process_spends_nothing(monkeypatch):
    purse, ledger = purse_of("one")
    monkeypatch.setattr(os, "getpid", lambda: -1)
    for ask in (lambda: purse.ask("one", Counts(Whole())), lambda: purse.curator.ask(Counts(Whole()), purse.charges["one"])):
        with pytest.raises(BudgetError, match="copy of the one"):
            ask()
    assert ledger.entries == ()


def test_the_kind_of_a_preview_is_handed_nothing_that_can_be_spent():
    purse, ledger = purse_of("one", "two")

    class Asking(Counting):
        question = Lying("counts")

    class Nosy(Counting):
        def noise(self, charge, unit):
            SEEN.append(purse.curator.ask(Counts(Whole()), charge))

    SEEN = []
    with pytest.raises(TypeError, match="by a text"):
        purse.preview(Asking(), "one")
    with pytest.raises(BudgetError, match="no open charge"):
        purse.preview(Nosy(), "one", "two")
    assert (SEEN, ledger.entries) == ([], ())
