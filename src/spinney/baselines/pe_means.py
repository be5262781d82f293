"""PE-means: candidate centers evolve, guided by noisy counts of the rows nearest to each (Humphries et al. 2026).

Letters: k clusters, d columns, n rows, T generations, L mutants of each center.

1. ``rows``          a noisy number of rows; L is n / (5 k) at first.
2. Public: (L + 1) k candidates, apart from each other as balls packed into the domain are.
3. ``generation i``  noisy counts of the rows nearest to each candidate. The largest that add up to n are kept, the others are
   zero. Plain clustering of the candidates, weighted by them, gives k centers.
4. Public: each center and L mutants of it are the next candidates: Levy flights, whose steps are short and now and then long.
   Where what was kept is no more than noise alone would be, L is halved.
5. ``sizes``         noisy sizes of the centers of the last generation.

As published, n is public: it sets L, and how many counts are kept. Here it is asked. Candidates are at most `MOST_CANDIDATES`.
The published variant for many columns counts in a random subspace and adds up rows over its cells; the noise of such a sum is
one number for all columns, which hides no row, so it is left out. It is here for comparison: the default is better.

Proof: ``proofs/pe_means.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.constraints import Constraint, check, is_integer
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Counts, Rings, Whole
from spinney.solvers.weighted import solve
from spinney.spaces import Domain, FloatArray

#: Hundredths of epsilon; all generations have equal parts.
SHARES = {"rows": 2, "generations": 95, "sizes": 3}
#: Generations by default: this times the root of d, and times epsilon if it is above 1; at most this number.
GENERATIONS, MOST_GENERATIONS = 4, 256
#: There are n / ROWS_EACH candidates, but at least LEAST_MUTANTS of each center, and at most as many in all, unless k is larger.
ROWS_EACH, LEAST_MUTANTS, MOST_CANDIDATES = 5, 4, 2**13
#: The exponent of Levy flights, and their scale in half diagonals of the domain.
EXPONENT, SCALE = 1.75, 0.01
#: Balls are packed at random; after so many misses in a row with half the radius.
MISSES = 100


@dataclass(frozen=True)
class PEMeans(Algorithm):
    """Generations of candidates, each with noisy counts of the rows nearest to them.

    Parameters
    ----------
    generations : int, optional
        T; in [1, 256]. By default 4 sqrt(d), times epsilon if that is above 1.
    """

    generations: int | None = None

    name = "pe-means"

    def __post_init__(self) -> None:
        lawful = Constraint(
            lambda value: value is None or (is_integer(value) and 1 <= value <= MOST_GENERATIONS),
            f"None or an int in [1, {MOST_GENERATIONS}]",
            "leave it out: it then follows from columns and epsilon, never from the rows.",
        )
        check("PEMeans", vars(self), {"generations": lawful})

    def _generations(self, problem: PointProblem) -> int:
        if self.generations is not None:
            return int(self.generations)
        plain = int(GENERATIONS * math.sqrt(problem.n_features))
        return int(min(max(float(problem.budget.epsilon), 1.0) * plain, MOST_GENERATIONS))

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        shares, generations = {name: Fraction(share, 100) for name, share in SHARES.items()}, self._generations(problem)
        return (
            Counting().part("rows", shares["rows"]),
            *(Counting().part(f"generation {i}", shares["generations"] / generations) for i in range(1, generations + 1)),
            Counting().part("sizes", shares["sizes"]),
        )

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        domain, k = problem.domain, problem.k
        n = max(int(purse.ask("rows", Counts(Whole())).private_counts[0]), 1)
        mutants = max(min(n // ROWS_EACH, MOST_CANDIDATES) // k, LEAST_MUTANTS)
        candidates = packed(domain, (mutants + 1) * k, rng)
        for i in range(1, self._generations(problem) + 1):
            answer = purse.ask(f"generation {i}", Counts(Rings(candidates)))
            weights = kept(answer.private_counts, n)
            centers = domain.clip(solve(candidates, weights, k, problem.power, rng, domain.sample(k, rng)).centers)
            points = candidates
            if (weights**2).sum() < len(weights) * answer.noise.std**2:
                mutants = max(mutants // 2, LEAST_MUTANTS)
            candidates = np.vstack([centers, flown(domain, np.repeat(centers, mutants, axis=0), rng)])
        return Result.asked(purse, centers, points[weights > 0], weights[weights > 0])


def kept(counts: np.ndarray, n: int) -> FloatArray:
    """Return the largest counts, as many as it takes to reach n, or all that are not negative; 0 for the others."""
    ordered = np.sort(counts)[::-1]
    reached = np.flatnonzero(np.cumsum(ordered) >= n)
    return np.where(counts >= max(ordered[reached[0]] if len(reached) else 0, 0), counts, 0).astype(np.float64)


def packed(domain: Domain, count: int, rng: np.random.Generator) -> FloatArray:
    """Return public points: middles of equal balls in the domain that do not overlap, as large as random tries find them."""
    radius, found = domain.half_diagonal / 2, np.empty((count, domain.n_features))
    filled = 0
    while filled < count:
        filled, missed, shrunk = 0, 0, 1 - radius / domain.half_diagonal
        while filled < count and missed < MISSES:
            found[filled] = domain.center + shrunk * (_drawn(domain, rng) - domain.center)
            gaps = found[:filled] - found[filled]
            is_apart = np.einsum("ij,ij->i", gaps, gaps).min(initial=np.inf) >= (2 * radius) ** 2
            filled, missed = (filled + 1, 0) if is_apart else (filled, missed + 1)
        radius /= 2
    return domain.clip(found)


def _drawn(domain: Domain, rng: np.random.Generator) -> FloatArray:
    """Return a point drawn evenly from a box, or from a ball."""
    if not math.isfinite(domain.radius):
        return np.asarray(domain.sample(1, rng)[0])
    direction = bells(rng, (domain.n_features,))
    length = domain.radius * rng.random() ** (1 / domain.n_features) / math.sqrt(float(direction @ direction))
    return np.asarray(domain.clip(domain.center + length * direction))


def bells(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return public normal numbers, made of even ones as Box and Muller do."""
    return np.asarray(np.sqrt(-2 * np.log1p(-rng.random(shape))) * np.cos(2 * np.pi * rng.random(shape)))


def flown(domain: Domain, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return points after a Levy flight each, by the quotient of two normal numbers that Mantegna found."""
    b = EXPONENT
    wide = math.gamma(1 + b) * math.sin(math.pi * b / 2) / (math.gamma((1 + b) / 2) * b * 2 ** ((b - 1) / 2))
    steps = wide ** (1 / b) * bells(rng, points.shape) / np.maximum(np.abs(bells(rng, points.shape)), 1e-9) ** (1 / b)
    return domain.clip(points + SCALE * domain.half_diagonal * steps)
