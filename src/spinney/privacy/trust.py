"""What a release says of its noise, and of who was trusted with the rows."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Randomness(StrEnum):
    """Where the noise of a release came from. Its text is what releases store."""

    SECURE = "secure"
    SEEDED = "seeded: not private"
    AUDITED = "audited: not private"
    NONE = "none: not private"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError("noise must be one of the texts of Randomness")  # without what was passed, which may be a table

    @property
    def is_exact(self) -> bool:
        """Whether no noise was added."""
        return self is Randomness.NONE

    @property
    def added(self) -> str:
        """What was done about noise, for the words of a model."""
        words = {Randomness.NONE: "added no noise", Randomness.SECURE: "added the noise"}
        return words.get(self, "added noise that can be repeated")


class Trust(NamedTuple):
    """Who held the rows and who added the noise: the model of a release, ``kind: words``."""

    kind: str
    words: str

    @classmethod
    def of(cls, model: str) -> Trust:
        """Read what a release stores."""
        kind, _, words = model.partition(": ")
        return cls(kind, words)

    @property
    def is_local(self) -> bool:
        """Whether each user's report was noisy before it was added up; ``local, simulated`` is local, too."""
        return self.kind.partition(",")[0] == "local"
