"""Runs the cells of docs/tutorial.ipynb and stores what they show: ``python -m tools.tutorial``; the tests compare."""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"
#: Dots per inch of stored pictures.
DPI = 60


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that are run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown(value: Any) -> dict[str, Any]:
    """Return what a notebook shows of the value of a cell."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    page = getattr(value, "_repr_html_", None)
    return data | ({} if page is None else {"text/html": page().splitlines(keepends=True)})


def pictures() -> list[dict[str, Any]]:
    """Return the open pictures, and close them."""
    from matplotlib import pyplot

    found = []
    for number in pyplot.get_fignums():
        buffer = io.BytesIO()
        pyplot.figure(number).savefig(buffer, dpi=DPI, format="png")
        data = {"image/png": base64.b64encode(buffer.getvalue()).decode() + "\n"}
        found.append({"output_type": "display_data", "data": data, "metadata": {}})
    pyplot.close("all")
    return found


def run(notebook: dict[str, Any], folder: Path) -> list[list[dict[str, Any]]]:
    """Run the code cells in one namespace and a folder; return the outputs of each."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    outputs = []
    with chdir(folder):
        for number, cell in enumerate(code_cells(notebook), start=1):
            source = "".join(cell["source"])
            body = ast.parse(source).body
            last = body.pop() if isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
            printed, found = io.StringIO(), []
            with redirect_stdout(printed):
                exec(compile(ast.Module(body, []), f"cell {number}", "exec"), namespace)
                value = None if last is None else eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
            if printed.getvalue():
                lines = printed.getvalue().splitlines(keepends=True)
                found.append({"output_type": "stream", "name": "stdout", "text": lines})
            if value is not None:
                result = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
                found.append(result | {"data": shown(value)})
            outputs.append(found + pictures())
    return outputs


def main() -> None:
    """Store the outputs."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        found = run(notebook, Path(folder))
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), found, strict=True), start=1):
        cell["outputs"], cell["execution_count"] = outputs, number
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
