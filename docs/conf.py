"""The site: ``make docs`` builds it offline from the same Markdown that the repository shows."""

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "src")]

import reference  # noqa: E402  (docs/reference.py)

import spinney  # noqa: E402

project = "Spinney"
author = "The Spinney authors"
project_copyright = "The Spinney authors"
release = version = spinney.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/*.ipynb", "docs/decisions/*.md", "docs/api/*.md"]
include_patterns += ["proofs/*.md", "experiments/*.md", "benchmarks/results/*.md"]
exclude_patterns = [".*", "build", "src", "tests"]
templates_path = []

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # as GitHub makes them
nb_execution_mode = "off"  # tests/contract/test_tutorial.py runs the notebook
autodoc_typehints = "none"  # types stand in the docstrings
autosummary_generate = False
numpydoc_show_class_members = False
default_role = "py:obj"
add_module_names = False

html_theme = "furo"
html_title = f"Spinney {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

#: The site's contents; GitHub shows the same pages without them.
CONTENTS = {
    "Use": "docs/guide docs/tutorial docs/epsilon docs/bounds docs/schema docs/groups docs/reading docs/publishing docs/report",
    "Look up": (
        "docs/README docs/glossary docs/how-many docs/command-line docs/release-format docs/ledger docs/operations docs/spark "
        "docs/gpu docs/pipelines docs/describe docs/sites docs/planners docs/one-cluster docs/stability docs/scale "
        "docs/local docs/limits docs/install"
    ),
    "Understand": (
        "docs/why docs/algorithms docs/default docs/medians docs/benchmarks docs/utility docs/own-algorithms docs/audits "
        "docs/planted proofs/README ARCHITECTURE docs/decisions/README"
    ),
    "Reference": "docs/api/index",
    "Project": "CHANGELOG CONTRIBUTING docs/deprecation SECURITY CODE_OF_CONDUCT",
}
#: Pages whose parts are listed on them, and belong below them.
BELOW = {
    "proofs/README": "proofs/[!R]*",
    "docs/decisions/README": "docs/decisions/[!R]*",
    "docs/benchmarks": "experiments/*",
    "docs/audits": "benchmarks/results/*",
}


def toctree(pages: str, title: str = "", pattern: bool = False) -> str:
    """Return a hidden table of contents."""
    options = [":hidden:", *([f":caption: {title}"] if title else []), *([":glob:"] if pattern else [])]
    return "\n\n```{toctree}\n" + "\n".join([*options, "", *(f"/{page}" for page in pages.split())]) + "\n```\n"


def add_contents(app, name, source):
    """Add the contents of the site to its first page, and the parts of a page to that page."""
    if name == root_doc:
        source[0] += "".join(toctree(pages, title) for title, pages in CONTENTS.items())
    if name.startswith("benchmarks/results/"):  # a table that a script wrote
        source[0] = f"# {Path(name).name.replace('_', ' ')}\n\n{source[0]}"
    if name in BELOW:
        source[0] += toctree(BELOW[name], pattern=True)


def first_page(app, exception):
    """Make the first page the one that a folder's address shows."""
    if exception is None and app.builder.name == "html":
        page = Path(app.outdir) / f"{root_doc}.html"
        (page.parent / "index.html").write_text(page.read_text(encoding="utf-8"), encoding="utf-8")


def setup(app):
    """Register what is ours: names of blocks, contents, the reference."""
    for kind in ("output", "example"):
        app.add_lexer(kind, TextLexer)
    app.connect("source-read", add_contents)
    app.connect("build-finished", first_page)
    reference.connect(app)
