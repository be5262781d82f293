"""Everything that is measured: ``python -m benchmarks COMMAND``."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

#: The commands of the tool itself come first.
FIRST = ("run", "report", "compare", "mine", "ablations")


def commands(folder: Path) -> dict[str, str]:
    """Return the modules of a folder that can be run, with the first line of what they say of themselves."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.stem != "__main__" and "\nif __name__ ==" in text:
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0].split(": ``")[0].rstrip(".")
    return found


def help_text() -> str:
    """Return all commands, and those of ``tools``."""
    here = Path(__file__).parent
    own, tools = commands(here), commands(here.parent / "tools")
    own = {name: own[name] for name in (*FIRST, *(name for name in own if name not in FIRST and name != "audit_peer_runner"))}
    lines = [__doc__ or "", "", *(f"  {name:16} {said}" for name, said in own.items())]
    lines += ["", "Makers of documents and keepers of promises: python -m tools.NAME", ""]
    return "\n".join([*lines, *(f"  {name:16} {said}" for name, said in tools.items())])


def main() -> None:
    """Run a command, or say which there are."""
    name = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if name not in commands(Path(__file__).parent):
        print(help_text())
        sys.exit(0 if name in ("-h", "--help") else 2)
    sys.argv = [f"python -m benchmarks {name}", *sys.argv[2:]]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
