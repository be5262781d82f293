"""A report as plain text, for a terminal; a picture is replaced by its table, or left out."""

from __future__ import annotations

import textwrap

from spinney.report.publication.document import Block, Command, Document, Drawing, Facts, Notice, Paragraph, Sheet

#: Letters of a line of text; tables are as wide as they are.
WIDTH = 110


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _grid(grid: Sheet) -> str:
    rows = [grid.heads, *(tuple(value.text for value in row) for row in grid.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        lines.append("  ".join(cell.ljust(width) if i < grid.words else cell.rjust(width) for i, (cell, width) in cells))
    note = [_filled(grid.note.strip())] if grid.note else []
    return "\n".join([f"{grid.caption}:", *(line.rstrip() for line in lines), *note])


def _block(block: Block) -> str:
    if isinstance(block, Sheet):
        return _grid(block)
    if isinstance(block, Drawing):
        return _grid(block.instead) if block.instead else ""
    if isinstance(block, Facts):
        return "\n".join(_filled(f"{name}: {text}", "  ") for name, text in block.items)
    if isinstance(block, Notice):
        return _filled(f"{block.title}: {block.text}")
    assert isinstance(block, Paragraph | Command)
    return f"    {block.text}" if isinstance(block, Command) else _filled(block.text)


def to_text(document: Document) -> str:
    """Return a whole page."""
    parts = [document.title, _filled(document.lead), *map(_block, document.notices)]
    for section in document.sections:
        head, *blocks = [text for text in map(_block, section.blocks) if text]
        parts += [f"{section.title}\n{'-' * len(section.title)}\n{head}", *blocks]
    return "\n\n".join(parts)
