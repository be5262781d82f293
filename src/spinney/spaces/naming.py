"""What the points of a public space are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.exceptions import ParameterError

__all__ = ["checked_names", "places_of"]


def _listed(values: Any) -> list[Any]:
    """Return the members of a list, an array or a column, in their order; an empty list for anything else."""
    is_list = isinstance(values, list | tuple | np.ndarray) or (hasattr(values, "to_numpy") and not hasattr(values, "columns"))
    return list(values) if is_list and getattr(values, "ndim", 1) == 1 else []


def checked_names(names: Any, n: int) -> tuple[str, ...] | None:
    """Return one different text per point, or None if none are given."""
    if names is None:
        return None
    listed = _listed(names)
    if not all(isinstance(name, str) and name.strip() for name in listed) or not len(listed) == len(set(listed)) == n:
        raise ParameterError.wrong(
            "names", "FiniteMetric", "one different text per point", type(names).__name__, "leave them out if there are none."
        )
    return tuple(str(name) for name in listed)


def places_of(wanted: Any, names: tuple[str, ...] | None, parameter: str, owner: str) -> Any:
    """Return the indices of points given by their names; what is not a list of texts stays as it is."""
    listed = _listed(wanted)
    if names is None or not listed or not all(isinstance(name, str) for name in listed):
        return wanted
    index = {name: place for place, name in enumerate(names)}
    if not all(name in index for name in listed):
        raise ParameterError.wrong(
            parameter, owner, "names or indices of points", "a name that no point has", "spell names as space.names does."
        )
    return [index[name] for name in listed]
