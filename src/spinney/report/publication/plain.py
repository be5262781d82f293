"""A report as Markdown, and as plain text for a terminal; a picture is replaced by its table, or by words, or left out."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any

from spinney.report.publication.document import Block, Command, Document, Drawing, Facts, LiveMap, Notice, Paragraph, Sheet

#: What would be read as markup, and the start of an address that some readers turn into a link.
MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!$&@])|(?<=:)(/)(?=/)|(?<=www)(\.)", re.IGNORECASE)
#: Letters of a line of text; tables are as wide as they are.
WIDTH = 110

Writers = dict[type[Block], Callable[[Any], str]]


def _plain(text: str) -> str:
    """Return a text that stays as it is."""
    return MARKS.sub(lambda found: f"\\{found[0]}", text)


def _grid(grid: Sheet) -> str:
    sides = " | ".join("---" if i < grid.words else "---:" for i in range(len(grid.heads)))
    lines = [f"**{_plain(grid.caption)}**", "", f"| {' | '.join(_plain(head) for head in grid.heads)} |", f"| {sides} |"]
    lines += [f"| {' | '.join(_plain(value.told) or ' ' for value in row)} |" for row in grid.rows]
    return "\n".join([*lines, *(["", _plain(grid.note)] if grid.note else [])])


def _drawing(drawing: Drawing) -> str:
    words = f"({_plain(drawing.description)} The picture is in the report as HTML or PDF.)"
    return _grid(drawing.instead) if drawing.instead else words


MARKDOWN: Writers = {
    Paragraph: lambda block: _plain(block.text),
    Notice: lambda block: f"> **{_plain(block.title)}**\n>\n> {_plain(block.text)}",
    Command: lambda block: f"    {block.text}",
    Facts: lambda block: "\n".join(f"- **{_plain(name)}**: {_plain(text) or 'to be filled in'}" for name, text in block.items),
    Sheet: _grid,
    Drawing: _drawing,
    LiveMap: _drawing,
}


def to_markdown(document: Document) -> str:
    """Return a whole page of Markdown."""
    parts = [f"# {_plain(document.title)}", _plain(document.lead), *(MARKDOWN[Notice](one) for one in document.notices)]
    for section in document.sections:
        parts += [f"## {_plain(section.title)}", *(MARKDOWN[type(block)](block) for block in section.blocks)]
    return "\n\n".join(parts) + "\n"


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _aligned(grid: Sheet) -> str:
    rows = [grid.heads, *(tuple(value.told for value in row) for row in grid.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        lines.append("  ".join(cell.ljust(width) if i < grid.words else cell.rjust(width) for i, (cell, width) in cells))
    note = [_filled(grid.note.strip())] if grid.note else []
    return "\n".join([f"{grid.caption}:", *(line.rstrip() for line in lines), *note])


TEXT: Writers = {
    Paragraph: lambda block: _filled(block.text),
    Notice: lambda block: _filled(f"{block.title}: {block.text}"),
    Command: lambda block: f"    {block.text}",
    Facts: lambda block: "\n".join(_filled(f"{name}: {text}", "  ") for name, text in block.items),
    Sheet: _aligned,
    Drawing: lambda block: _aligned(block.instead) if block.instead else "",
    LiveMap: lambda block: "",
}


def to_text(document: Document) -> str:
    """Return a whole page of text."""
    parts = [document.title, _filled(document.lead), *(TEXT[Notice](one) for one in document.notices)]
    for section in document.sections:
        head, *blocks = filter(None, (TEXT[type(block)](block) for block in section.blocks))
        parts += [f"{section.title}\n{'-' * len(section.title)}\n{head}", *blocks]
    return "\n\n".join(parts)
