"""Looking at pictures and pages: what is written on them, where, and whether it can be read."""

import itertools
from functools import lru_cache
from html.parser import HTMLParser

from matplotlib.figure import Figure
from matplotlib.text import Text

#: Elements without an end.
VOID = {"meta", "link"}


class Captured:
    """Takes figures instead of a file."""

    def __init__(self, monkeypatch):
        self.figures = []
        monkeypatch.setattr(Figure, "savefig", lambda figure, *args, **kwargs: self.figures.append(figure))

    @property
    def last(self):
        return self.figures[-1]


@lru_cache(maxsize=4)  # laying out a figure takes long
def written(figure):
    """Return every text that is seen, with its box in pixels."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    unseen = set()
    for axis in figure.axes:
        for side in (axis.xaxis, axis.yaxis):
            low, high = sorted(side.get_view_interval())
            for tick in side.get_major_ticks():
                if not low <= tick.get_loc() <= high:
                    unseen |= {tick.label1, tick.label2}
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip() and text not in unseen]
    boxes = [(text, text.get_window_extent(renderer)) for text in texts]
    return [(text, box) for text, box in boxes if text.figure is not None and box.width > 0]


def cut_off(figure):
    """Return the texts that are not wholly on the picture."""
    return [
        text.get_text()
        for text, box in written(figure)
        if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.width + 1 or box.y1 > figure.bbox.height + 1
    ]


def overlapping(figure):
    """Return pairs of labels of one panel that cover each other."""
    found = []
    for axis in figure.axes:
        labels = [(text.get_text(), box) for text, box in written(figure) if text in axis.texts]
        found += [(one, other) for (one, a), (other, b) in itertools.combinations(labels, 2) if a.overlaps(b)]
    return found


def texts(figure):
    return [text.get_text() for text, _ in written(figure)]


class Reader(HTMLParser):
    """Reads a page as a browser would: its elements, their attributes, and texts; raises if one is not closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts, self.joins = [], [], [], [], False
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.joins = tag == "wbr"  # where a line may end is a part of a text
        if self.joins:
            return
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(self.texts.pop() + data if self.joins else data)
        self.joins = False
