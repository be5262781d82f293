import csv
import json
import re

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array

from spinney import FiniteMetric, PrivateKMedoids, SiteRelease, read_release
from spinney.cli import site_fitting
from spinney.report.publication import page
from tests.unit.cli.running import files, must_not_run, refused, run, seeded

SIDE = 8
NAMES = [f"{'ABCDEFGH'[i]}{j}" for i in range(SIDE) for j in range(SIDE)]
PLACES = np.array([[j, i] for i in range(SIDE) for j in range(SIDE)], dtype=float)
EDGES = [(i, j) for i in range(64) for j in range(i) if np.abs(PLACES[i] - PLACES[j]).sum() == 1]
#: The points in the order in which the file of edges names them first.
ORDER = list(dict.fromkeys(place for edge in EDGES for place in edge))
ROWS = np.random.default_rng(0).choice([9, 10, 17, 18, 54, 55, 62, 63], 4000)
FRAME = pl.DataFrame({"person": [f"p{i // 4}" for i in range(4000)], "point": [NAMES[row] for row in ROWS]})
POINTS, MAP = ("--points", "places.csv"), ("--graph", "edges.csv", "--coordinates", "places.csv")


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


@pytest.fixture
def no_demand(monkeypatch):
    """Let nobody read the demand."""
    monkeypatch.setattr(site_fitting, "read_demand", must_not_run)


def sites(*more, k="2", epsilon="5", demand="demand.csv", algorithm="hst"):
    options = ("--demand", demand, "--k", k, "--epsilon", epsilon, "--algorithm", algorithm, "--out", "release.json", "--force")
    return run("sites", *options, *more)


def read():
    return SiteRelease.from_json("release.json")


def network_space(**options):
    """Return the network as the command reads it."""
    new = {old: i for i, old in enumerate(ORDER)}
    tails, heads = ([new[edge[side]] for edge in EDGES] for side in (0, 1))
    return FiniteMetric.from_graph(coo_array((np.ones(len(EDGES)), (tails, heads)), shape=(64, 64)), **options)


@pytest.mark.parametrize(("space", "kind"), [("graph", "csv"), ("points", "parquet")])
def test_public_files_and_demand_become_a_release(folder, kind, space):
    result = sites(f"--{space}", f"{'edges' if space == 'graph' else 'places'}.{kind}", demand=f"demand.{kind}")
    release = read()
    assert result.output == f"Wrote release.json: {release.statement}.\n"
    assert release.space == {"kind": space, "n_points": 64, "n_candidates": 64}
    assert (release.coordinates is None) == (space == "graph")
    assert abs(release.sizes.sum() - 4000) < 100
    assert {name[0] for name in release.names} <= set("BCGH")


@pytest.mark.parametrize(
    ("adjacency", "algorithm"), [("add-remove", "hst"), ("replace", "coverage"), ("add-remove", "local-search")]
)
def test_the_command_line_and_the_estimator_give_the_same_release(folder, monkeypatch, adjacency, algorithm):
    seeded(monkeypatch)
    unnamed = pl.when(pl.int_range(4000) % 50 == 0).then(pl.lit("nowhere")).otherwise("point").alias("point")
    FRAME.with_columns(unnamed).write_csv("d.csv")
    options = ("--groups", "person", "--max-rows-per-group", "2", "--delta", "1e-6", "--adjacency", adjacency)
    assert sites(*MAP, "--existing", "A0", *options, demand="d.csv", algorithm=algorithm).exit_code == 0
    demand = np.where(np.arange(4000) % 50 == 0, -1, [ORDER.index(row) for row in ROWS])
    model = PrivateKMedoids(
        2, epsilon=5.0, delta=1e-6, space=network_space(coordinates=PLACES[ORDER]), existing_sites=[ORDER.index(0)],
        adjacency=adjacency, max_rows_per_group=2, algorithm=algorithm,
    )  # fmt: skip
    expected = model.fit(demand, groups=FRAME["person"]).release_.to_dict()
    found = read().to_dict()
    assert found.pop("names") == tuple(NAMES[ORDER[site]] for site in model.release_.sites)
    assert expected.pop("names") is None
    assert found == expected


