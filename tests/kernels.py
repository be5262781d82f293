"""Which sources the compiled kernels depend on."""

import ast
import hashlib


def sources_of_kernels(source):
    """Return the files with kernels, and all files of the package that they import, and so on: kernels hold their constants."""
    found, queue = set(), [path for path in source.rglob("*.py") if "@compiled" in path.read_text(encoding="utf-8")]
    while queue:
        path = queue.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name}" for name in names] + [str(node.module)]
            places = [source.parent.joinpath(*name.split(".")) for name in names]
            queue += [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]
    return sorted(found)


def digest_of_kernels(source):
    digest = hashlib.blake2b()
    for path in sources_of_kernels(source):
        digest.update(str(path.relative_to(source)).encode() + path.read_bytes())
    return digest.hexdigest()
