"""Public networks in GraphML, as networkx, OSMnx, Gephi and yEd write it, with the XML reader of the standard library."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from spinney.exceptions import DataError
from spinney.spaces.graphs import PlainGraph


def read_graphml(path: Path) -> PlainGraph:
    """Return the graph of a file; all attributes are texts.

    If some edges are directed the graph is, and the other edges lead both ways.
    """
    reading = _Reading()
    with path.open("rb") as file:
        try:
            for event, element in ElementTree.iterparse(file, ("start", "end")):
                reading.see(event, element.tag.rpartition("}")[2], element)
        except (ElementTree.ParseError, KeyError, UnicodeDecodeError):
            raise DataError(f"{path} is no GraphML.", "networkx.write_graphml and osmnx.save_graphml write it.") from None
    return reading.graph()


class _Reading:
    """What was read of a file up to now."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # of attributes, by their keys
        self.defaults: dict[str, dict[str, str]] = {}  # of nodes and edges
        self.nodes: dict[str, dict[str, str]] = {}
        self.links: list[tuple[str, str, dict[str, str]]] = []
        self.one_way: list[bool] = []
        self.about: dict[str, str] = {}
        self.is_directed = True

    def see(self, event: str, kind: str, element: Any) -> None:
        """Read what an element says: of the graph when it starts, of everything else when it ends."""
        if event == "start":
            self.is_directed = element.get("edgedefault") == "directed" if kind == "graph" else self.is_directed
        elif kind == "key":
            key, target = element.get("id", ""), element.get("for", "all")
            self.names[key] = element.get("attr.name", key)
            for child in element:
                for owner in ("node", "edge") if target == "all" else (target,):
                    self.defaults.setdefault(owner, {})[self.names[key]] = (child.text or "").strip()
        elif kind == "node":
            self.nodes[element.attrib["id"]] = self._data(kind, element)
            element.clear()
        elif kind == "edge":
            self.links.append((element.attrib["source"], element.attrib["target"], self._data(kind, element)))
            self.one_way.append(element.get("directed", str(self.is_directed).lower()) == "true")
            element.clear()
        elif kind == "graph":
            self.about |= self._data(kind, element)

    def _data(self, kind: str, element: Any) -> dict[str, str]:
        """Return the attributes that an element has, by their names."""
        data = [child for child in element if child.tag.rpartition("}")[2] == "data"]
        own = {self.names.get(child.get("key", ""), ""): (child.text or "").strip() for child in data}
        return {**self.defaults.get(kind, {}), **own}

    def graph(self) -> PlainGraph:
        """Return the whole graph."""
        for tail, head, _ in self.links:
            for end in (tail, head):
                self.nodes.setdefault(end, {})
        directed = any(self.one_way)
        both = [link for link, one_way in zip(self.links, self.one_way, strict=True) if directed and not one_way]
        back = [(head, tail, about) for tail, head, about in both]
        return PlainGraph(self.nodes, self.links + back, directed, self.about.get("crs"))
