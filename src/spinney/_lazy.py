"""Names of a package that are imported on first use, so that importing the package stays fast."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["above", "lazily"]


def lazily(package: str, homes: dict[str, str], *others: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
    homes : dict
        The module that each public name lives in.
    others : str
        Public names that are there already.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return find, lambda: sorted((*homes, *others))


def above(home: str) -> Any:
    """Return what stands at ``module:name`` in a room above, imported only now.

    So a value can offer what such a room makes of it, as registries name algorithms, and nothing below depends on it.
    """
    module, name = home.split(":")
    return getattr(import_module(module), name)
