"""One run: the bound against exact binomial tails, and on randomized response of known epsilon."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import ParameterError, PrivateKMeans
from spinney.audit import one_run, one_run_bound
from spinney.audit.single_runs import guess_chance


def exact_tail(trials, chance, least):
    """P(binomial >= least), with fractions."""
    return sum(math.comb(trials, i) * chance**i * (1 - chance) ** (trials - i) for i in range(max(least, 0), trials + 1))


@given(
    st.integers(1, 40).flatmap(lambda m: st.tuples(st.just(m), st.integers(1, m))),
    st.integers(0, 40),
    st.integers(0, 6),
    st.floats(0, 0.1),
)
def test_the_chance_is_that_of_the_theorem(sizes, right, odds, delta):
    canaries, guesses = sizes
    right = min(right, guesses)
    chance = Fraction(2**odds, 2**odds + 1)
    tail = exact_tail(guesses, chance, right)
    more = max(Fraction(2 * canaries, i) * (exact_tail(guesses, chance, right - i) - tail) for i in range(1, canaries + 1))
    told = min(1.0, float(tail) + delta * float(more))
    assert guess_chance(canaries, guesses, right, math.log(2) * odds, delta) == pytest.approx(told, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("guesses", [40, 200])
@pytest.mark.matrix
def test_randomized_response_passes_its_epsilon_as_rarely_as_the_confidence_says(epsilon, guesses):
    """Each bit is told truly with chance e^epsilon / (1 + e^epsilon): the number of right guesses is exactly binomial."""
    chance, confidence = 1 / (1 + math.exp(-epsilon)), 0.9
    bounds = np.array([one_run_bound(200, guesses, right, 0.0, confidence) for right in range(guesses + 1)])
    chances = [math.comb(guesses, i) * chance**i * (1 - chance) ** (guesses - i) for i in range(guesses + 1)]
    wrong = sum(p for p, bound in zip(chances, bounds, strict=True) if bound > epsilon)
    assert wrong <= 1 - confidence + 1e-9
    assert (np.diff(bounds) >= 0).all()


def response(epsilon, seed):
    """Tell the bit of each of the places 0 .. 999, truly with the chance of randomized response."""
    rng = np.random.default_rng(seed)

    def run(table):
        bits = np.isin(np.arange(1000), table[:, 0])
        return np.where(rng.random(1000) < 1 / (1 + math.exp(-epsilon)), bits, ~bits)

    return run


CANARIES = np.arange(1000.0)[:, None]


def told(outcome, canaries):
    return outcome[canaries[:, 0].astype(int)]


def test_one_run_of_randomized_response_shows_much_of_its_epsilon():
    sound = one_run(response(2.0, 0), CANARIES, epsilon=2.0, score=told, random_state=0)
    assert 1.4 < sound.bound <= 2.0
    assert one_run(response(4.0, 0), CANARIES, epsilon=2.0, score=told, random_state=0).broken
    place = np.full((1000, 1), -1.0)
    replaced = one_run(response(4.0, 0), CANARIES, out=place, epsilon=2.0, score=told, random_state=0, guesses=1000)
    assert replaced.broken
    assert replaced.tried["guesses"] == 1000


def test_one_run_of_an_estimator_guesses_from_its_release():
    grid = np.stack(np.meshgrid(np.linspace(-0.9, 0.9, 8), np.linspace(-0.9, 0.9, 8)), axis=-1).reshape(-1, 2)
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), algorithm="hst")
    found = one_run(model, grid, random_state=1, noise_seed=1)
    assert not found.broken
    assert found.tried["canaries"] == 64
    with pytest.raises(ParameterError, match="score"):
        one_run(lambda table: 1.0, CANARIES, epsilon=1.0)
    with pytest.raises(ParameterError, match="guesses"):
        one_run(model, grid, guesses=100)
