"""Small rooms: modules and functions that are read in one go, and nothing written twice."""

import ast
from collections import defaultdict
from pathlib import Path
from statistics import median

import spinney

SRC = Path(spinney.__file__).parent
SOURCES = {path.relative_to(SRC).as_posix(): path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

LONGEST_MODULE, MEDIAN_MODULE, LONGEST_BODY = 350, 120, 50
#: This many lines in a row that stand in two places are a repeated block.
BLOCK = 6


def body_lengths(tree):
    """Yield the lines of each function's body, from the first statement behind the docstring to the last."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            yield node.name, body[-1].end_lineno - body[0].lineno + 1 if body else 0


def blocks(source):
    """Yield runs of lines of code and documentation: blank lines, comments and imports do not count."""
    imports = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom))
    passed = {line for node in imports for line in range(node.lineno, node.end_lineno + 1)}
    lines = [(i, text.strip()) for i, text in enumerate(source.splitlines(), start=1) if i not in passed]
    lines = [(i, text) for i, text in lines if text and not text.startswith("#")]
    for start in range(len(lines) - BLOCK + 1):
        yield lines[start][0], tuple(text for _, text in lines[start : start + BLOCK])


def test_modules_are_short():
    lengths = {name: len(source.splitlines()) for name, source in SOURCES.items()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}
    assert median(lines for name, lines in lengths.items() if not name.endswith("__init__.py")) < MEDIAN_MODULE


def test_function_bodies_are_short():
    found = {name: dict(body_lengths(ast.parse(source))) for name, source in SOURCES.items()}
    long = {(name, function): lines for name, all_ in found.items() for function, lines in all_.items() if lines > LONGEST_BODY}
    assert long == {}


def test_no_block_is_written_twice():
    places = defaultdict(list)
    for name, source in SOURCES.items():
        for line, block in blocks(source):
            places[block].append(f"{name}:{line}")
    assert [where for where in places.values() if len(where) > 1] == []


def test_the_measures_see_what_is_long_or_repeated():
    long = "def f():\n" + "    a = 1\n" * 51
    assert dict(body_lengths(ast.parse(long + 'def g():\n    """One\n    two."""\n')))["f"] == 51
    assert dict(body_lengths(ast.parse('def g():\n    """One\n    two."""\n    return 1\n')))["g"] == 1
    assert len({block for _, block in blocks(long)}) == 2
    assert list(blocks("import os\n# why\n\n" + "x = 1\n" * 5)) == []


def test_no_two_classes_have_one_name():
    names = defaultdict(list)
    for name, source in SOURCES.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                names[node.name.lstrip("_")].append(name)
    assert {name: where for name, where in names.items() if len(where) > 1} == {}
