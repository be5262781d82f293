from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spinney.audit.sources import DivergedError, FrozenSource, NoiselessSource
from spinney.mechanisms import Draw, Drawn, SecureSource, SeededSource, Watched, randomizers
from spinney.mechanisms.randomizers import CHUNK, Responses, binomials, responses

RULE = Responses((50, 50, 0), 2**31, 2**30)
VALUES = np.array([50, 0, 0])


@pytest.mark.parametrize("source", [SecureSource(), SeededSource(0)])
def test_sources_draw_responses_of_as_many_users_as_there_are(source):
    found = source.responses(VALUES, RULE)
    assert found.dtype == np.int64
    assert (found >= 0).all()
    assert (found <= [50, 50, 0]).all()


def test_certain_chances_are_certain():
    assert responses(VALUES, Responses((50, 50, 0), 2**32, 0), np.random.default_rng(0).bytes).tolist() == [50, 0, 0]
    assert binomials(np.array([5]), 2**32, np.random.default_rng(0).bytes).tolist() == [5]


def test_one_slot_of_more_users_than_are_drawn_at_once():
    coins = 64 * CHUNK + 100
    found = binomials(np.array([coins, 0]), 2**31, np.random.default_rng(0).bytes)
    assert abs(int(found[0]) - coins / 2) < 6 * np.sqrt(coins) / 2


def test_sharper_responses_lose_more():
    unary, bit = RULE.sharper(0.5), Responses((5,), 2**32 - 2**30, 2**30).sharper(0.5)
    assert unary.own == 2**31
    assert (2**32 - unary.other) / unary.other == pytest.approx(9)
    assert bit.own == 2**32 - bit.other == pytest.approx(0.9 * 2**32)


def test_an_observer_is_told_of_responses_and_they_can_be_repeated():
    seen = []
    watched = Watched(SeededSource(0), seen.append)
    draw = Draw("responses", 1.0, "users", 1, rule=RULE)
    first = watched.draw(VALUES, draw)
    second = Watched(SeededSource(1), seen.append, 0.5).draw(VALUES, draw)
    assert [type(event) for event in seen] == [Drawn, Drawn]
    assert seen[0].draw.rule == RULE
    assert seen[1].draw.rule == RULE.sharper(0.5)
    frozen = FrozenSource((seen[0],))
    assert (frozen.draw(VALUES + 0, draw) == first).all()
    assert second.shape == VALUES.shape
    with pytest.raises(DivergedError, match="another distribution, scale, size or rule"):
        FrozenSource((seen[0],)).draw(VALUES, replace(draw, rule=RULE.sharper(0.5)))
    assert NoiselessSource().draw(VALUES, draw).tolist() == VALUES.tolist()


@given(st.integers(0, 2**32), st.integers(0, 2**32 - 1) | st.integers(-3, 3))
@example(2**32 - 1, -1)
@example(2**32 - 1, -2)
@example(2**31 + 1, 0)
def test_a_user_says_so_exactly_if_the_number_of_their_bits_is_below_the_chance(chance, number):
    number = min(max(chance + number, 0), 2**32 - 1) if abs(number) <= 3 else number
    bits = iter(f"{number:032b}")
    found = binomials(np.array([1]), chance, lambda count: int(next(bits)).to_bytes(count, "little"))
    assert found.tolist() == [number < chance]


@given(
    st.lists(st.sampled_from([0, 1, 63, 64, 65, 128, 640]) | st.integers(0, 700), min_size=1), st.integers(1, 6), st.integers(0)
)
def test_heads_are_the_bits_of_each_slot_however_many_are_drawn_at_once(coins, chunk, seed):
    words = np.random.default_rng(seed).bytes(8 * sum(-(-number // 64) for number in coins))
    bits, drawn_words, start = np.unpackbits(np.frombuffer(words, dtype=np.uint8), bitorder="little"), iter(words), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(randomizers, "CHUNK", chunk)
        found = randomizers._heads(np.array(coins), lambda count: bytes(next(drawn_words) for _ in range(count)))
    for number, heads in zip(coins, found, strict=True):
        assert heads == bits[start : start + number].sum()
        start += -(-number // 64) * 64
    assert next(drawn_words, None) is None


def test_users_who_draw_the_threshold_itself_are_not_below_it():
    assert binomials(np.array([7]), 2**32 - 1, lambda count: b"\xff" * count).tolist() == [0]
