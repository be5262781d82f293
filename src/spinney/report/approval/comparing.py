"""Whether a page is the one of a release: written again from the release, it must be the same, letter by letter.

The title, the state of a ledger, a cost curve, names of clusters, what a check found, and the lines that a publisher fills in are
not in the release. They may differ; nothing else may.
"""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

from spinney.releases.reading import AnyRelease
from spinney.report.publication import html_page
from spinney.report.publication.html import whole_page

#: Sections that say more than the release does, with where what is of the release begins in them, to their ends.
FREE = {"How to check it": "<dl>", "To be filled in by the publisher": "", "How many clusters": ""}
SPENT = "What was spent and what is left"
DESCRIBED = "The clusters that are described"
_SECTION = re.compile(r"<section[^>]*>\n<h2[^>]*>([^<]*)</h2>\n(.*?)\n</section>", re.DOTALL)
_HEADER = re.compile(r"<header>\n<h1>.*?</h1>\n(.*?)\n</header>", re.DOTALL)
#: What depends on where a part stands, on how wide tables are, and on names.
_PLACES = re.compile(
    r' (?:id|aria-labelledby)="s[-0-9td s]*"| data-h="[^"]*"|(?<=class="scroll)(?: [cn]\d+)+| <span class="name">[^<]*</span>'
)
#: What pages are made of; anything else could cover or hide a part of one.
_TAGS = re.compile(
    "main|header|section|h1|h2|p|dl|dt|dd|div|span|strong|table|caption|thead|tbody|tr|th|td|small|wbr|pre|code|"
    "figure|figcaption|svg|title|desc|g|path|rect|circle|text"
)


class _Reader(HTMLParser):
    """Looks for what no page is made of."""

    is_plain = True

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        styles = [value or "" for name, value in attrs if name == "style" or name.startswith("on")]
        plain = all(re.fullmatch(r"max-width:\d+px", style) for style in styles)
        self.is_plain = self.is_plain and plain and _TAGS.fullmatch(tag) is not None


def _is_plain(body: str) -> bool:
    reader = _Reader()
    reader.feed(body)
    reader.close()
    return reader.is_plain and "<!" not in body and "<?" not in body


def _parts(page: str) -> dict[str, str]:
    """Return the sections of a page by their titles, and what stands above them."""
    plain = _PLACES.sub("", page)
    head, found = _HEADER.search(plain), dict(_SECTION.findall(plain))
    return {"the top": head[1] if head else "", **found}


def differing(page: str, release: AnyRelease) -> list[str]:
    """Return the parts of a page of HTML that are not as the release has them; none if it is the page of the release."""
    title = re.search(r"<title>([^<]*)</title>", page)
    body = re.search(r"<body>\n(.*)\n<footer>", page, re.DOTALL)
    if title is None or body is None or not _is_plain(body[1]) or whole_page(unescape(title[1]), body[1]) != page:
        return ["its frame"]
    if len(_SECTION.sub("", _HEADER.sub("", body[1])).split()) > len(["<main>", "</main>"]):
        return ["text between its sections"]
    own, told = _parts(html_page(release)), _parts(page)
    if len(told) - 1 != len(_SECTION.findall(page)):
        return ["a section that is there twice"]
    wrong = [name for name in own if name not in told]
    for name, text in told.items():
        stated = own.get(name)
        if name == SPENT and stated is not None:
            stated = stated.rpartition("\n")[0]  # the last line is about a ledger
            holds = text.startswith(stated)
        elif name in FREE:
            holds = stated is None or FREE[name] == "" or text.endswith(stated[stated.index(FREE[name]) :])
        else:
            holds = text == stated or (stated is None and name == DESCRIBED)
        wrong += [] if holds else [name]
    return wrong
