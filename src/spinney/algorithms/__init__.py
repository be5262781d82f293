"""One file per published algorithm: named parts of a budget, and a run over a curator's answers."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