def test_a_map_and_a_table_are_written_too_and_the_release_is_shown(folder):
    pytest.importorskip("matplotlib")
    result = sites(*MAP, "--picture", "whole.png", "--csv", "sites.csv", "--existing", "A0")
    release = read()
    assert result.output == f"Wrote release.json, whole.png, sites.csv: {release.statement}.\n"
    rows = list(csv.DictReader((folder / "sites.csv").read_text().splitlines()))
    assert [row["name"] for row in rows] == list(release.names)
    assert [row["kind"] for row in rows] == ["new", "new", "existing"]
    assert [float(row["x"]) for row in rows] == release.coordinates[:, 0].tolist()
    assert run("show", "release.json").output == f"{page(release)}\n"
    alone = run("show", "release.json", "--picture", "alone.png").output
    assert "Wrote alone.png. It has the sites alone, because a release holds no network: --graph with" in alone
    assert run("show", "release.json", "--picture", "shown.png", *MAP).output.endswith("Wrote shown.png.\n")
    assert (folder / "shown.png").read_bytes() == (folder / "whole.png").read_bytes() != (folder / "alone.png").read_bytes()
    refused(run("show", "release.json", "--curve"), 3, "Only a release of centers has a cost curve.")


def test_travel_is_in_the_plan_the_page_the_table_and_the_map(folder):
    (folder / "job.toml").write_text("[sites]\ntravel = true\n")
    assert re.search(r"travel +lengths +epsilon 0.5 ", sites(*MAP, "--travel", "--plan").output)
    assert sites(*MAP, "--config", "job.toml", "--csv", "sites.csv", "--map", "map.geojson", k="3", epsilon="2").exit_code == 0
    release = read()
    told = [not np.isnan(mean) for mean in release.travel]
    assert any(told)
    assert run("verify", "release.json").exit_code == 0
    found = [one["properties"] for one in json.loads((folder / "map.geojson").read_text())["features"]]
    on_map = [one for one in found if one["kind"] == "site"]
    rows = list(csv.DictReader((folder / "sites.csv").read_text().splitlines()))
    shown = run("show", "release.json").output
    assert "mean travel" in shown
    for i, mean in enumerate(release.travel):
        margin = float(release.travel_margins[i])
        assert (rows[i]["travel"] != "", on_map[i]["travel"] is not None) == (told[i], told[i])
        if told[i]:
            assert (on_map[i]["travel"], on_map[i]["travel_margin"]) == (float(mean), margin)
            assert float(rows[i]["travel"]) == pytest.approx(mean, rel=1e-5)
            assert f"\N{PLUS-MINUS SIGN} {float(f'{margin:.2g}'):g}" in shown
    frame = release.to_frame()
    np.testing.assert_array_equal(frame["travel"], release.travel)
    assert sites(*MAP, "--csv", "sites.csv").exit_code == 0
    assert "travel" not in (folder / "sites.csv").read_text()
    assert "mean travel" not in run("show", "release.json").output


def test_the_plan_is_that_of_the_estimator_and_reads_no_demand(folder):
    model = PrivateKMedoids(2, epsilon=1.0, delta=1e-6, space=network_space(), algorithm="hst", max_rows_per_group=3)
    options = ("--k", "2", "--epsilon", "1", "--delta", "1e-6", "--algorithm", "hst", "--max-rows-per-group", "3", "--plan")
    for more, guess in (("--n-guess", "900", "--demand", "nothing.csv"), 900), ((), None), (("--groups", "person"), None):
        assert run("sites", "--graph", "edges.csv", *options, *more).output == f"{model.plan(n_guess=guess)}\n"
    assert not (folder / "release.json").exists()


