"""Tables in pages, between markers: ``<!-- NAME -->`` and ``<!-- end NAME -->``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def save(name: str, record: Any) -> None:
    """Write results as JSON beside the benchmarks."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def pages_with(name: str) -> Iterator[str]:
    """Yield the pages of the documents that have markers of this name."""
    for path in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.exists() and f"<!-- {name} -->" in path.read_text():
            yield str(path.relative_to(ROOT))


def into_page(name: str, text: str, page: str | None = None) -> None:
    """Replace what stands between the markers of this name: in a page, or in every page of the documents that has them."""
    for one in pages_with(name) if page is None else (page,):
        path, start, end = ROOT / one, f"<!-- {name} -->", f"<!-- end {name} -->"
        before, rest = path.read_text().split(start)
        path.write_text(before + start + "\n" + text + "\n" + end + rest.split(end)[1])
