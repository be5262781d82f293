import ast
import re
from pathlib import Path
from statistics import median

import pytest

import spinney

SRC = Path(spinney.__file__).parent
ROOT = SRC.parents[1]
MODULES = sorted(SRC.rglob("*.py"))

#: Top to bottom; rooms on one line do not import each other.
HOUSE = (
    ("cli",),
    ("report", "audit"),
    ("estimators",),
    ("algorithms", "io"),
    ("curators",),
    ("solvers",),
    ("trees", "mechanisms"),
    ("spaces", "privacy"),
    ("exceptions", "compilation"),
)
FLOOR = {room: floor for floor, rooms in enumerate(HOUSE) for room in rooms}
#: The package's own front doors stand above every room, its version below.
ROOF = {"__init__", "__main__"}
CELLAR = {"_version"}
#: Draws from continuous or integer noise distributions.
NOISE = {
    "exponential",
    "geometric",
    "gumbel",
    "laplace",
    "logistic",
    "normal",
    "poisson",
    "standard_normal",
    "standard_exponential",
}


def name_of(path):
    return path.relative_to(SRC).as_posix()


def imports(tree, parts):
    """Yield the dotted names that a module imports, relative ones resolved; `parts` is its package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(parts[: len(parts) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            yield from (".".join([*base, alias.name]) for alias in node.names)


def rooms_imported(tree, parts):
    """Yield the rooms of the house that a module imports; a name of the front door counts as the roof."""
    for name in imports(tree, parts):
        pieces = name.split(".")
        if pieces[0] == "spinney":
            yield pieces[1] if len(pieces) > 1 and pieces[1] in {*FLOOR, *CELLAR} else "__init__"


def trespasses(tree, parts):
    room = parts[1]
    for other in rooms_imported(tree, parts):
        if other not in CELLAR and other != room and FLOOR.get(other, -1) <= FLOOR[room]:
            yield other


def package_of(path):
    return ("spinney", *path.relative_to(SRC).with_suffix("").parts)[: len(path.relative_to(SRC).parts)]


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(tree):
    """Yield the last name of every called function and the name it is called on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield "", node.func.id
            elif isinstance(node.func, ast.Attribute):
                yield node.func.value.id if isinstance(node.func.value, ast.Name) else "?", node.func.attr


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from spinney.estimators.kmeans import PrivateKMeans", ["estimators"]),
        ("import spinney.cli.main", ["cli"]),
        ("from spinney import PrivateKMeans", ["__init__"]),
        ("from spinney import algorithms", ["algorithms"]),
        ("from ..algorithms import plan", ["algorithms"]),
        ("def f():\n    from spinney.io import x", ["io"]),
        ("from spinney.solvers.nearest import nearest\nfrom spinney._version import __version__\nfrom . import kernels", []),
    ],
)
def test_the_walk_sees_trespasses_from_the_curators(source, found):
    assert list(trespasses(ast.parse(source), ("spinney", "curators"))) == found


def test_neighbors_on_one_floor_are_trespasses():
    tree = ast.parse("from spinney.mechanisms import additive")
    assert list(trespasses(tree, ("spinney", "trees"))) == ["mechanisms"]


def test_every_room_has_a_floor():
    rooms = {path.relative_to(SRC).parts[0].removesuffix(".py") for path in MODULES}
    assert rooms <= {*FLOOR, *ROOF, *CELLAR}
    assert {"cli", "estimators", "algorithms", "curators", "solvers", "trees", "mechanisms", "spaces", "privacy"} <= rooms


@pytest.mark.parametrize("path", [p for p in MODULES if p.stem not in ROOF | CELLAR or p.parent != SRC], ids=name_of)
def test_imports_run_downwards(path):
    parts = package_of(path)
    if len(parts) == 1:  # a module that is a room of its own
        parts = (*parts, path.stem)
    assert list(trespasses(parse(path), parts)) == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_guests_stay_in_their_rooms(path):
    names = set(imports(parse(path), package_of(path)))
    room = path.relative_to(SRC).parts[0]

    def uses(guest):
        return any(name == guest or name.startswith(guest + ".") for name in names)

    assert not uses("sklearn.base") or room == "estimators"
    assert not uses("pyspark") or name_of(path) in ("curators/spark.py", "estimators/spark.py")
    assert not (uses("opendp") or uses("secrets")) or room == "mechanisms"
    private = [name for name in names if name.startswith("sklearn.") and any(p.startswith("_") for p in name.split("."))]
    assert private == []


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p) != "estimators/spark.py"], ids=name_of)  # classes of Spark ML
def test_optional_packages_are_not_imported_with_the_module(path):
    top = ast.Module([node for node in parse(path).body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    roots = {name.split(".")[0] for name in imports(top, package_of(path))}
    assert roots.isdisjoint({"matplotlib", "pandas", "polars", "pyspark"})


@pytest.mark.parametrize("path", [p for p in MODULES if p.relative_to(SRC).parts[0] != "mechanisms"], ids=name_of)
def test_noise_is_drawn_in_mechanisms_only(path):
    assert {name for owner, name in calls(parse(path)) if owner and name in NOISE} == set()


def test_the_noise_rule_sees_mechanisms_draw():
    drawn = {name for path in (SRC / "mechanisms").glob("*.py") for owner, name in calls(parse(path)) if owner and name in NOISE}
    assert {"laplace", "geometric", "gumbel"} <= drawn


@pytest.mark.parametrize("path", [p for p in MODULES if p.relative_to(SRC).parts[0] != "cli"], ids=name_of)
def test_only_the_command_line_prints(path):
    tree = parse(path)
    assert {("", "print"), ("click", "echo"), ("click", "secho")}.isdisjoint(calls(tree))
    streams = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & {"stdout", "stderr"}
    assert streams == set()


def test_modules_are_nouns_of_the_papers():
    names = {part.removesuffix(".py") for path in MODULES for part in path.relative_to(SRC).parts}
    assert names.isdisjoint({"utils", "util", "core", "common", "helpers", "helper", "misc"})


def test_modules_are_short():
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}
    assert median(lines for name, lines in lengths.items() if not name.endswith("__init__.py")) < 150


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_has_a_docstring(path):
    assert ast.get_docstring(parse(path))


@pytest.mark.parametrize("path", [p for p in MODULES if "proofs/" in p.read_text(encoding="utf-8")], ids=name_of)
def test_every_proof_named_exists(path):
    pages = set(re.findall(r"proofs/[\w-]+\.md", path.read_text(encoding="utf-8")))
    assert pages
    assert [page for page in sorted(pages) if not (ROOT / page).is_file()] == []


def test_the_mechanisms_name_their_proofs():
    silent = {
        name_of(path)
        for path in (SRC / "mechanisms").glob("*.py")
        if path.stem not in ("__init__", "source") and f"proofs/{path.stem}.md" not in (ast.get_docstring(parse(path)) or "")
    }
    assert silent == set()
