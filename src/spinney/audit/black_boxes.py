"""The black box: many runs on two neighbors, an event that distinguishes them, and a bound of epsilon with its confidence.

Nothing is known of what runs: an estimator, somebody else's, or any function of a table. Numbers, arrays, releases, errors,
warnings and printed text are outcomes alike. One half of the runs learns an event; the other half measures it in both tables
(Clopper-Pearson), so the bound holds whatever was learned. Over several pairs the doubt is divided among them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.audit.epsilon import ratio_bound
from spinney.audit.events import Table, half, learned, quiet
from spinney.audit.findings import Finding, words_of
from spinney.audit.outcomes import Spots, seen_outcome, tabulated
from spinney.audit.pairs import Pair
from spinney.audit.recording import observe
from spinney.constraints import check, integer, real
from spinney.exceptions import ParameterError
from spinney.mechanisms import NoiseSource, SecureSource, SeededSource

#: What this method would not notice.
CANNOT_SEE = (
    "events rarer than about one in as many runs, so no epsilon above about the logarithm of their number, and hardly any delta",
    "neighbors that were not tried, and events that its classifier does not learn",
    "running time and memory use",
)


@dataclass(frozen=True)
class Promised:
    """What is audited: in words, and what it promises."""

    words: str
    epsilon: float
    delta: float


def promise_of(subject: Any, pair: Pair, epsilon: float | None, delta: float | None, owner: str) -> Promised:
    """Return what a subject promises: an estimator of ours says so itself, of anything else it must be given."""
    if hasattr(subject, "prepare"):
        fit = subject.prepare(pair.first, pair.first_groups)[0]
        own = float(fit.problem.budget.epsilon), float(fit.problem.budget.delta)
        return Promised(words_of(fit), own[0] if epsilon is None else epsilon, own[1] if delta is None else delta)
    if epsilon is None:
        raise ParameterError.wrong("epsilon", owner, "a number", None, "what the function promises, for example epsilon=1.0.")
    name = getattr(subject, "__qualname__", type(subject).__qualname__)
    return Promised(f"{name}", epsilon, 0.0 if delta is None else delta)


def runner(subject: Any, data: Any, groups: Any, source: NoiseSource, factor: float | Mapping[str, float]) -> Callable[[], Any]:
    """Return what runs once on one table."""
    given = {} if groups is None else {"groups": groups}
    if hasattr(subject, "prepare"):
        return lambda: observe(subject, data, lambda event: None, source=source, factor=factor, **given)
    if hasattr(subject, "fit"):
        return lambda: copy.deepcopy(subject).fit(data, **given)
    return lambda: subject(data, **given)


def _many(outcomes: Any, runs: int) -> Table:
    """Return the runs of a function that makes many at once."""
    numbers = np.asarray(outcomes, dtype=np.float64).reshape(len(outcomes), -1)
    if len(numbers) != runs:
        raise ParameterError.wrong(
            "many", "black_box", "a function that returns one row for each run", len(numbers), "see `runs`."
        )
    return numbers, np.empty((runs, 0), dtype=np.str_)


def _both(
    subject: Any, pair: Pair, runs: int, many: Any, source: NoiseSource, factor: float | Mapping[str, float]
) -> tuple[Table, Table]:
    """Return the runs of both tables, with the same columns."""
    sides = ((pair.first, pair.first_groups), (pair.second, pair.second_groups))
    if many is not None:
        (first, words), (second, others) = (_many(many(data, runs), runs) for data, _ in sides)
    else:
        spots = Spots(pair)
        calls = [runner(subject, data, groups, source, factor) for data, groups in sides]
        numbers, texts, _ = tabulated([seen_outcome(call, spots) for call in calls for _ in range(runs)])
        first, second, words, others = numbers[:runs], numbers[runs:], texts[:runs], texts[runs:]
    both = quiet(np.concatenate([first, second]))
    return (both[:runs], words), (both[runs:], others)


def black_box(
    subject: Any,
    pairs: Iterable[Pair],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    runs: int = 2000,
    confidence: float = 0.999,
    many: Callable[[Any, int], Any] | None = None,
    noise_seed: int | None = None,
    factor: float | Mapping[str, float] = 1.0,
) -> Finding:
    """Run on neighbors many times, and return a lower bound of epsilon.

    A bound above the promised epsilon shows that the promise is broken, except with probability 1 - `confidence` for all pairs
    together. One below it proves nothing.

    Parameters
    ----------
    subject : estimator, or callable
        With our interface, or with a `fit` that returns what it fitted, or a function of a table that returns anything. Where a
        pair has groups they are passed on as ``groups=``.
    pairs : iterable of Pair
        `table_pairs` and `demand_pairs` make some; ``Pair("mine", first, second)`` is one of your own.
    epsilon, delta : float, optional
        What is promised; an estimator of ours says so itself.
    runs : int
        Of each table of each pair.
    confidence : float
        Of all pairs together.
    many : callable, optional
        ``many(table, runs)`` returns the numbers of `runs` runs at once, one row each: for functions that are fast in bulk.
    noise_seed : int, optional
        Makes the noise of an estimator of ours repeatable: for tests.
    factor : float, or dict
        As in `replay`: multiplies scales of noise of an estimator of ours, to try whether this audit notices.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.audit import Pair, black_box
    >>> rng = np.random.default_rng(0)
    >>> pair = Pair("one row more", np.zeros((3, 1)), np.zeros((4, 1)))
    >>> black_box(lambda table: len(table) + rng.laplace(), [pair], epsilon=0.1, runs=1000).broken
    True
    """
    check("black_box", {"runs": runs}, {"runs": integer(8, "for example runs=2000.")})
    sure = real(lambda value: 0 < value < 1, "(0, 1)", "for example confidence=0.999.")
    check("black_box", {"confidence": confidence}, {"confidence": sure})
    pairs = list(pairs)
    if not pairs:
        raise ParameterError.wrong("pairs", "black_box", "pairs of neighbors", None, "as `table_pairs` makes them.")
    promised = promise_of(subject, pairs[0], epsilon, delta, "black_box")
    doubt = (1 - confidence) / len(pairs)
    source: NoiseSource = SecureSource() if noise_seed is None else SeededSource(noise_seed)
    best, worst = -1.0, ""
    for place, pair in enumerate(pairs):
        first, second = _both(subject, pair, runs, many, source, factor)
        event = learned(half(first, 0), half(second, 0), promised.delta, doubt)
        bound = event.bound((half(first, 1), half(second, 1)), promised.delta, doubt)
        if bound > best:
            best, worst = bound, f"pair {place}, {pair.kind}"
    tried = {
        "pairs": len(pairs),
        "runs of each table": runs,
        "worst pair": worst,
        "largest bound possible": limit(runs, promised.delta, doubt),
    }
    return Finding(
        "black box", promised.words, promised.epsilon, promised.delta, best, confidence, tried=tried, cannot_see=CANNOT_SEE
    )


def limit(runs: int, delta: float, doubt: float) -> float:
    """Return what these runs would show of neighbors that can always be distinguished."""
    half = runs // 2
    found = float(ratio_bound(np.array([half]), half, np.array([0]), half, delta, doubt)[0])
    return found if math.isfinite(found) else 0.0
