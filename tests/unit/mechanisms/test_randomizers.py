import numpy as np
import pytest

from spinney.audit.sources import DivergedError, FrozenSource, NoiselessSource
from spinney.mechanisms.drawing import Draw, Drawn, Watched, drawn
from spinney.mechanisms.randomizers import CHUNK, Responses, binomials, responses
from spinney.mechanisms.source import SecureSource, SeededSource

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
    first = watched.responses(VALUES, RULE)
    second = drawn(VALUES, Draw("responses", 1.0, "users", 1, rule=RULE), Watched(SeededSource(1), seen.append, 0.5))
    assert [type(event) for event in seen] == [Drawn, Drawn]
    assert seen[0].draw.rule == RULE
    assert seen[1].draw.rule == RULE.sharper(0.5)
    frozen = FrozenSource((seen[0],))
    assert (frozen.responses(VALUES + 0, RULE) == first).all()
    assert second.shape == VALUES.shape
    with pytest.raises(DivergedError, match="other responses"):
        FrozenSource((seen[0],)).responses(VALUES, RULE.sharper(0.5))
    assert NoiselessSource().responses(VALUES, RULE).tolist() == VALUES.tolist()


def test_users_who_draw_the_threshold_itself_are_not_below_it():
    assert binomials(np.array([7]), 2**32 - 1, lambda count: b"\xff" * count).tolist() == [0]
