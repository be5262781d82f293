"""How far clusters are told to be from all rows, out of noisy histograms."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spinney.algorithms.profiles import distances


@given(
    st.lists(st.lists(st.integers(-(10**9), 10**12), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(1.0, 1e12),
    st.sampled_from([0.0, 1e-9, 1.0, 1e6, 1e15]),
)
def test_no_noisy_counts_raise(counts, rows, std):
    found = distances(np.array(counts, dtype=float), np.full(len(counts), rows), std, std)
    assert ((found >= 0) & (found <= 1)).all()  # no NaN
