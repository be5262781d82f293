import ast
import functools
import re
from pathlib import Path

import pytest

import spinney

SRC = Path(spinney.__file__).parent
ROOT = SRC.parents[1]
MODULES = sorted(SRC.rglob("*.py"))
STUBS = sorted(SRC.rglob("*.pyi"))

#: Top to bottom; rooms on one line do not import each other.
HOUSE = (
    ("cli",),
    ("estimators", "report", "audit"),
    ("local", "baselines"),
    ("fits",),
    ("algorithms",),
    ("curators",),
    ("questions",),
    ("releases",),
    ("solvers",),
    ("trees", "mechanisms", "ledgers", "tables"),
    ("privacy", "spaces"),
    ("verification",),
    ("constraints",),
    ("exceptions", "compilation", "threads", "datasets"),
    ("naming", "kernel_cache"),
)
#: The registries: their texts name modules, which are imported when they are asked for. No other text does.
REGISTRIES = {"_shown.py", "algorithms/registry.py"}
FLOOR = {room: floor for floor, rooms in enumerate(HOUSE) for room in rooms}
#: The package's own front doors stand above every room, its version below.
ROOF = {"__init__", "__main__", "spark", "stability"}
CELLAR = {"_lazy", "_shown", "_version"}
#: Draws from continuous or integer noise distributions.
NOISE = set(
    "exponential geometric gumbel laplace logistic normal poisson standard_normal standard_exponential".split()  # noqa: SIM905
)
#: What prints, and what it is called on.
PRINTING = {("", "print"), ("click", "echo"), ("click", "secho")}


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


@functools.cache
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
        ("def f():\n    from spinney.fits import x", ["fits"]),
        ("from spinney.spaces.nearest import nearest\nfrom spinney._version import __version__\nfrom . import kernels", []),
    ],
)
def test_the_walk_sees_trespasses_from_the_curators(source, found):
    assert list(trespasses(ast.parse(source), ("spinney", "curators"))) == found


def test_every_room_has_a_floor():
    rooms = {path.relative_to(SRC).parts[0].removesuffix(".py") for path in MODULES}
    assert rooms <= {*FLOOR, *ROOF, *CELLAR}
    assert len(rooms) > 15


def offenders(rule, modules=MODULES):
    """Return what a rule finds wrong, module by module."""
    found = {name_of(path): sorted(rule(path)) for path in modules}
    return {name: wrong for name, wrong in found.items() if wrong}


def test_imports_run_downwards():
    def upwards(path):
        parts = package_of(path)
        if len(parts) == 1:  # a module that is a room of its own
            parts = (*parts, path.stem)
        return trespasses(parse(path), parts)

    assert offenders(upwards, [p for p in MODULES if p.stem not in ROOF | CELLAR or p.parent != SRC]) == {}


