"""Rules 4 and 5 for PrivTree: the exact distribution of the released splits, against the price."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from spinney.mechanisms.source import SecureSource
from spinney.mechanisms.splitting import split_rule, worst_loss
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions.grow import Grow
from spinney.trees.quadtree import Splits

EPSILONS = [Fraction(1, 100), Fraction(1, 10), Fraction(1), Fraction(4), Fraction(20)]


def price(amount, measure=Measure.PURE):
    return Charge("test", "grow", measure, amount)


class ExactRule:
    """Log probabilities of a node's decision, from the rule's public constants alone, to 40 digits."""

    def __init__(self, rule):
        self.rule = rule
        self.cache = {}

    def logs(self, count, depth):
        """Return the logs of the probabilities to split and not to split a node."""
        rule = self.rule
        score = max(rule.threshold - rule.decay, count * rule.steps_per_row - depth * rule.decay)
        gap = rule.threshold - score
        if gap not in self.cache:
            with localcontext() as context:
                context.prec = 40
                alpha = (-1 / Decimal(rule.scale)).exp()
                # Discrete Laplace: P(noise > gap) = alpha^(gap + 1) / (1 + alpha) from gap -1 on; symmetric below.
                if gap >= 0:
                    above = alpha ** (gap + 1) / (1 + alpha)
                    self.cache[gap] = above.ln(), (1 - above).ln()
                else:
                    below = alpha**-gap / (1 + alpha)
                    self.cache[gap] = (1 - below).ln(), below.ln()
        return self.cache[gap]


def path_losses(exact, counts):
    """Log ratios of every outcome along the path of one added row: stop at each level, or split to the end."""
    total, losses = Decimal(0), []
    for depth, count in enumerate(counts):
        (split, stop), (split_after, stop_after) = exact.logs(count, depth), exact.logs(count + 1, depth)
        losses.append(total + stop_after - stop)
        total += split_after - split
    return [*losses, total], max(
        (exact.logs(count, depth)[1] - exact.logs(count + 1, depth)[1]) for depth, count in enumerate(counts)
    )


def count_sequences(rule, length, rng):
    """Falling counts along a path: constant, random, and such that scores stay as near the threshold as they can."""
    top = (rule.threshold + length * rule.decay + 60 * rule.scale) / rule.steps_per_row
    for count in sorted({*range(6), *np.linspace(0, top, 40).astype(int).tolist()}):
        yield [count] * length
    for _ in range(10):
        yield sorted(rng.integers(0, int(top) + 2, length).tolist(), reverse=True)
        yield sorted((top * rng.random(length) ** 8).astype(int).tolist(), reverse=True)
        keep = int(rng.integers(0, length))  # a crowd that leaves all at once
        yield [int(rng.integers(0, int(top) + 2))] * keep + [0] * (length - keep)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("threshold", [0, 3])
@pytest.mark.matrix
def test_no_path_of_counts_loses_more_than_the_price(epsilon, replace, threshold):
    rule = split_rule(price(epsilon), replace, threshold)
    exact = ExactRule(rule)
    rng = np.random.default_rng(5)
    worst_gain, worst_leaf, worst = Decimal(0), Decimal(0), Decimal(0)
    for length in (1, 12, 60):
        for counts in count_sequences(rule, length, rng):
            losses, leaf = path_losses(exact, counts)
            worst = max(worst, *map(abs, losses))
            worst_gain, worst_leaf = max(worst_gain, losses[-1]), max(worst_leaf, leaf)
    bound = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    assert worst <= bound
    if replace:  # one row arrives on a path of splits, another leaves a leaf
        worst = worst_gain + worst_leaf
        assert worst <= bound
    # Were the rule calibrated far too carefully, this search would show nothing: the worst path comes near the price.
    assert worst > bound * Decimal("0.9")


def trees(depth):
    """All outcomes below a node: None is a leaf, a pair is a split; the last level is not decided."""
    if depth == 0:
        return [None]
    below = trees(depth - 1)
    return [None, *itertools.product(below, below)]


def log_probability(tree, rows, exact, height, depth=0):
    """Log probability that the tree comes out for rows given as numbers of leaf cells."""
    if depth == height:
        return Decimal(0)
    split, stop = exact.logs(len(rows), depth)
    if tree is None:
        return stop
    half = 2 ** (height - depth - 1)
    left, right = [r for r in rows if r < half], [r - half for r in rows if r >= half]
    return split + sum(
        log_probability(child, part, exact, height, depth + 1) for child, part in zip(tree, (left, right), strict=True)
    )


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("max_rows", [1, 2])
@pytest.mark.parametrize(
    "charge",
    [price(Fraction(1)), price(Fraction(6)), price(Fraction(1, 2), Measure.ZCDP)],
    ids=["epsilon 1", "epsilon 6", "rho 1/2"],
)
def test_every_small_tree_is_within_the_charge_for_all_data_sets_of_three_rows(adjacency, max_rows, charge):
    height = 2
    unit = Unit(adjacency, max_rows)
    rule = split_rule(unit.tree_price(charge), unit.replaces)
    exact = ExactRule(rule)
    data = [rows for n in range(4) for rows in itertools.combinations_with_replacement(range(2**height), n)]
    tables = {rows: [log_probability(tree, list(rows), exact, height) for tree in trees(height)] for rows in data}
    with localcontext() as context:
        context.prec = 40
        for table in tables.values():
            assert abs(sum(log.exp() for log in table) - 1) < Decimal("1e-25")
    worst = Decimal(0)
    for one, other in itertools.product(data, repeat=2):
        left = list(one)
        gained = [row for row in other if row not in left or left.remove(row)]
        pair = (len(left), len(gained))
        near = max(pair) <= max_rows if unit.replaces else sum(pair) <= max_rows
        if near:
            worst = max(worst, *(abs(a - b) for a, b in zip(tables[one], tables[other], strict=True)))
    amount = charge.amount if charge.measure is Measure.PURE else Fraction(math.sqrt(2 * charge.amount))
    assert worst <= Decimal(amount.numerator) / Decimal(amount.denominator)
    assert worst > Decimal(float(amount)) / 6


def test_a_decay_of_one_step_is_the_least_and_losses_grow_without_it():
    assert worst_loss(40.0, 1, 16, False) > 5 * worst_loss(40.0, 28, 16, False)
    for epsilon in (Fraction(1, 1000), Fraction(50)):
        assert split_rule(price(epsilon), False).decay >= 1


def test_a_zcdp_price_buys_a_pure_epsilon_that_implies_it():
    for rho in (Fraction(1, 300), Fraction(1, 7), Fraction(5)):
        rule = split_rule(price(rho, Measure.ZCDP), False)
        epsilon = Fraction(worst_loss(rule.scale, rule.decay, rule.steps_per_row, False))
        assert epsilon**2 / 2 <= rho


def test_the_scores_that_get_noise_are_the_ones_in_the_proof(curator, charge):
    rows = np.array([[-0.9], [-0.6], [0.9], [0.3]])
    drawn = []

    class Source(SecureSource):
        def laplace(self, values, scale):
            drawn.append((values.tolist(), scale))
            return np.where(np.arange(values.size) == 0, 10**6, -(10**6))

    asked = charge("grow", amount=2)
    private = curator(rows, [asked], Source())
    private.ask(Grow(Splits.of(private.ground.domain), 1, 0), asked)
    rule = split_rule(price(Fraction(2)), False)
    expected = [[2, 2], [2, 0], [1, 1]]
    for depth, (scores, scale) in enumerate(drawn[:3]):
        assert scale == rule.scale
        assert scores == [max(-rule.decay, c * rule.steps_per_row - depth * rule.decay) for c in expected[depth]]
