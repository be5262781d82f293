"""Forms of tests by all pairs leave no pair out, and are few."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from covering import all_pairs


@given(st.lists(st.integers(1, 5), min_size=2, max_size=4))
def test_any_two_values_meet(sizes):
    settings = [[(place, value) for value in range(size)] for place, size in enumerate(sizes)]
    forms = all_pairs(*settings)
    assert len(set(forms)) == len(forms)
    for one, other in combinations(settings, 2):
        assert all(any(a in form and b in form for form in forms) for a in one for b in other)


def test_two_relations_and_two_budgets_cost_no_more_forms_than_one_of_them():
    assert len(all_pairs(range(12), "ab", "cd", "ef")) <= 26
