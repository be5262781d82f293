"""A ledger states the worst that its plans allow to be asked: algorithms that pool all they may never pass the stated total.

What was really asked is composed exactly: a pure charge as randomized response, which no pure mechanism exceeds, and a charge in
rho as discrete Gaussian noise. Losses lie on a fine grid, rounded down, and tails are cut off: the delta found is never above the
true one.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.signal import fftconvolve

from spinney import BudgetError, Ledger, PrivateKMeans
from spinney.algorithms import Algorithm, Result
from spinney.ledgers.filter import Tally
from spinney.privacy.charges import Charge, Measure
from spinney.questions import Counting, Counts, Summing, Whole

ROWS = np.random.default_rng(0).uniform(size=(30, 5))
STEP = 5e-4


class Pooling(Algorithm):
    """Asks for the number of rows, again and again, each time with all that may be pooled, in groups as public draws have it."""

    name, backends = "pooling", ("memory",)

    def __init__(self, seed):
        self.seed = seed

    def parts(self, problem):
        rng = np.random.default_rng(self.seed)
        shares = rng.integers(1, 20, rng.integers(2, 12)).tolist()
        kinds = [Counting(), Counting(int(rng.integers(1, 30))), Summing("mean", problem.n_features)]
        return tuple(kinds[rng.integers(3)].part(f"p{i}", Fraction(one, sum(shares))) for i, one in enumerate(shares))

    def run(self, curator, problem, charges, rng):
        for measure in Measure:
            left = [charge for charge in charges.values() if charge.measure is measure]
            groups = np.random.default_rng([self.seed, 1]).integers(0, np.random.default_rng(self.seed).integers(1, 4), len(left))
            for group in set(groups.tolist()):
                some = [charge for charge, place in zip(left, groups, strict=True) if place == group]
                curator.ask(Counts(Whole()), curator.pool(some, "counts"))
        return Result(problem.domain.lower[None], np.ones(1), Counting().noise(some[0], curator.unit), ROWS[:0], np.empty(0))


def losses_of(charge):
    """Return the losses of one answer and their probabilities, given that the row is there."""
    amount = float(charge.amount)
    if charge.measure is Measure.PURE:
        return np.array([amount, -amount]), np.array([1.0, np.exp(-amount)]) / (1 + np.exp(-amount))
    reach = int(9 / np.sqrt(2 * amount)) + 5
    at = np.arange(-reach, reach + 1.0)
    chances = np.exp(-amount * at**2)
    return amount * (1 - 2 * at), chances / chances.sum()  # against noise around 1


def _two_points(total, one):
    ends = np.flatnonzero(one)
    found = np.zeros(len(total) + len(one) - 1)
    for end in ends:
        found[end : end + len(total)] += one[end] * total
    return found


def composed_delta(charges, epsilon):
    """Return the delta at this epsilon of all answers together; losses are rounded down to the grid."""
    first, total = 0, np.ones(1)
    for charge in charges:
        losses, chances = losses_of(charge)
        places = np.floor(losses / STEP).astype(int)
        one = np.bincount(places - places.min(), weights=chances)
        spread = fftconvolve if np.count_nonzero(one) > 2 else _two_points
        total, first = np.clip(spread(total, one), 0, None), first + int(places.min())
    over = STEP * (first + np.arange(len(total))) - epsilon
    return float(total @ np.clip(-np.expm1(-over), 0, None))


@pytest.mark.parametrize("seed", range(10))
def test_what_was_asked_never_exceeds_the_stated_total(seed, tmp_path):
    rng = np.random.default_rng(seed)
    epsilon, delta = float(rng.choice([0.5, 1.0, 3.0])), float(rng.choice([1e-5, 1e-3]))
    ledger, asked = Ledger(tmp_path / "ledger", epsilon, delta), []
    for plan in range(20):
        budget = {"epsilon": epsilon / float(rng.choice([8, 20, 60])), "delta": float(rng.choice([0, delta / 10]))}
        model = PrivateKMeans(1, **budget, bounds=(0, 1), algorithm=Pooling(100 * seed + plan))
        try:
            asked += model.fit(ROWS, ledger=ledger).release_.charges
        except BudgetError:
            break
    assert any(" + " in charge.name for charge in asked)
    assert composed_delta(asked, ledger.spent) <= delta * (1 + 1e-9)


def test_a_thousand_small_charges_of_one_release_are_one_large_charge(tmp_path):
    ledger = Ledger(tmp_path / "ledger", 1, 1e-5)
    many = [Charge(f"c{i}", "counts", Measure.PURE, Fraction(1, 200)) for i in range(1000)]
    with pytest.raises(BudgetError, match="epsilon 5"):
        ledger.spend(many)
    assert ledger.spent == 0


def test_charges_counted_one_by_one_would_be_seen():
    """The search above can fail: so were charges added up before."""
    charges = [Charge(f"c{i}", "counts", Measure.PURE, Fraction(1, 200)) for i in range(1000)]
    one_by_one = float(Tally([charge] for charge in charges).epsilon(Fraction(1, 10**5)))
    pooled = [Charge("all", "counts", Measure.PURE, Fraction(5))]
    assert composed_delta(charges, one_by_one) < 1e-5 < 0.9 < composed_delta(pooled, one_by_one)
