"""What may be asked about private rows: a closed list, one file per question."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
