import re
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import DataError, FiniteMetric
from spinney.tables.networks import find_places, read_demand, read_edges, read_names, read_points

#: With a blank line, an edge of length 0, one given twice with another rounding, and a loop.
EDGES = "from,to,length\nB,A,0.3\nA,C,1.5\n\n7,C,0\n7.0, B ,4\nA,B,0.30000000000000004\nA,A,9\n"


def read_xy(path):
    return read_points(path, ["x", "y"])


@pytest.fixture
def write(tmp_path):
    def make(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        if name.endswith(".parquet"):
            pl.read_csv(text.encode(), infer_schema=False, truncate_ragged_lines=True).write_parquet(path)
        return path

    return make


@pytest.mark.parametrize("name", ["e.csv", "e.parquet"])
def test_points_of_a_network_come_in_the_order_of_the_file(write, name):
    edges = read_edges(write(EDGES, name))
    assert edges.names == ("B", "A", "C", "7")
    space = FiniteMetric.from_graph(edges.graph)
    np.testing.assert_array_equal(space.distances([0])[0], [0, 0.3, 1.8, 1.8])


WRONG = [
    (read_edges, "from,to\nA,B\n", "no column 'length'"),
    (read_edges, "from,to,length\n", "has no edges"),
    (read_edges, "from,to,length\nA,B,1\n,C,2\n", "line 3 has no name in column 'from'"),
    (read_edges, "from,to,length\nA,B,1\n\nC,,2\n", "line 4 has no name in column 'to'"),
    (read_edges, "from,to,length\nA,B,x\n", "line 2 has no length"),
    (read_edges, "from,to,length\nA,B,1\nB,C,\n", "line 3 has no length"),
    (read_edges, "from,to,length\nA,B,-1\n", "line 2 has no length"),
    (read_edges, "from,to,length\nA,B,inf\n", "line 2 has no length"),
    (read_edges, "from,to,length\nA,B,1\nC,B,1\nB,A,2\n", "line 4: the edge between 'B' and 'A' has another length"),
    (read_edges, "from,to,length\nA,B,1\nC,D,1\nB,E,1\n", "it has 2 parts. The largest has 3 of 5 points; 'C' is outside"),
    (read_xy, "name,x\nA,1\n", "no column 'y'"),
    (read_xy, "point,x,y\nA,1,1\n", "no column 'name'"),
    (read_xy, "name,x,y\n", "has no points"),
    (read_xy, "name,x,y\nA,1,1\n,1,1\n", "line 3 has no name in column 'name'"),
    (read_xy, "name,x,y\nA,1,1\nB,1,east\n", "line 3 has no number in column 'y'"),
    (read_xy, "name,x,y\nA,nan,1\n", "line 2 has no number in column 'x'"),
    (read_xy, "name,x,y\n12,1,1\nB,2,2\n12.0,3,3\n", "line 4: '12' is named twice"),
    (read_names, "A\nB\n", "no column 'name'"),
]


@pytest.mark.parametrize(("read", "text", "words"), WRONG)
def test_what_is_wrong_with_a_public_file_is_named(write, read, text, words):
    names = [("e.csv", words)]
    if "\n\n" not in text:
        names.append(("e.parquet", re.sub(r"line (\d)", lambda found: f"row {int(found[1]) - 1}", words)))
    for name, expected in names:
        with pytest.raises(DataError) as caught:
            read(write(text, name))
        assert expected in str(caught.value)
        assert "\nHint: " in str(caught.value)


def test_the_largest_part_may_be_kept_alone(write):
    edges = read_edges(write("from,to,length\nA,B,1\nC,D,1\nB,E,1.5\n"), largest_part=True)
    assert edges.names == ("A", "B", "E")
    np.testing.assert_array_equal(FiniteMetric.from_graph(edges.graph).distances([0])[0], [0, 1, 2.5])


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_points_have_names_and_coordinates(write, name):
    path = write("y,name,people,x\n1,A,900,2\n3.5,12.0,800,-4\n", name)
    points = read_points(path, ["x", "y"])
    assert points.names == ("A", "12")
    np.testing.assert_array_equal(points.coordinates, [[2, 1], [-4, 3.5]])
    assert read_points(path, ["y"]).coordinates.shape == (2, 1)


@pytest.mark.parametrize("name", ["n.csv", "n.parquet"])
def test_names_are_one_column(write, name):
    assert read_names(write("x,name\n1,A\n2,7.0\n", name)) == ["A", "7"]


def test_public_names_are_found_once_or_refused():
    assert find_places(["C", "A", "C"], "ABC", "--existing", "e.csv").tolist() == [2, 0]
    assert find_places([], "ABC", "--existing", "e.csv").dtype == np.int64
    with pytest.raises(DataError, match=r"--existing: 'Z' is no point of e\.csv\.\nHint: "):
        find_places(["A", "Z"], "ABC", "--existing", "e.csv")


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_demand_becomes_indices_and_what_names_no_point_is_nowhere(write, name):
    demand = read_demand(write("day,point,who\n1,B,p\n2,Z,q\n3,,p\n4, 7.0 ,\n5,A,r\n", name), "point", ("A", "B", "7"), "who")
    assert demand.nonprivate_rows.tolist() == [1, -1, -1, 2, 0]
    assert demand.nonprivate_groups.to_list() == ["p", "q", "p", None, "r"]
    assert demand.nonprivate_rows.dtype == np.int64


CELLS = ["A", "B", "7", "7.0", "Z", "", " ", "nan", "\u00e4", "-1", "0", "1e400", '"A"', '"A,B"', '"A', 'B"', "A,A,A", "\x00"]


@given(st.lists(st.sampled_from(CELLS), max_size=12))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_no_demand_raises_or_warns(tmp_path_factory, cells):
    path = tmp_path_factory.getbasetemp() / "demand.csv"
    path.write_text("point,who\n" + "".join(f"{cell},p\n" for cell in cells), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = read_demand(path, "point", ("A", "B", "7"), "who").nonprivate_rows
    assert set(rows.tolist()) <= {-1, 0, 1, 2}
