"""Proofs are tied to code and tests: each page has a statement, code that is there, and tests that are there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(path for path in (ROOT / "proofs").glob("*.md") if path.name not in ("README.md", "rules.md"))
SOURCES = [path for place in ("src", "tests") for path in (ROOT / place).rglob("*.py")]
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@cache
def names_in(path):
    """Return what a file defines: functions, classes and methods, and names that it binds at its top."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return defined | {target.id for target in targets if isinstance(target, ast.Name)}


def sections(text):
    """Return the text under each heading of a page; what comes before the first is under none."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def code_of(text):
    """Return the names that a page's line of code gives of each file."""
    lines = re.findall(r"^Code: (.*)$", text, flags=re.MULTILINE)
    found = re.findall(r"`(src/[\w/]+\.py)` \(([^)]*)\)", lines[0]) if len(lines) == 1 else []
    return {path: re.findall(r"`(\w+)`", names) for path, names in found}


def holders_of(text):
    """Return, for each line about tests, the files and the tests that it names."""
    lines = re.findall(r"^- .*$", sections(text).get("The tests that hold it", ""), flags=re.MULTILINE)
    return [(re.findall(r"`(tests/[\w/]+\.py)`", line), re.findall(r"`(test_\w+)`", line)) for line in lines]


def wrong_with(text):
    """Return what a page lacks, or names that is not there."""
    wrong = [] if sections(text).get("Statement", "").strip() else ["no statement"]
    code, tests = code_of(text), holders_of(text)
    wrong += [] if code and all(code.values()) else ["no code"]
    wrong += [path for path in code if not (ROOT / path).is_file()]
    wrong += [name for path, names in code.items() if (ROOT / path).is_file() for name in names if name not in names_in(path)]
    wrong += [] if tests else ["no tests"]
    for files, names in tests:
        wrong += [] if files and names else ["a line that names no test"]
        wrong += [path for path in files if not (ROOT / path).is_file()]
        there = set().union(*(names_in(path) for path in files if (ROOT / path).is_file()))
        wrong += [name for name in names if name not in there]
    head = text[: text.index("\n## ")] if "\n## " in text else text
    return wrong + [
        name for name in re.findall(r"`([\w/]+\.py)`", head) if not any(path.as_posix().endswith(f"/{name}") for path in SOURCES)
    ]


@EACH
def test_every_page_has_a_statement_its_code_and_its_tests(page):
    assert wrong_with(page.read_text(encoding="utf-8")) == []


@EACH
def test_every_page_is_in_the_table(page):
    index = (ROOT / "proofs" / "README.md").read_text(encoding="utf-8")
    assert f"[{page.name}]({page.name})" in index


def test_the_table_names_pages_modules_and_tests_that_are_there():
    rows = re.findall(
        r"^\| \[([\w.]+)\]\(.*?\) \| (.*?) \|.*\| (.*?) \|$", (ROOT / "proofs" / "README.md").read_text(), re.MULTILINE
    )
    assert [name for name, _, _ in rows] == list(dict.fromkeys(name for name, _, _ in rows))
    assert {name for name, _, _ in rows} == {page.name for page in PAGES}
    for _, modules, tests in rows:
        assert [one for one in re.findall(r"`([\w/]+\.py)`", modules) if not (ROOT / "src/spinney" / one).is_file()] == []
        named = re.findall(r"`([\w/]+\.py)`", tests)
        assert named
        assert [one for one in named if not any((ROOT / place / one).is_file() for place in ("", "tests/privacy"))] == []


GOOD = (ROOT / "proofs" / "additive.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("## Statement", "## Remark"),
        lambda text: text.replace("`calibrate`", "`calibrated`"),
        lambda text: text.replace("mechanisms/additive.py` (", "mechanisms/addition.py` ("),
        lambda text: re.sub("^Code: .*$", "", text, flags=re.MULTILINE),
        lambda text: text.replace("test_scales_are_rounded_upward_only", "test_scales_are_rounded"),
        lambda text: text.replace("tests/privacy/test_renyi.py", "tests/privacy/test_reny.py"),
        lambda text: re.sub(r"^- `tests.*$", "- the tests", text, flags=re.MULTILINE),
        lambda text: text.replace("## The tests that hold it", "## Tests"),
    ],
)
def test_a_page_that_lost_one_of_the_three_is_noticed(edit):
    assert wrong_with(GOOD) == []
    assert wrong_with(edit(GOOD))
