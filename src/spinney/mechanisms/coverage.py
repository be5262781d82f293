"""The step size of private maximum coverage: how strongly each choice may lean toward a larger set.

Every step chooses a set by the exponential mechanism on the number of its rows that are not covered yet, at eps' a row, and the
rows it covers leave. A row moves choices only until it is covered, and the more it could move them the sooner it is covered: all
steps together cost little more than one (Gupta et al. 2010; Jones, Nguyen and Nguyen 2021).

Proof: ``proofs/coverage.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from spinney.mechanisms.drawing import Draw, NoiseSource
from spinney.privacy import Amount, Charge, Measure, Unit, round_up
from spinney.spaces import IntArray

#: A share of epsilon, and of log(1 / delta) an amount, that rounding may not use up.
MARGIN = 1e-9


def _approximate_step(epsilon: float, log_inverse: float) -> float:
    """Return eps' of a process that is (epsilon, exp(-log_inverse))-DP for one row added or removed."""
    return min(epsilon, math.log1p(epsilon / log_inverse))


def _group_penalty(epsilon: float, m: int) -> float:
    """Return by how much log(1 / delta) of one row exceeds that of m rows added one after another, each at epsilon."""
    return (m - 1) * epsilon + math.log(math.expm1(-m * epsilon) / math.expm1(-epsilon)) if m > 1 else 0.0


def step_epsilon(charge: Charge, unit: Unit, steps: int) -> Amount:
    """Return the largest eps' found for which the whole process, a public number of steps, costs at most its charge.

    The charge is pure epsilon; with a delta, steps are priced together, without one each for itself.
    """
    if charge.measure is not Measure.PURE:
        raise ValueError("a cover is paid for in epsilon")
    if charge.amount == math.inf:
        return math.inf
    m = unit.max_rows
    single = Fraction(charge.amount) / (m * (steps + 1 if unit.replaces else steps))
    if charge.delta == 0:
        return single
    total = float(charge.amount) * (1 - MARGIN)
    log_inverse = math.log(charge.delta.denominator) - math.log(charge.delta.numerator) + MARGIN
    if not unit.replaces:
        together = _approximate_step(total / m, log_inverse + _group_penalty(total / m, m))
    else:
        together, low, high = 0.0, 0.0, total / m
        for _ in range(60):  # m rows leave at eps' each and m come at epsilon each: look for the largest epsilon that fits
            epsilon = (low + high) / 2
            # Those that leave multiply delta by exp(m eps'), and eps' is at most epsilon, so m eps' at most half of the total.
            step = _approximate_step(epsilon, log_inverse + total / 2 + _group_penalty(epsilon, m))
            if m * (epsilon + step) <= total:
                together, low = max(together, step), epsilon
            else:
                high = epsilon
    return max(single, Fraction(together * (1 - MARGIN)))


def choose_cover(uncovered: IntArray, step: Amount, source: NoiseSource, rows: int | None = None) -> int:
    """Return one set, with probability proportional to exp(step * its rows that are not covered yet).

    One unit moves `rows` rows, both sides of a replacement counted: for who watches; the step has them already.
    """
    if step == math.inf:
        return int(np.argmax(uncovered))
    return int(source.draw(uncovered, Draw("gumbel", round_up(1 / Fraction(step)), "range", rows)))
