"""Discrete Laplace and Gaussian noise: what is compiled draws what fractions draw, and these draw the law."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alarms import check_frequencies
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


@settings(max_examples=120, deadline=None, derandomize=True)
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
@pytest.mark.matrix
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


@settings(max_examples=160, deadline=None, derandomize=True)
@given(SCALES, st.floats(0, 40), st.booleans())
def test_exponents_are_off_by_less_than_the_proof_says(sigma, away, exactly):
    width = math.floor(sigma) + 1
    size = int(sigma * sigma / width) + int(exactly) if away < 1 else int(away * sigma) + 1
    variance = Fraction(sigma) ** 2
    true = (size - variance / width) ** 2 / (2 * variance)
    found, turns = _exponent(float(size), sigma, float(width))
    assert abs(Fraction(found) - true) <= (1 + true) * Fraction(ERROR) / 2
    assert 0 <= true - turns < 2


def test_no_exponent_has_more_taken_off_than_it_is():
    """The nearest float may be a whole number, and the exponent a little less."""
    sigma, size = 2.0**50, 3377699720527871
    assert _exponent(float(size), sigma, sigma + 1)[1] == 1


@settings(max_examples=120, deadline=None, derandomize=True)
@given(SCALES, st.floats(0, 8), st.integers(0, 2**32), st.sampled_from([-2.0, -0.4, 0.0, 0.4, 2.0]))
def test_a_coin_in_doubt_is_thrown_in_fractions_from_the_same_words(sigma, away, seed, apart):
    """Words lead to a proposal, and to its last coin, which falls within the error of its exponent or beyond."""
    whole, over, _ = parts(sigma, True)
    turns, part = divmod(int(away * sigma), whole)
    variance, size = Fraction(sigma) ** 2, part + whole * turns
    exponent = (size - variance / whole) ** 2 / (2 * variance)
    taken = _exponent(float(size), sigma, float(whole))[1]
    # The part, and that it is kept; turns, of which 0, 1 goes on, and the end of them; a sign; and turns of the exponent.
    kept = [] if whole == 1 else [whole - 1]
    sure = [*([part] if whole > 1 else []), *kept, *[0, 1] * turns, 1, 0, *[0, 1] * taken]
    edge = int(((exponent - taken) / 2 + Fraction(apart) * Fraction(ERROR) * (1 + exponent)) * 2**BITS)
    later = np.random.default_rng(seed).integers(0, 2**BITS, 400)
    words = np.array([*sure, min(max(edge, 0), 2**BITS - 1), *later], dtype=np.int64)
    stream, same = _Words(None), _Words(None)
    stream.words = same.words = words
    noise, why = filled(stream, 1, sigma, True)
    if abs(apart) < 1:
        assert (why, stream.place[0]) == (_DOUBT, 0)
    elif edge > 0:
        assert why == _DONE
        assert noise == [_one(same.word, whole, over, sigma)]
    drawn, same.place[0] = iter([(words << (64 - BITS)).tobytes(), *[bytes(10**4)] * 9]), 0
    assert add_exact(np.array([7]), sigma, True, lambda _: next(drawn)) == 7 + _one(same.word, whole, over, sigma)


@pytest.mark.parametrize("scale", [math.nextafter(2 * LEAST, 0), math.nextafter(MOST, 0), MOST, (2**53 - 1) / 8])
def test_more_turns_than_64_bits_hold_are_counted_in_fractions(scale):
    whole, over, _ = parts(scale, False)
    for turns in (1022, 1023, 1024, 1025):
        words = [*([whole - 1, whole - 1] if whole > 1 else []), *[0, 1] * turns, 1, 1]
        stream, same = _Words(None), _Words(None)
        stream.words = same.words = np.array(words, dtype=np.int64)
        noise, why = filled(stream, 1, scale, False)
        assert why == (_DOUBT if turns >= 1024 else _DONE)
        assert noise == [-((whole - 1 + whole * turns) // over)][: len(noise)]
        assert _one(same.word, whole, over, 0.0) == -((whole - 1 + whole * turns) // over)


@pytest.mark.parametrize("bound", [2**61 + 1, 2**62, 2**62 + 1, 3 * 2**100])
def test_numbers_below_large_bounds_take_several_words(bound):
    for number in (0, 1, bound // 3, bound - 1):
        count = -(-(bound - 1).bit_length() // BITS)
        given = iter([number >> BITS * place & (2**BITS - 1) for place in reversed(range(count))])
        assert exact._number(lambda: next(given), bound) == number  # noqa: B023
        assert next(given, None) is None


@KINDS
@pytest.mark.parametrize("scale", [2.0**56, 1e30, 1e200])
@pytest.mark.matrix
def test_wide_noise_has_its_law(scale, gaussian):
    """Over the scale it is nearly continuous; its last digits are even, and its rows of 62 bits are all there."""
    from scipy.stats import laplace, norm

    stream = _Words(np.random.default_rng(5).bytes)
    draws = [_one(stream.word, *parts(scale, gaussian)) for _ in range(1500)]
    law = norm if gaussian else laplace
    places = np.searchsorted(law.ppf(np.linspace(0.1, 0.9, 9)), [float(Fraction(draw) / Fraction(scale)) for draw in draws])
    check_frequencies(np.bincount(places, minlength=10), np.full(10, 0.1), 1e-6)
    digits = [(abs(draw) >> int(math.log2(scale)) // 2) % 4 for draw in draws]
    check_frequencies(np.bincount(digits, minlength=4), np.full(4, 0.25), 1e-6)


@pytest.mark.parametrize("sigma", [1e-200, 1e200])
def test_far_proposals_are_not_taken_where_floats_cannot_tell(sigma):
    stream, size = _Words(np.random.default_rng(5).bytes), max(int(6 * Fraction(sigma)), 1)
    assert not any(exact._taken(stream.word, size, sigma, int(sigma) + 1) for _ in range(200))


@KINDS
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-4, 2.0**55, 1e30, 1e300])
def test_scales_beyond_what_is_compiled_are_no_error(scale, gaussian):
    noisy = add_exact(np.array([3, -(2**61), 2**61]), scale, gaussian, np.random.default_rng(0).bytes)
    assert (noisy == [3, -(2**61), 2**61]).all() if scale < 1e-3 else (noisy != [3, -(2**61), 2**61]).all()
    assert np.abs(noisy).max() <= 2**63 - 1


@KINDS
def test_what_is_too_large_for_64_bits_is_saturated(gaussian):
    ends = np.repeat([2**63 - 1, -(2**63)], 50)
    for scale in (2.0**40, 2.0**58):  # compiled, and in fractions
        noisy = add_exact(ends, scale, gaussian, np.random.default_rng(0).bytes).reshape(2, -1)
        assert (noisy[0] > 2**61).all()
        assert (noisy[1] < -(2**61)).all()
        assert 10 < (noisy[0] == 2**63 - 1).sum() < 40
        assert 10 < (noisy[1] == -(2**63 - 1)).sum() < 40
        assert (noisy != -(2**63)).all()
    values = np.array([-(2**63)])
    assert add_exact(values, 0.002, gaussian, np.random.default_rng(0).bytes) == -(2**63 - 1)
    values = np.arange(-50, 50)
    assert (add_exact(values, 0.002, gaussian, np.random.default_rng(0).bytes) == values).all()


@KINDS
def test_shapes_are_kept_and_nothing_is_written_to(gaussian):
    values = np.arange(6).reshape(2, 3)[:, ::-1]
    assert add_exact(values, 2.0, gaussian, np.random.default_rng(0).bytes).shape == (2, 3)
    assert add_exact(values[:0], 2.0, gaussian, np.random.default_rng(0).bytes).shape == (0, 3)
    assert values.tolist() == [[2, 1, 0], [5, 4, 3]]


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan, 2**40, np.float32(1.3), np.float64(1.3), Fraction(4, 3)])
def test_a_scale_is_a_finite_float_above_0(scale):
    with pytest.raises(ValueError, match="scale above 0"):
        add_exact(np.zeros(1, dtype=np.int64), scale, False, np.random.default_rng(0).bytes)


@pytest.mark.parametrize("dtype", [np.uint64, np.int32, np.float64])
def test_values_are_numbers_of_64_bits(dtype):
    with pytest.raises(ValueError, match="64 bits"):
        add_exact(np.zeros(1, dtype=dtype), 1.0, False, np.random.default_rng(0).bytes)


@pytest.mark.parametrize("gaussian", [False, True])
def test_noise_of_every_scale_leaves_all_remainders(gaussian):
    rng = np.random.default_rng(0)
    for power in range(3, 56, 4):  # noise of even steps alone, say, would show whether a value is even
        noise = add_exact(np.zeros(400, dtype=np.int64), 2.0**power, gaussian, rng.bytes)
        assert all(set(noise % base) == set(range(base)) for base in (2, 3, 7)), power