WRONG = {
    (): (2, "The space is missing, or given twice"),
    ("--graph", "edges.csv", *POINTS): (2, "given twice"),
    ("--graph", "edges.csv", "--metric", "manhattan"): (2, "--metric needs --points"),
    ("--graph", "edges.csv", "--columns", "x,y"): (2, "--columns needs --points or --coordinates"),
    ("--graph", "edges.csv", "--picture", "map.png"): (2, "--picture needs --coordinates"),
    (*POINTS, "--coordinates", "places.csv"): (2, "--coordinates needs --graph"),
    (*POINTS, "--largest-part"): (2, "--largest-part needs --graph"),
    (*POINTS, "--both-ways"): (2, "--both-ways needs --graph"),
    (*POINTS, "--weight", "length"): (2, "--weight needs --graph"),
    (*POINTS, "--candidates", "stops.txt"): (2, "stops.txt needs points in longitude and latitude"),
    (*POINTS, "--n-guess", "7"): (2, "--n-guess needs --plan"),
    (*POINTS, "--csv", "./release.json"): (2, "Two outputs have one name"),
    (*POINTS, "--groups", "person"): (2, "need each other"),
    (*POINTS, "--max-rows-per-group", "2"): (2, "need each other"),
    (*POINTS, "--groups", "person", "--plan"): (2, "need each other"),
    (*POINTS, "--plan", "--n-guess", "0"): (2, "error: --n-guess must be"),
    (*POINTS, "--existing", "A0", "--k", "64"): (2, "at most 63, the number of free candidates"),
    ("--graph", "nothing.csv"): (3, "nothing.csv is not a file"),
    ("--graph", "places.csv"): (3, "places.csv has no column 'from'. Hint: it has 'name', 'x', 'y'."),
    ("--graph", "torn.csv"): (3, "torn.csv line 3 has no length"),
    (*POINTS, "--columns", "x,z"): (3, "places.csv has no column 'z'"),
    ("--points", "places.npy"): (3, "of a kind that cannot be read"),
    ("--graph", "edges.csv", "--coordinates", "few.csv"): (3, "few.csv has no point "),
    ("--graph", "edges.csv", "--existing", "A0,Z9"): (3, "--existing: 'Z9' is no point of edges.csv"),
    ("--graph", "edges.csv", "--candidates", "few.csv", "--candidates", "Q"): (3, "--candidates: 'Q' is no point of edges.csv"),
    ("--graph", "edges.csv", "--candidates", ","): (3, "--candidates names no point"),
    (*POINTS, "--out", "no/file.json"): (3, "no/file.json cannot be written"),
    (*POINTS, "--csv", "no/file.png"): (3, "no/file.png cannot be written"),
    (*POINTS, "--picture", "no/file.png"): (3, "no/file.png cannot be written"),
}


@pytest.mark.usefixtures("no_demand")
@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_what_is_wrong_is_one_line_before_demand_is_read(folder, arguments):
    (folder / "torn.csv").write_text("from,to,length\nA,B,1\nB,C,far\n")
    (folder / "few.csv").write_text("name,x,y\nA0,1,1\nH7,2,2\n")
    (folder / "places.npy").touch()
    before = files(folder)
    refused(sites(*arguments), *WRONG[arguments])
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
    line = refused(sites(*POINTS, *more, demand=name), 3, words)
    for secret in ("A0", "A1", "p1", "p2", "41.25"):
        assert secret not in line
    assert files(folder) == before


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_what_rows_of_demand_hold_changes_no_word(folder, adjacency):
    def said(content):
        (folder / "odd.csv").write_bytes(content)
        more = ("--adjacency", adjacency, "--groups", "person", "--max-rows-per-group", "2000", "--csv", "sites.csv")
        result = sites(*POINTS, *more, demand="odd.csv", epsilon="1000")
        return result.exit_code, result.stdout, result.stderr

    rows = b"person,point\n" + b"p,A0\nq,H7\n" * 1000  # enough that sizes never look like noise
    plain = said(rows)
    assert plain[0] == 0
    (note,) = plain[2].splitlines()
    assert note.startswith("note: An epsilon above 10")
    for more in (
        b"p,Nowhere\n", b"p,\n", b",A0\n", b"\n", b"p\n", b"p,A0,7,8\n", b"\xff,\xff\n", b'p,"A0"\n', b'p,"never closed\n',
        b'p,5" x\n', b"\x00\n", b"p,A0\r\n", b"p,-1\n", b"p,nan\n", b"1e400,1e400\n", b"person,point\n", b"p,A0", b"",
    ):  # fmt: skip
        assert said(rows + more) == plain


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        (("--picture", "map.png", "--graph", "edges.csv"), "--graph needs --coordinates.", 2),
        (("--picture", "map.png", "--columns", "x,y"), "The space is missing", 2),
        (MAP, "Public files are for the picture alone.", 2),
        (("--picture", "map.png", *POINTS), "places.csv is not what these sites were chosen from.", 3),
        (("--picture", "map.png", "--graph", "other.csv", "--coordinates", "places.csv"), "other.csv is not what", 3),
    ],
)
def test_show_refuses_other_public_files(folder, options, words, code):
    assert sites(*MAP).exit_code == 0
    names = (folder / "edges.csv").read_text().splitlines()
    (folder / "other.csv").write_text("\n".join([names[0], *names[:0:-1]]) + "\n")
    result = run("show", "release.json", *options)
    assert result.exit_code == code
    assert words in result.stderr
    assert not (folder / "map.png").exists()


