"""Classes that inherit from scikit-learn as soon as a process has loaded it, and not before.

Importing scikit-learn takes longer than everything else that a small fit does, and a fit needs nothing of it. So a class says
which of scikit-learn's bases it wants, and gets them when `sklearn.base` is imported, by whomever: before the class is made,
after that, or by one of its methods that needs them. Where there is scikit-learn, the classes are estimators of scikit-learn,
whatever the order of imports.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

__all__ = ["LateBases", "inherit"]

#: The module whose coming is awaited.
HOME = "sklearn.base"
#: Classes that are being made and tell the bases of themselves.
MADE: set[type] = set()


def inherit() -> Any:
    """Load scikit-learn, and with it the bases of all classes here; return its `BaseEstimator`."""
    return importlib.import_module(HOME).BaseEstimator


class LateBases(object if not TYPE_CHECKING else Any):  # type: ignore[misc]
    """Holds the place of the bases; it leaves when they come.

    Parameters
    ----------
    bases : sequence of str
        Of the class that has this one among its bases: what takes its place, as `sklearn.base` calls it.
    """

    _late_bases: tuple[str, ...]

    def __init_subclass__(cls, bases: Sequence[str] = (), **options: Any) -> None:
        if options and not bases and HOME not in sys.modules:
            MADE.add(cls)  # keywords are for the bases, or for classes behind them: nothing here takes any
            try:
                inherit()
            finally:
                MADE.remove(cls)
            owner = next(one for one in cls.__mro__ if "_late_bases" in vars(one))
            super(owner, cls).__init_subclass__(**options)  # type: ignore[arg-type]
            return
        super().__init_subclass__(**options)
        if bases:
            cls._late_bases = tuple(bases)
            if HOME in sys.modules:
                _settle(cls)
            else:
                _Watch.over(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by their names."""
        parameters: dict[str, Any] = inherit().get_params(self, deep)
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters by their names."""
        inherit().set_params(self, **params)
        return self

    def get_metadata_routing(self) -> Any:
        """Return what scikit-learn may pass on to the methods."""
        return inherit().get_metadata_routing(self)

    @property
    def _repr_html_(self) -> Any:
        inherit()
        return self._repr_html_  # scikit-learn's: this class is no base any more

    def _repr_mimebundle_(self, **options: Any) -> Any:
        inherit()
        return self._repr_mimebundle_(**options)


def _settle(owner: type) -> None:
    """Put scikit-learn's bases in their place, and tell them of the classes that they missed, parents first.

    Classes in front of the bases were told when each class was made, with keywords that nobody keeps, and are not told again.
    """
    home = importlib.import_module(HOME)
    known = tuple(base for base in owner.__bases__ if base is not LateBases)
    owner.__bases__ = known + tuple(getattr(home, name) for name in owner._late_bases)  # type: ignore[attr-defined]
    told: set[type] = set()
    waiting = [owner]
    while waiting:
        cls = waiting.pop(0)
        if cls not in told:
            told.add(cls)
            if cls not in MADE:
                super(owner, cls).__init_subclass__()  # type: ignore[arg-type]
            waiting += cls.__subclasses__()


class _Watch(MetaPathFinder):
    """Finds nothing, but learns when scikit-learn is imported."""

    def __init__(self) -> None:
        self._owners: list[type] = []

    @classmethod
    def over(cls, owner: type) -> None:
        """Settle a class when scikit-learn comes."""
        watch = next((one for one in sys.meta_path if isinstance(one, cls)), None)
        if watch is None:
            watch = cls()
            sys.meta_path = [watch, *sys.meta_path]
        watch._owners.append(owner)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how others find scikit-learn, with one more thing to do when it is loaded; of all else nothing."""
        if fullname != HOME:
            return None
        # The list of finders stays as it is: other threads walk along it, and would miss one.
        others = (finder.find_spec(fullname, path, target) for finder in list(sys.meta_path) if not isinstance(finder, _Watch))
        spec = next((found for found in others if found is not None), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_settle(module: ModuleType) -> None:
                load(module)
                if module.__name__ == HOME and self in sys.meta_path:
                    sys.meta_path = [finder for finder in sys.meta_path if finder is not self]
                    for owner in self._owners:
                        _settle(owner)

            spec.loader.exec_module = load_and_settle  # type: ignore[method-assign]
        return spec
