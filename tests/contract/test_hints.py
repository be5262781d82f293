"""What a Python user reads speaks of parameters; the command line translates. Whole commands, to be typed, may have flags."""

import ast
import re
from pathlib import Path

import spinney

SRC = Path(spinney.__file__).parent
OUTSIDE = [path for path in sorted(SRC.rglob("*.py")) if path.relative_to(SRC).parts[0] != "cli"]
FLAG = re.compile(r"(?<![\w-])--[a-z]")
#: Lines to be typed, and options of the compiler of kernels.
TYPED = ("spinney ", "--std=", "--fmad=")


def texts(path):
    """Yield every text of a module, the parts of one with values in it put together."""
    skipped = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            if str(getattr(node.values[0], "value", "")).startswith("spinney "):
                skipped.update(map(id, node.values))  # a line to be typed: its parts are no texts of their own
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def test_no_text_outside_the_command_line_quotes_a_flag():
    assert FLAG.search("see --columns")
    assert not FLAG.search("a--b, a -- b, ---")
    found = {
        path.relative_to(SRC).as_posix(): [text for text in texts(path) if FLAG.search(text) and not text.startswith(TYPED)]
        for path in OUTSIDE
    }
    assert {name: quoted for name, quoted in found.items() if quoted} == {}
