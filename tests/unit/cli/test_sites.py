import csv
import io
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.sparse import coo_array

from spinney import BudgetError, FiniteMetric, ParameterError, PrivateKMedoids
from spinney.cli import progress as progress_module
from spinney.cli import site_fitting
from spinney.cli.main import main
from spinney.exceptions import DataError
from spinney.fits import run as fits_run
from spinney.mechanisms.source import SeededSource
from spinney.releases.sites import SiteRelease
from spinney.report.pages import page

SIDE = 8
NAMES = [f"{'ABCDEFGH'[i]}{j}" for i in range(SIDE) for j in range(SIDE)]
PLACES = np.array([[j, i] for i in range(SIDE) for j in range(SIDE)], dtype=float)
EDGES = [(i, j) for i in range(64) for j in range(i) if np.abs(PLACES[i] - PLACES[j]).sum() == 1]
RNG = np.random.default_rng(0)
ROWS = RNG.choice([9, 10, 17, 18, 54, 55, 62, 63], 4000)
FRAME = pl.DataFrame({"person": [f"p{i // 4}" for i in range(4000)], "point": [NAMES[row] for row in ROWS]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    edges = pl.DataFrame({"from": [NAMES[i] for i, _ in EDGES], "to": [NAMES[j] for _, j in EDGES], "length": [1.0] * len(EDGES)})
    places = pl.DataFrame({"name": NAMES, "x": PLACES[:, 0], "y": PLACES[:, 1]})
    for name, frame in (("edges", edges), ("places", places), ("demand", FRAME)):
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_parquet(tmp_path / f"{name}.parquet")
    pl.DataFrame({"name": ["A0", "H0"]}).write_csv(tmp_path / "old.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [*arguments], catch_exceptions=False)


def sites(*more, k="2", epsilon="5", demand="demand.csv", algorithm="hst"):
    options = ("--demand", demand, "--k", k, "--epsilon", epsilon, "--algorithm", algorithm, "--out", "release.json", "--force")
    return run("sites", *options, *more)


def read():
    return SiteRelease.from_json("release.json")


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def network_order():
    """Return the points in the order in which the file of edges names them first."""
    return list(dict.fromkeys(place for edge in EDGES for place in edge))


def network_space(**options):
    """Return the network as the command reads it."""
    order = network_order()
    new = {old: i for i, old in enumerate(order)}
    tails, heads = ([new[edge[side]] for edge in EDGES] for side in (0, 1))
    return FiniteMetric.from_graph(coo_array((np.ones(len(EDGES)), (tails, heads)), shape=(64, 64)), **options)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("space", ["graph", "points"])
def test_public_files_and_demand_become_a_release(folder, kind, space):
    public = f"{'edges' if space == 'graph' else 'places'}.{kind}"
    result = sites(f"--{space}", public, demand=f"demand.{kind}")
    assert result.exit_code == 0
    release = read()
    assert result.output == f"Wrote release.json: {release.statement}.\n"
    assert release.is_private
    assert release.space == {"kind": space, "n_points": 64, "n_candidates": 64}
    assert (release.coordinates is None) == (space == "graph")
    assert abs(release.sizes.sum() - 4000) < 100
    assert {name[0] for name in release.names} <= set("BCGH")


def test_the_default_algorithm_runs(folder):
    assert sites("--graph", "edges.csv", algorithm="auto").exit_code == 0
    assert read().algorithm == "cells"


def test_every_option_reaches_the_estimator(folder):
    options = ("--delta", "1e-6", "--adjacency", "replace", "--power", "2", "--metric", "manhattan")
    assert sites("--points", "places.csv", *options, "--existing", "A0,A1", algorithm="coverage").exit_code == 0
    release = read()
    assert (release.algorithm, release.adjacency, release.delta, release.power) == ("coverage", "replace", 1e-6, 2)
    assert release.names[2:] == ("A0", "A1")
    assert release.existing_sites.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (("A0",), ["A0"]),
        (("A0, H0 ,",), ["A0", "H0"]),
        (("old.csv",), ["A0", "H0"]),
        (("old.csv", "C3", "A0,C4"), ["A0", "H0", "C3", "C4"]),
    ],
    ids=str,
)
def test_existing_sites_and_candidates_are_names_or_files_or_both(folder, values, names):
    existing = [word for value in values for word in ("--existing", value)]
    assert sites("--graph", "edges.csv", *existing).exit_code == 0
    assert list(read().names[2:]) == names
    candidates = [word for value in (*values, "G6,G7") for word in ("--candidates", value)]
    assert sites("--graph", "edges.csv", *candidates).exit_code == 0
    assert read().space["n_candidates"] == len(names) + 2
    assert set(read().names) <= {*names, "G6", "G7"}


def test_candidates_may_be_in_a_parquet_file(folder):
    pl.DataFrame({"id": [1, 2], "name": ["B1", "H7"]}).write_parquet("c.parquet")
    assert sites("--graph", "edges.csv", "--candidates", "c.parquet").exit_code == 0
    assert set(read().names) == {"B1", "H7"}


def test_numbers_name_points_however_they_are_written(folder):
    (folder / "e.csv").write_text("from,to,length\n1,2,1\n2.0,3,1\n3,4,1\n")
    pl.DataFrame({"point": [1.0, 1.0, None, 4.0] * 300}).write_parquet("d.parquet")
    pl.DataFrame({"point": [1, 1, None, 4] * 300}).write_csv("d.csv")
    for demand in ("d.parquet", "d.csv"):
        assert sites("--graph", "e.csv", "--existing", "2.0", "--candidates", "1,4.0", demand=demand).exit_code == 0
        assert read().names == ("1", "4", "2")
        assert np.abs(read().sizes - [600, 300, 0]).max() < 30


def test_columns_may_have_other_names(folder):
    pl.read_csv("places.csv").rename({"x": "east", "y": "north"}).write_csv("p.csv")
    FRAME.rename({"point": "stop"}).write_csv("d.csv")
    assert sites("--points", "p.csv", "--columns", "east, north", "--demand-column", "stop", demand="d.csv").exit_code == 0
    assert read().coordinates.shape == (2, 2)


def test_the_largest_part_may_be_kept_alone(folder):
    with (folder / "edges.csv").open("a") as file:
        file.write("X,Y,1\n")
    result = sites("--graph", "edges.csv")
    assert result.exit_code == 3
    assert "2 parts. The largest has 64 of 66 points; 'X' is outside. Hint: " in result.stderr
    assert sites("--graph", "edges.csv", "--largest-part").exit_code == 0
    assert read().space["n_points"] == 64


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("algorithm", ["hst", "coverage", "local-search"])
def test_the_command_line_and_the_estimator_give_the_same_release(folder, monkeypatch, adjacency, algorithm):
    monkeypatch.setattr(fits_run, "noise_source", lambda seed: SeededSource(7))
    monkeypatch.setattr(fits_run, "generator", lambda *_: np.random.default_rng(7))
    FRAME.with_columns(pl.when(pl.int_range(4000) % 50 == 0).then(pl.lit("nowhere")).otherwise("point").alias("point")).write_csv(
        "d.csv"
    )
    options = ("--groups", "person", "--max-rows-per-group", "2", "--delta", "1e-6", "--adjacency", adjacency)
    result = sites(
        "--graph", "edges.csv", "--coordinates", "places.csv", "--existing", "A0", *options, demand="d.csv", algorithm=algorithm
    )
    assert result.exit_code == 0
    order = network_order()
    space = network_space(coordinates=PLACES[order])
    demand = np.where(np.arange(4000) % 50 == 0, -1, [order.index(row) for row in ROWS])
    model = PrivateKMedoids(
        2, epsilon=5.0, delta=1e-6, space=space, existing_sites=[order.index(0)], adjacency=adjacency, max_rows_per_group=2,
        algorithm=algorithm,
    )  # fmt: skip
    expected = model.fit(demand, groups=FRAME["person"]).release_.to_dict()
    found = read().to_dict()
    assert found.pop("names") == tuple(NAMES[order[site]] for site in model.release_.sites)
    assert expected.pop("names") is None
    assert found == expected


def test_groups_are_protected_and_say_so(folder):
    result = sites("--graph", "edges.csv", "--groups", "person", "--max-rows-per-group", "4")
    assert result.exit_code == 0
    assert "one group of at most 4 counted rows" in result.output
    assert abs(read().sizes.sum() - 4000) < 400


def test_a_map_and_a_table_are_written_too(folder):
    pytest.importorskip("matplotlib")
    more = ("--coordinates", "places.csv", "--picture", "map.png", "--csv", "sites.csv", "--existing", "A0")
    result = sites("--graph", "edges.csv", *more)
    assert result.exit_code == 0
    release = read()
    assert result.output == f"Wrote release.json, map.png, sites.csv: {release.statement}.\n"
    assert (folder / "map.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    rows = list(csv.DictReader((folder / "sites.csv").read_text().splitlines()))
    assert [row["name"] for row in rows] == list(release.names)
    assert [row["kind"] for row in rows] == ["new", "new", "existing"]
    assert [float(row["x"]) for row in rows] == release.coordinates[:, 0].tolist()


def test_show_prints_a_release_of_sites_and_draws_it(folder):
    pytest.importorskip("matplotlib")
    assert sites("--points", "places.csv").exit_code == 0
    assert run("show", "release.json").output == f"{page(read())}\n"
    assert "Wrote map.png. It has the sites alone" in run("show", "release.json", "--picture", "map.png").output
    assert (folder / "map.png").read_bytes()[:4] == b"\x89PNG"
    result = run("show", "release.json", "--curve")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == "error: A release of sites has no cost curve. Hint: leave --curve out.\n"
    assert sites("--graph", "edges.csv").exit_code == 0
    result = run("show", "release.json", "--picture", "other.png")
    assert result.exit_code == 3
    assert "no coordinates to draw. Hint: " in result.stderr
    assert not (folder / "other.png").exists()


def test_a_damaged_release_of_sites_is_one_line_and_exit_code_three(folder):
    assert sites("--points", "places.csv").exit_code == 0
    text = (folder / "release.json").read_text()
    (folder / "release.json").write_text(text.replace('"power": 1', '"power": 3'))
    result = run("show", "release.json")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("error: The release is incomplete or damaged. Hint: ")


def test_predict_says_what_to_do_with_a_release_of_sites(folder):
    assert sites("--points", "places.csv").exit_code == 0
    result = run("predict", "release.json", "demand.csv", "--out", "labels.csv")
    assert result.exit_code == 3
    assert result.stderr.startswith("error: release.json is no release of centers. Hint: of sites, in Python, ")
    assert not (folder / "labels.csv").exists()


def test_the_plan_is_that_of_the_estimator_and_reads_no_demand(folder):
    model = PrivateKMedoids(2, epsilon=1.0, delta=1e-6, space=network_space(), algorithm="hst", max_rows_per_group=3)
    options = ("--k", "2", "--epsilon", "1", "--delta", "1e-6", "--algorithm", "hst", "--max-rows-per-group", "3")
    result = run("sites", "--graph", "edges.csv", *options, "--plan", "--n-guess", "900", "--demand", "nothing.csv")
    assert result.exit_code == 0
    assert result.output == f"{model.plan(n_guess=900)}\n"
    assert run("sites", "--graph", "edges.csv", *options, "--plan").output == f"{model.plan()}\n"
    assert run("sites", "--graph", "edges.csv", *options, "--plan", "--groups", "person").output == f"{model.plan()}\n"
    assert not (folder / "release.json").exists()


USAGE = {
    (): "The space is missing, or given twice",
    ("--graph", "edges.csv", "--points", "places.csv"): "given twice",
    ("--graph", "edges.csv", "--metric", "manhattan"): "--metric needs --points",
    ("--graph", "edges.csv", "--columns", "x,y"): "--columns needs --points or --coordinates",
    ("--graph", "edges.csv", "--picture", "map.png"): "--picture needs --coordinates",
    ("--points", "places.csv", "--coordinates", "places.csv"): "--coordinates needs --graph",
    ("--points", "places.csv", "--largest-part"): "--largest-part needs --graph",
    ("--points", "places.csv", "--n-guess", "7"): "--n-guess needs --plan",
    ("--points", "places.csv", "--csv", "release.json"): "Two outputs have one name",
    ("--points", "places.csv", "--groups", "person"): "need each other",
    ("--points", "places.csv", "--max-rows-per-group", "2"): "need each other",
    ("--points", "places.csv", "--groups", "person", "--plan"): "need each other",
    ("--points", "places.csv", "--plan", "--n-guess", "0"): "error: --n-guess must be",
    ("--points", "places.csv", "--csv", "./release.json"): "Two outputs have one name",
    ("--points", "places.csv", "--k", "0"): "error: --k must be",
    ("--points", "places.csv", "--k", "65"): "at most 64, the number of free candidates",
    ("--points", "places.csv", "--existing", "A0", "--k", "64"): "at most 63, the number of free candidates",
    ("--points", "places.csv", "--epsilon", "-1"): "error: --epsilon must be",
    ("--points", "places.csv", "--delta", "2"): "error: --delta must be",
    ("--points", "places.csv", "--algorithm", "tree"): "error: --algorithm must be",
    ("--points", "places.csv", "--adjacency", "near"): "error: --adjacency must be",
    ("--points", "places.csv", "--groups", "person", "--max-rows-per-group", "0"): "error: --max-rows-per-group must be",
}


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_wrong_usage_is_one_line_and_exit_code_two_before_demand_is_read(folder, monkeypatch, arguments):
    monkeypatch.setattr(site_fitting, "read_demand", unreadable)
    before = files(folder)
    result = sites(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert USAGE[arguments] in line
    assert "Hint: " in line
    assert files(folder) == before


def unreadable(*arguments):
    raise AssertionError("demand was read")


@pytest.mark.parametrize("missing", ["--k", "--epsilon", "--demand", "--out"])
def test_sites_asks_for_what_it_needs(folder, missing):
    arguments = ["--points", "places.csv", "--demand", "demand.csv", "--k", "2", "--epsilon", "1", "--out", "release.json"]
    place = arguments.index(missing)
    del arguments[place : place + 2]
    result = run("sites", *arguments)
    assert result.exit_code == 2
    assert missing in result.stderr


@pytest.mark.parametrize("wrong", [("--power", "3"), ("--metric", "taxi")], ids=" ".join)
def test_choices_are_checked(folder, wrong):
    result = sites("--points", "places.csv", *wrong)
    assert result.exit_code == 2
    assert wrong[0] in result.stderr


DATA = {
    ("--graph", "nothing.csv"): "nothing.csv is not a file",
    ("--graph", "places.csv"): "places.csv has no column 'from'. Hint: it has 'name', 'x', 'y'.",
    ("--graph", "torn.csv"): "torn.csv line 3 has no length",
    ("--points", "edges.csv"): "edges.csv has no column 'name'",
    ("--points", "places.csv", "--columns", "x,z"): "places.csv has no column 'z'",
    ("--points", "places.npy"): "of a kind that cannot be read",
    ("--graph", "edges.csv", "--coordinates", "few.csv"): "few.csv has no point ",
    ("--graph", "edges.csv", "--existing", "A0,Z9"): "--existing: 'Z9' is no point of edges.csv",
    ("--graph", "edges.csv", "--candidates", "few.csv", "--candidates", "Q"): "--candidates: 'Q' is no point of edges.csv",
    ("--graph", "edges.csv", "--candidates", ","): "--candidates names no point",
    ("--graph", "edges.csv", "--existing", "nothing.csv"): "nothing.csv is not a file",
}


@pytest.mark.parametrize("arguments", DATA, ids=" ".join)
def test_wrong_public_files_are_one_line_and_exit_code_three_before_demand_is_read(folder, monkeypatch, arguments):
    monkeypatch.setattr(site_fitting, "read_demand", unreadable)
    (folder / "torn.csv").write_text("from,to,length\nA,B,1\nB,C,far\n")
    (folder / "few.csv").write_text("name,x,y\nA0,1,1\nH7,2,2\n")
    (folder / "places.npy").touch()
    before = files(folder)
    result = sites(*arguments)
    assert (result.exit_code, result.stdout) == (3, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert DATA[arguments] in line
    assert "Hint: " in line
    assert files(folder) == before


@pytest.mark.parametrize(
    ("name", "content", "more", "words"),
    [
        ("nothing.csv", None, (), "is not a file"),
        ("d.txt", b"point\nA0\n", (), "of a kind that cannot be read"),
        ("d.parquet", b"A0", (), "cannot be read"),
        ("d.csv", b"A0,p1\nA1,p2\n", (), "no column 'point'"),
        ("d.csv", b"A0\nA1\n", (), "no column 'point'"),
        ("d.csv", b"A0,41.25\nA1,2\n", (), "a number or a date where the name of a column should be"),
        ("d.csv", b"point,p1\nA1,p2\n", ("--groups", "card", "--max-rows-per-group", "2"), "no column 'card'"),
        ("d.csv", b"point;A0\n", (), "other marks than commas"),
        ("d.csv", b'A0,"p1\nA1,p2\n', (), "cannot be read"),
        ("d.csv", b"", (), "no column 'point'"),
    ],
    ids=str,
)
def test_an_unreadable_demand_is_one_line_that_repeats_nothing_of_it(folder, name, content, more, words):
    if content is not None:
        (folder / name).write_bytes(content)
    before = files(folder)
    result = sites("--points", "places.csv", *more, demand=name)
    assert (result.exit_code, result.stdout) == (3, "")
    (line,) = result.stderr.splitlines()
    assert words in line
    assert "Hint: " in line
    for secret in ("A0", "A1", "p1", "p2", "41.25"):
        assert secret not in line
    assert files(folder) == before


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_what_rows_of_demand_hold_changes_no_word(folder, adjacency):
    def said(content):
        (folder / "odd.csv").write_bytes(content)
        more = ("--adjacency", adjacency, "--groups", "person", "--max-rows-per-group", "2000", "--csv", "sites.csv")
        result = sites("--points", "places.csv", *more, demand="odd.csv", epsilon="1000")
        return result.exit_code, result.stdout, result.stderr

    rows = b"person,point\n" + b"p,A0\nq,H7\n" * 1000  # enough that sizes never look like noise
    plain = said(rows)
    assert plain[:1] == (0,)
    (note,) = plain[2].splitlines()
    assert note.startswith("note: An epsilon above 10")
    for more in (
        b"p,Nowhere\n", b"p,\n", b",A0\n", b"\n", b"p\n", b"p,A0,7,8\n", b"\xff,\xff\n", b'p,"A0"\n', b'p,"never closed\n',
        b'p,5" x\n', b"\x00\n", b"p,A0\r\n", b"p,-1\n", b"p,nan\n", b"1e400,1e400\n", b"person,point\n", b"p,A0", b"",
    ):  # fmt: skip
        assert said(rows + more) == plain


@pytest.mark.parametrize("content", [b"point\n", b"point\nNowhere\n", b"point\n\n\n", b'point\n"'], ids=repr)
def test_demand_that_is_lost_is_told_from_the_release_alone(folder, content):
    (folder / "d.csv").write_bytes(content)
    result = sites("--points", "places.csv", demand="d.csv")
    assert result.exit_code == 0
    assert result.stderr == f"{SiteRelease.faint}\n"
    assert result.stdout == f"Wrote release.json: {read().statement}.\n"


def test_a_row_that_names_no_point_is_dropped_or_the_first_point(folder):
    (folder / "d.csv").write_text("point\n" + "A0\n" * 500 + "H7\n" * 500 + "Nowhere\n" * 500)
    for adjacency, expected in (("add-remove", [500, 500]), ("replace", [1000, 500])):
        assert sites("--points", "places.csv", "--candidates", "A0,H7", "--adjacency", adjacency, demand="d.csv").exit_code == 0
        assert np.abs(read().sizes - expected).max() < 60


@pytest.mark.parametrize(("error", "code"), [(BudgetError, 4), (DataError, 3), (OSError, 3), (ParameterError, 2)])
def test_an_error_after_reading_is_one_line_and_leaves_nothing(folder, monkeypatch, error, code):
    def fail(*arguments):
        raise error("Went\nwrong.")

    monkeypatch.setattr(site_fitting, "run", fail)
    before = files(folder)
    result = sites("--points", "places.csv", "--csv", "sites.csv", "--picture", "map.png")
    no_file = "A file could not be read or written. Hint: check the path, its permissions and the space that is left."
    said = no_file if error is OSError else "Went wrong."
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"error: {said}\n")
    assert files(folder) == before


def test_a_picture_that_fails_leaves_no_release_and_an_older_one_alone(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    from spinney.report import map as map_module

    (folder / "release.json").write_text("older")
    monkeypatch.setattr(map_module, "draw_map", lambda *arguments: 1 / 0)
    before = files(folder)
    assert sites("--points", "places.csv", "--picture", "map.png").exit_code == 1
    assert files(folder) == before
    assert (folder / "release.json").read_text() == "older"


@pytest.mark.parametrize("option", ["--out", "--csv", "--picture"])
def test_a_file_that_cannot_be_written_is_found_before_demand_is_read(folder, monkeypatch, option):
    monkeypatch.setattr(site_fitting, "read_demand", unreadable)
    before = files(folder)
    name = "no/file.json" if option == "--out" else "no/file.png"
    result = sites("--points", "places.csv", option, name)
    assert result.exit_code == 3
    assert f"{name} cannot be written. Hint: " in result.stderr
    assert files(folder) == before


def test_sites_that_are_there_are_kept(folder):
    (folder / "older.json").write_text("older")
    options = ("--demand", "demand.csv", "--k", "2", "--epsilon", "1", "--points", "places.csv")
    assert "older.json is there already" in run("sites", *options, "--out", "older.json").stderr
    assert (folder / "older.json").read_text() == "older"


def test_a_picture_without_matplotlib_says_what_to_install_before_the_work(folder, monkeypatch):
    monkeypatch.setattr(site_fitting, "read_demand", unreadable)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sites("--points", "places.csv", "--picture", "map.png")
    assert result.exit_code == 2
    assert result.stderr == "error: matplotlib is not installed. Hint: pip install matplotlib\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_files_and_questions(folder, monkeypatch):
    terminal = Terminal()
    files = site_fitting.PublicFiles(None, folder / "places.csv", None, None, None, False, (), ())
    monkeypatch.setattr(progress_module.sys, "stderr", terminal)
    release, space = site_fitting.choose_sites(
        files, folder / "demand.csv", "point", None, n_clusters=2, epsilon=1.0, delta=0.0, algorithm="hst", power=1,
        adjacency="add-remove", max_rows_per_group=None,
    )  # fmt: skip
    assert space.n_points == 64
    for words in ("reading places.csv", "reading demand.csv", *(f"asking {c.question}: {c.name}" for c in release.charges)):
        assert words in terminal.getvalue()


def test_sites_needs_no_scikit_learn_and_points_no_scipy(folder):
    import subprocess

    for space, idle in (("--graph=edges.csv", {"sklearn"}), ("--points=places.csv", {"sklearn", "scipy"})):
        command = (
            "sites",
            space,
            "--demand",
            "demand.csv",
            "--k",
            "2",
            "--epsilon",
            "1",
            "--algorithm",
            "hst",
            "--out",
            "r.json",
            "--force",
        )
        code = f"import sys; from spinney.cli.main import main; main({command!r}, standalone_mode=False); print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        loaded = {name.split(".")[0] for name in done.stdout.split()}
        assert "numba" in loaded
        assert loaded.isdisjoint({"matplotlib", "pandas"} | idle)


def test_sites_are_charged_to_a_ledger_and_refused_past_its_ceiling(folder):
    assert run("ledger", "open", "sites.ledger", "--epsilon", "6").exit_code == 0
    done = sites("--graph", "edges.csv", "--ledger", "sites.ledger")
    assert done.exit_code == 0
    assert "Charged to sites.ledger: epsilon 5 is spent and 1 left." in done.output
    (folder / "release.json").unlink()
    refused = sites("--graph", "edges.csv", "--ledger", "sites.ledger")
    assert refused.exit_code == 4
    assert "release.json" not in files(folder)


MAP = ("--graph", "edges.csv", "--coordinates", "places.csv")


def test_show_draws_the_network_from_the_public_files(folder):
    pytest.importorskip("matplotlib")
    assert sites(*MAP, "--picture", "whole.png").exit_code == 0
    alone = run("show", "release.json", "--picture", "alone.png")
    assert alone.exit_code == 0
    assert "Wrote alone.png. It has the sites alone, because a release holds no network: --graph with" in alone.output
    shown = run("show", "release.json", "--picture", "shown.png", *MAP)
    assert shown.exit_code == 0
    assert shown.output.endswith("Wrote shown.png.\n")
    assert (folder / "shown.png").read_bytes() == (folder / "whole.png").read_bytes() != (folder / "alone.png").read_bytes()


def test_show_draws_sites_that_were_chosen_without_coordinates(folder):
    pytest.importorskip("matplotlib")
    assert sites("--graph", "edges.csv").exit_code == 0
    assert read().coordinates is None
    assert run("show", "release.json", "--picture", "map.png").exit_code == 3
    assert run("show", "release.json", "--picture", "map.png", *MAP).exit_code == 0


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        (("--picture", "map.png", "--graph", "edges.csv"), "--graph needs --coordinates.", 2),
        (("--picture", "map.png", "--graph", "edges.csv", "--points", "places.csv"), "given twice", 2),
        (("--picture", "map.png", "--columns", "x,y"), "The space is missing", 2),
        (MAP, "Public files are for the picture alone.", 2),
        (("--picture", "map.png", "--points", "places.csv"), "places.csv is not what these sites were chosen from.", 3),
        (("--picture", "map.png", "--graph", "other.csv", "--coordinates", "places.csv"), "other.csv is not what", 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_show_refuses_other_public_files(folder, options, words, code):
    assert sites(*MAP).exit_code == 0
    names = (folder / "edges.csv").read_text().splitlines()
    (folder / "other.csv").write_text("\n".join([names[0], *names[:0:-1]]) + "\n")
    result = run("show", "release.json", *options)
    assert result.exit_code == code
    assert words in result.stderr
    assert "Hint: " in result.stderr
    assert not (folder / "map.png").exists()


def test_only_releases_of_sites_are_drawn_with_public_files(folder):
    (folder / "rows.csv").write_text("a,b\n" + "1,2\n" * 50)
    options = ("--k", "1", "--epsilon", "1", "--bounds", "0", "3", "--out", "release.json")
    assert run("fit", "rows.csv", *options).exit_code == 0
    result = run("show", "release.json", "--picture", "map.png", *MAP)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: This is no release of sites. Hint: ")


@pytest.mark.parametrize(("columns", "degrees"), [("lon,lat", True), ("Longitude, Latitude", True), ("x,y", None), (None, None)])
def test_columns_tell_longitudes_and_latitudes(columns, degrees):
    from spinney.cli.site_fitting import PublicFiles

    files = PublicFiles(None, Path("points.csv"), None, columns, None, False, (), ())
    assert files.degrees is degrees
