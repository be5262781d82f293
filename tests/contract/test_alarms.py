"""Quiet statistics: every test that measures random draws has a share of one small chance of a false alarm."""

import ast
from pathlib import Path

import numpy as np
import pytest

from alarms import SEEDED, SHARES, SUITE, check_frequencies

TESTS = Path(__file__).parents[1]
#: Who calls one of these measures.
MEASURES = {
    "binomtest", "black_box", "check_frequencies", "chi2_contingency", "chisquare", "epsilon_lower_bound", "kstest", "ks_2samp",
    "one_run", "outlier",
}  # fmt: skip


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} | {
        part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)
    }


def measuring(tree):
    """Yield the tests of a module that measure, themselves or through its own functions, with their parameters."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    used = {name: names_in(node) for name, node in functions.items()}
    for name, node in functions.items():
        reached, new = set(), {name}
        while new:
            reached |= new
            new = set().union(*(used[one] for one in new)) & functions.keys() - reached
        if name.startswith("test_") and any(used[one] & MEASURES for one in reached):
            yield name, {argument.arg for argument in node.args.args}


def all_measuring():
    for path in sorted(TESTS.rglob("test_*.py")):
        module = path.relative_to(TESTS.parent).as_posix()
        if module != "tests/contract/test_alarms.py":
            for name, arguments in measuring(ast.parse(path.read_text(encoding="utf-8"))):
                yield module, f"{module}::{name}", arguments


def test_all_shares_together_are_one_run_in_ten_thousand():
    assert SUITE == 1e-4
    assert 0 < sum(SHARES.values()) <= SUITE
    assert min(SHARES.values()) > 0


def test_every_test_that_measures_has_a_share_and_takes_it():
    found = list(all_measuring())
    undeclared = [test for module, test, _ in found if test not in SHARES and test not in SEEDED and module not in SEEDED]
    assert undeclared == []
    assert [test for _, test, arguments in found if test in SHARES and "alarm" not in arguments] == []
    assert len(found) > 10


def test_every_declared_test_is_there():
    for test in [*SHARES, *SEEDED]:
        module, _, name = test.partition("::")
        text = (TESTS.parent / module).read_text(encoding="utf-8")
        assert f"def {name}(" in text or not name, test


def test_a_test_that_measures_without_a_share_would_be_noticed():
    source = "def helper():\n    return chisquare([1], [1])\n\ndef test_a():\n    helper()\n\ndef test_b():\n    pass\n"
    assert [name for name, _ in measuring(ast.parse(source))] == ["test_a"]


def test_a_share_is_divided_among_the_forms_of_a_test(alarm_of, request):
    forms = [item for item in request.session.items if item.name.startswith("test_frequencies_match_exact_probabilities")]
    name = "tests/statistical/test_samplers.py::test_frequencies_match_exact_probabilities"
    assert alarm_of(name, 8) == SHARES[name] / 8
    with pytest.raises(KeyError):
        alarm_of("tests/contract/test_alarms.py::nobody", 1)
    assert len(forms) != 1


def test_the_check_alarms_as_rarely_as_it_says_and_sees_what_is_wrong():
    rng, law = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.05])
    wrong = sum(fails(rng.multinomial(4000, law), law, 0.1) for _ in range(1000))
    assert wrong < 130
    assert fails(rng.multinomial(4000, [0.42, 0.38, 0.15, 0.05]), law, 1e-6)
    assert fails([2000, 1200, 600, 150, 50], [*law, 0.0], 1e-6)


def fails(seen, law, alarm):
    try:
        check_frequencies(seen, law, alarm)
    except AssertionError:
        return True
    return False
