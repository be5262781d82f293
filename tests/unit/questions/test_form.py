"""The canonical form of questions and answers: equal exactly if nothing differs, in plain JSON, and of nothing else."""

import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from spinney.questions import Counts, Labels, Whole
from spinney.questions.form import LONGEST, form

#: No two of them are the same to a reader, though some are equal to Python.
VALUES = [
    None, True, 2, 1.0, np.nextafter(1.0, 2.0), math.inf, "1", Fraction(1, 3), Fraction(2, 3), (), (1, "a"), ("a", 1),
    {"a": 1}, {"a": 2}, np.zeros(2), np.zeros(3), np.zeros((1, 2)), np.zeros(2, np.float32), -np.zeros(2), np.int64(1),
    np.array([2**80], dtype=object), np.array([2**80 + 1], dtype=object), np.zeros(LONGEST + 1), np.ones(LONGEST + 1),
    csr_array(np.eye(2)), csr_array(np.eye(3)), csr_array(2 * np.eye(2)), Counts(Whole()), Counts(Labels([0, 1], 2)),
    Counts(Labels([1, 0], 2)),
]  # fmt: skip


def test_what_differs_has_another_form():
    forms = [json.dumps(form(value)) for value in VALUES]
    assert [(a, b) for a, b in combinations(forms, 2) if a == b] == []
    assert forms == [json.dumps(form(value)) for value in VALUES]


@pytest.mark.parametrize("value", [object(), {1}, b"cells", np.array, complex(1)], ids=lambda value: type(value).__name__)
def test_nothing_else_has_a_form_and_is_not_quoted(value):
    with pytest.raises(TypeError, match="only questions, answers") as caught:
        form(value)
    assert repr(value) not in str(caught.value)
