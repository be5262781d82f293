"""Sample and aggregate: plain clustering of random blocks of rows, a private tree over the centers of all blocks, one step.

Shechner, Sheffet and Stemmer 2020, section 7, after Nissim, Raskhodnikova and Smith 2007. Letters: k clusters, T blocks, D_i the
distance from center i to the next center.

1. ``columns``  noisy histograms of the rows' columns order the tree's splits.
2. ``splits``   rows come into T blocks by secret draws, plain clustering finds k centers in each, and PrivTree decides which
   cells of those k T points need to be smaller. A row replaces the k points of its block, so noise is k times the noise of rows.
3. ``leaves``   noisy counts of the points in the leaves: a private summary of the blocks' centers, clustered into k for free.
4. ``step``     each center goes toward the noisy mean (median) of its rows, offsets clipped to D_i / 3: noise as for any row.
5. ``sizes``    noisy sizes of the released clusters.

The published search for k balls, one after another, gives each a k-th of the budget; one tree serves all of them.

Proof: ``proofs/sample_aggregate.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.algorithms.columns import Densities
from spinney.algorithms.stable import NEAR, radii
from spinney.algorithms.step import take_step
from spinney.algorithms.summary import likely_leaves
from spinney.constraints import Constraint, check, is_integer, one_of
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Blocking, Blocks, ColumnBins, Counting, Counts, Grow, Splitting, Summing
from spinney.questions.blocks import MOST_BLOCKS, MOST_POINTS, SAMPLINGS, check_sampling
from spinney.questions.question import Kind, Question
from spinney.solvers.weighted import solve
from spinney.spaces import FloatArray
from spinney.trees.quadtree import Splits

#: Shares of epsilon, in hundredths.
SHARES = {"columns": 2, "splits": 35, "leaves": 40, "step": 20, "sizes": 3}
#: There are as many blocks as this many standard deviations of a leaf's noise, between these limits.
BLOCK_STDS, LEAST_BLOCKS, MOST_DEFAULT = 36, 64, 2**14
#: A cell is split if it holds more than this share of what a cluster has: one point of each block.
FINE_CELL = 1 / 8
#: Number of cells per cluster that the tree starts with, about.
START_CELLS = 2


@dataclass(frozen=True)
class SampleAggregate(Algorithm):
    """Plain clustering of blocks, a private tree over their centers, one private step.

    Parameters
    ----------
    n_blocks : int, optional
        Public. By default as many as the noise of the tree asks for: about 250 k / epsilon.
    sampling : {"disjoint", "replacement"}
        Whether each row comes into one block, or each block is a sample of n / (2 n_blocks) rows with replacement, as published:
        only for replaced rows in memory, where the number of rows is public.
    """

    n_blocks: int | None = None
    sampling: str = "disjoint"

    name = "sample-aggregate"

    def __post_init__(self) -> None:
        blocks = Constraint(
            lambda value: value is None or (is_integer(value) and 1 <= value <= MOST_BLOCKS),
            f"None or an int in [1, {MOST_BLOCKS}]",
            "leave it out: it then follows from k and epsilon, never from the rows.",
        )
        hint = "'disjoint' serves both relations; 'replacement' is the published one."
        check("SampleAggregate", vars(self), {"n_blocks": blocks, "sampling": one_of(SAMPLINGS, hint)})

    @property
    def backends(self) -> tuple[str, ...]:  # type: ignore[override]
        return Algorithm.backends if self.sampling == "disjoint" else ("memory",)  # a sample with replacement needs them

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        check_sampling(self.sampling, problem.unit, "SampleAggregate")
        kinds: dict[str, Kind] = {
            "columns": Counting(problem.n_features),
            "splits": Blocking(Splitting(), problem.k, self.sampling),
            "leaves": Blocking(Counting(), problem.k, self.sampling),
            "step": Summing(problem.kernel, problem.n_features),
        }
        return tuple(kinds.get(name, Counting()).part(name, Fraction(share, 100)) for name, share in SHARES.items())

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        points, weights = self._summary(purse, problem, rng)
        fillers = problem.domain.sample(problem.k, rng)
        centers = problem.domain.clip(solve(points, weights, problem.k, problem.power, rng, fillers).centers)
        step = take_step(purse, problem, centers, radii(problem, centers, NEAR), "step")
        return Result.asked(purse, step.centers, points, weights, supported=problem.k, margins=step.margins)

    def _summary(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the centers of blocks as private weighted points; weights are in rows of an average block's share."""
        k, seed = problem.k, int(rng.integers(2**31))
        std = purse.preview(Blocking(Counting(), k, self.sampling), "leaves").std
        blocks = self.blocks_of(k, std)

        def ask(about: Question[Any], name: str) -> Any:
            return purse.ask(name, Blocks(about, k, blocks, problem.power, self.sampling, seed))

        columns = purse.ask("columns", Counts(ColumnBins()))
        bins = columns.private_counts.astype(np.float64)
        n = max(float(bins.sum(axis=1).mean()), 1.0)  # every column says it, each with noise of its own
        splits = Splits.of(problem.domain, Densities.likely(problem.domain, bins, n, columns.noise).shares)
        start = min(max(math.ceil(math.log2(START_CELLS * k)), 0), splits.depth)
        leaves = ask(Grow(splits, start, int(FINE_CELL * blocks)), "splits").leaves
        answer = ask(Counts(leaves), "leaves")
        full, weights = likely_leaves(answer.private_counts, answer.noise, leaves.depths > start)
        return leaves.representatives()[full], weights[full]

    def blocks_of(self, k: int, std: float) -> int:
        """Return the number of blocks, given the public noise of a leaf."""
        if self.n_blocks is not None:
            return min(int(self.n_blocks), MOST_POINTS // k)
        return int(np.clip(math.ceil(BLOCK_STDS * std), LEAST_BLOCKS, min(MOST_DEFAULT, MOST_POINTS // k)))
