"""What clusters of points minimize: its name in files and ledgers, its power of distances, and its title in words."""

from __future__ import annotations

#: The power of distances that each objective sums, by its name.
POWERS = {"kmeans": 2, "kmedian": 1}
TITLES = {"kmeans": "k-means", "kmedian": "k-median"}


def objective_of(power: int) -> str:
    """Return the name of the objective that sums this power of distances."""
    return next(objective for objective, own in POWERS.items() if own == power)


def title_of(objective: str) -> str:
    """Return an objective in words; a file may name one that is not known here."""
    return TITLES.get(objective, objective)


def counted_words(k: int, most: int) -> str:
    """Return where k comes from, if it was found on a summary, up to a largest k."""
    why = "rows thin out between clusters, and one more would gain little" if k > 1 else "no more stand out"
    return f"found on the private summary, of at most {most}: {why}"
