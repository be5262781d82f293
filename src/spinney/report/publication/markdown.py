"""A report as Markdown; pictures are replaced by words, or by their tables."""

from __future__ import annotations

import re

from spinney.report.publication.document import Block, Command, Document, Drawing, Facts, Notice, Paragraph, Sheet, Value

#: What would be read as markup, and the start of an address that some readers turn into a link.
MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!$&@])|(?<=:)(/)(?=/)|(?<=www)(\.)", re.IGNORECASE)


def _plain(text: str) -> str:
    """Return a text that stays as it is."""
    return MARKS.sub(lambda found: f"\\{found[0]}", text)


def _cell(value: Value) -> str:
    return _plain(value.text) or " "


def _grid(grid: Sheet) -> str:
    sides = " | ".join("---" if i < grid.words else "---:" for i in range(len(grid.heads)))
    lines = [f"**{_plain(grid.caption)}**", "", f"| {' | '.join(_plain(head) for head in grid.heads)} |", f"| {sides} |"]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in grid.rows]
    return "\n".join([*lines, *(["", _plain(grid.note)] if grid.note else [])])


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _plain(block.text)
    if isinstance(block, Notice):
        return f"> **{_plain(block.title)}**\n>\n> {_plain(block.text)}"
    if isinstance(block, Command):
        return f"    {block.text}"
    if isinstance(block, Facts):
        return "\n".join(f"- **{_plain(name)}**: {_plain(text) or 'to be filled in'}" for name, text in block.items)
    if isinstance(block, Drawing):
        return (
            _grid(block.instead)
            if block.instead
            else f"({_plain(block.description)} The picture is in the report as HTML or PDF.)"
        )
    return _grid(block)


def to_markdown(document: Document) -> str:
    """Return a whole page."""
    parts = [f"# {_plain(document.title)}", _plain(document.lead), *map(_block, document.notices)]
    for section in document.sections:
        parts += [f"## {_plain(section.title)}", *map(_block, section.blocks)]
    return "\n\n".join(parts) + "\n"
