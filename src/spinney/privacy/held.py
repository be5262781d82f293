"""What is held by one fit alone: it can be neither copied nor stored."""

from __future__ import annotations

from typing import NoReturn, SupportsIndex


class Held:
    """Rows, and what pays for questions about them. A copy would show rows to who copies, and spend the same charges again."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"{type(self).__name__} can be neither copied nor stored.")
