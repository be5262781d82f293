"""The user guide: every example runs, what it shows is what comes out, and every link leads somewhere.

Blocks of a page run in order, in one namespace and one empty folder. ``python`` blocks are executed; the ``$ spinney`` lines of
``console`` blocks are run, the lines below one are its output, and ``$ echo $?`` states an exit code other than 0. An ``output``
block is what the block before it printed. An ``example`` block shows random numbers: each of its lines, numbers aside, must occur
in what the block before it printed.
"""

import io
import re
import shlex
import tomllib
from contextlib import redirect_stdout
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

from registered import REGISTERED
from spinney import Release, SiteRelease
from spinney.algorithms.hst import HST
from spinney.cli.main import main
from spinney.releases.promise import Promise

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
LONGEST_LINE = 150
KINDS = {"python", "console", "output", "example", "toml"}


def read(page):
    return (DOCS / page).read_text(encoding="utf-8")


def fenced_blocks(text):
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def commands(block):
    """Return each command of a console block with the lines below it; one that ends in a backslash goes on in the next line."""
    found = []
    for line in block.replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def lines_of(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def without_numbers(line):
    """Return a line's words: random numbers, bars of a chart and the width of columns left out."""
    return " ".join(re.sub(r"#+", "", re.sub(r"-?\d[\d.,]*(?:e[+-]?\d+)?", "N", line)).split())


def run_console(block):
    """Run the commands of a block, compare what they print where it is shown, and return all they printed."""
    printed = ""
    todo = commands(block)
    for i, (command, shown) in enumerate(todo):
        if command == "echo $?":
            continue
        program, *arguments = shlex.split(command, comments=True)
        assert program == "spinney", f"only spinney runs here, not {program}"
        result = CliRunner().invoke(main, arguments, prog_name="spinney", terminal_width=78)
        follows = todo[i + 1] if i + 1 < len(todo) else ("", [])
        code = int(follows[1][0]) if follows[0] == "echo $?" else 0
        assert result.exit_code == code, f"{command}: exit code {result.exit_code}\n{result.output}"
        if shown:
            assert lines_of(result.output) == lines_of("\n".join(shown)), command
        printed += result.output
    return printed


def run_page(text, title):
    """Run a page as a reader would, from top to bottom."""
    namespace = {"__name__": "__main__"}
    printed = ""
    for number, (kind, block) in enumerate(fenced_blocks(text), start=1):
        place = f"{title} block {number}"
        assert kind in KINDS, f"{place} is of unknown kind {kind!r}"
        if kind == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(block, place, "exec"), namespace)
            printed = out.getvalue()
        elif kind == "console":
            printed = run_console(block)
        elif kind == "toml":
            tomllib.loads(block)
        elif kind == "output":
            assert lines_of(printed) == lines_of(block), place
        else:
            missing = {without_numbers(line) for line in block.splitlines()} - {
                without_numbers(line) for line in printed.splitlines()
            }
            assert not missing, f"{place} shows what is not printed: {missing}\n{printed}"


@pytest.mark.parametrize("page", [page for page in PAGES if page != "spark.md"])  # that one runs in tests/spark
def test_examples_run_and_print_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(read(page), page)


def test_examples_of_the_first_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n.*?^```$", read("../README.md"), flags=re.DOTALL | re.MULTILINE)
    assert blocks
    run_page("\n".join(blocks), "README.md")


@pytest.mark.parametrize(("page", "most"), [("README.md", 900), ("ARCHITECTURE.md", 2_500)])
def test_the_first_pages_are_short(page, most):
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


def test_each_version_in_the_changelog_is_short():
    versions = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert max(len(version.split()) for version in versions) <= 1_200


def test_security_names_no_address_that_the_metadata_does_not_have():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    people = [*project.get("authors", []), *project.get("maintainers", [])]
    has_address = any("email" in person for person in people) or bool(project.get("urls"))
    told = (ROOT / "SECURITY.md").read_text(encoding="utf-8").split("## How to report")[1].split("##")[0]
    assert has_address or not re.search(r"\bmail\b|@|https?:", told)
    assert has_address == ("metadata has none" not in told)


@pytest.mark.parametrize("page", PAGES)
def test_fences_are_closed_and_lines_are_short(page):
    lines = read(page).splitlines()
    assert sum(line.startswith("```") for line in lines) == 2 * len(fenced_blocks(read(page)))
    assert max(len(line) for line in lines if not line.startswith("|")) <= LONGEST_LINE  # a row of a table cannot be broken


def headings(text):
    """Return the anchors that a page's headings make."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", plain, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        assert "://" not in target, "pages link to files of the repository only"
        path, _, anchor = target.partition("#")
        there = (DOCS / path).resolve() if path else DOCS / page
        assert there.exists(), target
        assert ROOT in (there, *there.parents), target
        assert not anchor or anchor in headings(there.read_text(encoding="utf-8")), target


def test_index_names_every_page():
    index = read("README.md")
    assert [page for page in PAGES if page != "README.md" and f"({page})" not in index] == []


SITES = {field.name for field in fields(SiteRelease)} - {field.name for field in fields(Promise)}
POINTS = {"auto", *REGISTERED["points"], *REGISTERED["sites"], *(field.name for field in fields(HST))}


@pytest.mark.parametrize(
    ("page", "names"), [("reading.md", {field.name for field in fields(Release)}), ("sites.md", SITES), ("algorithms.md", POINTS)]
)
def test_every_field_and_every_algorithm_is_explained(page, names):
    assert {name for name in names if f"`{name}`" not in read(page)} == set()


def test_every_command_and_option_is_explained():
    page = read("command-line.md")
    for name, command in main.commands.items():
        assert f"spinney {name}" in page
        assert [option for p in command.params for option in p.opts if option.startswith("--") and option not in page] == []


#: Words that need explaining, and what a page that uses one must hold: the explanation, or a link to it.
WORDS = {r"clipping radi": "**Clipping radius**", r"zCDP|\brho\b": "**zCDP**"}


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../ARCHITECTURE.md", "../proofs/README.md"])
def test_words_are_explained_where_they_are_used(page):
    for word, explanation in WORDS.items():
        text = read(page)
        if re.search(word, text):
            assert explanation in text or "reading.md#words)" in text


def test_declared_pythons_are_those_of_the_page():
    declared = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = re.findall(r"^\| (3\.[^|]*?) \| (.*?) \|$", read("limits.md"), flags=re.MULTILINE)
    run = [python for pythons, status in rows if "Not run" not in status for python in pythons.split(", ")]
    assert declared == run
    assert len(rows) > 1


def test_wrong_pages_are_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page("```python\nprint(1)\n```\n```output\n1\n```\n```console\n$ spinney --bad\n$ echo $?\n2\n```\n", "right")
    for wrong in (
        "```python\nprint(1)\n```\n```output\n2\n```\n",
        "```python\nprint('a 1')\n```\n```example\nb 1\n```\n",
        "```console\n$ spinney --bad\n```\n",
        "```console\n$ spinney --version\nspinney, version 0\n```\n",
        "```pyhton\n1 / 0\n```\n",
    ):
        with pytest.raises(AssertionError):
            run_page(wrong, "wrong")
