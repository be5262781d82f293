"""One run: many canaries in or out by coin, guesses from one outcome, and what the number of right ones says about epsilon.

The bound is by Steinke, Nasr and Jagielski, "Privacy auditing with one (1) training run" (2023). Of m canaries, each in the
table by its own fair coin, r are guessed and v of the guesses are right. If what ran is (epsilon, delta)-private, then
P(V >= v) <= P(W >= v) + delta max_i (2m / i) P(v > W >= v - i), with W binomial: r trials of chance 1 / (1 + exp(-epsilon)).
The largest epsilon whose bound on that chance stays below 1 - confidence is shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.audit.black_boxes import promise_of, runner
from spinney.audit.findings import Finding
from spinney.audit.pairs import Pair
from spinney.constraints import check, integer, real
from spinney.exceptions import ParameterError
from spinney.mechanisms import SecureSource, SeededSource

#: What this method would not notice.
CANNOT_SEE = (
    "most of a loss that many canaries share: at small epsilons its bound is far below what was spent, and often 0",
    "what a canary's score does not show; the default score is the weight that was released near it",
    "crashes, running time and memory use",
)

#: Epsilon is found to this precision; the search starts from the largest.
PRECISION, LARGEST = 1e-6, 64.0


def guess_chance(canaries: int, guesses: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """Return a bound of the chance that at least `right` guesses are right if what ran is (epsilon, delta)-private."""
    from scipy.stats import binom  # type: ignore[import-untyped]

    if right == 0:
        return 1.0
    chance = 1 / (1 + np.exp(-epsilon))
    tail = float(binom.sf(right - 1, guesses, chance))
    below = np.cumsum(binom.pmf(np.arange(right - 1, -1, -1), guesses, chance))  # P(v > W >= v - i), i = 1, 2, ...
    steps = np.arange(1, right + 1)
    return min(1.0, tail + 2 * canaries * delta * float((below / steps).max()))


def one_run_bound(canaries: int, guesses: int, right: int, delta: float = 0.0, confidence: float = 0.95) -> float:
    """Return an epsilon that what ran exceeds or meets, with at least this confidence.

    Parameters
    ----------
    canaries : int
        Each was in or out by its own fair coin.
    guesses : int
        Number of canaries for which a guess was made, from the outcome alone; the others were passed over.
    right : int
        Number of right guesses.
    delta : float
        The promised delta.
    confidence : float

    Examples
    --------
    >>> round(one_run_bound(1000, 100, 95), 2)
    2.17
    """
    names = {"canaries": canaries, "guesses": guesses, "right": right}
    check("one_run_bound", names, {name: integer(0, "counts of one run.") for name in names})
    if not right <= guesses <= canaries:
        raise ParameterError.wrong("right", "one_run_bound", "right <= guesses <= canaries", right, "counts of one run.")
    shares = {"delta": delta, "confidence": confidence}
    check("one_run_bound", shares, {name: real(lambda value: 0 <= value < 1, "[0, 1)", f"{name}=0.95.") for name in shares})
    doubt = 1 - confidence
    low, high = 0.0, LARGEST
    if not guesses or guess_chance(canaries, guesses, right, low, delta) > doubt:
        return 0.0
    while high - low > PRECISION:
        middle = (low + high) / 2
        if guess_chance(canaries, guesses, right, middle, delta) <= doubt:
            low = middle
        else:
            high = middle
    return low


def _weight_near(outcome: Any, canaries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each canary, the weight that was released near it, and how near the nearest center is."""
    release = getattr(outcome, "release_", outcome)
    places = canaries.reshape(len(canaries), -1)
    if hasattr(release, "summary_points") and len(release.summary_points):
        points, weights = release.summary_points, release.summary_weights
    elif hasattr(release, "centers") or hasattr(release, "medoids"):
        points = release.centers if hasattr(release, "centers") else release.sites
        weights = release.sizes
    else:
        raise ParameterError.wrong(
            "score", "one_run", "given for outcomes that are no releases", None, "score(outcome, canaries)."
        )
    points = np.asarray(points, dtype=np.float64).reshape(len(points), -1)
    nearest = [int(np.abs(places - point).max(axis=1).argmin()) for point in points]
    return np.bincount(nearest, weights, len(places)).astype(np.float64)


def one_run(
    subject: Any,
    canaries: ArrayLike,
    *,
    crowd: ArrayLike | None = None,
    out: ArrayLike | None = None,
    score: Callable[[Any, Any], ArrayLike] | None = None,
    guesses: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    confidence: float = 0.999,
    random_state: int | None = None,
    noise_seed: int | None = None,
) -> Finding:
    """Run once with every canary in or out by coin, guess, and return a lower bound of epsilon.

    Parameters
    ----------
    subject, epsilon, delta, confidence, noise_seed
        As in `black_box`.
    canaries : array of shape (m, d) or (m,)
        Rows that would show; each is one unit.
    crowd : array, optional
        Rows that are always in the table.
    out : array like `canaries`, optional
        For a promise about replaced rows: what takes the place of each canary that is out. Without it they are left away, as a
        promise about added and removed rows has it.
    score : callable, optional
        ``score(outcome, canaries)`` returns one number for each canary, larger where it is likelier in. By default the weight
        that a release has nearest to it.
    guesses : int, optional
        How many canaries are guessed, by the largest and smallest scores; by default half of them. It must not be chosen
        by the outcome.
    random_state : int, optional
        Seeds the coins.
    """
    rows = np.asarray(canaries, dtype=np.float64)
    m = len(rows)
    always = rows[:0] if crowd is None else np.asarray(crowd, dtype=np.float64)
    guesses = m // 2 if guesses is None else guesses
    check("one_run", {"guesses": guesses}, {"guesses": integer(0, "at most as many as canaries.", m)})
    inside = np.random.default_rng(random_state).random(m) < 0.5
    others = rows[:0] if out is None else np.asarray(out, dtype=np.float64)[~inside]
    table = np.concatenate([always, rows[inside], others])
    promised = promise_of(subject, Pair("canaries", table, table), epsilon, delta, "one_run")
    run = runner(subject, table, None, SecureSource() if noise_seed is None else SeededSource(noise_seed), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about made-up rows
        outcome = run()
    scores = np.asarray((score or _weight_near)(outcome, rows), dtype=np.float64)
    order = np.argsort(scores, kind="stable")  # the largest scores are taken to be in, the smallest out
    most, least = order[m - guesses // 2 :], order[: guesses - guesses // 2]
    right = int(inside[most].sum() + (~inside[least]).sum())
    bound = one_run_bound(m, guesses, right, promised.delta, confidence)
    tried = {"runs": 1, "canaries": m, "guesses": guesses, "right": right}
    return Finding(
        "one run", promised.words, promised.epsilon, promised.delta, bound, confidence, tried=tried, cannot_see=CANNOT_SEE
    )
