"""The closed list of questions, for an auditor: what each one releases, how far one row moves it, its proof and its attacks.

A question is on the list if its file lies in this room and names it as ``LISTED``. Every question of `CATALOG` is proved in whole
numbers. Those of `EXPERIMENTAL` are proved over the reals only, and are asked only if the plan names them. Nothing else is ever
asked about private rows: the gate (`spinney.curators.gate`) refuses what is on neither list. The tests hold both to their proofs
and attacks.
"""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import spinney.questions as room
from spinney.questions.question import Listed


def _listed() -> Iterator[Listed]:
    """Yield what the files of this room list, by their names."""
    for file in iter_modules(room.__path__, f"{room.__name__}."):
        if file.name != __name__:
            listed = getattr(import_module(file.name), "LISTED", None)
            if isinstance(listed, Listed):
                yield listed


#: What the gate knows.
EVERY = {listed.kind.question: listed for listed in _listed()}
if len(EVERY) < sum(1 for _ in _listed()):
    raise ImportError("two questions of one name")
CATALOG = {name: listed for name, listed in EVERY.items() if not listed.experimental}
EXPERIMENTAL = {name: listed for name, listed in EVERY.items() if listed.experimental}
