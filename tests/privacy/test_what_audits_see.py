"""Faults that audits once missed, each planted: what switches at a size, shared arithmetic, noise that is used twice.

Sound fits pass the same audits.
"""

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import spinney.questions.record
from spinney import PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.audit import demand_pairs, neighbors, record, replay_pairs, search, searching, table_pairs
from spinney.audit.repeats import repeated_noise
from spinney.baselines.lloyd import Lloyd
from spinney.cli.audits import space_of_points
from spinney.mechanisms import SecureSource, SeededSource, coverage, selection, splitting
from spinney.privacy import Unit, composition, fit_ledger, gaussian
from spinney.questions import choose, cover, grow

CORNERS = [-1.0, -1.0], [1.0, 1.0]


def model(estimator=PrivateKMeans, **options):
    return estimator(2, **({"epsilon": 0.83, "bounds": (-1, 1), "algorithm": "lloyd"} | options))


def replayed(subject, unit=None, count=1, most=20, grouped=False):
    return replay_pairs(subject, table_pairs(*CORNERS, Unit() if unit is None else unit, count, grouped=grouped, most=most))


def scaled_above(monkeypatch, size, factor):
    """Let the noise of counts change its scale where more rows than this are counted."""
    plain = spinney.questions.record.privatize

    def privatize(exact, noise, *rest):
        return plain(exact, replace(noise, scale=noise.scale * factor) if exact.sum() > size else noise, *rest)

    monkeypatch.setattr(spinney.questions.record, "privatize", privatize)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_noise_that_changes_above_a_size_is_seen(monkeypatch, factor):
    scaled_above(monkeypatch, 10_000, factor)
    assert not replayed(model(), count=3).broken  # small tables alone do not show it
    assert any("is not what its record states" in fault for fault in replayed(model(), most=10**5).faults)


def test_the_search_meets_large_tables(monkeypatch):
    scaled_above(monkeypatch, 10_000, 0.5)
    monkeypatch.setattr(searching, "SMALLER", 1)
    assert search(model(), neighbors(*CORNERS, most=10**5), examples=30).broken


def test_a_warning_above_a_size_is_seen_though_no_neighbors_lie_on_two_sides_of_it(monkeypatch):
    plain = Lloyd.run

    def run(self, purse, *rest):
        if len(purse.curator._rows._rows) > 100_000:
            warnings.warn("a large table", stacklevel=2)
        return plain(self, purse, *rest)

    monkeypatch.setattr(Lloyd, "run", run)
    found = replayed(model(), most=10**6)
    assert [fault.partition(" (")[0] for fault in found.faults] == [
        "beside an empty table: the warnings of the fit depends on the rows"
    ]


def test_sound_fits_look_alike_at_all_sizes():
    found = replayed(model(delta=1e-6), count=7, most=10**6)
    assert found.faults == ()


def times(function, factor):
    def changed(*values, **named):
        return factor * function(*values, **named)

    return changed


def forget():
    """Forget what plans and conversions keep between calls."""
    for module in (composition, gaussian, splitting):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@pytest.fixture
def planted(monkeypatch):
    """Return a function that plants a fault: under this name, in each of these owners."""

    def plant(name, changed, *owners):
        forget()
        for owner in owners:
            monkeypatch.setattr(owner, name, changed)

    yield plant
    monkeypatch.undo()
    forget()


def sites(**options):
    subject = PrivateKMedoids(2, epsilon=0.83, space=space_of_points(), delta=1e-6, **options)
    return replay_pairs(subject, demand_pairs(12, Unit(), 1, most=20))


def points(**options):
    return replayed(model(**options))


#: What is planted: a name, its owners, by how much it is wrong, and what shows it.
WRONG = [
    ("zcdp_epsilon", [composition], 1 / 1.5, partial(points, delta=1e-6)),
    ("zcdp_epsilon", [composition], 1 / 1.5, partial(sites, algorithm="local-search")),
    ("gaussian_delta", [gaussian], 1e-2, partial(points, delta=1e-6)),
    ("gaussian_epsilon", [composition], 1 / 1.5, partial(points, delta=1e-6)),
    ("total_epsilon", [composition, fit_ledger], Fraction(1, 2), partial(points, delta=1e-6)),
    ("worst_loss", [splitting, grow], 1 / 1.5, partial(points, algorithm="tree")),
    ("selection_epsilon", [selection, choose], Fraction(3, 2), partial(sites, algorithm="local-search")),
    ("step_epsilon", [coverage, cover], Fraction(3, 2), partial(sites, algorithm="coverage")),
]


@pytest.mark.parametrize(
    ("name", "owners", "factor", "shown"), WRONG, ids=[f"{one[0]} {place}" for place, one in enumerate(WRONG)]
)
def test_a_wrong_conversion_is_seen_by_arithmetic_of_the_audits_own(planted, name, owners, factor, shown):
    assert shown().faults == ()
    planted(name, times(getattr(owners[0], name), factor), *owners)
    assert shown().broken


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("count_price", lambda self, charge: charge.part(Fraction(1, self.max_rows))),  # a replacement at the price of a row
        ("count_price", lambda self, charge: charge.part(Fraction(1, 2))),  # a person at the price of a row
        ("moved_rows", property(lambda self: self.max_rows)),
        ("replaces", property(lambda self: False)),
    ],
)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_wrong_price_of_a_unit_is_seen(planted, name, changed, delta):
    subject, unit = model(adjacency="replace", max_rows_per_group=2, delta=delta), Unit("replace", 2)
    pairs = list(table_pairs(*CORNERS, unit, 1, grouped=True, most=20))
    assert not replay_pairs(subject, pairs).broken
    planted(name, changed, Unit)
    assert replay_pairs(subject, pairs).broken


class Reseeded:
    """Draws from a seed anew each time: one for all sources, or one for each."""

    def __init__(self, seeds):
        self.seeds = seeds

    def method(self, name):
        seeds = self.seeds

        def draw(source, values, scale):
            seed = seeds if isinstance(seeds, int) else seeds.setdefault(id(source), len(seeds))
            return getattr(SeededSource(seed), name)(values, scale)

        return draw


def once(name):
    """Draw one number for all slots."""

    def draw(source, values, scale):
        noise = getattr(SeededSource(np.random.default_rng().integers(2**32)), name)(values[:1] * 0, scale)
        return values + noise

    return draw


def stretched(name):
    """Draw from one list of standard numbers, stretched to the scale."""
    standard = np.random.default_rng(0).normal(size=10**5)

    def draw(source, values, scale):
        return values + np.rint(standard[: values.size] * scale).astype(np.int64).reshape(values.shape)

    return draw


PLANTED = {
    "one seed for all": Reseeded(7).method,
    "a seed for each fit": Reseeded({}).method,
    "one number for all slots": once,
    "one list for all scales": stretched,
}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("plant", PLANTED)
def test_noise_that_is_used_twice_is_seen(monkeypatch, plant, delta):
    subject = model(PrivateKMedian, delta=delta)
    rows = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    assert repeated_noise([record(subject, rows) for _ in range(6)]) == []
    for name in ("laplace", "gaussian", "cube", "ball"):
        monkeypatch.setattr(SecureSource, name, PLANTED[plant](name))
    found = replayed(subject, count=2)
    assert any("is used again for" in fault for fault in found.faults)
