"""Made-up neighbors: each pair differs by one unit, and all kinds come."""

from collections import Counter

import numpy as np
import pytest

from spinney.audit.pairs import GROUP_KINDS, KINDS, demand_pairs, table_pairs
from spinney.privacy.pricing import Unit


def units(rows, groups):
    """The rows of each person as a multiset; without groups, the rows."""
    rows = [np.asarray(row).tobytes() for row in rows]
    if groups is None:
        return Counter(rows)
    people = {}
    for row, name in zip(rows, groups, strict=True):
        people.setdefault(name, []).append(row)
    nobody = people.pop(None, [])
    return Counter((name, *sorted(own)) for name, own in people.items()), Counter(nobody)


def gap(one, other):
    return (one - other).total(), (other - one).total()


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("make", ["table", "demand"])
def test_every_pair_differs_by_one_unit_and_every_kind_comes(adjacency, grouped, make):
    unit = Unit(adjacency, 2 if grouped else 1)
    pairs = list(
        table_pairs([-1, 0], [1, 5], unit, 120, grouped=grouped)
        if make == "table"
        else demand_pairs(9, unit, 120, grouped=grouped)
    )
    assert {pair.kind for pair in pairs} == {*KINDS, *(GROUP_KINDS if grouped else ())}
    assert len({len(pair.first) for pair in pairs}) > 10
    for pair in pairs:
        one, other = units(pair.first, pair.first_groups), units(pair.second, pair.second_groups)
        if not grouped:
            allowed = {(0, 0), (1, 1)} if unit.replaces else {(1, 0), (0, 1)}
            assert gap(one, other) in allowed
            continue
        assert max(gap(one[0], other[0])) <= 1
        assert unit.replaces or min(gap(one[0], other[0])) == 0
        if gap(one[1], other[1]) != (0, 0):
            assert pair.kind == "an unnamed person"
    if not unit.replaces:  # both directions
        assert {len(pair.first) < len(pair.second) for pair in pairs} == {True, False}
