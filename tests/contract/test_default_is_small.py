"""The default is one small program: what it imports of its room is counted, and stays below a few limits."""

import ast
from pathlib import Path

import pytest

import spinney.algorithms.default

HOME = Path(spinney.algorithms.default.__file__).parent
#: What all algorithms share.
SHARED = {"problem", "plan", "registry"}
MOST_LINES, MOST_NUMBERS, MOST_OF_RUN, MOST_PARAMETERS = 1_400, 40, 40, 6
#: Numbers that need no name.
PLAIN = {0, 1, 2, 0.5}


def imported(tree):
    """Yield the modules of the room that a module imports, wherever in it."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            room, _, module = name.rpartition(".")
            if room == "spinney.algorithms" and (HOME / f"{module}.py").exists():
                yield module


def program(start="default", home=HOME):
    """Return the modules of a program, with their sources."""
    found, left = {}, [start]
    while left:
        name = left.pop()
        if name not in found and name not in SHARED:
            found[name] = (home / f"{name}.py").read_text(encoding="utf-8")
            left += imported(ast.parse(found[name]))
    return found


def numbers(tree):
    """Return the number literals of a module that are not plain."""
    every = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [one for one in every if isinstance(one, int | float | complex) and not isinstance(one, bool) and one not in PLAIN]


def is_compiled(function):
    return any("compiled" in ast.unparse(decorator) for decorator in function.decorator_list)


def parameters(function):
    """Return how many parameters a function has, the object or class that it is of among them."""
    given = function.args
    rest = [one for one in (given.vararg, given.kwarg) if one is not None]
    return len([*given.posonlyargs, *given.args, *given.kwonlyargs, *rest])


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def is_of_columns(node, aliases):
    """Whether an expression is the number of columns."""
    return (isinstance(node, ast.Attribute) and node.attr == "n_features") or (isinstance(node, ast.Name) and node.id in aliases)


def is_constant(node):
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def branches_by_columns(tree):
    """Return the constants that the number of columns is compared with in a module."""
    aliases = {"d"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_of_columns(node.value, aliases):
            aliases |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(is_of_columns(side, aliases) for side in sides):
                found += [ast.unparse(side) for side in sides if is_constant(side)]
    return found


TREES = {name: ast.parse(source) for name, source in program().items()}


def test_the_program_is_what_the_default_imports():
    assert {"default", "summary", "schedule", "step", "reading", "columns"} <= TREES.keys()
    assert not TREES.keys() & SHARED


def test_it_has_few_lines():
    assert sum(len(source.splitlines()) for source in program().values()) <= MOST_LINES


def test_it_has_few_numbers_to_tune():
    found = {name: numbers(tree) for name, tree in TREES.items()}
    assert sum(map(len, found.values())) <= MOST_NUMBERS, found


def test_its_run_is_short():
    (tree,) = [node for node in ast.walk(TREES["default"]) if isinstance(node, ast.ClassDef) and node.name == "Tree"]
    (run,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "run"]
    assert run.end_lineno - run.lineno + 1 <= MOST_OF_RUN


@pytest.mark.parametrize("name", sorted(TREES))
def test_no_function_has_many_parameters(name):
    for function in functions(TREES[name]):
        assert is_compiled(function) or parameters(function) <= MOST_PARAMETERS, function.name


def test_the_number_of_columns_is_compared_with_one_constant_alone():
    found = {constant for tree in TREES.values() for constant in branches_by_columns(tree)}
    assert found == {"FEW_COLUMNS"}


def test_what_is_counted_is_seen():
    tree = ast.parse(
        "from spinney.algorithms import step\n"
        "import spinney.algorithms.reading\n"
        "def wide(self, a, b, c, d, e, f, *, g): return 3 + 0.5 + 4j + True\n"
        "@compiled()\n"
        "def kernel(a, b, c, d, e, f, g): pass\n"
        "n = problem.n_features\n"
        "many = n > 64 or problem.n_features <= MANY or d == k"
    )
    assert sorted(imported(tree)) == ["reading", "step"]
    assert sorted(map(str, numbers(tree))) == ["3", "4j", "64"]
    assert [(parameters(one), is_compiled(one)) for one in functions(tree)] == [(8, False), (7, True)]
    assert branches_by_columns(tree) == ["64", "MANY"]
