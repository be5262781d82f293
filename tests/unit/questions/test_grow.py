"""A tree that starts below its root decides as if its first level were the root: what is discounted counts from there."""

import numpy as np
import pytest

from spinney.privacy import Charge, Measure, Unit
from spinney.questions.ground import Ground
from spinney.questions.grow import Grow, Splitting
from spinney.spaces.box import Box
from spinney.trees.quadtree import Splits


class Seen:
    """Rows and rule in one: what is asked of them is noted, and every cell is split."""

    def __init__(self):
        self.depths = []

    def exact(self, cells, ahead):
        return np.zeros(len(cells), dtype=np.int64)

    def decide(self, counts, depth, source, moved_rows):
        self.depths.append(depth)
        return np.full(len(counts), True)


@pytest.mark.parametrize("start", range(5))
def test_decisions_are_discounted_from_the_level_at_which_the_tree_starts(start, monkeypatch):
    whole, seen = Splits.of(Box(-1, 1).domain(2)), Seen()
    splits = Splits(whole.domain, tuple(part[:4] for part in whole.route), whole.densities)
    monkeypatch.setattr(Splitting, "noise", lambda *given: seen)
    Grow(splits, start, 0).answer(seen, Ground(whole.domain), Charge("a", "grow", Measure.PURE, 1), Unit(), None)
    assert seen.depths == list(range(splits.depth - start))
