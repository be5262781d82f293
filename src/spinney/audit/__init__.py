"""Trying to break the promise from outside: replay, exact laws, measured epsilons, searches, and an observer of every draw."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