def module_of(path):
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(("spinney", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def named_module(name, modules):
    """Return the module that a dotted name leads to: itself, or the one that holds what it names."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def texts_that_name(tree, modules):
    """Yield the modules that texts of a module name, alone or with something in them."""
    for node in ast.walk(tree):
        text = node.value.partition(":")[0] if isinstance(node, ast.Constant) and isinstance(node.value, str) else "spinney"
        if text in modules and text != "spinney":
            yield text


def circles(graph):
    """Return the sets of nodes that lead to each other."""

    def reached(start):
        found, waiting = set(), [start]
        while waiting:
            waiting += (new := graph.get(waiting.pop(), set()) - found)
            found |= new
        return found

    beyond = {node: reached(node) for node in graph}
    around = ({other for other in beyond[node] if node in beyond.get(other, ())} for node in graph if node in beyond[node])
    return {frozenset(circle) for circle in around}


@functools.cache
def imported():
    """Return what each module imports, anywhere in its file; a package by its stub, if its names are imported on first use."""
    modules = {module_of(path): path for path in MODULES} | {module_of(path): path for path in STUBS}
    graph = {
        module: {named_module(name, modules) for name in imports(parse(path), package_of(path))} - {"", module}
        for module, path in modules.items()
    }
    return modules, graph


def test_no_modules_import_each_other():
    _, graph = imported()
    assert sum(map(len, graph.values())) > 1000
    assert circles(graph) == set()


def test_no_packages_import_each_other():
    modules, graph = imported()
    doors = {module for module, path in modules.items() if path.suffix == ".pyi"}  # a front door stands above its package
    homes = {module: module if path.stem == "__init__" else module.rpartition(".")[0] for module, path in modules.items()}
    packages = {}
    for module, others in graph.items():
        if module not in doors and homes[module] != "spinney":  # the roof and the cellar
            packages.setdefault(homes[module], set()).update({homes[other] for other in others} - {homes[module]})
    assert circles(packages) == set()


def test_only_the_registries_name_modules_in_texts():
    modules, _ = imported()
    found = offenders(lambda path: texts_that_name(parse(path), modules))
    assert set(found) == REGISTRIES


def test_the_walk_sees_circles_and_texts():
    late = ast.parse("def f():\n    from .b import x\n    return load('spinney.fits.run'), offered('spinney.fits.run:run')")
    assert list(imports(late, ("spinney", "a"))) == ["spinney.a.b.x"]
    assert list(texts_that_name(late, {"spinney.fits.run"})) == ["spinney.fits.run"] * 2
    assert named_module("spinney.a.b.x", {"spinney", "spinney.a.b"}) == "spinney.a.b"
    assert circles({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "f": {"f"}}) == {frozenset("abc"), frozenset("f")}


def strays(names, module):
    """Yield the guests among imported names that have no place in a module."""
    room = module.split("/")[0]
    for name in names:

        def is_of(*guests, name=name):
            return any(name == guest or name.startswith(guest + ".") for guest in guests)

        if (
            (is_of("sklearn.base") and room != "estimators")
            or (is_of("pyspark") and not module.startswith(("curators/spark/", "estimators/spark.py")))
            or (is_of("opendp", "secrets") and room != "mechanisms")
            or (is_of("cryptography") and module != "verification/keys.py")
            or (is_of("numba") and room == "questions")  # questions hold constants; kernels import them
            or (is_of("sklearn") and any(piece.startswith("_") for piece in name.split(".")))
        ):
            yield name


def test_guests_stay_in_their_rooms():
    assert offenders(lambda path: strays(set(imports(parse(path), package_of(path))), name_of(path))) == {}


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("sklearn.base.BaseEstimator", "solvers/weighted.py"),
        ("pyspark.sql", "estimators/kmeans.py"),
        ("secrets", "curators/groups.py"),
        ("opendp.mod", "privacy/budget.py"),
        ("numba.njit", "questions/sums.py"),
        ("sklearn.cluster._kmeans.lloyd", "estimators/kmeans.py"),
    ],
)
def test_the_walk_sees_guests_that_stray(name, module):
    assert list(strays([name], module)) == [name]
    assert list(strays(["numpy", "sklearn.cluster.KMeans"], module)) == []


#: Modules of the audit that make tables, start fits or watch them; all others judge.
WATCHES = {"__init__", "black_boxes", "outliers", "pairs", "recording", "searching", "single_runs", "sources", "tiny"}
#: Where charges are planned, priced and converted, and noise is calibrated.
JUDGED = {"privacy": {"charges", "adjacency"}, "mechanisms": {"drawing"}, "ledgers": set(), "questions": {"form", "catalog"}}


def test_audits_judge_with_arithmetic_of_their_own():
    def shared(path):
        for name in imports(parse(path), package_of(path)):
            _, room, *rest = [*name.split("."), "", ""]
            if name.startswith("spinney.") and room in JUDGED and rest[0] not in JUDGED[room]:
                yield name

    judges = [path for path in (SRC / "audit").glob("*.py") if path.stem not in WATCHES]
    assert {"accounting", "arithmetic", "records", "repeats", "replaying"} <= {path.stem for path in judges}
    assert offenders(shared, judges) == {}


def test_optional_packages_are_not_imported_with_the_module():
    def optional(path):
        top = ast.Module([node for node in parse(path).body if isinstance(node, ast.Import | ast.ImportFrom)], [])
        roots = {name.split(".")[0] for name in imports(top, package_of(path))}
        return roots & {"matplotlib", "pandas", "polars", "pyspark"}

    found = offenders(optional)
    assert found.pop("estimators/spark.py") == ["pyspark"]  # classes of Spark ML
    assert found == {}


def drawn(path):
    return {name for owner, name in calls(parse(path)) if owner and name in NOISE}


def test_noise_is_drawn_in_mechanisms_only():
    assert offenders(drawn, [p for p in MODULES if p.relative_to(SRC).parts[0] != "mechanisms"]) == {}
    assert {"laplace", "geometric", "gumbel"} <= set().union(*map(drawn, (SRC / "mechanisms").glob("*.py")))


def test_only_the_command_line_prints():
    def printed(path):
        tree = parse(path)
        streams = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & {"stdout", "stderr"}
        return {name for owner, name in calls(tree) if (owner, name) in PRINTING} | streams

    assert offenders(printed, [p for p in MODULES if p.relative_to(SRC).parts[0] != "cli"]) == {}
    assert offenders(printed, [p for p in MODULES if p.relative_to(SRC).parts[0] == "cli"]) != {}


def test_every_proof_named_exists():
    def named(path):
        return set(re.findall(r"proofs/[\w-]*(?:\.md)?", path.read_text(encoding="utf-8")))

    assert offenders(lambda path: {page for page in named(path) if not (ROOT / page).is_file()}) == {}
    assert len(set().union(*map(named, MODULES))) > 10


#: An option of a command in a text; lines to be typed and options of the compiler of kernels may have them.
FLAG = re.compile(r"(?<![\w-])--[a-z]")
TYPED = ("spinney ", "--std=", "--fmad=")


def quoted_flags(path):
    """Yield every text of a module that speaks of a flag, the parts of one with values in it put together."""
    skipped = set()
    for node in ast.walk(parse(path)):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in skipped else ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            skipped.update(map(id, node.values if text.startswith("spinney ") else ()))  # its parts are no texts of their own
        if isinstance(text, str) and FLAG.search(text) and not text.startswith(TYPED):
            yield text


def test_no_text_outside_the_command_line_quotes_a_flag():
    """What a Python user reads speaks of parameters; the command line translates."""
    assert FLAG.search("see --columns")
    assert not FLAG.search("a--b, a -- b, ---")
    assert offenders(quoted_flags, [p for p in MODULES if p.relative_to(SRC).parts[0] != "cli"]) == {}
