import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.mechanisms import SeededSource, splitting
from spinney.mechanisms.splitting import split_rule, worst_loss
from spinney.privacy.charges import Charge, Measure


def price(amount, measure=Measure.PURE):
    return Charge("a", "grow", measure, amount)


@pytest.mark.parametrize("threshold", [0, 7])
def test_without_noise_the_threshold_decides(threshold):
    rule = split_rule(price(math.inf), False, threshold)
    counts = np.arange(20)
    for depth in (0, 50):
        np.testing.assert_array_equal(rule.decide(counts, depth, SeededSource(0)), counts > threshold)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("amount", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_the_rule_is_within_its_price_and_close_to_it(amount, replace):
    rule = split_rule(price(amount), replace)
    loss = worst_loss(rule.scale, rule.decay, rule.steps_per_row, replace)
    assert Fraction(loss) <= amount
    # A slightly smaller scale, with its own decay, would not do.
    smaller = rule.scale * 0.999
    assert worst_loss(smaller, max(1, math.ceil(math.log(2) * smaller)), rule.steps_per_row, replace) > 0.98 * amount


def test_replacements_and_small_prices_need_more_noise():
    def rows(amount, replace):
        rule = split_rule(price(amount), replace)
        return rule.scale / rule.steps_per_row

    assert rows(Fraction(1), False) < rows(Fraction(1), True)
    assert rows(Fraction(1), False) < rows(Fraction(1, 10), False)


def test_full_nodes_split_empty_nodes_rarely_do_and_all_get_noise():
    rule = split_rule(price(Fraction(1)), False)
    source = SeededSource(0)
    assert rule.decide(np.full(100, 10**6), 3, source).all()
    empty = rule.decide(np.zeros(4000, dtype=np.int64), 30, source).mean()
    assert 0 < empty < 0.5


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("scale", "steps"), [(40.0, 1), (3000.0, 1), (3000.0, 16), (500.0, 256)])
@pytest.mark.parametrize("gamma", [math.log(2), 2.0])
def test_fewer_offsets_bound_the_loss_from_above_and_closely(monkeypatch, scale, steps, replace, gamma):
    decay = math.ceil(gamma * scale)
    monkeypatch.setattr(splitting, "MOST_OFFSETS", decay)
    exact = worst_loss(scale, decay, steps, replace)
    for most in (3, 100, decay // 2):
        monkeypatch.setattr(splitting, "MOST_OFFSETS", most)
        bound = worst_loss(scale, decay, steps, replace)
        assert bound >= exact
        assert most == 3 or bound <= 1.02 * exact


def split_chance(score, scale):
    """Return the chance that a score above the threshold by so much, plus discrete Laplace noise, is above it."""
    alpha = math.exp(-1 / scale)
    return 1 - alpha**score / (1 + alpha) if score > 0 else alpha ** (1 - score) / (1 + alpha)


@given(st.floats(0.4, 12), st.integers(1, 12), st.integers(1, 16))
def test_the_worst_loss_is_that_of_the_worst_of_all_paths(scale, decay, steps):
    worst = 0.0
    for offset in range(decay):  # from far below the clamp to far above, where a row more changes nothing
        scores = [offset + level * decay for level in range(-steps // decay - 5, math.ceil(60 * scale / decay) + 5)]
        chances = [(split_chance(max(-decay, y), scale), split_chance(max(-decay, y + steps), scale)) for y in scores]
        worst = max(worst, sum(math.log(after / before) for before, after in chances))
    leaf = steps / scale
    assert worst_loss(scale, decay, steps, False) == pytest.approx(max(worst, leaf), rel=1e-8)
    assert worst_loss(scale, decay, steps, True) == pytest.approx(worst + leaf, rel=1e-8)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("exponent", [3, 6, 9, 12])
def test_tiny_prices_are_calibrated_quickly_and_in_proportion(exponent, replace):
    splitting._calibrated.cache_clear()
    start = time.process_time()
    rule = split_rule(price(Fraction(1, 10**exponent)), replace)
    assert time.process_time() - start < 60  # of CPU: without care it is minutes, or never ends
    assert Fraction(worst_loss(rule.scale, rule.decay, rule.steps_per_row, replace)) <= Fraction(1, 10**exponent)
    wanted = split_rule(price(Fraction(1, 1000)), replace).scale * 10 ** (exponent - 3)
    assert rule.scale == pytest.approx(wanted, rel=0.2 if exponent == 12 else 0.002)


@pytest.mark.parametrize("replace", [False, True])
def test_a_slow_decay_needs_more_noise_and_stays_within_the_price(replace):
    """A path of many levels is decided by noise again and again, so a scale for the usual decay would be too small."""
    usual, slow = (split_rule(price(Fraction(1)), replace, gamma=gamma) for gamma in (math.log(2), 0.05))
    assert slow.scale > 4 * usual.scale
    assert worst_loss(usual.scale, math.ceil(0.05 * usual.scale), usual.steps_per_row, replace) > 4
    assert Fraction(worst_loss(slow.scale, slow.decay, slow.steps_per_row, replace)) <= 1


def test_prices_above_the_most_are_not_used_up():
    most = split_rule(price(Fraction(splitting.MOST_EPSILON)), False)
    assert split_rule(price(Fraction(10**9)), False) == most
    assert most.scale / most.steps_per_row < 0.01
