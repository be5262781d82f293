"""What a far row shows of itself in many runs, looked for in steps: few runs where nothing shows, many where something may.

A measured bound needs dozens of runs on each side, and says something only of events that are much likelier on one of two
neighbors than on the other. Few runs are enough to see that there is none.
"""

import numpy as np

from spinney.audit.epsilon import epsilon_lower_bound

#: Runs on each side: the first ones look whether anything shows, the others measure it.
LOOKS = (32, 90, 240)
#: For faults that are planted, and show early if they show at all.
EARLY_LOOKS = (32, 60, 90, 240)
#: An event that 150 runs on each side, looked at once, would show to break an epsilon of 1 at even chance has probabilities 0.675
#: apart, or more. In the first 32 runs its shares are less than this apart with probability 1e-3 at most; for every pair of
#: probabilities, less is lost here than 240 runs find besides.
SUSPICIOUS = 0.4


def distance(first, second):
    """Return the largest difference of the shares of two samples that lie above a threshold."""
    first, second = np.sort(np.asarray(first, dtype=float)), np.sort(np.asarray(second, dtype=float))
    at = np.concatenate([first, second])
    shares = [np.searchsorted(values, at, side="right") / len(values) for values in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def shown_epsilons(statistics, neighbors, confidence, seeded=False, promised=1.0, looks=LOOKS):
    """Return a lower bound of the epsilon that shows in each statistic of runs on two neighbors.

    Parameters
    ----------
    statistics : callable
        Runs once on one of the neighbors, with a seed or None, and returns named numbers.
    neighbors : pair
    confidence : float
        Of each bound; the looks that measure share the doubt.
    seeded : bool
        Whether every run has a seed of its own.
    promised : float
        Runs end as soon as more than this shows.
    looks : tuple of int
        Runs on each side at every look.
    """
    seen = ([], [])
    found = {}
    for runs in looks:
        for side, (half, rows) in enumerate(zip(seen, neighbors, strict=True)):
            seeds = [side * looks[-1] + run if seeded else None for run in range(len(half), runs)]
            half.extend(statistics(rows, seed) for seed in seeds)
        columns = {name: [[run[name] for run in half] for half in seen] for name in seen[0][0]}
        if runs == looks[0]:
            found = {name: 0.0 for name, pair in columns.items() if distance(*pair) < SUSPICIOUS}
            if len(found) == len(columns):
                break
            continue
        sure = 1 - (1 - confidence) / (len(looks) - 1)
        found = {name: epsilon_lower_bound(*pair, confidence=sure) for name, pair in columns.items()}
        if max(found.values()) > promised:
            break
    return found
