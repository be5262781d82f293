"""A report as one file of HTML: no script, no font and no picture from outside, and nothing of a release becomes markup."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Callable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from spinney.report.publication.document import (
    Bar,
    Block,
    Command,
    Document,
    Drawing,
    Facts,
    LiveMap,
    Notice,
    Paragraph,
    Section,
    Sheet,
    Value,
)
from spinney.report.publication.live import resource, written
from spinney.report.publication.pictures import place

#: What a browser may load: styles that are in the page, and nothing else. An empty icon keeps it from asking for one.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
#: What holds a fragment, and what is smaller in it than on a page of its own.
INSIDE = ".spinney"
FITTED = (
    ".spinney{padding:.1rem .6rem .6rem;font-size:14px}.spinney header{padding:.6rem 0 0}"
    ".spinney h1{font-size:1.25rem}.spinney h2{font-size:1.05rem;margin-top:1rem;padding-top:.6rem}"
    ".spinney table{display:table;margin:0}.spinney tr{background:none}"
)
#: Letters of a word that is broken into lines where it must, and where else a heading may be broken: behind these.
LONG, JOINTS = 24, re.compile(r"(?<=[=_/,;:])(?=\w)")
#: In tables of more columns margins stand below their numbers, so that more columns are seen.
NARROW, MARGIN = 6, " \N{PLUS-MINUS SIGN} "
#: About how wide a letter of a table is, what is around a cell, in a table of few columns and of many, what a bar takes, and
#: letters of texts that stay on one line, in the size of letters of the page.
LETTER, AROUND, BAR, LINE = 0.58, (1.0, 0.84), 7.2, 16
#: The widest column of text, and what is around it; a wider table may stand out to the right by half of what is left there.
COLUMN, SIDES = 57.5, 2.5
#: Widths of tables are rounded up to whole steps, so that a page has few rules; the narrowest page.
STEP, NARROWEST = 2, 20
#: What stands on one line in the title.
KIND = re.compile(r"(\(k-\w+\))")
#: Shades of a heat map: all of them light, for dark letters.
SHADES = 7


@cache
def _style(name: str = "style") -> str:
    return (files(__package__) / f"{name}.css").read_text(encoding="utf-8")


def _bar(bar: Bar) -> str:
    """Return a bar with its margin; the text beside it says the same."""
    length, low, high = (100 * min(max(x, 0.0), 1.0) for x in (bar.length, bar.length - bar.margin, bar.length + bar.margin))
    margin = f'<path class="e" d="M{place(low)} 6H{place(high)}M{place(low)} 3V9M{place(high)} 3V9"/>' if bar.margin else ""
    svg = '<svg viewBox="-1 0 102 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
    return f'{svg}<rect class="k" x="0" y="1" width="{place(length)}" height="10"/>{margin}</svg>'


def _kind(text: str, column: int, grid: Sheet) -> list[str]:
    """Return the classes of a cell: texts stand to the left, and only what has very long words is broken within them."""
    broken = any(len(word) > LONG for word in text.split())
    return [*(["w"] if column < grid.words else []), *(["a"] if broken else [])]


def _tag(name: str, kinds: list[str], text: str) -> str:
    """Return an element with its classes; `text` is escaped."""
    more = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<{name}{more}>{text}</{name.partition(' ')[0]}>"


def _head(text: str) -> str:
    """Return a heading that may be broken between its parts."""
    return "<wbr>".join(escape(part) for part in JOINTS.split(text))


def _cell(value: Value, column: int, grid: Sheet, names: bool) -> str:
    """Return a cell, with the name of its column for cards; the first one of a row is its heading."""
    kinds, text = _kind(value.text, column, grid), escape(value.text)
    if column >= grid.words:
        kinds.append("q")
    if value.shade is not None:
        kinds.append(f"h{min(int(value.shade * SHADES), SHADES - 1)}")
    if MARGIN in text and len(grid.heads) > NARROW:
        told, _, margin = text.partition(MARGIN)
        text = f"{told} <small>{MARGIN[1:]}{margin}</small>"
    if value.name:
        text += f' <span class="name">{escape(value.name)}</span>'
    if value.bar:
        kinds, text = [*kinds, "b"], f"<span>{_bar(value.bar)}{text}</span>"
    name = f' data-h="{escape(grid.heads[column])}"' if names else ""
    return _tag(('th scope="row"' if column == 0 else "td") + name, kinds, text)


def _letters(value: Value, column: int, grid: Sheet) -> int:
    """Return how many letters of a cell stand beside each other at least, if it is to be read with ease."""
    told = value.told.partition(MARGIN)[0] if len(grid.heads) > NARROW else value.told
    longest = max(map(len, told.split()), default=0)
    return min(max(longest, min(len(told), LINE)), LONG) if column < grid.words else len(told)


def _width(grid: Sheet) -> tuple[float, float]:
    """Return about how wide a table is at least, in the size of letters, without its bars and with them."""
    columns = zip(grid.heads, *grid.rows, strict=True)
    letters = []
    for i, (head, *values) in enumerate(columns):
        parts = (min(len(part), LONG) for word in head.split() for part in JOINTS.split(word))
        letters.append(max([*parts, *(_letters(value, i, grid) for value in values)], default=0))
    width = LETTER * sum(letters) + AROUND[len(grid.heads) > NARROW] * len(letters)
    return width, width + BAR * (bool(grid.rows) and any(value.bar for value in grid.rows[0]))


def _page(width: float) -> int:
    """Return how wide a page is, in whole steps, in which a table of this width can stand."""
    page = width + SIDES if width <= COLUMN else 2 * width - COLUMN + SIDES + 2
    return -(-math.ceil(page) // STEP) * STEP


def _grid(grid: Sheet) -> str:
    """Return a table whose bars go, and then its rows become cards, in a page that is too narrow for it."""
    pages = {kind: page for kind, page in zip("cn", map(_page, _width(grid)), strict=True) if page > NARROWEST}
    heads = "".join(_tag('th scope="col"', _kind(head, i, grid), _head(head)) for i, head in enumerate(grid.heads))
    cells = ("".join(_cell(value, i, grid, "c" in pages) for i, value in enumerate(row)) for row in grid.rows)
    rows = "\n".join(f"<tr>{row}</tr>" for row in cells)
    head = f"<caption>{escape(grid.caption)}</caption>\n<thead><tr>{heads}</tr></thead>"
    table = _tag("table", ["t"] if len(grid.heads) > NARROW else [], f"{head}\n<tbody>\n{rows}\n</tbody>")
    told = " ".join(text for text in (grid.look, grid.note) if text)
    note = f'\n<p class="note">{escape(told)}</p>' if told else ""
    region = f'role="region" aria-label="{escape(grid.caption)}" tabindex="0"'
    return f'<div class="{" ".join(["scroll", *(f"{kind}{page}" for kind, page in pages.items())])}" {region}>{table}</div>{note}'


def _rules(body: str, inside: str = "") -> str:
    """Return the rules for those tables of a page that some pages are too narrow for, each for what is inside something."""
    found = {one for kinds in re.findall('<div class="scroll([ cn0-9]*)"', body) for one in kinds.split()}
    rules = []
    for kind in sorted(found, key=lambda kind: (-int(kind[1:]), kind)):
        looks = (
            _style("cards").replace(".cards", f"{inside}.{kind}")
            if kind[0] == "c"
            else f"{inside}.{kind} td.b svg{{display:none}}"
        )
        rules.append(f"@container (max-width:{kind[1:]}rem){{{looks.strip()}}}\n")
    return f"@media screen{{\n{''.join(rules)}}}\n" if rules else ""


def _drawing(drawing: Drawing, name: str) -> str:
    """Return a picture; its title and description are read aloud."""
    width, height = drawing.size
    head = f'<svg viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-t {name}-d">'
    words = f'<title id="{name}-t">{escape(drawing.title)}</title><desc id="{name}-d">{escape(drawing.description)}</desc>'
    look = f'style="max-width:{round(1.3 * width)}px"'
    return f"<figure {look}><figcaption>{escape(drawing.title)}</figcaption>{head}{words}{drawing.svg}</svg></figure>"


def _facts(facts: Facts) -> str:
    blank = '<dd class="blank"><span class="hidden">to be filled in</span></dd>'
    items = (f"<dt>{escape(name)}</dt>{f'<dd>{escape(text)}</dd>' if text else blank}" for name, text in facts.items)
    return "<dl>\n" + "\n".join(items) + "\n</dl>"


#: How each kind of block is written, given the name that its parts begin with.
WRITERS: dict[type[Block], Callable[[Any, str], str]] = {
    Paragraph: lambda block, name: f"<p>{escape(block.text)}</p>",
    Notice: lambda block, name: f'<div class="notice"><strong>{escape(block.title)}</strong> {escape(block.text)}</div>',
    Command: lambda block, name: f"<pre><code>{escape(block.text)}</code></pre>",
    Facts: lambda block, name: _facts(block),
    Sheet: lambda block, name: _grid(block),
    Drawing: _drawing,
    LiveMap: lambda block, name: f'<div class="paper">{_drawing(block, name)}</div>{written(block)}',
}


def _section(section: Section, name: str) -> str:
    """Return a section; pictures that follow each other stand side by side."""
    parts = [f'<h2 id="{name}">{escape(section.title)}</h2>']
    written = [WRITERS[type(block)](block, f"{name}-{i}") for i, block in enumerate(section.blocks)]
    pictures = [text for text, block in zip(written, section.blocks, strict=True) if isinstance(block, Drawing)]
    if len(pictures) > 1:
        parts += [text for text in written if text not in pictures]
        parts.append(f'<div class="plots">{"".join(pictures)}</div>')
    else:
        parts += written
    return f'<section aria-labelledby="{name}">\n' + "\n".join(parts) + "\n</section>"


def _body(document: Document, name: str, main: str) -> str:
    """Return the head and the sections of a report, these in an element; names of its parts begin with `name`."""
    title = KIND.sub(r'<span class="q">\1</span>', escape(document.title))
    notices = "\n".join(WRITERS[Notice](notice, "") for notice in document.notices)
    sections = "\n".join(_section(section, f"{name}{i}") for i, section in enumerate(document.sections, start=1))
    return f"""<header>
