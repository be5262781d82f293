"""What is promised: budgets, adjacency, charges, composition, the ledger and the release."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