def test_maps_of_every_kind_and_a_report_with_one(folder):
    for kind in ("html", "geojson", "svg"):
        assert sites(*MAP, "--map", f"map.{kind}", "--force").exit_code == 0
        drawn = (folder / f"map.{kind}").read_bytes()
        assert run("show", "release.json", *MAP, "--map", f"again.{kind}").exit_code == 0
        assert (folder / f"again.{kind}").read_bytes() == drawn
    assert run("report", "release.json", *MAP, "--out", "report.html").exit_code == 0
    assert '<div class="map">' in (folder / "report.html").read_text()


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="x" attr.type="string"/><key id="d1" for="node" attr.name="y" attr.type="string"/>
<key id="d2" for="edge" attr.name="minutes" attr.type="string"/><key id="d3" for="graph" attr.name="crs"/>
<graph edgedefault="directed"><data key="d3">epsg:4326</data>{nodes}{edges}</graph></graphml>"""
STOPS = "stop_id,stop_lat,stop_lon\nzob,53.1001,8.2032\nhbf,53.1,8.2069\n"


def test_a_one_way_ring_of_a_map_with_stops_as_candidates(folder):
    """Demand at 10 goes around the ring to the stop at 32 or at 69 hundredths, whichever comes first."""
    node = '<node id="n{}"><data key="d0">{}</data><data key="d1">53.1</data></node>'
    nodes = "".join(node.format(i, 8.2 + i / 10000) for i in range(80))
    edges = "".join(f'<edge source="n{i}" target="n{(i + 1) % 80}"><data key="d2">1.0</data></edge>' for i in range(80))
    (folder / "ring.graphml").write_text(GRAPHML.format(nodes=nodes, edges=edges))
    (folder / "stops.txt").write_text(STOPS)
    (folder / "trips.csv").write_text("point\n" + "n33\n" * 5000)
    asked = ("--graph", "ring.graphml", "--candidates", "stops.txt", "--demand", "trips.csv", "--k", "1", "--epsilon", "1")
    result = run("sites", *asked, "--out", "ring.json")
    refused(result, 3, "ring.graphml: no edge has a length or weight. Hint: say which holds the length; edges have 'minutes'.")
    assert run("sites", *asked, "--weight", "minutes", "--out", "ring.json").exit_code == 0
    assert read_release(folder / "ring.json").names == ("hbf at n69",)
    assert run("show", "ring.json", "--graph", "ring.graphml", "--weight", "minutes", "--map", "ring.html").exit_code == 0
    assert run("sites", *asked, "--weight", "minutes", "--both-ways", "--out", "both.json").exit_code == 0
    assert read_release(folder / "both.json").names == ("zob at n32",)


def test_stops_as_points_are_measured_on_the_globe(folder):
    (folder / "stops.txt").write_text(STOPS)
    (folder / "trips.csv").write_text("point\n" + "zob\n" * 900)
    asked = ("--demand", "trips.csv", "--k", "1", "--epsilon", "1", "--out", "stops.json")
    assert run("sites", "--points", "stops.txt", *asked).exit_code == 0
    assert read_release(folder / "stops.json").names == ("zob",)
    (folder / "p.csv").write_text("name,lat,lon\nzob,53.1001,8.2032\nhbf,53.1,8.2069\n")
    refused(run("sites", "--points", "p.csv", "--columns", "lat,lon", *asked, "--force"), 2, "--metric haversine")
    assert run("sites", "--points", "p.csv", "--columns", "lat,lon", "--metric", "haversine", *asked, "--force").exit_code == 0
    refused(run("sites", "--points", "stops.txt", "--metric", "manhattan", *asked, "--force"), 2, "is in longitude and latitude")


def test_goals_are_options(folder):
    near = np.abs(PLACES[:, None] - PLACES).sum(axis=2)
    assert sites(*POINTS, "--metric", "manhattan", "--within", "1", algorithm="auto", epsilon="100").exit_code == 0
    release = read()
    shown = run("show", "release.json").output
    assert "Asked for: reach, within 1." in shown
    assert f"About {release.unserved:,.0f} rows go to no site" in shown
    assert release.goal == {"kind": "reach", "within": 1.0, "is_weighted": False}
    assert (
        release.assignment == np.where(near[release.medoids].min(axis=0) <= 1, near[release.medoids].argmin(axis=0), -1)
    ).all()
    assert sites(*POINTS, "--limit", "2100", algorithm="auto", epsilon="100").exit_code == 0
    assert read().limits.tolist() == [2100, 2100]
    assert (
        sites(*POINTS, "--within", "2", "--share", "0.9", "--max-k", "6", k="auto", algorithm="auto", epsilon="100").exit_code
        == 0
    )
    assert len(read().medoids) == 2
    weights = pl.DataFrame({"name": NAMES[::-1], "weight": [1e6 if name == "H0" else 1.0 for name in NAMES[::-1]]})
    weights.write_csv("weights.csv")
    assert sites(*MAP, "--weights", "weights.csv", k="1", algorithm="auto", epsilon="100").exit_code == 0
    assert read().goal == {"kind": "travel", "gain": 0.05, "is_weighted": True}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--share", "0.9"), "--share needs --within"),
        (("--within", "1", "--limit", "5"), "--limit and --within are two goals"),
        (("--opening-cost", "5"), "--k must be 'auto' with the goal 'opening-costs'"),
        (("--max-k", "5"), "--max-k must be left out"),
        (("--limit", "-1"), "must be a float in"),
    ],
)
def test_goals_that_do_not_fit_are_refused(folder, no_demand, more, said):
    assert said in refused(sites(*POINTS, *more, algorithm="auto"), 2)


def test_positions_and_weights_of_demand(folder):
    """Few rows that count often outweigh many, and rows far from all stops are lost."""
    (folder / "stops.txt").write_text(STOPS)
    heavy, light = "7,53.1001,8.2031\n" * 400, "1,53.1,8.2068\n" * 900
    (folder / "trips.csv").write_text(f"people,lat,lon\n{heavy}{light}" + "7,10,10\n" * 3000 + "7,,\n" * 9)
    asked = ("--points", "stops.txt", "--k", "1", "--epsilon", "1", "--demand", "trips.csv", "--demand-columns", "lat,lon")
    asked += ("--snap-limit", "50", "--out", "stops.json", "--force")
    weights = ("--row-weights", "people", "--max-row-weight", "5")
    assert run("sites", *asked).exit_code == 0
    assert read_release(folder / "stops.json").names == ("hbf",)
    result = run("sites", *asked, *weights)
    assert "removing one row" in result.output
    assert read_release(folder / "stops.json").row_times == 5
    assert read_release(folder / "stops.json").names == ("zob",)
    point = '{"type": "Feature", "properties": {"people": 3}, "geometry": {"type": "Point", "coordinates": [8.2031, 53.1]}}'
    (folder / "trips.geojson").write_text(f'{{"type": "FeatureCollection", "features": [{",".join([point] * 300)}]}}')
    assert run("sites", *asked, *weights, "--demand", "trips.geojson").exit_code == 0
    assert read_release(folder / "stops.json").names == ("zob",)
    assert read_release(folder / "stops.json").sizes[0] == pytest.approx(900, abs=600)
    refused(run("sites", *asked, "--row-weights", "people"), 2, "--row-weights and --max-row-weight need each other")
    refused(run("sites", *asked, "--demand-columns", "lat"), 2, "--demand-columns must be two names")
    refused(run("sites", *POINTS, *asked[2:]), 2, "in longitude and latitude, and the space is not")
    alone = (
        "--points", "stops.txt", "--k", "1", "--epsilon", "1", "--demand", "trips.csv", "--snap-limit", "9", "--out", "x.json",
    )  # fmt: skip
    refused(run("sites", *alone), 2, "--snap-limit needs positions")