<h1>{title}</h1>
<p class="lead">{escape(document.lead)}</p>
{notices}
</header>
<{main}>
{sections}
</{main}>"""


@cache
def _inner_style() -> str:
    """Return the rules for screens, each for what is inside a fragment alone."""

    def within(rule: re.Match[str]) -> str:
        names = (name.strip() for name in rule[1].split(","))
        return ",".join(INSIDE if name in (":root", "body") else f"{INSIDE} {name}" for name in names) + f"{{{rule[2]}}}"

    return re.sub(r"([^{}]+)\{([^{}]*)\}", within, _style().partition("@")[0]) + FITTED


def to_fragment(document: Document) -> str:
    """Return a report as a part of another page, such as a notebook, whose look it leaves alone."""
    name = "s" + hashlib.sha256(repr(document).encode("utf-8", "replace")).hexdigest()[:8] + "-"  # names differ in a page
    body = _body(document, name, "div")  # the page around it has its own main part
    return f'<div class="spinney"><style>{_inner_style()}{_rules(body, f"{INSIDE} ")}</style>\n{body}\n</div>'


def to_html(document: Document) -> str:
    """Return a whole page."""
    return whole_page(document.title, _body(document, "s", "main"))


def whole_page(title: str, body: str) -> str:
    """Return a page of this title around its body, with the rules that this body needs, and the script of its maps."""
    moves = '<div class="map">' in body
    digest = base64.b64encode(hashlib.sha256(resource("map.js").encode()).digest()).decode()  # of the one script that may run
    policy = f"{POLICY}; script-src 'sha256-{digest}'" if moves else POLICY
    script = f"\n<script>{resource('map.js')}</script>" if moves else ""
    runs = "runs the script of its map alone" if moves else "runs no script"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{_style()}{resource("map.css") if moves else ""}{_rules(body)}</style>
</head>
<body>
{body}
<footer>Written by spinney from a release file alone; no row was read for it. This page loads nothing and {runs}.</footer>{script}
</body>
</html>
"""
