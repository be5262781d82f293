"""Edges of a network, however they are given, and what its points are called."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from spinney import FiniteMetric, ParameterError

TRIPLES = [(0, 1, 2.0), (1, 2, 1.0), (3, 1, 0.5), (2, 3, 4.0)]


class NetworkX:
    """What we use of a networkx graph."""

    def __init__(self, nodes, edges, directed=False):
        self._nodes, self._edges, self._directed = nodes, edges, directed

    def is_directed(self):
        return self._directed

    @property
    def nodes(self):
        return {node: {} for node in self._nodes}

    def edges(self, data=False):
        assert data is True
        return iter(self._edges)


def as_networkx(triples, attribute="length"):
    nodes = dict.fromkeys(node for u, v, _ in triples for node in (u, v))
    return NetworkX(nodes, [(u, v, {attribute: length}) for u, v, length in triples])


def as_columns(triples, names=("from", "to", "length")):
    return dict(zip(names, map(list, zip(*triples, strict=True)), strict=True))


FORMS = {
    "list of tuples": list,
    "tuple of lists": lambda triples: tuple(map(list, triples)),
    "float array": np.array,
    "object array": lambda triples: np.array([list(triple) for triple in triples], dtype=object),
    "pandas": lambda triples: pd.DataFrame(as_columns(triples)),
    "pandas categories": lambda triples: pd.DataFrame(as_columns(triples)).astype({"from": "category", "length": np.float32}),
    "polars": lambda triples: pl.DataFrame(as_columns(triples)),
    "polars small": lambda triples: pl.DataFrame(as_columns(triples), schema_overrides={"from": pl.UInt8}),
    "arrow": lambda triples: pa.table(as_columns(triples)),
    "first three columns": lambda triples: pl.DataFrame(as_columns(triples, "abc")).with_columns(more=pl.lit("x")),
    "other order": lambda triples: pd.DataFrame(as_columns(triples))[["length", "to", "from"]],
    "networkx length": as_networkx,
    "networkx weight": lambda triples: as_networkx(triples, "weight"),
    "networkx texts": lambda triples: as_networkx([(u, v, str(length)) for u, v, length in triples]),
}


def same_space(found, expected):
    assert found.n_points == expected.n_points
    everything = np.arange(expected.n_points)
    np.testing.assert_array_equal(found.distances(everything), expected.distances(everything))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_edges_in_every_form_are_one_network(form):
    tails, heads, lengths = zip(*TRIPLES, strict=True)
    expected = FiniteMetric.from_graph(sp.coo_array((lengths, (tails, heads)), shape=(4, 4)))
    space = FiniteMetric.from_graph(form(TRIPLES))
    same_space(space, expected)
    assert space.names is None


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), shift=st.integers(0, 3), form=st.sampled_from(sorted(FORMS)))
def test_names_are_in_the_order_of_first_appearance(seed, n, shift, form):
    """Labels that are 0 to n - 1 are numbers of points; all others are names."""
    rng = np.random.default_rng(seed)
    labels = [int(label) for label in rng.permutation(n + shift)[:n]]  # with a shift they may skip some
    pairs = [(labels[i], labels[rng.integers(0, i)]) for i in range(1, n)] + [(labels[0], labels[0])]
    triples = [(u, v, float(1 + (u * 7 + v * 7) % 5)) for u, v in pairs]
    space = FiniteMetric.from_graph(FORMS[form](triples))
    seen = list(dict.fromkeys(label for pair in pairs for label in pair))
    plain = sorted(seen) == list(range(n))
    order = range(n) if plain else seen
    assert space.names == (None if plain else tuple(map(str, seen)))
    place = {label: i for i, label in enumerate(order)}
    texts = FiniteMetric.from_graph([(f"p{u}", f"p{v}", length) for u, v, length in triples])
    assert texts.names == tuple(f"p{label}" for label in seen)
    turned = [place[label] for label in seen]
    np.testing.assert_array_equal(texts.distances(np.arange(n)), space.distances(turned)[:, turned])


@given(
    turned=st.lists(st.booleans(), min_size=1, max_size=8),
    both=st.lists(st.booleans(), min_size=8, max_size=8),
    loop=st.booleans(),
)
def test_a_sparse_matrix_has_every_edge_in_both_directions_or_each_in_one(turned, both, loop):
    """In one direction that may be any; some in both and some in one are a directed graph."""
    n = len(turned) + 1
    ways = [(i + 1, i) if turn else (i, i + 1) for i, turn in enumerate(turned)]
    ways += [way[::-1] for way, twice in zip(ways, both, strict=False) if twice]
    tails, heads = zip(*ways, *[(0, 0)] * loop, strict=True)
    matrix = sp.coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n))
    if len(set(both[: len(turned)])) == 1:
        assert FiniteMetric.from_graph(matrix).distances([0])[0].tolist() == list(range(n))
    else:
        with pytest.raises(ParameterError, match=r"in one direction and in both' instead.\nHint: matrix.maximum\(matrix.T\)"):
            FiniteMetric.from_graph(matrix)
        assert FiniteMetric.from_graph(matrix.tocsr().maximum(matrix.tocsr().T)).n_points == n


def test_labels_of_all_kinds_become_texts():
    edges = [("Mill", 7, 1.0), (7, (0, 1), 2.0), ((0, 1), np.int32(12), 1.0), (12.0, np.str_("Mill"), 3.0)]
    space = FiniteMetric.from_graph(edges)
    assert space.names == ("Mill", "7", "(0, 1)", "12")
    np.testing.assert_array_equal(space.distances([0]), [[0, 1, 3, 3]])


def test_networkx_without_lengths_counts_edges_and_keeps_its_nodes():
    graph = NetworkX("cab", [("a", "b", {}), ("b", "c", {"color": 3})])
    space = FiniteMetric.from_graph(graph)
    assert space.names == ("c", "a", "b")
    np.testing.assert_array_equal(space.distances([0]), [[0, 2, 1]])
    for edges in ([("a", "b", {"length": 1.0}), ("b", "c", {})], [("a", "b", {"length": "x"}), ("b", "c", {"length": 1})]):
        with pytest.raises(ParameterError, match="a length for every edge"):
            FiniteMetric.from_graph(NetworkX("abc", edges))
    with pytest.raises(ParameterError, match="connected"):
        FiniteMetric.from_graph(NetworkX("abcd", [("a", "b", {}), ("b", "c", {})]))
    assert FiniteMetric.from_graph(NetworkX(["x"], [])).names == ("x",)


def test_candidates_may_be_named():
    space = FiniteMetric.from_graph([("x", "y", 1.0), ("y", "z", 1.0)], candidates=["z", "x"])
    assert space.candidates.tolist() == [0, 2]
    for wrong in ({"candidates": ["secret"]}, {"candidates": ["x", "x"]}, {"candidates": []}, {"names": ["secret", "b"]}):
        with pytest.raises(ParameterError, match=next(iter(wrong))) as error:
            FiniteMetric.from_graph([("x", "y", 1.0)], **wrong)
        assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "names", ["abc", ["a", "b"], ["a", "b", "b"], ["a", "b", 3], ["a", "b", ""], 7, [["a"], ["b"], ["c"]]], ids=str
)
def test_bad_names_are_refused(names):
    with pytest.raises(ParameterError, match="names") as error:
        FiniteMetric.from_points([[0.0], [1.0], [2.0]], names=names)
    assert "'b'" not in str(error.value)


def test_a_dense_square_array_is_no_list_of_edges():
    for n in (2, 4, 5):
        with pytest.raises(ParameterError, match=r"scipy\.sparse\.coo_array"):
            FiniteMetric.from_graph(np.ones((n, n)) - np.eye(n))
    space = FiniteMetric.from_graph(np.array([[0, 1, 5.0], [1, 2, 3.0], [0, 2, 1.0]]))  # three edges
    np.testing.assert_array_equal(space.distances([0]), [[0, 4, 1]])
    with pytest.raises(ParameterError, match=r"scipy\.sparse\.coo_array"):  # may be one or the other
        FiniteMetric.from_graph(np.ones((3, 3)) - np.eye(3))


SECRET = 8675309
DEMAND = {
    "a list of numbers": [SECRET] * 7,
    "an array": np.full(7, SECRET),
    "rows": np.full((7, 3), SECRET + 0.5),
    "whole rows": np.column_stack([SECRET + np.arange(7), np.arange(7), np.ones(7)]),
    "negative rows": np.column_stack([np.arange(7), np.arange(7) + 1, np.full(7, -SECRET)]),
    "rows of two lengths": np.array([[0, 1, SECRET], [0, 1, 1.0]]),
    "wide rows": np.full((7, 9), SECRET),
    "names": ["8675309"] * 7,
    "pairs": [("8675309", "b")] * 7,
    "words for lengths": [("a", "b", "8675309")] * 7,
    "a frame": pd.DataFrame({"age": [SECRET] * 7, "name": ["8675309"] * 7}),
    "a frame of three": pl.DataFrame({"age": [SECRET] * 7, "name": ["8675309"] * 7, "x": ["8675309"] * 7}),
    "named columns are missing": pl.DataFrame({"from": [SECRET] * 7, "to": [1] * 7, "8675309": [1.0] * 7}),
    "parts": [(f"{SECRET}{i}", f"x{SECRET}{i}", 1.0) for i in range(7)],
    "an unmatched sparse matrix": sp.coo_array(([1.0], ([0], [1])), shape=(2, SECRET)),
    "missing ends": pd.DataFrame({"from": [SECRET, None], "to": [1.0, 2.0], "length": [1.0, 1.0]}),
    "text": "8675309",
    "nothing": None,
    "no edges": [],
    "a dictionary": {"8675309": SECRET},
}


@pytest.mark.parametrize("wrong", DEMAND.values(), ids=DEMAND.keys())
def test_private_rows_in_place_of_edges_are_not_repeated(wrong):
    with pytest.raises(ParameterError, match="graph") as error:
        FiniteMetric.from_graph(wrong)
    text = str(error.value)
    assert "8675309" not in text
    assert "7" not in text.partition("Hint")[0]  # nor how many rows there are
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None
