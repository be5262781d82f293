"""How a value becomes private: randomness, additive noise, selection and split decisions."""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
