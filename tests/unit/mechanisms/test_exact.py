"""Discrete Laplace and Gaussian noise: what is compiled draws what fractions draw, and these draw the law."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.audit.laws import noise_law
from spinney.mechanisms import exact
from spinney.mechanisms.exact import _DONE, _DOUBT, BITS, ERROR, LEAST, MOST, _exponent, _fill, _one, _proposed, _Words, add_exact

#: All scales that are compiled, and some of which numbers have few bits.
SCALES = st.one_of(
    st.floats(math.log2(LEAST), math.log2(MOST)).map(lambda power: min(max(2.0**power, LEAST), MOST)),
    st.sampled_from([LEAST, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0, 2.0**20, 2.0**30 + 1, MOST]),
)
KINDS = pytest.mark.parametrize("gaussian", [False, True], ids=["laplace", "gaussian"])


def parts(scale, gaussian):
    whole, over = (math.floor(scale) + 1, 1) if gaussian else scale.as_integer_ratio()
    return whole, over, scale if gaussian else 0.0


def filled(stream, count, scale, gaussian, more=1):
    """Return the noise that is compiled, more words drawn whenever there are none, and why it ends."""
    whole, over, sigma = parts(scale, gaussian)
    noise, done, why = np.zeros(count, dtype=np.int64), 0, None
    while why not in (_DONE, _DOUBT):
        done, why = _fill(stream.words, stream.place, noise, done, whole, over.bit_length() - 1, sigma)
        if why not in (_DONE, _DOUBT):
            stream.refill(more)
    return noise[:done].tolist(), why


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), SCALES, st.booleans(), st.sampled_from([1, 7, 1000]))
def test_what_is_compiled_is_what_fractions_draw_from_the_same_words(seed, scale, gaussian, more):
    """However few words there are at a time, and the next draw begins at the same one."""
    stream = _Words(np.random.default_rng(seed).bytes)
    noise, why = filled(stream, 4, scale, gaussian, more)
    same = _Words(np.random.default_rng(seed).bytes)
    assert [_one(same.word, *parts(scale, gaussian)) for _ in noise] == noise
    assert why == _DONE
    assert stream.words[stream.place[0] :].tolist()[:1] in ([], [same.word()])


class TooRareError(Exception):
    """A path is not followed."""


def paths(draw, least):
    """Yield what `draw(choose)` returns on every path that is likelier than `least`, and its probability.

    `choose` takes the probabilities of some ways, and returns which one is gone.
    """
    todo = [[]]
    while todo:
        ways, chance = todo.pop(), Fraction(1)
        gone = iter(list(ways))

        def choose(chances):
            nonlocal chance
            way = next(gone, None)  # noqa: B023
            if way is None:
                todo.extend([*ways, other] for other in range(1, len(chances)))  # noqa: B023
                ways.append(way := 0)  # noqa: B023
            chance *= chances[way]
            if chance <= least:
                raise TooRareError
            return way

        try:
            yield draw(choose), chance
        except TooRareError:
            continue


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(9, 10), Fraction(1)])
def test_coins_of_probability_p_decay_with_exp_minus_p(p, monkeypatch):
    def decays(choose):
        monkeypatch.setattr(exact, "_number", lambda _, bound: choose([Fraction(1, bound), 1 - Fraction(1, bound)]))
        return exact._decays(None, lambda: choose([1 - p, p]) == 1)

    found = sum(chance for falls, chance in paths(decays, Fraction(1, 10**15)) if falls)
    assert float(found) == pytest.approx(math.exp(-p), abs=1e-12)


@pytest.mark.parametrize("bits", [0, 2])
@pytest.mark.parametrize(
    ("scale", "gaussian"), [(1.5, False), (0.75, False), (1.0, False), (1.3, True), (0.5, True), (3.0, True)]
)
def test_all_coins_together_have_the_law(scale, gaussian, bits, monkeypatch):
    """Every path of coins has its probability; they add up to the law. A word of no bits decides nothing, of two sometimes."""
    monkeypatch.setattr(exact, "BITS", bits)
    whole, over, sigma = parts(scale, gaussian)
    words = [Fraction(1, 2**bits)] * 2**bits

    def propose(choose):
        ways = [choose]  # of the path, or of the one coin that is looked into

        def decays(word, coin):
            ways.append(None)

            def look(chosen):
                ways[-1] = chosen
                return coin()

            heads = sum(chance for shown, chance in paths(look, Fraction(0)) if shown)
            ways.pop()
            falls = Fraction(math.exp(-heads))
            return choose([1 - falls, falls]) == 1

        class Share(int):
            def __lt__(self, other):
                return ways[-1]([1 - Fraction(other, int(self)), Fraction(other, int(self))]) == 1

        def number(_, bound):
            return ways[-1]([Fraction(1, bound)] * bound) if bound in (2, whole) else Share(bound)

        monkeypatch.setattr(exact, "_decays", decays)
        monkeypatch.setattr(exact, "_number", number)
        return _proposed(lambda: ways[-1](words), whole, over, sigma)

    found = dict.fromkeys([None, *range(-60, 61)], Fraction(0))
    for value, chance in paths(propose, Fraction(1, 10**9)):
        found[value] += chance
    assert sum(found.values()) > 1 - 1e-6
    taken = 1 - found.pop(None)
    law = noise_law("gaussian" if gaussian else "laplace", scale, np.arange(-60, 61))
    np.testing.assert_allclose([float(chance / taken) for chance in found.values()], law, atol=1e-6)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(SCALES, st.floats(0, 40), st.booleans())
def test_exponents_are_off_by_less_than_the_proof_says(sigma, away, exactly):
    width = math.floor(sigma) + 1
    size = int(sigma * sigma / width) + int(exactly) if away < 1 else int(away * sigma) + 1
    variance = Fraction(sigma) ** 2
    true = (size - variance / width) ** 2 / (2 * variance)
    found, turns = _exponent(float(size), sigma, float(width))
    assert abs(Fraction(found) - true) <= (1 + true) * Fraction(ERROR) / 2
    assert 0 <= true - turns < 2


def test_a_coin_in_doubt_is_thrown_in_fractions_from_the_same_words():
    """Words are chosen so that all is decided but for one coin, which falls where the exponent does not tell."""
    sigma, width, size = 3.7, 4, 2
    variance = Fraction(sigma) ** 2
    edge = int((size - variance / width) ** 2 / (4 * variance) * 2**BITS)
    for away in (-(2**16), -1, 0, 1, 2**16):
        words = np.array([size, 3, 1, 0, edge + away, *np.random.default_rng(away + 2**20).integers(0, 2**BITS, 100)])
        stream, same = _Words(None), _Words(None)
        stream.words = same.words = words  # the part, and that it is kept; no turn; a sign; and the coin
        assert (filled(stream, 1, sigma, True)[1] == _DOUBT) == (abs(away) < 2**16)
        assert abs(away) == 2**16 or stream.place[0] == 0
        given = iter([(words << (64 - BITS)).astype(np.int64).tobytes(), *[bytes(10**4)] * 9])
        assert add_exact(np.array([7]), sigma, True, lambda _: next(given)) == 7 + _one(same.word, width, 1, sigma)  # noqa: B023


@KINDS
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-4, 2.0**55, 1e30, 1e300])
def test_scales_beyond_what_is_compiled_are_no_error(scale, gaussian):
    noisy = add_exact(np.array([3, -(2**61), 2**61]), scale, gaussian, np.random.default_rng(0).bytes)
    assert (noisy == [3, -(2**61), 2**61]).all() if scale < 1e-3 else (noisy != [3, -(2**61), 2**61]).all()
    assert np.abs(noisy).max() <= 2**63 - 1


@KINDS
def test_what_is_too_large_for_64_bits_is_saturated(gaussian):
    ends = np.repeat([2**63 - 1, -(2**63 - 1)], 50)
    noisy = add_exact(ends, 2.0**40, gaussian, np.random.default_rng(0).bytes).reshape(2, -1)
    assert (noisy[0] > 2**62).all()
    assert (noisy[1] < -(2**62)).all()
    assert (noisy[0] == 2**63 - 1).any()
    assert (noisy[1] == -(2**63 - 1)).any()


@KINDS
def test_shapes_are_kept_and_nothing_is_written_to(gaussian):
    values = np.arange(6).reshape(2, 3)[:, ::-1]
    assert add_exact(values, 2.0, gaussian, np.random.default_rng(0).bytes).shape == (2, 3)
    assert add_exact(values[:0], 2.0, gaussian, np.random.default_rng(0).bytes).shape == (0, 3)
    assert values.tolist() == [[2, 1, 0], [5, 4, 3]]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_a_scale_is_above_0_and_finite(scale):
    with pytest.raises(ValueError, match="scale above 0"):
        add_exact(np.zeros(1, dtype=np.int64), scale, False, np.random.default_rng(0).bytes)
