"""Every parameter of an algorithm is checked when the algorithm is made, and the error says what to type."""

import math

import pytest

from spinney import ParameterError
from spinney.algorithms import HST, Coverage, LocalSearch, SiteHST, Stable, Tree
from spinney.baselines import LSH, Balcan, PointCoverage, SampleAggregate

WRONG = [
    (HST, {"alpha": 0, "beta": math.inf, "consistent": 1, "rounds": -1, "projection": "some", "repairs": 1.5, "slack": 0.0}),
    (HST, {"projection": 2000, "median_step": "newton"}),
    (Stable, {"base": "stable", "steps": 101, "median_step": None}),
    *((Stable, {"base": wrong}) for wrong in ("nothing", Stable(), Tree, None, "cells")),
    (Coverage, {"growth": 0.04, "solver": "k-medoids"}),
    (SiteHST, {"levels": 65, "allocation": "even", "tree": None}),
    (LocalSearch, {"start": "best", "steps": 10_001, "stay": 0, "levels": 0, "allocation": "even", "tree": 1}),
    (Balcan, {"steps": True, "dimensions": "two"}),
    (LSH, {"levels": 65}),
    (PointCoverage, {"growth": "half", "solver": "kmeans"}),
    (SampleAggregate, {"n_blocks": 2**17, "sampling": "both"}),
]


@pytest.mark.parametrize(("kind", "name", "value"), [(kind, *one) for kind, wrong in WRONG for one in wrong.items()])
def test_a_wrong_parameter_is_named_with_a_hint(kind, name, value):
    with pytest.raises(ParameterError, match=rf"(?s)The '{name}' parameter of .* must be .*Hint: "):
        kind(**{name: value})
