"""Networks and places in the files that planners have, made by the tools that they use."""

import json
import zipfile

import numpy as np
import pytest

from spinney import DataError, FiniteMetric, ParameterError, PrivateKMedoids, read_network, read_places
from spinney.spaces.graphs import as_number

networkx = pytest.importorskip("networkx")


def streets(side=6, directed=True, seed=0):
    """Return streets as OSMnx has them: a directed multigraph in degrees, some streets one-way, parallel ones too."""
    rng = np.random.default_rng(seed)
    graph = (networkx.MultiDiGraph if directed else networkx.MultiGraph)(crs="epsg:4326", simplified=True)
    for i in range(side * side):
        graph.add_node(1000 + i, x=8.2 + 0.001 * (i % side), y=53.1 + 0.001 * (i // side), street_count=4)
    for u, v in networkx.grid_2d_graph(side, side).edges:
        tail, head = (1000 + a * side + b for a, b in (u, v))
        one_way = directed and min(u[0], u[1], side - 1 - max(*u, *v)) > 0 and rng.random() < 0.4
        about = {"osmid": int(rng.integers(10**9)), "oneway": bool(one_way), "length": float(rng.uniform(50, 150))}
        ways = [(tail, head)] if one_way or not directed else [(tail, head), (head, tail)]
        for way in ways:
            graph.add_edge(*way, **about, travel_time=about["length"] / 10)
    graph.add_edge(1000, 1001, oneway=directed, length=1.5, travel_time=99.0)
    return graph


def as_osmnx_writes(graph, path):
    """Write GraphML as OSMnx does: all attributes are texts."""
    texts = networkx.MultiDiGraph() if graph.is_directed() else networkx.MultiGraph()
    texts.graph.update({key: str(value) for key, value in graph.graph.items()})
    texts.add_nodes_from((node, {key: str(value) for key, value in about.items()}) for node, about in graph.nodes(data=True))
    texts.add_edges_from((u, v, {key: str(value) for key, value in about.items()}) for u, v, about in graph.edges(data=True))
    networkx.write_graphml(texts, path)


def same(found, expected, names=None):
    assert found.names == (expected.names if names is None else names)
    everything = np.arange(expected.n_points)
    np.testing.assert_allclose(found.distances(everything), expected.distances(everything), rtol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", [None, "travel_time"])
@pytest.mark.parametrize("write", [networkx.write_graphml, as_osmnx_writes])
def test_graphml_is_the_graph_that_was_written(tmp_path, directed, weight, write):
    graph = streets(directed=directed)
    write(graph, tmp_path / "town.graphml")
    expected = FiniteMetric.from_graph(graph, weight=weight)
    found = read_network(tmp_path / "town.graphml", weight=weight)
    same(found, expected)
    assert found.is_one_sided == directed
    assert found.degrees
    np.testing.assert_array_equal(found.coordinates, [[about["x"], about["y"]] for _, about in graph.nodes(data=True)])
    both = read_network(tmp_path / "town.graphml", weight=weight, both_ways=True, candidates=["1000", "1005"])
    same(both, FiniteMetric.from_graph(graph.to_undirected(), weight=weight)) if not directed else None
    assert not both.is_one_sided
    assert both.candidates.tolist() == [0, 5]


def test_the_largest_part_is_kept_if_asked(tmp_path):
    graph = streets()
    graph.add_edge(1000, 7, length=1.0)  # a street that nobody leaves
    graph.add_edge(8, 9, length=1.0)
    networkx.write_graphml(graph, tmp_path / "town.graphml")
    with pytest.raises(DataError, match=r"(?s)connected.*Hint: largest_part=True"):
        read_network(tmp_path / "town.graphml")
    assert read_network(tmp_path / "town.graphml", largest_part=True).names == tuple(str(1000 + i) for i in range(36))


def roads(tmp_path, features, name="roads.geojson"):
    path = tmp_path / name
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def road(*places, kind="LineString", **about):
    return {"type": "Feature", "properties": about, "geometry": {"type": kind, "coordinates": list(places)}}


def test_lines_meet_where_they_share_a_point(tmp_path):
    """A long road, crossed in the middle by another one, a bend in which nothing meets, and a Multi-line."""
    path = roads(
        tmp_path,
        [
            road([8.0, 53.0], [8.01, 53.0], [8.02, 53.0, 12.0]),
            road([8.01, 52.99], [8.01, 53.0]),
            road([[8.02, 53.0], [8.02, 53.01], [8.03, 53.01]], kind="MultiLineString"),
            road([8.0, 53.0], kind="Point"),
        ],
    )
    found = read_network(path)
    assert found.names == ("8 53", "8.01 53", "8.02 53", "8.01 52.99", "8.03 53.01")
    east, north = FiniteMetric.from_points([[8.0, 53.0], [8.01, 53.0]], "haversine").diameter, 1111.95
    np.testing.assert_allclose(found.distances([0])[0, :4], [0, east, 2 * east, east + north], rtol=1e-4)
    assert found.degrees
    assert not found.is_one_sided


def test_lines_have_lengths_of_their_own_and_ways(tmp_path):
    square = [[8.0, 53.0], [8.1, 53.0], [8.1, 53.1], [8.0, 53.1]]
    lines = [road(square[i], square[(i + 1) % 4], length=10 + i, minutes=str(i + 1), oneway="yes") for i in range(4)]
    found = read_network(roads(tmp_path, lines), weight="minutes")
    assert found.distances([0]).tolist() == [[0, 9, 7, 4]]  # to the first corner, all the way around
    assert read_network(roads(tmp_path, lines)).distances([0]).tolist() == [[0, 36, 25, 13]]
    assert read_network(roads(tmp_path, lines), both_ways=True).distances([0]).tolist() == [[0, 10, 21, 13]]
    lines[0]["properties"]["oneway"] = "-1"
    lines[1]["properties"]["oneway"] = None
    with pytest.raises(DataError, match="connected"):
        read_network(roads(tmp_path, lines))
    halves = [road([8.0, 53.0], [8.1, 53.0], [8.4, 53.0], length=8), road([8.1, 53.0], [8.1, 53.1], length=3)]
    np.testing.assert_allclose(read_network(roads(tmp_path, halves)).distances([0]), [[0, 2, 8, 5]], rtol=1e-3)


@pytest.mark.parametrize("name", ["streets.gpkg", "streets.shp", "streets.geojson"])
def test_files_of_geopandas(tmp_path, name):
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    graph = streets()
    where = graph.nodes
    edges = list(graph.edges(data=True))
    lines = [shapely.LineString([(where[node]["x"], where[node]["y"]) for node in (u, v)]) for u, v, _ in edges]
    about = {"u": [u for u, *_ in edges], "v": [v for _, v, _ in edges], "length": [data["length"] for *_, data in edges]}
    about["oneway"] = [str(data["oneway"]) for *_, data in edges]
    table = geopandas.GeoDataFrame(about, geometry=lines, crs="epsg:4326")
    if name.endswith("gpkg"):
        places = [shapely.Point(data["x"], data["y"]) for _, data in where(data=True)]
        geopandas.GeoDataFrame({"osmid": list(where)}, geometry=places, crs="epsg:4326").to_file(tmp_path / name, layer="nodes")
        table.to_file(tmp_path / name, layer="edges")
        assert read_places(tmp_path / name).names == tuple(map(str, where))
    else:
        table.to_file(tmp_path / name)
    found, expected = read_network(tmp_path / name), FiniteMetric.from_graph(graph)
    order = [found.names.index(node) for node in expected.names]
    np.testing.assert_allclose(found.distances(order)[:, order], expected.distances(np.arange(36)), rtol=1e-9)
    assert found.degrees
    plane = table.to_crs("epsg:25832").drop(columns=["length", "oneway"])
    plane.to_file(tmp_path / f"plane_{name}") if not name.endswith("json") else None
    if not name.endswith("json"):
        meters = read_network(tmp_path / f"plane_{name}")
        assert not meters.degrees
        assert 60 < meters.distances([0])[0, 1] < 120


STOPS = """\ufeffstop_id,stop_name,stop_lat,stop_lon,location_type
hbf,"Oldenburg, Hbf",53.1437,8.2229,1
hbf_1,Gleis 1,53.1438,8.2230,0
door,Eingang,53.1439,8.2231,2
zob,ZOB,53.1450,8.2240,
"""


@pytest.mark.parametrize("kind", ["folder", "zip", "file"])
def test_stops_of_a_feed_are_places(tmp_path, kind):
    (tmp_path / "stops.txt").write_text(STOPS, encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "feed.zip", "w") as feed:
        feed.writestr("gtfs/stops.txt", STOPS)
        feed.writestr("gtfs/agency.txt", "agency_id\n")
    found = read_places({"folder": tmp_path, "zip": tmp_path / "feed.zip", "file": tmp_path / "stops.txt"}[kind])
    assert found.names == ("hbf", "hbf_1", "zob")
    assert found.coordinates.tolist() == [[8.2229, 53.1437], [8.2230, 53.1438], [8.2240, 53.1450]]
    assert found.degrees
    space = FiniteMetric.from_points(found.coordinates, "haversine", names=found.names)
    assert PrivateKMedoids(1, epsilon=np.inf, space=space).fit(["hbf"] * 9 + ["zob"]).release_.names == ("hbf",)


def test_stops_are_candidates_at_the_nearest_crossing():
    graph = streets()
    space = FiniteMetric.from_graph(graph)
    places = space.nearest([[8.2001, 53.1001], [8.2049, 53.1049], [9.9, 55.0]], limit=1000)
    assert places.tolist() == [0, 35, -1]
    assert FiniteMetric.from_graph(graph, candidates=places[places >= 0]).candidates.tolist() == [0, 35]


def test_points_of_geojson_and_tables(tmp_path):
    dots = [road(8.2, 53.1, kind="Point", name="Mill"), road(8.3, 53.2, 7.0, kind="Point", name="Bridge")]
    found = read_places(roads(tmp_path, dots, "places.json"))
    assert found.names == ("Mill", "Bridge")
    assert found.coordinates.tolist() == [[8.2, 53.1], [8.3, 53.2]]
    assert read_places(roads(tmp_path, [road(8.2, 53.1, kind="Point")])).names == ("8.2 53.1",)
    table = tmp_path / "places.csv"
    table.write_text("name,lat,lon\nMill,53.1,8.2\n", encoding="utf-8")
    found = read_places(table, ["lat", "lon"])
    assert found.coordinates.tolist() == [[8.2, 53.1]]
    assert found.degrees


def test_coordinates_of_a_table_go_to_points_by_their_names(tmp_path):
    table = tmp_path / "places.csv"
    table.write_text("name,lat,lon\nDock,53.3,8.1\nMill,53.1,8.2\nHill,53.2,8.3\n", encoding="utf-8")
    places = read_places(table, ["lat", "lon"])
    space = FiniteMetric.from_graph([("Mill", "Hill", 4.0), ("Hill", "Dock", 2.0)], coordinates=places)
    assert space.names == ("Mill", "Hill", "Dock")
    assert space.coordinates.tolist() == [[8.2, 53.1], [8.3, 53.2], [8.1, 53.3]]
    assert space.degrees
    with pytest.raises(ParameterError, match="1 points have no coordinates: 'Bank' is one"):
        FiniteMetric.from_graph([("Mill", "Bank", 4.0)], coordinates=places)


BROKEN = {
    "empty.graphml": "<graphml/>",
    "cut.graphml": "<graphml><graph><node id='a'/>",
    "weightless.graphml": "<graphml><graph edgedefault='undirected'><edge source='a' target='b'/></graph></graphml>",
    "no.geojson": "[1, 2]",
    "cut.geojson": '{"type": "FeatureCollection"',
    "points.geojson": json.dumps(road(8.0, 53.0, kind="Point")),
    "plane.geojson": json.dumps(road([450000.0, 5880000.0], [450001.0, 5880000.0])),
    "missing.geojson": None,
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_in_a_public_file_is_said(tmp_path, name):
    if BROKEN[name] is not None:
        (tmp_path / name).write_text(BROKEN[name], encoding="utf-8")
    with pytest.raises((DataError, ParameterError)) as error:
        read_network(tmp_path / name)
    assert error.value.hint


@pytest.mark.parametrize(
    "text",
    ["id,stop_lat\na,1\n", "id,stop_lat,stop_lon\n", "id,stop_lat,stop_lon\na,north,2\n", "id,stop_lat,stop_lon\na,95,2\n"],
)
def test_a_broken_feed_is_said(tmp_path, text):
    (tmp_path / "stops.txt").write_text(f"stop_id,stop_{text}", encoding="utf-8")
    with pytest.raises(DataError, match=r"stops\.txt"):
        read_places(tmp_path / "stops.txt")


def test_texts_that_say_no_number_stay():
    assert [as_number(value) for value in ("1.5", "many", 3, None)] == [1.5, "many", 3, None]
