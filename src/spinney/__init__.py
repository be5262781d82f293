"""Differentially private clustering: k centers, noisy sizes, and a statement of what was promised.

Names are imported on first use, so that ``import spinney`` stays fast.
"""

from spinney._lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__, __file__)
