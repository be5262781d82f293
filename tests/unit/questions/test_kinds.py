"""What is known of a question before it is asked is what the answer then has."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from spinney import Box, FiniteMetric
from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.mechanisms.balls import ball_std
from spinney.mechanisms.cubes import cube_std
from spinney.mechanisms.source import SeededSource
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.blocks import Blocking, Blocks
from spinney.questions.catalog import EVERY
from spinney.questions.choose import Choose, Choosing, Sets
from spinney.questions.clusters import ClusterBins, Clusters
from spinney.questions.cost import COST_STEPS, Cost, Costing
from spinney.questions.counts import Counting, Counts
from spinney.questions.cover import Cover, Covering, Family
from spinney.questions.grow import Grow, Splitting
from spinney.questions.levels import LevelCounting, Levels
from spinney.questions.minimize import Minimize, Minimizing
from spinney.questions.partitions import ColumnBins, Labels, Whole
from spinney.questions.persons import PersonCounting, Persons
from spinney.questions.question import Ground
from spinney.questions.sums import RADIUS_STEPS, Summing, Sums
from spinney.questions.totals import Totaling, Totals
from spinney.spaces.box import Domain
from spinney.trees.quadtree import Splits

PLANE = Box(-1, 1).domain(2)
SPLITS = Splits.of(PLANE)
SPACE = FiniteMetric.from_matrix([[0, 1, 4], [1, 0, 3], [4, 3, 0]])
CENTERS = np.array([[-0.5, 0.0], [0.5, 0.0]])
#: One column that decides a cluster, and two behind it.
BEHIND = Domain(np.array([-1.0, 0.0, 0.0]), np.array([1.0, 2.0, 2.0]), math.inf)
CLUSTERS = Clusters(CENTERS[:, :1])
UNITS = [Unit(), Unit(Adjacency.REPLACE), Unit(Adjacency.ADD_REMOVE, 3), Unit(Adjacency.REPLACE, 2)]

#: A question of each kind, what is known of it, and the scale of the noise that is known.
QUESTIONS = {
    "counts": (Counts(Whole()), Counting(), lambda noise: noise.scale),
    "columns": (Counts(ColumnBins()), Counting(2), lambda noise: noise.scale),
    "labels": (Counts(Labels([0, 1, 1], 2)), Counting(), lambda noise: noise.scale),
    "levels": (Levels(SPLITS, 0, 3, None), LevelCounting(4), lambda noise: noise.scale),
    "grow": (Grow(SPLITS, 1, 0), Splitting(), lambda rule: rule.scale),
    "means": (Sums(CENTERS, "mean", [1, 1]), Summing("mean", 2), lambda noise: noise.vectors.scale),
    "cores": (Sums(CENTERS, "core", [1, 1]), Summing("core", 2), lambda noise: noise.vectors.scale),
    "medians": (Sums(CENTERS, "median", [1, 1]), Summing("median", 2), lambda noise: noise.vectors.scale),
    "minimize": (Minimize(CENTERS, [1, 1]), Minimizing(2), lambda noise: noise.points.scale),
    "cluster bins": (Counts(ClusterBins(CLUSTERS, [3, 2])), Counting(2), lambda noise: noise.scale),
    "totals": (Totals(CLUSTERS, [0, 1]), Totaling(2), lambda noise: noise.scale),
    "persons": (Persons(Clusters(CENTERS)), PersonCounting(), lambda noise: noise.scale),
    "cost": (Cost(CENTERS, 2), Costing(), lambda noise: noise.scale),
    "choose": (Choose(Sets(([0], [2]))), Choosing(), lambda scale: scale * 2**22),
    "blocks": (Blocks(Counts(Whole()), 3, 2), Blocking(Counting(), 3), lambda noise: noise.scale),
    "cover": (Cover(Family(csr_array(np.eye(3)), (2,))), Covering(2), lambda step: 1 / float(step)),
}
KINDS = pytest.mark.parametrize("name", QUESTIONS)


class Spy(SeededSource):
    """Remembers the scale of the first noise of all."""

    def __init__(self):
        super().__init__(0)
        self.scales = []

    def laplace(self, values, scale):
        self.scales.append(float(scale))
        return values

    gaussian = cube = ball = laplace

    def select(self, scores, scale):
        self.scales.append(float(scale))
        return 0


def opened(question, unit, charge):
    source = Spy()
    if isinstance(question, Choose | Cover) or isinstance(getattr(question, "partition", None), Labels):
        rows = DemandBackend(np.array([0, 1, 1]), Ground(None, 3, SPACE), unit, source.key)
    else:
        domain = (
            BEHIND if isinstance(question, Totals) or isinstance(getattr(question, "partition", None), ClusterBins) else PLANE
        )
        rows = MemoryBackend(np.zeros((4, domain.n_features)), Ground(domain), unit, source.key)
    return Curator(rows, unit, FitLedger(Budget(Fraction(99), Fraction(1, 9)), (charge,)), source), source


def charge_of(name, measure, amount=Fraction(3, 7)):
    delta = Fraction(1, 100) if name == "cover" and measure is Measure.PURE else Fraction(0)
    return Charge("test", QUESTIONS[name][1].question, measure, amount, delta)


def test_every_kind_is_here():
    assert {type(kind) for _, kind, _ in QUESTIONS.values()} == {entry.kind for entry in EVERY.values()}


@KINDS
@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_noise_that_is_previewed_is_the_noise_that_is_added(name, measure, unit):
    if name == "cover" and measure is Measure.ZCDP:
        pytest.skip("a cover is paid for in pure epsilon and a delta")
    question, kind, scale_of = QUESTIONS[name]
    charge = charge_of(name, measure)
    curator, source = opened(question, unit, charge)
    preview = curator.preview(kind, charge)
    assert source.scales == []
    assert curator.ledger.entries == ()
    assert question.kind(curator.ground) == kind
    curator.ask(question, charge)
    first = 2 if name == "minimize" else 0  # lengths and directions of slopes, whose scale is none of noise
    assert source.scales[first] == pytest.approx(scale_of(preview), rel=1e-9)
    if isinstance(question, Sums):  # vectors and weights; both are told in the answer's own units
        assert len(source.scales) == 2
        assert preview.vectors.std / RADIUS_STEPS == preview.vector_std
        assert preview.weights.std == preview.weight_std * preview.weight_steps
        assert source.scales[1] == pytest.approx(preview.weights.scale, rel=1e-9)


@KINDS
def test_a_part_has_the_sensitivities_that_the_noise_follows(name):
    _, kind, scale_of = QUESTIONS[name]
    part = kind.part("some name", Fraction(1, 3))
    assert (part.name, part.question, part.share, part.kind) == ("some name", kind.question, Fraction(1, 3), kind)
    assert (part.l1, part.l2) == (kind.l1, kind.l2)
    pure, rho = (charge_of(name, measure, Fraction(1, 1000)) for measure in Measure)
    steps = dict.fromkeys(("means", "cores", "medians", "totals"), RADIUS_STEPS) | {"cost": COST_STEPS}
    units = steps.get(name, 1)
    if name == "choose":
        assert kind.noise(pure, Unit()) == pytest.approx(math.sqrt(2) * kind.l1 * 1000)
        assert kind.noise(rho, Unit()) == pytest.approx(kind.l2 * math.sqrt(500))
    elif name == "grow":
        rule = kind.noise(pure, Unit())
        assert rule.scale / rule.steps_per_row == pytest.approx(kind.l1 * 1000, rel=0.02)
        assert kind.l2 == 0  # no Gaussian noise serves
    elif name == "minimize":
        assert kind.noise(pure, Unit()).scale * kind.n_features == pytest.approx(kind.l1 * 1000 / 0.73, rel=1e-3)
        assert kind.l2 == 0
    elif name != "cover":  # its steps share one charge; `proofs/coverage.md`
        share = 0.8 if units == RADIUS_STEPS and name != "totals" else 1.0  # of a step; the weights take the rest
        l1 = 1.0 if name == "totals" else kind.l1  # the radius of a cube is that of each column
        assert scale_of(kind.noise(pure, Unit())) == pytest.approx(units * l1 * 1000 / share, rel=1e-3)
        assert scale_of(kind.noise(rho, Unit())) == pytest.approx(units * kind.l2 * math.sqrt(500 / share), rel=1e-3)


@KINDS
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_words_of_a_plan_say_how_much_noise_there_is(name, unit):
    _, kind, _ = QUESTIONS[name]
    charge = charge_of(name, Measure.PURE)
    noise, words = kind.noise(charge, unit), kind.words(charge, unit)
    shown = {
        "grow": lambda: noise.scale / noise.steps_per_row,
        "means": lambda: noise.vector_std,
        "cores": lambda: noise.vector_std,
        "medians": lambda: noise.vector_std,
        "totals": lambda: noise.std / RADIUS_STEPS,
        "cost": lambda: noise.std / COST_STEPS,
        "choose": lambda: noise,
        "cover": lambda: 0.01,
        "minimize": lambda: noise.scale * kind.n_features,
    }.get(name, lambda: noise.std)()
    assert f" {shown:.3g} " in words


def test_a_tree_of_equal_rows_ends_at_the_last_level():
    charge = Charge("test", "grow", Measure.PURE, math.inf)
    source = SeededSource(0)
    rows = MemoryBackend(np.full((5, 2), 0.3), Ground(PLANE), Unit(), source.key)
    curator = Curator(rows, Unit(), FitLedger(Budget.of(math.inf), (charge,)), source)
    tree = curator.ask(Grow(SPLITS, 1, 2), charge)
    assert tree.leaves.depths.max() == SPLITS.depth


@pytest.mark.parametrize("columns", [5, 20, 300])
def test_the_cube_of_a_box_is_as_wide_as_laplace_noise_of_its_declared_length(columns):
    # Plans compare a step in a box with others by this length: that of Laplace noise of the same spread.
    spread = cube_std(columns, 100.0) / 100 / math.sqrt(2)
    assert Summing("box", columns).l1 == pytest.approx(spread, rel=2 / columns)
    assert Summing("box", columns).l2 ** 2 == pytest.approx(columns)
    assert Summing("mean", columns).l1 == pytest.approx(ball_std(columns, 100.0) / 100 / math.sqrt(2), rel=0.02)
    assert Summing("mean", columns).l1 < 0.9 * math.sqrt(columns)
    assert Summing("mean", 4).l1 == 2
    assert Summing("mean", columns).l2 == 1
