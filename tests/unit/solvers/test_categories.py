"""Categories where clusters are counted: tables of noise have one cluster, and clusters are found beside categories."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mixed import found, mixed, noise
from spinney import PrivateKMeans
from spinney.solvers.categories import APART, drawn_near, most_apart
from spinney.solvers.valleys import NoisyCells
from spinney.spaces import Column, Schema

#: The plain silhouette of these names their true number.
PLAIN = [2, 3, 10, 23]


@pytest.mark.parametrize("seed", PLAIN)
def test_clusters_are_found_beside_categories(seed):
    made = mixed(seed)
    assert abs(found(made, 1e-6 * (seed % 2), seed) - made.k) <= 1


@pytest.mark.parametrize("seed", range(6))
def test_categories_that_go_with_nothing_make_no_clusters(seed):
    assert found(noise(2 * seed), 1e-6 * (seed % 2), seed) == 1


@given(
    widths=st.lists(st.floats(0.1, 1e6), max_size=3),
    weights=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=3),
    is_truth=st.booleans(),
)
def test_two_categories_are_as_far_apart_as_declared_or_as_a_share_of_the_numbers(widths, weights, is_truth):
    names = () if is_truth else ("a", "b", "c")
    kind = "boolean" if is_truth else "category"
    coded = [Column(f"c{i}", kind, weight=weight, categories=names) for i, weight in enumerate(weights)]
    schema = Schema((*(Column(f"n{i}", "number", 0, width) for i, width in enumerate(widths)), *coded))
    values = len(names) or 2
    rows = np.array([[0.5] * len(widths) + [value % values] * len(weights) for value in range(values)], dtype=float)
    points = schema.encode(rows)
    cells = NoisyCells(points, np.ones(values), points, points, np.ones(values, dtype=bool), 1.0)
    near = drawn_near(cells, schema)
    most = APART * np.mean(widths) if widths else np.inf
    assert most_apart(schema) == (pytest.approx(most) if widths else None)
    assert near.is_number.tolist() == [True] * len(widths) + [False] * (len(points[0]) - len(widths))
    gap = np.sqrt(sum(min(weight, most) ** 2 for weight in weights))
    assert np.linalg.norm(near.points[0] - near.points[1]) == pytest.approx(gap)
    assert (near.points[:, near.is_number] == points[:, near.is_number]).all()
    plain = Schema(schema.columns[: len(widths)])
    assert drawn_near(cells, plain) is cells  # numbers alone are counted as they are


def test_plan_and_release_say_how_categories_count():
    made = mixed(23, 2_000)
    model = PrivateKMeans("auto", max_clusters=3, epsilon=1.0, bounds=made.schema, scale="bounds", random_state=0)
    words = "two categories lie at most 15% of the mean width of the numbers apart"
    assert words in str(model.plan())
    assert words in model.fit(made.table).release_.k_source
    given = PrivateKMeans(3, epsilon=1.0, bounds=made.schema, scale="bounds")
    assert words not in str(given.plan())
