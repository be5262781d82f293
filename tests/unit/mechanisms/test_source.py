import warnings

import numpy as np
import pytest

from spinney import SeededNoiseWarning
from spinney.mechanisms.source import SecureSource, SeededSource, noise_source

ZEROS = np.zeros(4000, dtype=np.int64)


def draw(source, kind, scale):
    return getattr(source, kind)(ZEROS, scale)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_seeded_noise_is_reproducible(kind):
    np.testing.assert_array_equal(draw(SeededSource(3), kind, 5.0), draw(SeededSource(3), kind, 5.0))
    assert (draw(SeededSource(3), kind, 5.0) != draw(SeededSource(4), kind, 5.0)).any()


def test_a_seed_warns_and_says_so():
    with pytest.warns(SeededNoiseWarning, match="NOT private"):
        source = noise_source(0)
    assert source.statement == "seeded: not private"


def test_no_seed_is_silent_and_secure():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert noise_source(None).statement == "secure"


def test_keys_are_secret_and_those_of_seeds_their_own():
    secret = {SecureSource().key() for _ in range(100)}
    seeded = {SeededSource(seed).key() for seed in range(100)}
    assert len(secret | seeded) == 200
    assert {len(key) for key in secret | seeded} == {16}
    assert SeededSource(3).key() == SeededSource(3).key()
