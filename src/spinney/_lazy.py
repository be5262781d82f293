"""Names of a package that are imported on first use, so that importing the package stays fast.

They are written once, in the stub ``__init__.pyi`` beside the package: a line ``from module import name as name`` for each, which
type checkers and editors read as well (SPEC 1 of Scientific Python).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["lazily"]

_LINE = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


def lazily(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a package, from its ``__name__`` and ``__file__``."""
    stub = sys.modules[package].__spec__.loader.get_data(f"{file}i")  # type: ignore[union-attr]
    homes = {name: module for module, name in _LINE.findall(stub.decode())}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    names = sorted(homes)
    return find, lambda: names, names
