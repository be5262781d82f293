"""Pages, labels, pictures, cost curves and reports of releases."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
