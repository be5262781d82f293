"""Checking releases with arithmetic of its own: nothing is imported from the code that plans, charges or draws noise."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
