"""What a release says of its noise, and of who was trusted with the rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Randomness", "Trust"]


class Randomness(StrEnum):
    """Where the noise of a release came from. Its text is what releases store."""

    SECURE = "secure"
    SEEDED = "seeded: not private"
    AUDITED = "audited: not private"
    NONE = "none: not private"

    @property
    def is_private(self) -> bool:
        """Whether nobody can take the noise out."""
        return self is Randomness.SECURE

    @property
    def is_exact(self) -> bool:
        """Whether no noise was added."""
        return self is Randomness.NONE

    @property
    def added(self) -> str:
        """What who held the rows did, for the words of a trust model."""
        if self.is_exact:
            return "added no noise"
        return "added the noise" if self.is_private else "added noise that can be repeated"


@dataclass(frozen=True)
class Trust:
    """Who held the rows and who added the noise. Releases store it as one text, the kind and the words with a colon between.

    Parameters
    ----------
    kind : str
        ``central``, ``local`` or ``local, simulated``; empty if a release does not say.
    words : str
        With ``{added}`` where the noise is named, until a release says which noise it was.
    """

    kind: str = ""
    words: str = ""

    @classmethod
    def of(cls, text: str) -> Trust:
        """Read what `str` wrote."""
        kind, _, words = text.partition(": ")
        return cls(kind, words)

    @property
    def is_local(self) -> bool:
        """Whether each user's report was noisy before it was added up."""
        return self.kind.partition(",")[0] == "local"

    def with_noise(self, randomness: Randomness) -> Trust:
        """Return the model with the noise named."""
        return Trust(self.kind, self.words.replace("{added}", randomness.added))

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}"
