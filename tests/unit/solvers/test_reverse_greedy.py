import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.solvers.reverse_greedy import thin_out


def cost(centers, weights, left, power):
    gaps = np.sqrt(((centers[:, None] - centers[left]) ** 2).sum(axis=2)).min(axis=1)
    return weights @ gaps**power


@given(seed=st.integers(0, 2**32), m=st.integers(1, 9), k=st.integers(1, 9), power=st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=60)
def test_the_center_that_is_missed_least_goes_first(seed, m, k, power):
    rng = np.random.default_rng(seed)
    centers, weights = rng.normal(0, 1, (m, 2)), rng.uniform(0, 5, m) * (rng.random(m) < 0.8)
    left = list(range(m))
    while len(left) > k:
        options = [[one for one in left if one != gone] for gone in left]
        left = min(options, key=lambda option: cost(centers, weights, option, power))
    kept = thin_out(centers, weights, k, power)
    assert len(kept) == min(m, k)
    assert np.isclose(cost(centers, weights, kept, power), cost(centers, weights, left, power))
