"""Whether a page is the one of a release: written again from the release, it must be the same, letter by letter.

The title, the state of a ledger, a cost curve, names of clusters, what a check found, and the lines that a publisher fills in are
not in the release. They may differ; nothing else may.
"""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

from spinney.exceptions import ParameterError
from spinney.releases.reading import AnyRelease
from spinney.report.publication import html_page
from spinney.report.publication.html import whole_page

#: Sections that say more than the release does, and what in them may differ.
CHECK, SPENT, DESCRIBED = "How to check it", "What was spent and what is left", "The clusters that are described"
FREE = ("To be filled in by the publisher", "How many clusters")
_CHECKED = re.compile(
    r"<pre><code>[^<]*</code></pre>\n|<p>When this page was written: [^<]*</p>\n"
    r"|<p>It stands, to the letter, in the ledger that this page shows\.</p>\n"
)
_SECTION = re.compile(r'<section aria-labelledby="s\d+">\n<h2 id="s\d+">([^<]*)</h2>\n(.*?)\n</section>', re.DOTALL)
_HEADER = re.compile(r"<header>\n<h1>.*?</h1>\n(.*?)\n</header>", re.DOTALL)
_NAME = re.compile(r'<th scope="row"[^>]*>(\d+) <span class="name">([^<]*)</span></th>')
#: What depends on where a part stands.
_PLACES = re.compile(r' (?:id|aria-labelledby)="s[-0-9td s]*"')
#: What pages are made of; anything else could cover or hide a part of one.
_TAGS = re.compile(
    "main|header|section|h1|h2|p|dl|dt|dd|div|span|strong|table|caption|thead|tbody|tr|th|td|small|wbr|pre|code|"
    "figure|figcaption|svg|title|desc|g|path|rect|circle|text"
)


class _PageReader(HTMLParser):
    """Looks for what no page is made of."""

    is_plain = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        styles = [value or "" for name, value in attrs if name == "style" or name.startswith("on")]
        plain = all(re.fullmatch(r"max-width:\d+px", style) for style in styles)
        self.is_plain = self.is_plain and plain and _TAGS.fullmatch(tag) is not None


def _is_plain(body: str) -> bool:
    reader = _PageReader()
    reader.feed(body)
    reader.close()
    return reader.is_plain and "<!" not in body and "<?" not in body


def _parts(page: str) -> dict[str, str]:
    """Return the sections of a page by their titles, and what stands above them."""
    head, found = _HEADER.search(page), {title: _PLACES.sub("", body) for title, body in _SECTION.findall(page)}
    return {"the top": head[1] if head else "", **found}


def _own(page: str, release: AnyRelease) -> str:
    """Return the page of a release, with the names that clusters have on another one."""
    names = {int(number): unescape(name) for number, name in _NAME.findall(page)}
    try:
        return html_page(release, names=names)
    except ParameterError:
        return html_page(release)


def differing(page: str, release: AnyRelease) -> list[str]:
    """Return the parts of a page of HTML that are not as the release has them; none if it is the page of the release."""
    title = re.search(r"<title>([^<]*)</title>", page)
    body = re.search(r"<body>\n(.*)\n<footer>", page, re.DOTALL)
    if title is None or body is None or not _is_plain(body[1]) or whole_page(unescape(title[1]), body[1]) != page:
        return ["its frame"]
    if _SECTION.sub("", _HEADER.sub("", body[1])).split() != ["<main>", "</main>"]:
        return ["text between its sections"]
    own, told = _parts(_own(page, release)), _parts(page)
    if len(told) - 1 != len(_SECTION.findall(page)):
        return ["a section that is there twice"]
    wrong = [name for name in own if name not in told]
    for name, text in told.items():
        stated = own.get(name)
        holds = text == stated or name in FREE or (name == DESCRIBED and stated is None)
        if stated is not None and name == SPENT:
            holds = text.startswith(stated.rpartition("\n")[0])  # the last line is about a ledger
        elif stated is not None and name == CHECK:
            holds = _CHECKED.sub("", text) == _CHECKED.sub("", stated)
        wrong += [] if holds else [name]
    return wrong
