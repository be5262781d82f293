"""The local model: devices that answer questions about their own row and trust nobody, and servers that add up reports."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
