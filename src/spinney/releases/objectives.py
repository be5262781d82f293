"""What clusters of points minimize: its name in files and ledgers, its power of distances, and its title in words."""

from __future__ import annotations

__all__ = ["POWERS", "objective_of", "title_of"]

#: The power of distances that each objective sums, by its name.
POWERS = {"kmeans": 2, "kmedian": 1}
TITLES = {"kmeans": "k-means", "kmedian": "k-median"}


def objective_of(power: int) -> str:
    """Return the name of the objective that sums this power of distances."""
    return next(objective for objective, own in POWERS.items() if own == power)


def title_of(objective: str) -> str:
    """Return an objective in words; a file may name one that is not known here."""
    return TITLES.get(objective, objective)
