"""What the split decisions of a private tree can lose, bounded a second time, from the statement in ``proofs/splitting.md``.

A row lies on one path of cells. With it, scores on that path are higher by at most `steps`; they fall by at least `decay` from
level to level, and are cut off below at the threshold less `decay`. A path's splits lose most if scores are just `decay` apart,
so only where they start is searched. Plain floats, with a margin above their rounding that is a tenth of what calibration leaves.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

#: Starts that are tried; between two of them each term is at most the larger of its ends. Twice as many as calibration tries,
#: among them the same, so that no lawful rule is refused.
STARTS = 2048
#: Terms behind this many scales are bounded together.
REACH = 45.0
#: More terms than this are not added up: a lawful rule has some seventy levels.
MOST_TERMS = 400_000
RELATIVE, ABSOLUTE = 1e-10, 5e-14


def _log_split(score: float, scale: float) -> float:
    """Return the logarithm of the chance that a score above 1, relative to the threshold, plus noise exceeds the threshold."""
    return math.log1p(-math.exp(-score / scale) / (1 + math.exp(-1 / scale)))


def _gain(score: float, steps: int, decay: int, scale: float) -> float:
    """Return by how much a row raises the logarithm of the chance of a split: linear in the score up to 1, bent above."""
    before, after = max(-float(decay), score), max(-float(decay), score + steps)
    linear = (min(after, 1.0) - min(before, 1.0)) / scale
    bent = _log_split(after, scale) - _log_split(max(before, 1.0), scale) if after > 1 else 0.0
    return linear + bent


@lru_cache(2**12)
def split_loss(scale: float, decay: int, steps: int, replace: bool) -> float:
    """Return a bound on the loss of all decisions together for one row; infinity if it is not worked out.

    The scale is of discrete Laplace noise, scores fall by the decay from level to level, and a row has steps: all in steps.
    """
    count = min(decay, STARTS)
    if not (scale > 0 and decay >= 1 and steps >= 1) or count * ((REACH * scale + steps) / decay + 5) > MOST_TERMS:
        return math.inf
    lowest = -(steps // decay + 2)
    levels = range(lowest, math.ceil(REACH * scale / decay) + 2)
    starts = sorted({decay * i // count for i in range(count + 1)})
    rows = [[_gain(start + level * decay, steps, decay, scale) for level in levels] for start in starts]
    if len(starts) <= decay:
        rows = [list(map(max, one, other)) for one, other in pairwise(rows)]
    tail = 2 * math.exp(-REACH) / -math.expm1(-decay / scale)
    path, leaf = max(map(math.fsum, rows)) + tail, steps / scale
    return (path + leaf if replace else max(path, leaf)) * (1 + RELATIVE) + ABSOLUTE
