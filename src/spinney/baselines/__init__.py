"""Algorithms to compare with, registered as those of an outside package are: by the entry points of `pyproject.toml`."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
