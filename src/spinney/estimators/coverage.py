"""Private maximum coverage over any public family of sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.algorithms.max_coverage import CoverProblem, MaxCoverage
from spinney.curators.demand import DemandRows
from spinney.curators.rows import Rows
from spinney.exceptions import ParameterError
from spinney.fits.fit import Fit
from spinney.fits.parameters import check_clusters, check_number, check_promise
from spinney.fits.run import run
from spinney.ledgers.ledger import Ledger
from spinney.questions.cover import Family
from spinney.releases.cover import CoverRelease
from spinney.tables.cells import is_list_of_names, numeric_column

OWNER = "max_coverage"


def _members(sets: Any, n_items: int | None) -> Any:
    """Return a family of sets as a sparse matrix, items x sets, by rows."""
    from scipy.sparse import coo_array, csr_array, issparse  # type: ignore[import-untyped]

    if issparse(sets) or (isinstance(sets, np.ndarray) and sets.ndim == 2):
        found = coo_array(sets)
        if n_items in (None, found.shape[0]):
            held = found.data != 0
            return csr_array((np.ones(held.sum(), dtype=np.int64), (found.row[held], found.col[held])), shape=found.shape)
    else:
        try:
            lists = [np.unique(np.asarray(list(one), dtype=np.int64)) for one in sets]
        except (TypeError, ValueError, OverflowError):
            lists = []
        largest = max((int(one[-1]) for one in lists if one.size), default=-1)
        least = min((int(one[0]) for one in lists if one.size), default=0)
        n = largest + 1 if n_items is None else n_items
        if lists and least >= 0 and 0 <= largest < n:
            items = np.concatenate(lists)
            owners = np.repeat(np.arange(len(lists)), [one.size for one in lists])
            return csr_array((np.ones(items.size, dtype=np.int64), (items, owners)), shape=(n, len(lists)))
    raise ParameterError.wrong(
        "sets", OWNER, "lists of indices of items, or a matrix of shape (n_items, sets)", sets,
        "for example sets=[[0, 1], [1, 2, 3]], n_items=4.",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class CoverModel:
    """What `max_coverage` runs, before there are rows: for audits. Parameters as for `max_coverage`."""

    sets: Any
    n_choices: int
    epsilon: float | None = None
    delta: float = 0.0
    n_items: int | None = None
    adjacency: str = "add-remove"
    max_rows_per_group: int | None = None
    noise_seed: int | None = None

    def prepare(self, items: Any, groups: Any = None) -> tuple[Fit, Rows]:
        """Return what `max_coverage` would run, and where the rows are. Nothing is asked or charged."""
        n_choices, n_items = self.n_choices, self.n_items
        typed = {
            "epsilon": self.epsilon, "delta": self.delta, "algorithm": "auto", "adjacency": self.adjacency,
            "max_rows_per_group": self.max_rows_per_group, "noise_seed": self.noise_seed, "random_state": None,
        }  # fmt: skip
        check_clusters("n_choices", OWNER, n_choices)
        if n_items is not None:
            check_number("n_items", OWNER, n_items)
        budget, unit = check_promise(typed, OWNER, groups is not None, "cover")
        family = Family(_members(self.sets, n_items), (int(n_choices),))
        problem = CoverProblem(k=int(n_choices), power=1, family=family, budget=budget, unit=unit)
        fit = Fit(problem, MaxCoverage(), groups is not None, None, self.noise_seed)
        fit.plan()  # refuses more options than can be weighed, before rows are read
        places = numeric_column(items)
        if groups is not None and not is_list_of_names(groups, len(places)):
            raise ParameterError.wrong("groups", OWNER, "one name per row", groups, "pass a column of the same table.")
        return fit, DemandRows(places, groups)


def max_coverage(
    items: Any,
    sets: Any,
    n_choices: int,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    n_items: int | None = None,
    adjacency: str = "add-remove",
    groups: Any = None,
    max_rows_per_group: int | None = None,
    noise_seed: int | None = None,
    ledger: Ledger | None = None,
) -> CoverRelease:
    """Choose public sets that together cover many private rows, one after another; rows that are covered leave.

    Privacy
    -------
    Neighbors: rows that differ by one added or removed (or replaced, as `adjacency` says); by one group's rows if `groups` is
    given. Statement: the release is (epsilon, delta)-differentially private. Proof: ``proofs/coverage.md``. Outside the promise:
    running time and memory use.

    Parameters
    ----------
    items : array-like of shape (n,)
        Private: the item of each row, by its index; repeats are allowed.
    sets : sequence of sequences of int, or matrix of shape (n_items, sets)
        Public: the items of each set, or a matrix, dense or sparse, that is not zero where a set holds an item.
    n_choices : int
        How many sets to choose, at most 10,000; public.
    epsilon : float
        Required: in [1e-9, inf]. ``math.inf`` chooses greedily, without noise.
    delta : float, default 0.0
        With a delta, such as 1e-6, all choices share one price; without, each pays for itself.
    n_items : int, optional
        The number of items; by default one more than the largest index in the sets.
    adjacency, groups, max_rows_per_group, noise_seed, ledger
        As for `PrivateKMedoids`.

    Examples
    --------
    >>> from spinney import max_coverage
    >>> release = max_coverage([0] * 500 + [3] * 400 + [2] * 3, [[0, 1], [1, 2], [2, 3]], 2, epsilon=1.0, delta=1e-6)
    >>> release.chosen.shape
    (2,)
    """
    asked = CoverModel(sets, n_choices, epsilon, delta, n_items, adjacency, max_rows_per_group, noise_seed)
    release: CoverRelease = run(*asked.prepare(items, groups), ledger)
    return release
