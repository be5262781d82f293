"""The reference: a page for every public name, from its docstring and the example of ``docs/examples``."""

import importlib
import inspect
import re
from pathlib import Path

DOCS = Path(__file__).parent
#: The modules that users import from, and what is found there.
ROOMS = {
    "spinney": "Estimators, releases, ledgers, spaces, errors",
    "spinney.algorithms": "Algorithms with parameters, and what an algorithm of your own needs",
    "spinney.audit": "Checks of the promise from outside",
    "spinney.baselines": "Published algorithms to compare with",
    "spinney.datasets": "Made-up tables that come with the package",
    "spinney.local": "The local model: real devices",
    "spinney.questions": "What may be asked of private rows",
    "spinney.report": "Pages, pictures, labels and cost curves of releases",
    "spinney.spark": "Estimators of Spark ML",
    "spinney.stability": "Separation, and distances between sets of centers",
    "spinney.verification": "Checking a release alone",
}


def public_names(room: str) -> list[str]:
    """Return the public names of a room."""
    return [name for name in importlib.import_module(room).__all__ if not name.startswith("_")]


def examples(room: str) -> dict[str, str]:
    """Return the example of each name: the first block of the room's page, and the section whose heading has the name."""
    page = (DOCS / "examples" / f"{room.rpartition('.')[2]}.md").read_text(encoding="utf-8")
    title, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    found = {}
    for section in sections:
        heading, _, text = section.partition("\n")
        example = "\n\n".join(part for part in (title.partition("\n")[2].strip(), text.strip()) if part)
        found |= dict.fromkeys(re.findall(r"`(\w+)`", heading), example)
    return found


def kind_of(value: object) -> str:
    """Return the directive that documents a value."""
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def write_pages(app) -> None:
    """Write a page for each room and each name; only what changed, so that a second build is short."""
    folder = DOCS / "api"
    folder.mkdir(exist_ok=True)
    pages = {"index.md": "# Reference\n\n" + "\n".join(f"- [`{room}`]({room}.md): {told}." for room, told in ROOMS.items())}
    pages["index.md"] += "\n\n```{toctree}\n:hidden:\n" + "\n".join(ROOMS) + "\n```\n"
    for room, told in ROOMS.items():
        names, shown = public_names(room), examples(room)
        listed = "\n".join(f"   {name}" for name in names)
        pages[f"{room}.md"] = (
            f"# {room}\n\n{told}.\n\n```{{eval-rst}}\n.. currentmodule:: {room}\n\n"
            f".. autosummary::\n   :nosignatures:\n\n{listed}\n```\n"
        )
        for name in names:
            kind = kind_of(getattr(importlib.import_module(room), name))
            members = "   :members:\n   :inherited-members: BaseException, tuple, dict\n" if kind == "class" else ""
            pages[f"{room}.{name}.page.md"] = (
                f"---\norphan: true\n---\n\n# {name}\n\nFrom [{room}]({room}.md).\n\n"
                f"```{{eval-rst}}\n.. currentmodule:: {room}\n\n.. auto{kind}:: {name}\n{members}```\n\n"
                f"## Example\n\n{shown[name]}\n"
            )
    for name, text in pages.items():
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")
    for page in folder.glob("*"):
        if page.name not in pages:
            page.unlink()


def for_the_site(app, what, name, obj, options, lines) -> None:
    """Link the pages that a docstring names; move a Privacy section, which numpydoc does not know, before the other sections."""
    lines[:] = [re.sub(r"``((?:docs|proofs)/[\w-]+)\.md``", r":doc:`\1 </\1>`", line) for line in lines]
    heads = [i for i in range(len(lines) - 1) if lines[i].strip() and re.fullmatch(r"\s*(-{3,}|~{3,})", lines[i + 1])]
    start = next((i for i in heads if lines[i].strip() == "Privacy"), None)
    if start is None:
        return
    end = next((i for i in heads if i > start), len(lines))
    moved = ["", ".. rubric:: Privacy", "", *lines[start + 2 : end], ""]
    del lines[start:end]
    lines[heads[0] : heads[0]] = moved


def only_ours(app, what, name, obj, skip, options) -> bool | None:
    """Leave out what a class inherits from another library: it is documented there."""
    function = obj.fget if isinstance(obj, property) else obj
    home = getattr(function, "__module__", None) or ""
    return True if home and not home.startswith("spinney") else None


def connect(app) -> None:
    """Connect all of it to the builder."""
    from numpydoc.docscrape import NumpyDocString  # the tests import this file without it

    NumpyDocString.sections["Privacy"] = ""  # known, so that no docstring with one is warned of
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", for_the_site, priority=400)  # before numpydoc
    app.connect("autodoc-skip-member", only_ours)
