"""Cells that a schema has to read: with frozen draws, neighbors and tables of any size ask, draw, warn and end alike."""

import dataclasses

import polars as pl
import pytest

from benchmarks.messy import made, schema
from spinney import PrivateKMeans
from spinney.audit import compare, record, total_loss

SIZES = (0, 1, 317, 4_000, 66_000)
TABLE = made(SIZES[-1], seed=6, wrong=0.1).messy
MODEL = {"epsilon": 1.0, "bounds": schema(), "scale": "bounds", "random_state": 0}
#: Rows that follow no schema, and one that is far away by its notation.
ODD = pl.DataFrame([["1e999"] * 6 + ["$ 1,2", "\ud7ff", "31.02.2022", "nroth"], ["1"] * 6 + ["9,999.99", "0", "1.1.2020", "s"]],
                   schema=TABLE.schema, orient="row")  # fmt: skip


def written(kind, frame, folder):
    """Return a table in a container."""
    if kind in ("pandas", "arrow"):
        return frame.to_pandas() if kind == "pandas" else frame.with_columns(pl.col("^x.$").cast(pl.Float64)).to_arrow()
    if kind == "polars":
        return frame
    path = folder / f"{kind}-{frame.height}-{len(list(folder.iterdir()))}.csv"
    frame.write_csv(path, quote_style="never" if kind == "plain csv" else "necessary")
    return path


def happened(transcript):
    """Return all of a fit that is not an exact value."""
    draws = [dataclasses.replace(drawn.draw) for drawn in transcript.draws]
    return transcript.asked, draws, transcript.answers, transcript.seen


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csv"])
@pytest.mark.parametrize("changes", [{}, {"delta": 1e-6, "adjacency": "replace"}], ids=["pure", "replace"])
@pytest.mark.matrix
def test_a_table_of_any_size_and_state_looks_alike(kind, changes, tmp_path):
    model = PrivateKMeans(3, **MODEL, **changes)
    first = record(model, written(kind, TABLE[:200], tmp_path))
    assert first.seen["error"] is None
    for size in SIZES:
        source = first.frozen()
        other = record(model, written(kind, TABLE[:size], tmp_path), source=source)
        assert happened(other) == happened(first), size
        assert (source.left, source.faults) == (0, []), size


@pytest.mark.parametrize("kind", ["pandas", "csv"])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.matrix
def test_one_messy_row_moves_answers_no_further_than_was_paid_for(kind, adjacency, tmp_path):
    model = PrivateKMeans(3, **MODEL, adjacency=adjacency)
    crowd = TABLE[:400]
    first = record(model, written(kind, crowd, tmp_path))
    changed = [crowd[1:], pl.concat([crowd, ODD[:1]]), pl.concat([crowd, ODD[1:]])]
    if adjacency == "replace":
        changed = [pl.concat([crowd[1:], ODD[place : place + 1]]) for place in (0, 1)]
    for other in changed:
        source = first.frozen()
        found = compare(first, record(model, written(kind, other, tmp_path), source=source))
        assert (source.left, found.visible, found.beyond) == (0, (), ())
        assert total_loss(found.losses, 0) <= model.epsilon
