"""What is known of a mutant holds where lines moved, and not where its function changed."""

import ast
import json

import pytest

from tools import mutants_known
from tools.mutations import SOURCE, listed


@pytest.fixture
def copied(tmp_path):
    """Return a function that writes modules to a folder, and lists their mutants by name."""

    def names(**modules):
        folder = tmp_path / "spinney" / "privacy"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text)
        return {mutant.name: mutant for mutant in listed(tmp_path)}

    return names


def test_moved_lines_comments_and_line_breaks_keep_every_name(copied):
    texts = {path.stem: path.read_text() for path in (SOURCE / "spinney" / "privacy").glob("*.py")}
    bare = {stem: "# moved\n\n" + ast.unparse(ast.parse(text)) for stem, text in texts.items()}
    before, after = list(copied(**texts)), list(copied(**bare))
    assert before == after
    assert len(before) > 100


def test_a_docstring_is_no_part_of_a_function(copied):
    before = list(copied(one="def f(a):\n    return a + 1\n"))
    assert list(copied(one='def f(a):\n    """Add."""\n\n    # why\n    return a + 1\n')) == before


def test_every_change_of_a_function_costs_its_own_outcomes_and_no_others(copied):
    texts = {"charges": (SOURCE / "spinney" / "privacy" / "charges.py").read_text()}
    before = copied(**texts)
    for mutant in before.values():
        after = copied(charges=ast.unparse(mutant.tree()))
        lost = {name for name in before if name not in after}
        assert lost == {name for name, one in before.items() if (one.function, one.digest) == (mutant.function, mutant.digest)}
        assert mutant.name in lost


def test_a_find_by_a_test_that_is_gone_is_none(copied, tmp_path, monkeypatch):
    one, two, three = mutants = list(copied(one="def f(a, b):\n    return a + b - a * b\n").values())
    monkeypatch.setattr(mutants_known, "listed", lambda: mutants)
    own = "tests/unit/test_mutants.py::test_a_docstring_is_no_part_of_a_function"
    gone = {"killed": True, "by": own + "_now"}
    outcomes = {one.name: {"killed": True, "by": own}, two.name: gone, three.name: {"killed": False}}
    monkeypatch.setattr(mutants_known, "RESULTS", tmp_path / "mutants.json")
    mutants_known.RESULTS.write_text(json.dumps({"outcomes": outcomes | {"gone": {"killed": False}}}))
    assert list(mutants_known.known_outcomes()) == [one.name, three.name]
