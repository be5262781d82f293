import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from spinney import CoverRelease, ParameterError, ReleaseError, max_coverage

SETS = [[0, 1, 2], [2, 3], [3, 4, 5], [6]]
ROWS = [0] * 5 + [2] * 4 + [3] * 6 + [4] * 1 + [6] * 2


def greedy(rows, sets, choices):
    left, chosen = list(rows), []
    for _ in range(choices):
        gains = [sum(row in one for row in left) for one in sets]
        chosen.append(int(np.argmax(gains)))
        left = [row for row in left if row not in sets[chosen[-1]]]
    return chosen


def test_without_noise_it_is_the_greedy_algorithm():
    for choices in (1, 2, 3, 5):
        assert max_coverage(ROWS, SETS, choices, epsilon=math.inf).chosen.tolist() == greedy(ROWS, SETS, choices)
    rng = np.random.default_rng(0)
    for _ in range(20):
        members = rng.random((30, 12)) < 0.2
        rows = rng.integers(0, 30, 200)
        sets = [np.flatnonzero(column).tolist() for column in members.T]
        expected = greedy(rows.tolist(), sets, 4)
        for family in (members, csr_array(members), csr_array(members.astype(float))):
            assert max_coverage(rows, family, 4, epsilon=math.inf).chosen.tolist() == expected


def test_with_noise_the_large_sets_are_found():
    release = max_coverage([0] * 5000 + [3] * 3000, SETS, 2, epsilon=1.0, delta=1e-6)
    assert 0 in release.chosen
    assert release.is_private
    assert release.statement == "(1.0, 1e-06)-differentially private for adding or removing one row"
    assert [(c.question, c.amount, float(c.delta)) for c in release.charges] == [("cover", 1, 1e-6)]
    assert max_coverage(ROWS, SETS, 2, epsilon=1.0).delta == 0


def test_a_release_survives_its_file(tmp_path):
    release = max_coverage(ROWS, SETS, 3, epsilon=1.0, delta=1e-6, groups=ROWS, max_rows_per_group=2, adjacency="replace")
    release.to_json(tmp_path / "cover.json")
    assert CoverRelease.from_json(tmp_path / "cover.json").to_json() == release.to_json()
    broken = release.to_dict() | {"chosen": [4, 0, 1]}
    with pytest.raises(ReleaseError, match="damaged"):
        CoverRelease.from_dict(broken)


WRONG = {
    "sets": [[], [[0, -1]], [["a"]], 3, [[9]]], "n_items": [0], "n_choices": [0], "epsilon": [None], "delta": [1.0],
    "adjacency": ["other"], "max_rows_per_group": [2],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_parameters_are_named(name, value):
    with pytest.raises(ParameterError, match=f"'{name}'"):
        max_coverage(**{"items": ROWS, "sets": SETS, "n_choices": 2, "epsilon": 1.0, "n_items": 7, name: value})
    with pytest.raises(ParameterError, match="groups"):
        max_coverage(ROWS, SETS, 2, epsilon=1.0, groups=[1], max_rows_per_group=1)
