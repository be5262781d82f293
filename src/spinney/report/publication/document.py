"""What a report is made of: plain texts, tables and pictures, before they are written as HTML or Markdown.

All texts are plain: whoever writes them into a file escapes them, so that no part of a release can become part of the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from spinney.spaces.plain_values import short as short

#: Columns, and lines of a table, that are shown; a release may have more.
SHOWN_COLUMNS, SHOWN_LINES = 8, 40
#: Letters shown of a name; a column may be called anything.
LETTERS = 32
#: Control characters, halves of characters, and marks that turn the direction of all text behind them.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Names with what they are."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notice:
    """What nobody may overlook."""

    title: str
    text: str


@dataclass(frozen=True)
class Command:
    """What to type."""

    text: str


@dataclass(frozen=True)
class Bar:
    """A length in [0, 1], and how far it may be off on either side."""

    length: float
    margin: float


@dataclass(frozen=True)
class Value:
    """A cell: its text, how dark it is, in [0, 1], its bar, and a name that whoever publishes gave it."""

    text: str
    shade: float | None = None
    bar: Bar | None = None
    name: str = ""

    @property
    def told(self) -> str:
        """The text, with the name."""
        return f"{self.text} {self.name}".rstrip()


@dataclass(frozen=True)
class Sheet:
    """A table with a row of headings; the first cell of a row is its heading.

    `words` counts leading columns that are texts; `look` explains colors and bars, where there are any.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    words: int = 1
    note: str = ""
    look: str = ""


@dataclass(frozen=True)
class Drawing:
    """A picture: its title, what it shows in words, and SVG of this size, already escaped; a table for who sees no pictures."""

    title: str
    description: str
    svg: str
    size: tuple[int, int]
    instead: Sheet | None = None


@dataclass(frozen=True)
class LiveMap(Drawing):
    """A map that moves, by a script; the data that the script draws it from is one line of JSON. The drawing is for paper."""

    data: str = ""


Block = Paragraph | Facts | Notice | Command | Sheet | Drawing | LiveMap


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    lead: str
    notices: tuple[Notice, ...]
    sections: tuple[Section, ...]


def clean(text: object, letters: int | None = None) -> str:
    """Return a text of one line without characters that are not seen, shortened in its middle to this many letters."""
    line = " ".join(UNSEEN.sub("\ufffd", re.sub(r"[\t\n\r]+", " ", str(text))).split())
    if letters is None or len(line) <= letters:
        return line
    end = letters // 3  # names of columns often differ there
    return f"{line[: letters - 1 - end].rstrip()}…{line[-end:].lstrip()}"


def shorts(values: Sequence[float]) -> list[str]:
    """Return the numbers of a column with one number of decimals: four digits of the largest."""
    largest = max((abs(float(value)) for value in values), default=0.0)
    if not 1e-3 <= largest < 1e9:
        return [short(value) for value in values]
    places = max(3 - math.floor(math.log10(largest)), 0)
    return [f"{round(float(value), places) + 0.0:,.{places}f}" for value in values]
