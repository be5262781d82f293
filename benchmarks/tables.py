"""Writing measured tables into pages, between markers."""

from __future__ import annotations

import json
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


def into_page(name: str, text: str, page: str = "docs/benchmarks.md") -> None:
    """Replace what stands between the markers of this name in a page."""
    path = ROOT / page
    start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    before, rest = path.read_text().split(start)
    path.write_text(before + start + "\n" + text + "\n" + end + rest.split(end)[1])
