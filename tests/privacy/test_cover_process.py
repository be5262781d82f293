"""Rules 4, 5 and 13 for coverage: the exact law of all choices, on small families of sets, against the one charge they share."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import spinney.questions.cover
from covering import covering
from spinney.audit.laws import select_law
from spinney.audit.sources import NoiselessSource
from spinney.audit.tiny import OpenLedger, neighbors
from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.mechanisms.coverage import step_epsilon
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions.cover import Cover, Family
from spinney.questions.ground import Ground

#: Which items each set holds, how many are chosen, and the data sets: tuples of items.
FAMILIES = {
    "one set of four holds the row": ([[0], [], [], []], 5, [(), (0,), (1,), (0, 0), (0, 1), (0, 0, 0)]),
    "chains": ([[0, 1], [1, 2]], 6, [(), (0,), (1,), (2,), (0, 0), (0, 1), (0, 2), (1, 2), (0, 0, 2), (0, 1, 2), (2, 2, 2)]),
    "three sets": ([[0], [0, 1], [2]], 5, [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (1, 2, 2)]),
    "a crowd elsewhere": ([[0], [1]], 6, [(), (0,), (1,), (0, 1), (1, 1), (0, 1, 1), (1, 1, 1), (0, 0, 1, 1), (1, 1, 1, 1)]),
}
CHARGES = [(3.0, 0.2), (0.5, 0.1), (1.0, 0.01), (1.5, 0.0), (8.0, 0.3)]


def charge_of(epsilon, delta):
    return Charge("cover", "cover", Measure.PURE, Fraction(epsilon), Fraction(delta))


def law(name, unit, charge):
    """Return the probability of every sequence of choices, a row each, for every data set."""
    lists, steps, data = FAMILIES[name]
    members = np.array([[item in one for one in lists] for item in range(3)], dtype=np.int8)
    family = Family(csr_array(members), (steps,))
    paths = list(itertools.product(range(len(lists)), repeat=steps))
    table = np.empty((len(paths), len(data)))
    for column, rows in enumerate(data):
        known = {}  # the scores of a step depend on which sets were chosen before
        for row, path in enumerate(paths):
            chances = []
            for t in range(steps):
                before = frozenset(path[:t])
                if before not in known:
                    source = NoiselessSource(path)
                    backend = DemandBackend(np.array(rows, dtype=np.int64), Ground(None, 3), unit, source.key)
                    Curator(backend, unit, OpenLedger(), source).ask(Cover(family), charge)
                    known |= {frozenset(path[:s]): select_law(d[2], d[1]) for s, d in enumerate(source.draws)}
                chances.append(known[before][path[t]])
            table[row, column] = math.prod(chances)
    assert np.allclose(table.sum(axis=0), 1)
    return data, table


def worst_delta(name, adjacency, max_rows, epsilon, delta):
    data, table = law(name, Unit(Adjacency(adjacency), max_rows), charge_of(epsilon, delta))
    pairs = neighbors(data, adjacency, max_rows)
    assert pairs
    return max(float(np.maximum(0, table[:, a] - math.exp(epsilon) * table[:, b]).sum()) for a, b in pairs)


@covering("name, adjacency, max_rows", FAMILIES, list(Adjacency), [1, 2])
@pytest.mark.matrix
def test_all_choices_together_stay_within_their_charge(name, adjacency, max_rows):
    for epsilon, delta in CHARGES:
        assert worst_delta(name, adjacency, max_rows, epsilon, delta) <= delta + 1e-12


@pytest.mark.parametrize(
    ("name", "adjacency", "max_rows", "factor"),
    [
        ("one set of four holds the row", "add-remove", 1, 2),
        ("one set of four holds the row", "add-remove", 2, 3),
        ("a crowd elsewhere", "replace", 1, 3),
        ("chains", "add-remove", 1, 3),
    ],
)
def test_larger_steps_would_not(name, adjacency, max_rows, factor, monkeypatch):
    def larger(charge, unit, steps):
        return factor * step_epsilon(charge, unit, steps)

    monkeypatch.setattr(spinney.questions.cover, "step_epsilon", larger)
    assert any(worst_delta(name, adjacency, max_rows, epsilon, delta) > delta for epsilon, delta in CHARGES)


def test_a_charge_for_one_row_is_not_enough_for_two(monkeypatch):
    monkeypatch.setattr(spinney.questions.cover, "step_epsilon", lambda charge, unit, steps: step_epsilon(charge, Unit(), steps))
    assert any(
        worst_delta("one set of four holds the row", "add-remove", 2, epsilon, delta) > delta for epsilon, delta in CHARGES
    )


def test_adding_a_row_is_pure_in_one_direction():
    # Of the two directions only the one that takes a row away needs a delta.
    charge = charge_of(1.0, 0.01)
    step = float(step_epsilon(charge, Unit(), 6))
    data, table = law("chains", Unit(), charge)
    for a, b in neighbors(data, "add-remove"):
        if len(data[a]) > len(data[b]):
            assert (table[:, a] <= math.exp(step) * (1 + 1e-12) * table[:, b]).all()
