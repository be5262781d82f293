"""All pairs instead of all products: forms of a test in which every two values of different settings meet.

What goes wrong when settings come together goes wrong with two of them, almost always, and then some form of these shows it.
The whole products are run by scripts: ``python -m tools.guard`` and ``python -m benchmarks audit_matrix``.
"""

from itertools import combinations, product

import numpy as np
import pytest


def all_pairs(*settings):
    """Return forms, each with one value of every setting, so that any two values of different settings meet in one.

    The first forms meet many pairs at once; ties are broken by chance with a fixed seed.
    """
    settings = [list(values) for values in settings]
    rng = np.random.default_rng(len(settings))
    forms = list(product(*(range(len(values)) for values in settings)))
    forms = [forms[i] for i in rng.permutation(len(forms))]
    met = {form: {(i, form[i], j, form[j]) for i, j in combinations(range(len(settings)), 2)} for form in forms}
    left = set().union(*met.values())
    chosen = []
    while left:
        chosen.append(max(met, key=lambda form: len(met[form] & left)))
        left -= met.pop(chosen[-1])
    return [tuple(values[i] for values, i in zip(settings, form, strict=True)) for form in sorted(chosen)]


def covering(names, *settings, indirect=()):
    """Parametrize a test by all pairs of these settings; `indirect` names those that are fixtures."""
    names = [name.strip() for name in names.split(",")]
    return pytest.mark.parametrize(names, all_pairs(*settings), indirect=list(indirect))
