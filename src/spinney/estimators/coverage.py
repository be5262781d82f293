"""Private maximum coverage over any public family of sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.sites import check_options
from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.curators.seal import sealed
from spinney.estimators.charging import charged
from spinney.estimators.record import promise_fields, repeat_fields
from spinney.estimators.tables import is_list_of_names, numeric_column
from spinney.estimators.validation import check_clusters, check_count, check_promise
from spinney.exceptions import ParameterError
from spinney.mechanisms.source import noise_source
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.ledger import FitLedger
from spinney.privacy.ledger_file import Ledger
from spinney.privacy.preparation import prepared_names
from spinney.privacy.promise import Promise
from spinney.privacy.release import frozen_array
from spinney.questions.cover import Cover, Family
from spinney.questions.ground import Ground

__all__ = ["CoverRelease", "max_coverage"]

OWNER = "max_coverage"


@dataclass(frozen=True, eq=False, kw_only=True)
class CoverRelease(Promise):
    """The published result of `max_coverage`.

    Parameters
    ----------
    chosen : array of int
        The chosen sets, in the order of choosing; one may come again, which adds nothing.
    n_sets, n_items : int
        Public.
    epsilon, promised_epsilon, delta, adjacency, max_rows_per_group, noise, charges, version, model, preprocessing, parameters,
    random_state, noise_seed, made, format
        As for `Promise`.
    """

    chosen: NDArray[np.int64]
    n_sets: int
    n_items: int
    format: str = "spinney-cover/1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", frozen_array(self.chosen, np.int64))

    def _check(self) -> None:
        super()._check()
        if not (self.chosen.ndim == 1 and all(0 <= index < self.n_sets for index in self.chosen.tolist())):
            raise ValueError("an index is not one")


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
        The number of items; by default as many as the sets speak of.
    adjacency, groups, max_rows_per_group, noise_seed, ledger
        As for `PrivateKMedoids`.

    Examples
    --------
    >>> from spinney.estimators.coverage import max_coverage
    >>> release = max_coverage([0] * 500 + [3] * 400 + [2] * 3, [[0, 1], [1, 2], [2, 3]], 2, epsilon=1.0, delta=1e-6)
    >>> release.chosen.shape
    (2,)
    """
    typed = {
        "n_clusters": n_choices, "epsilon": epsilon, "delta": delta, "algorithm": "auto", "adjacency": adjacency,
        "max_rows_per_group": max_rows_per_group, "noise_seed": noise_seed, "random_state": None,
    }  # fmt: skip
    check_clusters("n_choices", OWNER, n_choices)
    if n_items is not None:
        check_count("n_items", OWNER, n_items)
    budget, unit = check_promise(typed, OWNER, groups is not None, ())
    family = Family(_members(sets, n_items), (int(n_choices),))
    check_options(int(n_choices) * family.n_sets, OWNER)
    charges = (Charge("cover", "cover", Measure.PURE, budget.epsilon, budget.delta),)
    rows = numeric_column(items)
    if groups is not None and not is_list_of_names(groups, len(rows)):
        raise ParameterError.wrong("groups", OWNER, "one name per row", groups, "pass a column of the same table.")
    spent = FitLedger(budget, charges)
    with charged(ledger, charges, budget, unit, groups is not None, noise_seed, "coverage", "coverage") as made:
        source = noise_source(noise_seed)
        with sealed():
            backend = DemandBackend(rows, Ground(None, family.members.shape[0]), unit, source.key, groups)
        chosen = Curator(backend, unit, spent, source).ask(Cover(family), charges[0])
        return CoverRelease(
            **promise_fields(budget, unit, charges, spent, source, groups is not None),
            **repeat_fields(None, None, noise_seed, made),
            preprocessing=prepared_names("item", "the first item", adjacency, unit.max_rows if groups is not None else None),
            chosen=chosen,
            n_sets=family.n_sets,
            n_items=int(family.members.shape[0]),
        )
