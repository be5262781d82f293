"""Rows that are packed come back, however they and their cells are divided."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from spinney.curators.spark import packing
from spinney.curators.spark.packing import packed, unpacked

SIZES = st.lists(st.integers(0, 40), max_size=5)
TYPES = st.sampled_from(["<f4", "<f8"])


@given(SIZES, st.integers(1, 5), TYPES, st.integers(1, 100), st.integers(1, 30), st.booleans(), st.data())
def test_packed_rows_come_back(sizes, width, dtype, cell, most, is_large, data):
    parts = [np.random.default_rng(i).random((width, size)).astype(dtype).T for i, size in enumerate(sizes)]
    before = packing.CELL, packing.MOST_ROWS
    packing.CELL, packing.MOST_ROWS = cell, most
    try:
        cells = pa.chunked_array([batch.column(0) for batch in packed(parts, width)], pa.binary()).combine_chunks()
        cells = cells.cast(pa.large_binary() if is_large else pa.binary())
        cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(cells)), max_size=3))), len(cells)]
        batches = [pa.record_batch([cells.slice(a, b - a)], ["rows"]) for a, b in pairwise(cuts)]
        found = list(unpacked(batches, width, dtype))
    finally:
        packing.CELL, packing.MOST_ROWS = before
    assert all(0 < len(rows) <= most and not rows.flags.writeable for rows in found)
    assert np.array_equal(np.concatenate([np.empty((0, width), dtype), *found]), np.concatenate([np.empty((0, width)), *parts]))
